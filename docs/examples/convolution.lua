-- out[y][x] = the sum over i and j of in[y + i][x + j] * filter[i][j]; `in` is larger than `out` by the filter's size less one.

local size_of_block = { { "BLOCK_X", 32, 16, 64, 128 }, { "BLOCK_Y", 8, 2, 4, 16 } }
local items = { { "ITEMS_X", 1, 2, 4, 8 }, { "ITEMS_Y", 1, 2, 4 } } -- outputs of a thread
local threads = "BLOCK_X * BLOCK_Y >= 64 and BLOCK_X * BLOCK_Y <= 512"
local tiles = "ceildiv(w, BLOCK_X * ITEMS_X) * ceildiv(h, BLOCK_Y * ITEMS_Y)" -- in x only: a grid in y is limited to 65535
local in_tile = "(BLOCK_Y * ITEMS_Y + fh - 1) * (BLOCK_X * ITEMS_X + fw - 1 + PAD)"

return op {
    name = "convolution",
    problem = { size "h", size "w", size "fh", size "fw" }, -- of out, and of the filter
    types = { T = { "f32", "f64" } },
    args = {
        output("out", "T", { "h", "w" }), input("in", "T", { "h + fh - 1", "w + fw - 1" }), input("filter", "T", { "fh", "fw" }),
        value "h", value "w", value "fh", value "fw",
    },
    work = { bytes = "(h*w + (h + fh - 1)*(w + fw - 1) + fh*fw)*sizeof(T)", flops = "2*h*w*fh*fw" },
    shapes = {
        { h = 500, w = 700, fh = 5, fw = 7, when = "device.backend ~= 'cuda'" },
        { h = 4096, w = 4096, fh = 17, fw = 17, when = "device.backend == 'cuda'" },
        { h = 4096, w = 4096, fh = 5, fw = 5, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = "convolution_ref.cu",
        launch = { kernel = "convolution_ref", block = 256, grid = "min(ceildiv(h * w, 256), 65535)" },
    },
    check = { sum = "fh * fw" },
    variants = {
        {
            name = "direct", -- straight from memory
            template = "convolution_direct.cu",
            params = { size_of_block[1], size_of_block[2], items[1], items[2] },
            where = { threads },
            launch = { kernel = "convolution", block = { "BLOCK_X", "BLOCK_Y" }, grid = tiles },
        },
        {
            name = "tile", -- through a tile of the input in shared memory
            template = "convolution_tile.cu",
            params = { size_of_block[1], size_of_block[2], items[1], items[2], { "PAD", 0, 1 } },
            where = { threads, in_tile .. " * sizeof(T) <= min(49152, device.max_shared)" },
            launch = {
                kernel = "convolution", block = { "BLOCK_X", "BLOCK_Y" }, grid = tiles,
                shared = in_tile .. " * sizeof(T)",
            },
        },
        {
            name = "unrolled", -- for a filter of just this width: what neighbouring outputs share is read once, into registers
            template = "convolution_unrolled.cu",
            params = {
                size_of_block[1], size_of_block[2], { "ITEMS_X", 4, 1, 2, 8 }, items[2],
                { "FW", 3, 5, 7, 9, 11, 13, 15, 17 },
            },
            where = { threads, "fw == FW" },
            launch = { kernel = "convolution", block = { "BLOCK_X", "BLOCK_Y" }, grid = tiles },
        },
    },
    defaults = { { variant = "direct" } },
}
