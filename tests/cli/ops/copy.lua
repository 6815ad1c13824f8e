-- The smallest op with two variants, a constraint and a shape of its own for one kind of device: out[i] = in[i].
return op {
    name = "copy",
    problem = { size "n" },
    types = { T = { "i32", "f32", "u8" } },
    args = { output("out", "T", { "n" }), input("inp", "T", { "n" }), value("n") },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 100000 }, { n = 200000, when = "device.backend == 'cuda'" } },
    reference = { template = "copy_reference.cu", launch = { kernel = "copy_reference", grid = "ceildiv(n,256)", block = "256" } },
    check = "exact",
    variants = {
        {
            name = "plain",
            template = "copy_plain.cu",
            params = { { "BLOCK", 64, 32, 96 } },
            launch = { kernel = "copy", grid = "ceildiv(n,BLOCK)", block = "BLOCK" },
        },
        {
            name = "several",
            template = "copy_several.cu",
            params = { { "BLOCK", 64, 32 }, { "PER", 2, 3, 4 }, { "ORDER", "near", "far" } },
            where = { "BLOCK % PER == 0" },
            launch = { kernel = "copy", grid = "ceildiv(n,BLOCK*PER)", block = "BLOCK" },
        },
    },
    defaults = { { variant = "plain", BLOCK = 64 } },
}
