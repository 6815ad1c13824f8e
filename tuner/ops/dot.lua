-- out[0] = the sum of x[i] * y[i].

local block = { "BLOCK", 256, 128, 512, 1024 } -- threads
local items = { "ITEMS", 4, 1, 8 }            -- elements that a thread takes at a time
local blocks = { "BLOCKS", 4, 1, 2, 8, 16 }   -- blocks per multiprocessor, if n is long enough
local grid = "min(BLOCKS * device.multiprocessors, ceildiv(n, BLOCK * ITEMS))"

return op {
    name = "dot",
    problem = { size "n" },
    types = { T = { "f32", "f64", "i32" } },
    args = { output("out", "T", { 1 }), input("x", "T", { "n" }), input("y", "T", { "n" }), value "n" },
    work = { bytes = "2*n*sizeof(T)", flops = "2*n" },
    shapes = {
        { n = 1000003 },
        { n = 1 << 24 },
        { n = 1 << 28, when = "device.backend == 'cuda'" },
    },
    reference = { template = "dot_ref.cu", launch = { kernel = "dot_ref", block = 256 } },
    check = { sum = "n" },
    variants = {
        {
            name = "two_pass", -- each block stores its sum in a workspace; a second launch adds those sums
            template = "dot_two_pass.cu",
            params = { block, items, blocks },
            workspaces = { workspace("partial", "T", grid), workspace("count", "i32", 1) },
            launch = {
                { kernel = "dot_partial", block = "BLOCK", grid = grid, args = { "x", "y", "n", "partial", "count" } },
                { kernel = "dot_total", block = "BLOCK", args = { "out", "partial", "count" } },
            },
        },
        {
            name = "atomic", -- the output is cleared, and each block adds its sum to it
            template = "dot_atomic.cu",
            params = { block, items, blocks },
            clear = { "out" },
            launch = { kernel = "dot_atomic", block = "BLOCK", grid = grid },
        },
        {
            name = "single", -- one block
            template = "dot_single.cu",
            params = { block, items },
            launch = { kernel = "dot_single", block = "BLOCK" },
        },
    },
    defaults = { { variant = "two_pass", BLOCK = 256, ITEMS = 4, BLOCKS = 4 } },
}
