-- The sum of each row, of any type to any other: with the conversions of numbers.h.
return op {
    name = "rows",
    problem = { size "m", size "n" },
    types = {
        names = { "T", "OUT" },
        { "f16", "f16" }, { "bf16", "bf16" }, { "f8e4m3", "bf16" }, { "f8e5m2", "f16" }, { "f16", "f8e4m3" }, { "f32", "bf16" },
        { "f32", "f32" }, { "i8", "i32" },
    },
    args = { output("out", "OUT", { "m" }), input("x", "T", { "m", "n" }), input("one", "bf16", { 1 }, { fill = "numbers" }), value "n", value "m" },
    shapes = { { m = 100, n = 33 } },
    reference = { template = "rows_reference.cu", launch = { kernel = "rows_reference", block = 64, grid = "ceildiv(m, 64)" } },
    check = { sum = "n" },
    variants = {
        {
            name = "halves", -- two threads for a row
            template = "rows.cu",
            params = { { "BLOCK", 64 }, { "FAULT", "none", "cut", "off", "nan" } },
            launch = { kernel = "rows", block = "BLOCK", grid = "ceildiv(2 * m, BLOCK)" },
        },
    },
    defaults = { { variant = "halves" } },
}
