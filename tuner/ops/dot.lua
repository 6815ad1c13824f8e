-- out[0] = the sum of x[i] * y[i]. The 16-bit types are summed in f32.
-- dot.h says what is summed; dot, asum and nrm2 share the templates sum_*.cu. All variants give the same bits each time, but atomic.

local function template(how)
    return { "dot.h", how }
end

local block = { "BLOCK", 256, 128, 512, 1024 } -- threads
local items = { "ITEMS", 4, 1, 2, 8 }          -- accesses of a thread to each vector that are on their way at a time
local vec = { "VEC", 1, 2, 4, 8 }              -- elements of an access, wherever the vectors begin
local shuffle = { "SHUFFLE", false, true }     -- a block's sum by shuffles; or by a tree in shared memory
local blocks = { "BLOCKS", 4, 1, 2, 8, 16 }    -- blocks per multiprocessor, if n is long enough
local chunks = "ceildiv(n, BLOCK * ITEMS * VEC)"
local grid = "min(BLOCKS * device.multiprocessors, " .. chunks .. ")"

local function fits(...)
    return {
        "VEC == 1 or VEC * sizeof(T) == 16",
        "not SHUFFLE or device.backend == 'cuda'",
        "SHUFFLE or VEC == 1 or device.backend ~= 'cuda'",
        "ITEMS * VEC * sizeof(T) <= 64 or BLOCK <= 512", -- registers
        ...,
    }
end
local function spread(...)
    return fits(
        "BLOCKS * BLOCK <= 4096",
        "BLOCKS == 4 or (BLOCKS < 4 and BLOCKS or BLOCKS // 2) * device.multiprocessors < " .. chunks, -- else 4 are the same
        ...
    )
end
local partial = workspace("partial", "u64", grid) -- enough for the widest sum
local function two_pass(dependent)
    return {
        { kernel = "sum_partial", block = "BLOCK", grid = grid, args = { "x", "y", "n", "partial" } },
        {
            kernel = "sum_total", block = "BLOCK", args = { "out", "partial", "count" }, values = { count = grid },
            dependent = dependent,
        },
    }
end

return op {
    name = "dot",
    problem = { size "n" },
    types = { T = { "f32", "f64", "i32", "f16", "bf16" } },
    args = { output("out", "T", { 1 }), input("x", "T", { "n" }), input("y", "T", { "n" }), value "n" },
    work = { bytes = "2*n*sizeof(T)", flops = "2*n" },
    shapes = {
        { n = 1000003 },
        { n = 1 << 24 },
        { n = 1 << 28, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = template "sum_ref.cu",
        workspaces = { workspace("parts", "u64", 1024) },
        launch = {
            { kernel = "sum_ref_parts", block = 256, grid = "min(ceildiv(n, 4096), 1024)", args = { "x", "y", "n", "parts" } },
            {
                kernel = "sum_ref", block = 256, args = { "out", "parts", "count" },
                values = { count = "min(ceildiv(n, 4096), 1024)" },
            },
        },
    },
    -- A 16-bit result is that of f32, rounded; of n terms in [-1, 1) it is seldom beyond sqrt(n) * 4 / 3, and may differ by one step.
    check = { sum = "sizeof(T) == 2 and 4 + 4 * floor(n ^ 0.5) or n" },
    variants = {
        {
            name = "two_pass", -- each block stores its sum in a workspace; a second launch adds those sums
            template = template "sum_two_pass.cu",
            params = { block, items, vec, shuffle, blocks },
            where = spread(),
            workspaces = { partial },
            launch = two_pass(),
        },
        {
            name = "dependent", -- the same, with the second launch started early
            template = template "sum_two_pass.cu",
            params = { block, items, vec, { "SHUFFLE", true }, blocks, { "DEPENDENT", 1 } },
            where = spread(),
            workspaces = { partial },
            launch = two_pass(true),
        },
        {
            name = "last", -- one launch: the block that ends last adds the sums of all
            template = template "sum_last.cu",
            params = { block, items, vec, { "SHUFFLE", true }, blocks },
            where = spread(),
            workspaces = { partial, workspace("ended", "u32", 1, { clear = true }) },
            requires = { backend = "cuda" },
            launch = { kernel = "sum_last", block = "BLOCK", grid = grid },
        },
        {
            name = "atomic", -- the output is cleared, and each block adds its sum to it
            template = template "sum_atomic.cu",
            params = { block, items, vec, shuffle, blocks },
            where = spread "sizeof(T) >= 4",
            clear = { "out" },
            launch = { kernel = "sum_atomic", block = "BLOCK", grid = grid },
        },
        {
            name = "single", -- one block
            template = template "sum_single.cu",
            params = { block, items, vec, shuffle },
            where = fits "n <= device.multiprocessors << 16",
            launch = { kernel = "sum_single", block = "BLOCK" },
        },
    },
    defaults = {
        { variant = "two_pass", BLOCK = 512, ITEMS = 2, VEC = 4, SHUFFLE = true, BLOCKS = 8 },
        { variant = "two_pass", BLOCK = 256, ITEMS = 4, BLOCKS = 4 },
    },
    peers = {
        { library = "cublas", call = "dot", a = "x", b = "y", c = "out", n = "n" },
        { library = "clblast", call = "dot", a = "x", b = "y", c = "out", n = "n" },
    },
}
