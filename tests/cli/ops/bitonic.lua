-- Sorts n numbers, n a power of two: a launch for each step of each stage. The last steps of a stage are within a block.
return op {
    name = "bitonic",
    problem = { size("n", { max = "1 << 30" }) },
    where = { "ispow2(n)" },
    types = { T = { "i32", "u64" } },
    args = { output("out", "T", { "n" }), input("x", "T", { "n" }), value "n" },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 4096 } },
    reference = { template = "bitonic_ref.cu", launch = { kernel = "bitonic_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = {
        {
            name = "steps", -- ROUND is the stage, STEP the step in it
            template = "bitonic.cu",
            params = { { "BLOCK", 64, 32, 128 } },
            launch = {
                { kernel = "bitonic_copy", block = "BLOCK", grid = "ceildiv(n, BLOCK)" },
                {
                    kernel = "bitonic_step", block = "BLOCK", grid = "ceildiv(n, BLOCK)", times = { "log2(n)", "ROUND + 1" },
                    values = { stage = { "ROUND", "i32" }, distance = "1 << ROUND - STEP" }, args = { "out", "n", "stage", "distance" },
                },
            },
        },
        {
            name = "blocks", -- steps closer than a block's width in shared memory, all of a stage in one launch
            template = "bitonic.cu",
            params = { { "BLOCK", 64, 32 } },
            launch = {
                { kernel = "bitonic_copy", block = "BLOCK", grid = "ceildiv(n, BLOCK)" },
                {
                    times = "log2(n)",
                    launches = {
                        {
                            kernel = "bitonic_step", block = "BLOCK", grid = "ceildiv(n, BLOCK)", times = "max(0, ROUND + 1 - log2(BLOCK))",
                            values = { stage = { "ROUND", "i32" }, distance = "1 << ROUND - STEP" },
                            args = { "out", "n", "stage", "distance" },
                        },
                        {
                            kernel = "bitonic_block", block = "BLOCK", grid = "ceildiv(n, BLOCK)", values = { stage = { "ROUND", "i32" } },
                            args = { "out", "n", "stage" },
                        },
                    },
                },
            },
        },
    },
    defaults = { { variant = "steps" } },
}
