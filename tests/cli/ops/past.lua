-- Its kernel is its reference, too: what both read outside a buffer is the same. past.cu is right; data.test makes it wrong.
return op {
    name = "past",
    problem = { size "n" },
    types = { T = { "f32", "i32" } },
    args = { output("y", "T", { "n" }), input("x", "T", { "n" }), input("at", "i32", { "n" }, { below = "n" }), value "n" },
    shapes = { { n = 1000 } },
    reference = { template = "past.cu", launch = { kernel = "past", block = 64, grid = "ceildiv(n, 64)" } },
    check = "close",
    variants = { { name = "same", template = "past.cu", params = { { "BLOCK", 64 } }, launch = { kernel = "past", block = "BLOCK", grid = "ceildiv(n, BLOCK)" } } },
    defaults = { { variant = "same" } },
}
