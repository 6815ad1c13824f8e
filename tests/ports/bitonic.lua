-- Sorts n keys, a power of two, ascending: one launch for each step of the network, or the short steps together in shared memory.
return op {
    name = "bitonic",
    problem = { size "n" },
    where = { "ispow2(n)", "n >= 2" },
    types = { T = { "u32", "i32", "f32" } },
    args = { inout("keys", "T", { "n" }, { fill = "numbers" }), value "n" },
    work = { bytes = "2 * n * sizeof(T)" },
    shapes = { { n = 1 << 14 }, { n = 1 << 22, when = "device.backend == 'cuda'" } },
    -- The rank of a key is how many come before it, so each is written where it belongs.
    reference = {
        template = "bitonic_ref.cu",
        launch = {
            kernel = "bitonic_ref", args = { "keys", "n", "k", "j" }, values = { k = "1 << (ROUND + 1)", j = "1 << (ROUND - STEP)" },
            block = 256, grid = "ceildiv(n, 256)", times = { "log2(n)", "ROUND + 1" },
        },
    },
    check = "exact",
    variants = {
        {
            name = "global", -- a launch for each step
            template = "bitonic.cu",
            params = { { "BLOCK", 256, 64, 128, 512, 1024 }, { "PAIRS", 1, 2, 4 } },
            launch = {
                kernel = "bitonic_step", args = { "keys", "n", "k", "j" }, values = { k = "1 << (ROUND + 1)", j = "1 << (ROUND - STEP)" },
                block = "BLOCK", grid = "ceildiv(n // 2, BLOCK * PAIRS)", times = { "log2(n)", "ROUND + 1" },
            },
        },
        {
            name = "tiles", -- the steps within 2 * BLOCK keys in shared memory
            template = "bitonic.cu",
            params = { { "BLOCK", 256, 64, 128, 512, 1024 }, { "PAIRS", 1 } },
            where = { "n >= 4 * BLOCK" },
            launch = {
                { kernel = "bitonic_sort_tiles", args = { "keys", "n" }, block = "BLOCK", grid = "n // (2 * BLOCK)" },
                {
                    times = "log2(n) - log2(2 * BLOCK)",
                    launches = {
                        {
                            kernel = "bitonic_step", args = { "keys", "n", "k", "j" }, block = "BLOCK", grid = "ceildiv(n // 2, BLOCK)",
                            values = { k = "4 * BLOCK << ROUND", j = "2 * BLOCK << (ROUND - STEP)" }, times = "ROUND + 1",
                        },
                        { kernel = "bitonic_merge_tiles", args = { "keys", "n", "k" }, block = "BLOCK", grid = "n // (2 * BLOCK)",
                          values = { k = "4 * BLOCK << ROUND" } },
                    },
                },
            },
        },
    },
    defaults = { { variant = "global" } },
}
