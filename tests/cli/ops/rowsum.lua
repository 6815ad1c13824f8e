-- out[i] = sum of the i-th row: by clusters of blocks, by one cooperative launch, and by two launches of which the second begins early.
local parts = { "PARTS", 4, 1, 2, 8, 16 } -- blocks for a row
return op {
    name = "rowsum",
    problem = { size("m", { max = 65535 }), size("n", { max = "1 << 30" }) },
    types = { T = { "f32", "i32" } },
    args = { output("out", "T", { "m" }), input("x", "T", { "m", "n" }), value "m", value "n" },
    work = { bytes = "m*n*sizeof(T)" },
    shapes = { { m = 100, n = 3000 } },
    reference = { template = "rowsum_ref.cu", launch = { kernel = "rowsum_ref", block = 64, grid = "ceildiv(m, 64)" } },
    check = { sum = "n" },
    variants = {
        { name = "plain", template = "rowsum.cu", params = { { "PARTS", 1 } }, launch = { kernel = "rowsum", block = 128, grid = "m" } },
        {
            name = "cluster", template = "rowsum.cu", params = { parts },
            launch = { kernel = "rowsum_cluster", block = 128, grid = "m * PARTS", cluster = "PARTS" },
        },
        {
            name = "cooperative", template = "rowsum.cu", params = { parts, { "BLOCKS", 64, 1, 100000 } },
            workspaces = { workspace("part", "T", "m * PARTS"), workspace("count", "i32", 1, { clear = true }) },
            launch = { kernel = "rowsum_at_once", block = 128, grid = "BLOCKS", cooperative = true },
        },
        {
            name = "dependent", template = "rowsum.cu", params = { parts },
            workspaces = { workspace("part", "T", "m * PARTS") },
            launch = {
                { kernel = "rowsum_parts", block = 128, grid = "m * PARTS", args = { "part", "x", "m", "n" } },
                { kernel = "rowsum_total", block = 128, grid = "ceildiv(m, 128)", args = { "out", "part", "m" }, dependent = true },
            },
        },
    },
    defaults = { { variant = "plain", PARTS = 1 } },
}
