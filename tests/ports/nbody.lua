-- A step of n bodies that attract each other: KTT's example. Bodies as structures of four numbers, or as arrays; in tiles of shared memory
-- or straight from memory.
return op {
    name = "nbody",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = {
        scalar("timeDelta", "f32", 0.001), input("oldBodyInfo", "f32", { "n", 4 }), output("newBodyInfo", "f32", { "n", 4 }),
        input("oldVel", "f32", { "n", 4 }), output("newVel", "f32", { "n", 4 }), scalar("damping", "f32", 0.5),
        scalar("softeningSqr", "f32", 0.01), value("n", "n", "i32"),
    },
    work = { bytes = "64 * n", flops = "20 * n * n" },
    shapes = { { n = 131 }, { n = 65536, when = "device.backend == 'cuda'" } },
    reference = { template = "nbody_ref.cu", launch = { kernel = "nbody_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "close",
    variants = {
        {
            name = "all_pairs",
            template = "nbody.cu",
            params = {
                { "WORK_GROUP_SIZE_X", 64, 128, 256, 512 }, { "OUTER_UNROLL_FACTOR", 1, 2, 4, 8 }, { "INNER_UNROLL_FACTOR", 1, 2, 4, 8, 16, 32 },
                { "LOCAL_MEM", 0, 1 }, { "VECTOR", 0, 1 },
            },
            where = { "INNER_UNROLL_FACTOR < 16 or OUTER_UNROLL_FACTOR <= 4" },
            needs = { aligned("oldBodyInfo", "VECTOR == 1 and 16 or 4") },
            launch = {
                kernel = "nbody_kernel", block = "WORK_GROUP_SIZE_X", grid = "ceildiv(n, WORK_GROUP_SIZE_X * OUTER_UNROLL_FACTOR)",
            },
        },
    },
    defaults = { { variant = "all_pairs" } },
}
