-- y[i] = x[at[i]]. FAULT: a kernel that takes no index below 1, or not the last one.
return op {
    name = "ends",
    problem = { size "n", size "m" },
    types = { T = { "i32" } },
    args = { output("y", "T", { "n" }), input("x", "T", { "m" }), input("at", "T", { "n" }, { below = "m" }), value "n", value "m" },
    shapes = { { n = 50, m = 100000 } },
    reference = { template = "ends.cu", launch = { kernel = "ends_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "exact",
    variants = {
        { name = "plain", template = "ends.cu", params = { { "FAULT", "none", "first", "last" } }, launch = { kernel = "ends", block = 64, grid = "ceildiv(n, 64)" } },
    },
    defaults = { { variant = "plain" } },
}
