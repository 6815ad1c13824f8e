-- y[i] = x[at[i]]: the indices are floats of a file, which are taken for numbers, good for any size. So it reads far behind a smaller x.
return op {
    name = "gather",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("y", "T", { "n" }), input("x", "T", { "n" }), input("at", "f32", { "n" }, { file = "at.npy" }), value "n" },
    shapes = { { n = 98304 } },
    reference = { template = "gather.cu", launch = { kernel = "gather", block = 64, grid = "ceildiv(n, 64)" } },
    check = "close",
    variants = {
        { name = "plain", template = "gather.cu", params = { { "P", 1, 2 } }, launch = { kernel = "gather", block = 64, grid = "ceildiv(n, 64)" } },
    },
    defaults = { { variant = "plain" } },
}
