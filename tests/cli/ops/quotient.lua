-- out[i] = n / d[i]: integers, which a processor cannot divide by zero.
return op {
    name = "quotient",
    problem = { size "n" },
    types = { T = { "i32" } },
    args = { output("out", "T", { "n" }), input("d", "T", { "n" }, { range = { 1, 9 } }), value("n", "n", "i32") },
    shapes = { { n = 1000 } },
    reference = { template = "quotient.cu", launch = { kernel = "quotient", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = { { name = "one", template = "quotient.cu", params = { { "BLOCK", 64, 32 } },
                   launch = { kernel = "quotient", block = "BLOCK", grid = "ceildiv(n, BLOCK)" } } },
    defaults = { { variant = "one" } },
}
