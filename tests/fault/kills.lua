-- 60 configurations on the pretend device. Each takes some time to measure, so that a kill meets it.
return op {
    name = "kills",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("out", "T", { "n" }), input("in", "T", { "n" }), value "n" },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 1000 } },
    reference = { template = "faults_ref.cu", launch = { kernel = "copy_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = {
        {
            name = "pretend",
            template = "kills.cu",
            params = { { "K", table.unpack(range(1, 60)) } },
            launch = { kernel = "copy", block = 64, grid = "ceildiv(n, 64)" },
        },
    },
    defaults = { { variant = "pretend", K = 1 } },
}
