-- out[i] = in[i]: eleven candidates in a row that always crash, then correct ones. The default is the last.
return op {
    name = "crashers",
    problem = { size "n" },
    types = { T = { "i32" } },
    args = { output("out", "T", { "n" }), input("in", "T", { "n" }), value "n" },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 10007 } },
    reference = { template = "faults_ref.cu", launch = { kernel = "copy_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = {
        {
            name = "crash",
            template = "crashers.cu",
            params = { { "NUMBER", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 } },
            launch = { kernel = "copy", block = 64, grid = "ceildiv(n, 64)" },
        },
    },
    defaults = { { variant = "crash", NUMBER = 14 } },
}
