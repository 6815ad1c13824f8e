-- out[0] = the sum of |x[i]|. The 16-bit types are summed in f32.
-- asum.h says what is summed; dot, asum and nrm2 share the templates sum_*.cu. All variants give the same bits each time.

local function template(how)
    return { "asum.h", how }
end

local shape = {
    { "BLOCK", 256, 128, 512, 1024 }, -- threads
    { "ITEMS", 4, 1, 2, 8 },          -- accesses of a thread that are on their way at a time
    { "VEC", 1, 2, 4, 8 },            -- elements of an access, wherever the vector begins
}
local blocks = { "BLOCKS", 4, 1, 2, 8, 16 } -- blocks per multiprocessor, if n is long enough
local chunks = "ceildiv(n, BLOCK * ITEMS * VEC)"
local grid = "min(BLOCKS * device.multiprocessors, " .. chunks .. ")"
local function fits(...)
    return { "VEC == 1 or VEC * sizeof(T) == 16", "ITEMS * VEC * sizeof(T) <= 64 or BLOCK <= 512", ... }
end
local function two_pass(name, dependent)
    return {
        name = name,
        template = template "sum_two_pass.cu",
        params = { blocks, { "DEPENDENT", dependent }, table.unpack(shape) },
        where = fits(
            "BLOCKS * BLOCK <= 4096",
            "BLOCKS == 4 or (BLOCKS < 4 and BLOCKS or BLOCKS // 2) * device.multiprocessors < " .. chunks -- else 4 are the same
        ),
        workspaces = { workspace("partial", "u64", grid) }, -- enough for the widest sum
        launch = {
            { kernel = "sum_partial", block = "BLOCK", grid = grid, args = { "x", "n", "partial" } },
            {
                kernel = "sum_total", block = "BLOCK", args = { "out", "partial", "count" }, values = { count = grid },
                dependent = dependent,
            },
        },
    }
end

local parts = "min(ceildiv(n, 4096), 1024)"
return op {
    name = "asum",
    problem = { size "n" },
    types = { T = { "f32", "f64", "f16", "bf16" } },
    args = {
        output("out", "T", { 1 }),
        input("x", "T", { "n" }, { peaks = { "T == 'f16' and min(n/16, 3e4) or n/16", "T == 'f16' and min(n/12, 4e4) or n/12" } }),
        value "n",
    },
    work = { bytes = "n*sizeof(T)", flops = "n" },
    shapes = {
        { n = 1000003 },
        { n = 1 << 24 },
        { n = 1 << 28, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = template "sum_ref.cu",
        workspaces = { workspace("parts", "u64", 1024) },
        launch = {
            { kernel = "sum_ref_parts", block = 256, grid = parts, args = { "x", "n", "parts" } },
            { kernel = "sum_ref", block = 256, args = { "out", "parts", "count" }, values = { count = parts } },
        },
    },
    check = "close",
    variants = {
        two_pass("two_pass", false), -- each block stores its sum in a workspace; a second launch adds those sums
        two_pass("dependent", true), -- the same, with the second launch started early
        {
            name = "single", -- one block
            template = template "sum_single.cu",
            params = shape,
            where = fits "n <= device.multiprocessors << 16",
            launch = { kernel = "sum_single", block = "BLOCK" },
        },
    },
    defaults = { { variant = "two_pass", BLOCK = 256, ITEMS = 4, BLOCKS = 4 } },
}
