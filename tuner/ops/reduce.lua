-- out = the sum of each row of x, or of each column if `columns` is 1; of all elements if m is 1. If `largest` is 1, the largest
-- instead of the sum; if `mean` is 1, the sum divided by the number of elements.

local shape = {
    { "BLOCK", 256, 512 },
    { "LANES", 32, 8, 16, 64, 128, 256, 512 }, -- neighbouring threads that read neighbouring elements
    { "ITEMS", 4, 1, 8 },                      -- accesses of a thread that are on their way at a time
    { "VEC", 1, 2, 4, 8 },                     -- elements of an access
}
local function fits(...)
    return {
        "VEC == 1 or VEC * sizeof(T) == 16",
        "VEC == 1 or columns == 0 or n % VEC == 0",
        "LANES <= BLOCK",
        "BLOCK == 256 or LANES > 256 or columns == 1", -- else what its lines do is the same
        "columns == 0 or LANES <= 128",
        "LANES * VEC < 2 * n or LANES == 32",
        ...,
    }
end
local tiles = "(columns == 1 and ceildiv(n, LANES * VEC) or ceildiv(m, BLOCK // LANES))"
local split = { "SPLIT", 8, 2, 4, 16, 32, 64, 256, 1024 } -- parts of what one block would take
local long = "SPLIT * ITEMS <= (columns == 1 and m or n) // 16"
local few = tiles .. " * (SPLIT > 16 and 4 or 1) <= 4096"

local outputs = "(columns == 1 and n or m)"
local aligned_packs = { aligned("x", "VEC * sizeof(T)") }

return op {
    name = "reduce",
    problem = { size "m", size "n", flag "columns", flag "largest", flag "mean" },
    where = { "largest + mean <= 1" },
    types = { T = { "f32", "f16", "bf16", "f64", "i32" } },
    args = {
        output("out", "T", { outputs }),
        input("x", "T", { "m", "n" }, { peaks = { "T == 'i32' and 101 or 1.5", "T == 'i32' and 200 or 2", "2 - columns" } }), -- the largest
        value "m", value "n", value "columns", value "largest", value "mean",
    },
    work = { bytes = "m*n*sizeof(T) + " .. outputs .. "*sizeof(T)", flops = "m*n" },
    shapes = {
        { m = 1000, n = 1021, columns = 0, largest = 0, mean = 0, when = "device.backend ~= 'cuda'" },
        { m = 1000, n = 1021, columns = 1, largest = 1, mean = 0, when = "device.backend ~= 'cuda'" },
        { m = 1, n = 1 << 20, columns = 0, largest = 0, mean = 1, when = "device.backend ~= 'cuda'" },
        { m = 16384, n = 1024, columns = 0, largest = 0, mean = 0, when = "device.backend == 'cuda'" },
        { m = 4096, n = 8192, columns = 0, largest = 1, mean = 0, when = "device.backend == 'cuda'" },
        { m = 4096, n = 8192, columns = 1, largest = 0, mean = 1, when = "device.backend == 'cuda'" },
        { m = 32768, n = 333, columns = 0, largest = 0, mean = 0, when = "device.backend == 'cuda'" },
        { m = 1, n = 1 << 26, columns = 0, largest = 0, mean = 0, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = "reduce_ref.cu",
        launch = { kernel = "reduce_ref", block = 256, grid = "min(" .. outputs .. ", 65535)" },
    },
    -- Of a mean, errors are divided by the length, too; the largest is an element as it is.
    check = { sum = "largest + mean > 0 and 1 or columns == 1 and m or n" },
    variants = {
        {
            name = "direct", -- a block makes whole outputs
            template = "reduce.cu",
            params = shape,
            where = fits(),
            needs = aligned_packs,
            launch = { kernel = "reduce", block = "BLOCK", grid = tiles },
        },
        {
            name = "split", -- several blocks to an output, in two launches
            template = "reduce.cu",
            params = { split, table.unpack(shape) },
            where = fits(long, few),
            needs = aligned_packs,
            workspaces = { workspace("partial", "u64", outputs .. " * SPLIT") }, -- enough for the widest T_acc
            launch = {
                {
                    kernel = "reduce", block = "BLOCK", grid = tiles .. " * SPLIT",
                    args = { "x", "m", "n", "columns", "largest", "partial" },
                },
                {
                    kernel = "reduce_total", block = "BLOCK",
                    grid = "SPLIT >= 64 and " .. outputs .. " or ceildiv(" .. outputs .. ", BLOCK)",
                    args = { "out", "m", "n", "columns", "largest", "mean", "partial" },
                },
            },
        },
        {
            name = "atomic", -- the output is cleared, and several blocks add to it
            template = "reduce.cu",
            params = { split, { "ATOMIC", 1 }, table.unpack(shape) },
            where = fits(long, few, "largest + mean == 0 and (T == 'f32' or T == 'i32')"),
            needs = aligned_packs,
            clear = { "out" },
            launch = { kernel = "reduce", block = "BLOCK", grid = tiles .. " * SPLIT" },
        },
    },
    defaults = {
        { variant = "direct", BLOCK = 256, LANES = 32, ITEMS = 4, VEC = 1 },
    },
}
