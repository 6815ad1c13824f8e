-- copy.lua's plain variant in a space that is too large to be tried completely.
return op {
    name = "many",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("out", "T", { "n" }), input("inp", "T", { "n" }), value("n") },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 100000 } },
    reference = { template = "copy_reference.cu", launch = { kernel = "copy_reference", grid = "ceildiv(n,256)", block = "256" } },
    check = "exact",
    variants = {
        {
            name = "plain",
            template = "copy_plain.cu",
            params = { { "BLOCK", 64 }, { "NUMBER", table.unpack(range(1, 10000)) } }, -- a number that the kernel does not look at
            launch = { kernel = "copy", grid = "ceildiv(n,BLOCK)", block = "BLOCK" },
        },
    },
    defaults = { { variant = "plain", BLOCK = 64, NUMBER = 1 } },
}
