-- An op of which the P-th configuration does what the P-th text of ACTS says, a Lua list of directives of src/device/null.c: cut.test writes it.
return op {
    name = "cut",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("out", "T", { "n" }), input("inp", "T", { "n" }), value("n") },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 1000 } },
    reference = { template = "cut_ref.cu", launch = { kernel = "ref" } },
    check = "exact",
    variants = { { name = "v", template = "cut.cu", params = { { "P", table.unpack(range(1, COUNT)) } }, launch = { kernel = "acts" } } },
    defaults = { { variant = "v" } },
}
