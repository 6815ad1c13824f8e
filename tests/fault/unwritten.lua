-- An op whose reference writes its whole output for i32, all but one element for i64, and nothing for u32. Its kernels do the same.
local launch = { kernel = "copy", block = 64, grid = "ceildiv(n, 64)" }
return op {
    name = "unwritten",
    problem = { size "n" },
    types = { T = { "i32", "i64", "u32" } },
    args = { output("out", "T", { "n" }), input("in", "T", { "n" }), value "n" },
    shapes = { { n = 10007 } },
    reference = { template = "unwritten.cu", launch = launch },
    check = "exact",
    variants = { { name = "copy", template = "unwritten.cu", launch = launch } },
    defaults = { { variant = "copy" } },
}
