-- Sums of a million terms in another order than the reference's: right by the default bounds of each type.
return op {
    name = "close_sums",
    -- positive: terms in [0, 1), not in [-1, 1); narrow: the reference sums in f32, too
    problem = { size "rows", size "n", flag "positive", flag "narrow" },
    types = { T = { "f32", "f16", "bf16" } },
    args = { output("out", "T", { "rows" }), input("x", "f32", { "rows", "n" }), value "rows", value "n", value "positive", value "narrow" },
    shapes = {
        { rows = 8, n = 1000000, positive = 0, narrow = 0 }, { rows = 8, n = 1000000, positive = 1, narrow = 0 },
        { rows = 8, n = 1000000, positive = 0, narrow = 1 }, { rows = 8, n = 1000000, positive = 1, narrow = 1 },
        { rows = 1, n = 1000000, positive = 0, narrow = 0 }, { rows = 1, n = 1000000, positive = 1, narrow = 0 },
    },
    reference = { template = "close_sums.cu", launch = { kernel = "close_sums", grid = "min(rows, 1024)" } },
    check = "close",
    variants = {
        {
            name = "v",
            template = "close_sums.cu",
            -- wrong: one of the last sums is off by a thousandth, by a hundredth, by a twentieth
            params = { { "ORDER", "forward", "backward", "blocked", "pairs", "off", "off10", "off50" } },
            launch = { kernel = "close_sums", grid = "min(rows, 1024)" },
        },
    },
    defaults = { { variant = "v" } },
}
