-- out[i] = in[i]. FAULT none is correct; every other value fails in its own way. The tuner must survive all of them.
return op {
    name = "faults",
    problem = { size "n" },
    types = { T = { "i32" } },
    args = { output("out", "T", { "n" }), input("in", "T", { "n" }), value "n" },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 100003 } },
    reference = { template = "faults_ref.cu", launch = { kernel = "copy_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = {
        {
            name = "copy",
            template = "faults.cu",
            params = {
                {
                    "FAULT", "none", "swaps", "none_next", "nothing", "syntax", "before", "after", "far_write", "far_read", "hang", "endless", "loud",
                    "one", "poison", "later", "stops", "input", "trap", "threads", "shared", "registers", "slow", "middle",
                    "timed_input", "late_hang", "late_trap", "none_still",
                },
                { "BLOCK", 64, 128, 1024 },
            },
            where = {
                -- one of each, and four that are right, also behind one that destroys its input and behind all
                "FAULT == 'none' and BLOCK <= 128 or FAULT ~= 'none' and BLOCK == (FAULT == 'registers' and 1024 or 64)",
                -- OpenCL C has none of these
                "device.backend == 'cuda' or (FAULT ~= 'later' and FAULT ~= 'stops' and FAULT ~= 'trap' and FAULT ~= 'threads' and "
                    .. "FAULT ~= 'registers' and FAULT ~= 'middle' and FAULT ~= 'timed_input' and FAULT ~= 'late_hang' and "
                    .. "FAULT ~= 'late_trap')",
            },
            launch = { kernel = "copy", block = "BLOCK", grid = "ceildiv(n, BLOCK)" },
        },
    },
    defaults = { { variant = "copy", FAULT = "none", BLOCK = 64 } },
}
