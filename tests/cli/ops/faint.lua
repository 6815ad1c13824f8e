-- y[i] = x[i], of odd i a thousandth of it. FAULT: they are 0.
return op {
    name = "faint",
    problem = { size "n" },
    types = { T = { "f32", "bf16" } },
    args = { output("y", "T", { "n" }), input("x", "T", { "n" }), value "n" },
    shapes = { { n = 1000 } },
    reference = { template = "faint.cu", launch = { kernel = "faint_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "close",
    variants = {
        {
            name = "plain",
            template = "faint.cu",
            params = { { "FAULT", false, true } },
            launch = { kernel = "faint", block = 64, grid = "ceildiv(n, 64)" },
        },
    },
    defaults = { { variant = "plain" } },
}
