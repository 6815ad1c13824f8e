-- y[i][j] = exp(x[i][j] - the largest of row i) / the sum of those over the row.
-- softmax.h says what is computed of a row; softmax, rmsnorm and layernorm share the templates rows_*.cu, which walk the rows.

local function template(walk)
    return { "softmax.h", walk }
end

local block = { "BLOCK", 256, 128, 512, 1024 }
local items = { "ITEMS", 4, 1, 2, 8 } -- elements of a thread that are on their way at a time

-- Rows in registers: packs of VEC elements. Where rows begin anywhere, PEEL moves all but the ends of a row in aligned packs.
local vec = { "VEC", 4, 8, 2, 1 }
local peel = { "PEEL", false, true }
local packs = { "PACKS", 4, 1, 2, 3, table.unpack(range(5, 32)) } -- that a thread holds
local whole = { "WHOLE", false, true } -- they hold the row and no more: no end to look for
local function fits(team, ...) -- as few packs as the threads of a team can hold a row in
    return {
        "VEC == 1 or VEC * sizeof(T) >= 8 and VEC * sizeof(T) <= 16",
        "(n % VEC ~= 0) == PEEL",
        "PACKS * " .. team .. " * VEC >= n + (PEEL and VEC - 1 or 0)",
        "(PACKS - 1) * " .. team .. " * VEC < n + (PEEL and VEC - 1 or 0)",
        "(n % (" .. team .. " * VEC) == 0) == WHOLE",
        team .. " * VEC < 2 * n",
        "PACKS * VEC <= 64 and PACKS * VEC * BLOCK <= 32768",
        ...,
    }
end
local aligned_packs = {
    aligned("x", "VEC * sizeof(T)"),
    aligned("y", "VEC * sizeof(T)"),
}

local staged = "BLOCK // LANES * alignup(ceildiv(n, CLUSTER), 16 // sizeof(T)) * sizeof(T)" -- bytes of a block

return op {
    name = "softmax",
    problem = { size "m", size "n" },
    types = { T = { "f32", "f16", "bf16" } },
    args = {
        output("y", "T", { "m", "n" }),
        -- The exponential of a peak is too large for f32, and larger than those of 10^5 others together.
        input("x", "T", { "m", "n" }, { range = { 74, 78 }, peaks = { 89.5, 90 } }),
        value "m", value "n",
    },
    work = { bytes = "2*m*n*sizeof(T)" },
    shapes = {
        { m = 1000, n = 333, when = "device.backend ~= 'cuda'" },
        { m = 1024, n = 1024, when = "device.backend ~= 'cuda'" },
        { m = 16384, n = 1024, when = "device.backend == 'cuda'" },
        { m = 4096, n = 8192, when = "device.backend == 'cuda'" },
        { m = 32768, n = 333, when = "device.backend == 'cuda'" },
        { m = 128, n = 100000, when = "device.backend == 'cuda'" },
    },
    reference = { template = "softmax_ref.cu", launch = { kernel = "softmax_ref", block = 256, grid = "min(m, 65535)" } },
    check = { close = { rtol = "T == 'f32' and max(1e-5, 3e-8 * n^0.5) or T == 'f16' and 1/512 or 1/64" } },
    variants = {
        {
            name = "block", -- a block to a row, which it reads twice
            template = template "rows_block.cu",
            params = { block, items },
            launch = { kernel = "rows", block = "BLOCK", grid = "min(m, 1 << 20)" },
        },
        {
            name = "cached", -- a block to a row, which it reads once and keeps in shared memory
            template = template "rows_cached.cu",
            params = { block, items },
            where = { "n * sizeof(T) + 2 * BLOCK * 4 + 16 <= device.max_shared" },
            launch = { kernel = "rows", block = "BLOCK", grid = "m", shared = "n * sizeof(T)" },
        },
        {
            name = "split", -- several blocks to a row, in two launches
            template = template "rows_split.cu",
            params = { block, items, { "SPLIT", 8, 2, 4, 16, 32 } },
            where = { "SPLIT * BLOCK * ITEMS <= n" },
            workspaces = { workspace("partial", "f32", "m * SPLIT * 2") },
            launch = {
                { kernel = "rows_partial", block = "BLOCK", grid = "m * SPLIT", args = { "x", "m", "n", "partial" } },
                {
                    kernel = "rows_whole", block = "BLOCK", grid = "m * SPLIT",
                    args = { "y", "x", "m", "n", "partial" },
                },
            },
        },
        {
            name = "registers", -- LANES threads to a row, which they read once, into their registers
            template = template "rows_registers.cu",
            params = {
                { "LANES", 32, 4, 8, 16, 64, 128, 256, 512, 1024 },
                { "BLOCK", 256, 64, 128, 512, 1024 },
                vec, peel, packs, whole, { "STREAM", false, true },
            },
            where = fits("LANES", "LANES <= BLOCK", "BLOCK <= max(LANES, 256)"),
            needs = aligned_packs,
            requires = { backend = "cuda" },
            launch = { kernel = "rows", block = "BLOCK", grid = "ceildiv(m, BLOCK // LANES)" },
        },
        {
            name = "cluster", -- the same with a cluster of CLUSTER blocks to a row, as the kernel itself declares
            template = template "rows_registers.cu",
            params = { { "CLUSTER", 8, 2, 4 }, { "BLOCK", 512, 128, 256, 1024 }, vec, peel, packs, whole },
            where = fits "(CLUSTER * BLOCK)",
            needs = aligned_packs,
            requires = { backend = "cuda", cc = 90 },
            launch = { kernel = "rows", block = "BLOCK", grid = "m * CLUSTER" },
        },
        {
            name = "staged", -- LANES threads to a row, or CLUSTER blocks, which they read once and keep in shared memory
            template = template "rows_staged.cu",
            params = {
                { "CLUSTER", 1, 2, 4, 8 },
                { "LANES", 32, 16, 64, 128, 256, 512, 1024 },
                { "BLOCK", 256, 64, 128, 512, 1024 },
                { "PACKED", true, false },
            },
            where = {
                "PACKED == (n * sizeof(T) % 16 == 0)", -- else a block's rows begin together at a multiple of 16 bytes
                "PACKED or CLUSTER == 1 and BLOCK // LANES * n * sizeof(T) % 16 == 0",
                "CLUSTER == 1 or LANES == BLOCK and device.cc >= 90",
                "LANES <= BLOCK and BLOCK <= max(LANES, 512)",
                "n >= 4 * LANES * CLUSTER and n <= 128 * LANES * CLUSTER",
                staged .. " + 2048 <= device.max_shared",
            },
            needs = { aligned("x", 16), aligned("y", 16) },
            requires = { backend = "cuda", cc = 80 },
            launch = { kernel = "rows", block = "BLOCK", grid = "ceildiv(m, BLOCK // LANES) * CLUSTER", shared = staged },
        },
    },
    defaults = { -- rows that fit into shared memory are read once
        { variant = "staged", LANES = 32, BLOCK = 128 },
        { variant = "staged", LANES = 256, BLOCK = 256 },
        { variant = "staged", LANES = 1024, BLOCK = 1024 },
        { variant = "staged", LANES = 32, BLOCK = 256, PACKED = false },
        { variant = "cached", BLOCK = 256, ITEMS = 4, when = { "device.backend == 'cuda'" } },
        { variant = "block", BLOCK = 256, ITEMS = 4 },
    },
}
