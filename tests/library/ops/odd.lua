-- Names that C or C++ does not allow, extents that would end a comment, and every kind of size, buffer and scalar. Its kernels never run.
return op {
    name = "odd",
    problem = { size "n", size "new", stride "h", batch "int64_t", flag "unix", size "arg_int", batch("p", { default = 1 }) },
    types = { names = { "T", "ACC" }, { "f16", "f32" }, { "f32", "f32" } },
    args = {
        output("class", "T", { "'*/' ~= '/*' and n or n", "new" }), input("int", "T", { "n" }), inout("stream", "ACC", { 1 }),
        scalar("float", "f32", 0.5), input("_under", "i32", { 1 }), value "n", value "new",
        scalar("half_bits", "f16", 1), scalar("acc", "ACC", 2), scalar("by_type", "T", 3), scalar("pair", "c64", 4),
        scalar("byte", "i8", -1), scalar("wide", "u64", 5), scalar("twice", "f64", 6),
    },
    shapes = { { n = 1, new = 1, h = 1, int64_t = 1, unix = 0, arg_int = 1 } },
    reference = { template = "none.cu", launch = { kernel = "odd", args = { "class", "n" } } },
    check = "exact",
    variants = {
        { name = "only", template = "none.cu", params = {}, launch = { kernel = "odd", args = { "class", "n" } } },
    },
    defaults = { { variant = "only" } },
}
