-- c[i] = a[i] + b[i]: the first example of Kernel Tuner's guide, its kernel's signature and its space.
return op {
    name = "vector_add",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("c", "f32", { "n" }), input("a", "f32", { "n" }), input("b", "f32", { "n" }), value("n", "n", "i32") },
    work = { bytes = "12*n", flops = "n" },
    shapes = { { n = 100003 }, { n = 80000000, when = "device.backend == 'cuda'" } },
    reference = { template = "vector_add_ref.cu", launch = { kernel = "vector_add_ref", block = 256, grid = "ceildiv(n, 256)" } },
    check = { sum = 2 }, -- of any bits, two NaNs have a sum whose sign is the compiler's choice
    variants = {
        {
            name = "plain",
            template = "vector_add.cu",
            params = { param("block_size_x", 128, range(64, 1024, 32)) },
            launch = { kernel = "vector_add", block = "block_size_x", grid = "ceildiv(n, block_size_x)" },
        },
    },
    defaults = { { variant = "plain", block_size_x = 128 } },
}
