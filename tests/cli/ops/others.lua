-- out[r][c] = alpha * x[c + shift][r], where rows of out are ld apart: a transpose. FAULT is what a kernel relies on that holds for one
-- problem only: a size, a stride, a scalar, that rows and columns are as many, that blocks have no edge.
return op {
    name = "others",
    problem = { size "m", size("n", { max = 1 << 16 }), stride "ld" },
    where = { "n <= ld" },
    types = { T = { "f32", "i32" } },
    args = {
        output("out", "T", { "m", "ld" }, { partial = true }), input("x", "T", { "n", "m" }), scalar("alpha", "f32", 0.5),
        scalar("shift", "i32", 1, { other = 3 }), value "m", value "n", value "ld",
    },
    shapes = { { m = 64, n = 64, ld = 80 } },
    reference = { template = "others_ref.cu", launch = { kernel = "others_ref", block = 64, grid = "ceildiv(m * n, 64)" } },
    check = { sum = 1 },
    variants = {
        {
            name = "blocks",
            template = "others.cu",
            params = { { "FAULT", "none", "m", "n", "ld", "alpha", "shift", "square", "edge" }, { "UNIT", 1, 16 } },
            where = { "m % UNIT == 0", "n % UNIT == 0" },
            launch = { kernel = "others", block = { 16, 16 }, grid = { "ceildiv(m, 16)", "ceildiv(n, 16)" } },
        },
    },
    defaults = { { variant = "blocks", FAULT = "none", UNIT = 1 } },
}
