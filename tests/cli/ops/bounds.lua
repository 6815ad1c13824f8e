-- Its reference finds out whether the inputs hold what their data says: out[i] is 1 if they do.
return op {
    name = "bounds",
    problem = { size "n", size "m" },
    types = { names = { "T", "I" }, { "f32", "i32" }, { "f64", "i64" }, { "f16", "u8" }, { "bf16", "i16" }, { "f32", "u64" }, { "f32", "u32" }, { "f8e4m3", "i32" }, { "f8e5m2", "i32" } },
    args = {
        output("out", "i32", { "n" }),
        input("x", "T", { "n" }, { range = { 0.5, "2 + 1" } }),
        input("up", "T", { "n" }, { range = { 0.5, 3 }, sorted = true }),
        input("any", "T", { "n" }, { sorted = true }),
        input("i", "I", { "n" }, { range = { 5, "5 + m" } }),
        input("below", "I", { "n" }, { below = "m" }),
        input("rows", "I", { "n" }, { below = "m", sorted = true }),
        inout("at", "i64", { "n" }, { below = "n", sorted = true }),
        value "n",
        value "m",
    },
    shapes = { { n = 1000, m = 100 } },
    reference = { template = "bounds_ref.cu", launch = { kernel = "bounds_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = { { name = "ones", template = "bounds.cu", params = { { "BLOCK", 64, 32 } },
                   launch = { kernel = "bounds", block = "BLOCK", grid = "ceildiv(n, BLOCK)" } } },
    defaults = { { variant = "ones" } },
}
