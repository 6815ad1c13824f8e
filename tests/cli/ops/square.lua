-- A transpose of a square, whose kernel is told its only axis twice.
return op {
    name = "square",
    problem = { size("n", { max = 30000 }) },
    types = { T = { "f32" } },
    args = { output("out", "T", { "n", "n" }), input("a", "T", { "n", "n" }), value "n", value "n" },
    shapes = { { n = 64 } },
    reference = { template = "square.cu", launch = { kernel = "sqk", block = 64, grid = "ceildiv(n*n, 64)" } },
    check = "exact",
    variants = {
        { name = "v", template = "square.cu", launch = { kernel = "sqk", block = 64, grid = "ceildiv(n*n, 64)" } },
    },
    defaults = { { variant = "v" } },
}
