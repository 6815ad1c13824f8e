-- y[i] = alpha * (x[i] - x[0]) + beta * x[i]: if x[0] is no number, no y is. FAULT is what a kernel gets wrong: it writes NaN everywhere,
-- has a ratio of the scalars built in, or is right only for sizes with the remainder that n = 64, 65 or 66 has.
return op {
    name = "finite",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = {
        output("y", "T", { "n" }), input("x", "T", { "n" }, { file = "x.npy" }), scalar("alpha", "f32", 0.5),
        scalar("beta", "f32", -0.25), value "n",
    },
    shapes = { { n = 64 } },
    reference = { template = "finite.cu", launch = { kernel = "finite_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "close",
    variants = {
        {
            name = "plain",
            template = "finite.cu",
            params = { { "FAULT", "none", "nan", "ratio", "parity", "fours" } },
            launch = { kernel = "finite", block = 64, grid = "ceildiv(n, 64)" },
        },
    },
    defaults = { { variant = "plain" } },
}
