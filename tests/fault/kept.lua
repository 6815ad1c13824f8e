-- out[i] = in[i] with a workspace. It holds garbage at first, and later what the last launch left there.
return op {
    name = "kept",
    problem = { size "n" },
    types = { T = { "i32" } },
    args = { output("out", "T", { "n" }), input("in", "T", { "n" }), value "n" },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 100003 } },
    reference = { template = "faults_ref.cu", launch = { kernel = "copy_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = {
        {
            name = "kept",
            template = "kept.cu",
            params = {
                { "KEPT", "none", "marks", "flags", "remembers", "parity", "input", "guard", "crash", "hang", "outside", "none_still" },
            },
            workspaces = { workspace("kept", "i32", "2*n") },
            launch = {
                { kernel = "copy_kept", args = { "out", "in", "n", "kept" }, block = 64, grid = "ceildiv(n, 64)" },
                { kernel = "mark_kept", args = { "n", "kept" }, block = 64, grid = "ceildiv(n, 64)" },
            },
        },
    },
    defaults = { { variant = "kept", KEPT = "none" } },
}
