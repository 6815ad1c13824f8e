-- The sum of n numbers in two launches: Kernel Tuner's reduction example, with its vectors, its choice of shuffles and its space.
return op {
    name = "reduction",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("sum_global", "f32", { 1 }), input("array", "f32", { "n" }), value("n", "n", "i32") },
    work = { bytes = "4 * n", flops = "n" },
    shapes = { { n = 1 << 18 }, { n = 1 << 27, when = "device.backend == 'cuda'" } },
    reference = { template = "reduction_ref.cu", launch = { kernel = "reduction_ref", block = 256, grid = 1 } },
    check = { sum = "n" },
    variants = {
        {
            name = "two_launches",
            template = "reduction.cu",
            params = {
                param("block_size_x", 128, powers(32, 1024)), { "vector", 1, 2, 4 }, param("num_blocks", 1024, powers(32, 32768)),
                { "use_shuffle", 0, 1 },
            },
            where = { "n % vector == 0", "use_shuffle == 0 or device.backend == 'cuda'" },
            needs = { aligned("array", "vector * 4") },
            workspaces = { workspace("partial", "f32", "num_blocks") },
            launch = {
                { kernel = "sum_floats", block = "block_size_x", grid = "num_blocks", args = { "partial", "array", "n" } },
                { kernel = "sum_rest", block = "block_size_x", grid = 1, args = { "sum_global", "partial" } },
            },
        },
    },
    defaults = { { variant = "two_launches" } },
}
