-- out[j][i] = in[i][j], both row-major and packed. Elements are moved as bits.

local grid_2d = function(width, height) -- over the tiles of `in`: columns, then rows; edge tiles may be partial
    return {
        "GRID == 'xy' and ceildiv(n, " .. width .. ") or ceildiv(n, " .. width .. ") * ceildiv(m, " .. height .. ")",
        "GRID == 'xy' and ceildiv(m, " .. height .. ") or 1",
    }
end
-- GRID x numbers the tiles in x only: for heights that exceed the limit in y.
local grid = param("GRID", "xy", "x")
local shared_fits = "* sizeof(T) <= min(49152, device.max_shared)"

return op {
    name = "transpose",
    problem = { size "m", size "n" }, -- rows and columns of `in`
    types = { T = { "f32", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32", "i64", "u64", "f64", "c64", "c128" } },
    args = { output("out", "T", { "n", "m" }), input("in", "T", { "m", "n" }), value "m", value "n" },
    work = { bytes = "2*m*n*sizeof(T)" },
    shapes = {
        { m = 1111, n = 113, when = "device.backend ~= 'cuda'" },
        { m = 4096, n = 4096 },
        { m = 8192, n = 8192, when = "device.backend == 'cuda'" },
        { m = 8191, n = 8193, when = "device.backend == 'cuda'" },
        { m = 2097152, n = 32, when = "device.backend == 'cuda'" },
        { m = 32, n = 2097152, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = "transpose_ref.cu",
        launch = { kernel = "transpose_ref", block = 256, grid = "min(ceildiv(m*n, 256), 65535)" },
    },
    check = "exact",
    variants = {
        {
            name = "tile", -- through a square tile in shared memory
            template = "transpose_tile.cu",
            params = {
                { "TILE", 32, 8, 16, 64 },  -- edge of the tile, elements
                { "ROWS", 8, 2, 4, 16 },    -- height of the block: a thread moves TILE/ROWS elements
                { "PAD", 1, 0 },            -- padding per row of the tile, against bank conflicts
                grid,
            },
            where = { "TILE % ROWS == 0", "TILE * ROWS >= 32", "TILE * (TILE + PAD) " .. shared_fits },
            launch = { kernel = "transpose", block = { "TILE", "ROWS" }, grid = grid_2d("TILE", "TILE") },
        },
        {
            name = "rect", -- the same, with a rectangular tile: TILE_X columns of `in`, TILE_Y rows
            template = "transpose_tile.cu",
            params = { { "TILE_X", 32, 16, 64 }, { "TILE_Y", 64, 16, 32 }, { "ROWS", 8, 4 }, { "PAD", 1 }, grid },
            where = {
                "TILE_X ~= TILE_Y",
                "TILE_X * ROWS % TILE_Y == 0", -- the block, folded to TILE_Y wide, writes whole rows of `out`
                "TILE_X % (TILE_X * ROWS // TILE_Y) == 0",
                "TILE_Y * (TILE_X + PAD) " .. shared_fits,
            },
            launch = { kernel = "transpose", block = { "TILE_X", "ROWS" }, grid = grid_2d("TILE_X", "TILE_Y") },
        },
        {
            name = "vector", -- a square tile, read and written VEC bytes at a time
            template = "transpose_vector.cu",
            params = {
                { "TILE", 64, 32, 128 },
                { "ROWS", 16, 8, 32 }, -- height of the block
                { "VEC", 16, 8, 4 },   -- bytes of one access
                grid,
            },
            where = {
                "VEC > sizeof(T)",
                "m % max(1, VEC // sizeof(T)) == 0",
                "n % max(1, VEC // sizeof(T)) == 0",
                "TILE * ROWS * sizeof(T) // VEC >= 64",
                "TILE * (TILE + 1) " .. shared_fits,
            },
            needs = { aligned("in", "VEC"), aligned("out", "VEC") },
            launch = { kernel = "transpose", block = { "TILE * sizeof(T) // VEC", "ROWS" }, grid = grid_2d("TILE", "TILE") },
        },
        {
            name = "rows", -- straight from memory to memory; a block moves a square of TILE, a thread TILE/ROWS elements
            template = "transpose_rows.cu",
            params = { { "TILE", 32, 16, 64 }, { "ROWS", 8, 4 }, grid },
            launch = { kernel = "transpose", block = { "TILE", "ROWS" }, grid = grid_2d("TILE", "TILE") },
        },
        {
            name = "naive", -- straight from memory to memory, one element per thread
            template = "transpose_naive.cu",
            params = { { "BLOCK_X", 32, 16, 64 }, { "BLOCK_Y", 8, 4, 16 }, grid },
            launch = { kernel = "transpose", block = { "BLOCK_X", "BLOCK_Y" }, grid = grid_2d("BLOCK_X", "BLOCK_Y") },
        },
    },
    defaults = {
        { variant = "tile", TILE = 32, ROWS = 8, PAD = 1, GRID = "xy" }, -- not valid if y would exceed its limit
        { variant = "tile", TILE = 32, ROWS = 8, PAD = 1, GRID = "x" },
    },
}
