-- q = A p and s = r A in one pass over A: the two products of BiCG, from Polybench, tuned by KTT.
return op {
    name = "bicg",
    problem = { size("m", { max = "1 << 22" }), size("n", { max = "1 << 22" }) },
    types = { T = { "f32" } },
    args = {
        input("A", "f32", { "n", "m" }), input("p", "f32", { "m" }), input("r", "f32", { "n" }), output("q", "f32", { "n" }),
        output("s", "f32", { "m" }), value("m", "m", "i32"), value("n", "n", "i32"),
    },
    work = { bytes = "4 * (m * n + 2 * m + 2 * n)", flops = "4 * m * n" },
    shapes = { { m = 300, n = 170 }, { m = 16384, n = 16384, when = "device.backend == 'cuda'" } },
    reference = {
        template = "bicg_ref.cu",
        launch = { kernel = "bicg_ref", block = 64, grid = "ceildiv(max(m, n), 64)" },
    },
    check = { sum = "max(m, n)" },
    variants = {
        {
            name = "fused", -- a block takes TILE_Y rows of BLOCK columns; both results by atomics
            template = "bicg.cu",
            params = { { "BLOCK", 128, 32, 64, 256, 512 }, { "TILE_Y", 32, 8, 16, 64, 128 }, { "ROWS_IN_SHARED", 0, 1 } },
            clear = { "q", "s" },
            launch = { kernel = "bicg_fused", block = "BLOCK", grid = { "ceildiv(m, BLOCK)", "ceildiv(n, TILE_Y)" } },
        },
        {
            name = "two", -- a launch for each product
            template = "bicg.cu",
            params = { { "BLOCK", 128, 32, 64, 256, 512 }, { "TILE_Y", 1 }, { "ROWS_IN_SHARED", 0 } },
            launch = {
                { kernel = "bicg_rows", block = "BLOCK", grid = "n" },
                { kernel = "bicg_columns", block = "BLOCK", grid = "ceildiv(m, BLOCK)" },
            },
        },
    },
    defaults = { { variant = "two" } },
}
