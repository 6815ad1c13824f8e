-- Six configurations for real devices: a plain copy, and five that read each element so often that they are clearly slower.
return op {
    name = "spins",
    problem = { size "n" },
    types = { T = { "i32" } },
    args = { output("out", "T", { "n" }), input("in", "T", { "n" }), value "n" },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 1 << 18 } },
    reference = { template = "faults_ref.cu", launch = { kernel = "copy_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = {
        {
            name = "spin",
            template = "spins.cu",
            params = { { "TIMES", 30, 1, 20, 40, 50, 60 } },
            launch = { kernel = "copy", block = 64, grid = "ceildiv(n, 64)" },
        },
    },
    defaults = { { variant = "spin", TIMES = 30 } },
}
