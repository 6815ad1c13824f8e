-- a[i][j] and a[j][i] change places: a square matrix is transposed where it lies. Elements are moved as bits. Rows lie ld elements apart; the
-- matrices of a batch follow each other.

-- A block takes a pair of tiles, on both sides of the diagonal: templates/transpose_inplace.h.
local function pairs_of(tile)
    local tiles = "ceildiv(n, " .. tile .. ")"
    return tiles .. " * (" .. tiles .. " + 1) // 2 * batch"
end

return op {
    name = "transpose_inplace",
    problem = { size("n", { max = 1000000 }), stride("ld", { default = "n" }), batch("batch", { max = "1 << 30", default = 1 }) },
    where = { "ld >= n" },
    types = { T = { "f32", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32", "i64", "u64", "f64", "c64", "c128" } },
    args = { inout("a", "T", { "batch", "n", "ld" }), value "n", value "ld", value "batch" },
    work = { bytes = "2*batch*n*n*sizeof(T)" },
    shapes = {
        { n = 1113, when = "device.backend ~= 'cuda'" },
        { n = 4096 },
        { n = 8192, when = "device.backend == 'cuda'" },
        { n = 8191, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = "transpose_inplace_ref.cu",
        launch = { kernel = "transpose_inplace_ref", block = 256, grid = "min(ceildiv(batch*n*n, 256), 65535)" },
    },
    check = "exact",
    variants = {
        {
            name = "tile", -- through two square tiles in shared memory
            template = "transpose_inplace_tile.cu",
            params = {
                { "TILE", 32, 8, 16, 64 }, -- edge of the tiles, elements
                { "ROWS", 8, 2, 4, 16 },   -- height of the block: a thread moves TILE/ROWS elements of each
                { "PAD", 1, 0 },           -- padding per row of a tile, against bank conflicts
            },
            where = { "TILE % ROWS == 0", "TILE * ROWS >= 32", "2 * TILE * (TILE + PAD) * sizeof(T) <= min(49152, device.max_shared)" },
            launch = {
                kernel = "transpose_inplace", block = { "TILE", "ROWS" }, grid = pairs_of("TILE"), args = { "a", "n", "ld" },
            },
        },
        {
            name = "registers", -- a pair of squares a thread
            template = "transpose_inplace_registers.cu",
            params = {
                { "EACH", 4, 2, 8 },   -- edge of a square, elements
                { "SIDE", 16, 8 },     -- squares along the edge of a tile
                { "LANES", 8, 4, 16 }, -- threads of a warp side by side
            },
            where = {
                "EACH * sizeof(T) >= 4 and EACH * EACH * sizeof(T) <= 128", -- words; registers
                "LANES <= SIDE",
                "n % EACH == 0 and ld % EACH == 0",
            },
            needs = { aligned("a", "min(16, EACH * sizeof(T))") },
            launch = {
                kernel = "transpose_inplace", block = "SIDE * SIDE", grid = pairs_of("(SIDE * EACH)"),
                args = { "a", "n", "ld" },
            },
        },
        {
            name = "naive", -- straight in memory, a pair of elements a thread
            template = "transpose_inplace_naive.cu",
            params = { { "BLOCK_X", 32, 16, 64 }, { "BLOCK_Y", 8, 4, 16 } },
            launch = {
                kernel = "transpose_inplace", block = { "BLOCK_X", "BLOCK_Y" },
                grid = "ceildiv(n, BLOCK_X) * ceildiv(n, BLOCK_Y) * batch", args = { "a", "n", "ld" },
            },
        },
    },
    defaults = {
        { variant = "tile", TILE = 32, ROWS = 8, PAD = 1 },
        { variant = "tile", TILE = 16, ROWS = 8, PAD = 1 }, -- where shared memory is small
    },
}
