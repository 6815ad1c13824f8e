-- An element of a million that is wrong, or none: what is found by the default bounds of each type.
return op {
    name = "close_one",
    problem = { size "n" },
    types = { T = { "f32", "f64", "f16", "bf16", "f8e4m3", "f8e5m2" } },
    args = { output("out", "T", { "n" }), output("rank", "i32", { "n" }, { check = "exact" }), input("x", "T", { "n" }), value "n" },
    shapes = { { n = 1000000 } },
    reference = { template = "close_one.cu", launch = { kernel = "close_one", block = 256, grid = "ceildiv(n, 256)" } },
    check = "close",
    variants = {
        {
            name = "v",
            template = "close_one.cu",
            -- one element is off by a thousandth, a hundredth, a twentieth, twice or four times as large, or wrong otherwise; all, by noise
            params = { { "FAULT", "none", "noise", "off", "off10", "off50", "two", "four", "nan", "inf", "minus", "lost", "missed", "rank" } },
            where = { -- what close-run asks for
                "FAULT ~= 'four' or sizeof(T) == 1",
                "sizeof(T) > 1 or FAULT == 'none' or FAULT == 'noise' or FAULT == 'off50' or FAULT == 'two' or FAULT == 'four'",
            },
            launch = { kernel = "close_one", block = 256, grid = "ceildiv(n, 256)" },
        },
    },
    defaults = { { variant = "v" } },
}
