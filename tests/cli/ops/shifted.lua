-- Sums of shifted rows, the shifts from a file: out[i] is the sum over c of x[c, i + shifts[c]].
local kernel = { "out", "x", "shifts", "n", "rows", "most" }
return op {
    name = "shifted",
    problem = { size "n", size "rows", size "most" },
    types = { T = { "i32", "i64" } },
    args = { output("out", "T", { "n" }), input("x", "T", { "rows", "n + most" }), input("shifts", "i32", { "rows" }, { file = "tables/shifts.npy" }),
             value "n", value "rows", value "most" },
    shapes = { { n = 1000, rows = 4, most = 30 } },
    reference = { template = "shifted_ref.cu", launch = { kernel = "shifted_ref", block = 64, grid = "ceildiv(n, 64)", args = kernel } },
    check = "exact",
    variants = { { name = "one", template = "shifted.cu", params = { { "BLOCK", 64, 128 } },
                   launch = { kernel = "shifted", block = "BLOCK", grid = "ceildiv(n, BLOCK)", args = kernel } } },
    defaults = { { variant = "one" } },
}
