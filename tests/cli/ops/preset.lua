-- out = alpha * x, or -alpha * x if `down` is 1: batch matrices of m rows, ld elements apart in x. All but m and n have defaults.
return op {
    name = "preset",
    problem = {
        size "m", size "n", flag("down", { default = 0 }), stride("ld", { default = "n" }), batch("batch", { default = 1 }),
    },
    where = { "ld >= n" },
    types = { T = { "f16", "f32", "i32" } },
    args = {
        output("out", "T", { "batch", "m", "n" }), scalar("alpha", "T_acc", 1, { other = 2 }), input("x", "T", { "batch", "m", "ld" }),
        value "m", value "n", value "down", value "ld", value "batch",
    },
    shapes = { { m = 4, n = 6 }, { m = 4, n = 6, ld = 9, batch = 2 } },
    reference = { template = "preset.cu", launch = { kernel = "preset", block = 64, grid = "ceildiv(batch * m * n, 64)" } },
    check = { sum = 1 },
    variants = {
        {
            name = "plain",
            template = "preset.cu",
            params = { { "BLOCK", 64, 128 } },
            launch = { kernel = "preset", block = "BLOCK", grid = "ceildiv(batch * m * n, BLOCK)" },
        },
    },
    defaults = { { variant = "plain" } },
}
