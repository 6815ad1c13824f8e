-- C = A B, all row-major and packed: c[i][j] = the sum over p of a[i][p] * b[p][j].

-- The tiles of C are numbered in x only, because a grid in y is limited to 65535.
local function tiles(width, height)
    return "ceildiv(n, " .. width .. ") * ceildiv(m, " .. height .. ")"
end

return op {
    name = "gemm",
    problem = { size "m", size "n", size "k" },
    types = { T = { "f32", "f64", "i32" } },
    args = {
        output("c", "T", { "m", "n" }), input("a", "T", { "m", "k" }), input("b", "T", { "k", "n" }),
        value "m", value "n", value "k",
    },
    work = { bytes = "(m*n + m*k + k*n)*sizeof(T)", flops = "2*m*n*k" },
    shapes = {
        { m = 512, n = 512, k = 512, when = "device.backend ~= 'cuda'" },
        { m = 111, n = 113, k = 777, when = "device.backend ~= 'cuda'" },
        { m = 1111, n = 113, k = 777, when = "device.backend == 'cuda'" },
        { m = 2048, n = 2048, k = 2048, when = "device.backend == 'cuda'" },
        { m = 4096, n = 4096, k = 4096, when = "device.backend == 'cuda'" },
    },
    reference = { template = "gemm_ref.cu", launch = { kernel = "gemm_ref", block = 256, grid = "min(ceildiv(m*n, 256), 65535)" } },
    check = { sum = "k" },
    variants = {
        {
            name = "registers", -- tiles in shared memory; a thread computes ITEMS_M x ITEMS_N elements in registers
            template = "gemm_registers.cu",
            params = {
                { "TILE_M", 64, 32, 128 }, -- rows and columns of C that a block computes
                { "TILE_N", 64, 32, 128 },
                { "TILE_K", 8, 16 },       -- depth of the tiles of A and B
                { "ITEMS_M", 4, 2, 8 },    -- rows and columns of C that a thread computes
                { "ITEMS_N", 4, 2, 8 },
            },
            where = {
                "TILE_M // ITEMS_M * (TILE_N // ITEMS_N) >= 64",
                "TILE_M // ITEMS_M * (TILE_N // ITEMS_N) <= 256",
            },
            launch = {
                kernel = "gemm",
                block = { "TILE_N // ITEMS_N", "TILE_M // ITEMS_M" },
                grid = tiles("TILE_N", "TILE_M"),
            },
        },
        {
            name = "tile", -- square tiles of A and B in shared memory, one element of C per thread
            template = "gemm_tile.cu",
            params = { { "TILE", 16, 8, 32 }, { "PAD", 1, 0 } }, -- edge of the tiles; padding per row
            launch = { kernel = "gemm", block = { "TILE", "TILE" }, grid = tiles("TILE", "TILE") },
        },
        {
            name = "naive", -- straight from memory, one element of C per thread
            template = "gemm_naive.cu",
            params = { { "BLOCK_X", 32, 16, 64 }, { "BLOCK_Y", 8, 4, 16 } },
            launch = { kernel = "gemm", block = { "BLOCK_X", "BLOCK_Y" }, grid = tiles("BLOCK_X", "BLOCK_Y") },
        },
    },
    defaults = { { variant = "registers", TILE_M = 64, TILE_N = 64, TILE_K = 8, ITEMS_M = 4, ITEMS_N = 4 } },
}
