-- y[i] = x[i] - 2 x[i + 1] + x[i + 2]. The kernel computes its negative first, which turns zeros into -0. FAULT one: an element is off by one.
return op {
    name = "zeros",
    problem = { size "n" },
    types = { T = { "f32", "f64", "f16" } },
    args = { output("y", "T", { "n" }), input("x", "T", { "n + 2" }), value "n" },
    shapes = { { n = 1000 } },
    reference = { template = "zeros.cu", launch = { kernel = "zeros_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = { sum = 3 },
    variants = {
        {
            name = "plain",
            template = "zeros.cu",
            params = { { "FAULT", "none", "one" } },
            launch = { kernel = "zeros", block = 64, grid = "ceildiv(n, 64)" },
        },
    },
    defaults = { { variant = "plain" } },
}
