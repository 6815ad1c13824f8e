-- A filter in an array of the kernels', which the launch does not pass: on CUDA in a native source.
return op {
    name = "constant_sum",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("out", "T", { "n" }), input("x", "T", { "n + 2" }), input("taps", "T", { 3 }, { constant = "d_taps" }), value "n" },
    shapes = { { n = 1000 } },
    reference = { template = "constant.cu", language = "cuda", launch = { kernel = "sum<T, 64>", block = 64, grid = "ceildiv(n, 64)" } },
    check = { sum = 3 },
    variants = {
        {
            name = "v",
            template = "constant.cu",
            language = "cuda",
            params = { { "BS", 64, 128 } },
            launch = { kernel = "sum<T, BS>", block = "BS", grid = "ceildiv(n, BS)" },
        },
    },
    defaults = { { variant = "v" } },
}
