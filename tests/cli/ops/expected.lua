-- y = 2 x + 1, with x and y in files and no reference.
return op {
    name = "expected",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("y", "T", { "n" }, { file = "y.npy" }), input("x", "T", { "n" }, { file = "x.npy" }), value "n" },
    shapes = { { n = 100 } },
    check = "close",
    variants = { { name = "line", template = "expected.cu", params = { { "BLOCK", 64, 32 }, { "WRONG", 0, 1, 2 } },
                   launch = { kernel = "line", block = "BLOCK", grid = "ceildiv(n, BLOCK)" } } },
    defaults = { { variant = "line" } },
}
