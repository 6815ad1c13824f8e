-- Values that use every operator of the expression language, and constraints that cannot always be evaluated. For the pretend device.
return op {
    name = "formulas",
    problem = { size "m", size "n", flag "on" },
    types = { T = { "f32", "i8", "f64" } },
    args = {
        output("out", "T", { "m" }), input("in", "T", { "n" }), value("a", "m + n - 3 * on", "i64"), value("b", "m * n", "i64"),
        value("c", "m // n", "i64"), value("d", "m % n", "i64"), value("e", "-m // n", "i64"), value("f", "-m % n", "i64"),
        value("g", "m & n", "i64"), value("h", "m | n", "i64"), value("i", "m ~ ~n", "i64"), value("j", "m << n % 40", "i64"),
        value("k", "m * 1000 >> n % 16", "i64"), value("l", "ceildiv(m, n) + ceildiv(-m, n)", "i64"),
        value("o", "alignup(m, n)", "i64"), value("p", "min(m, n, 77)", "i64"), value("q", "max(m, n, 5.0)", "i64"),
        value("r", "abs(m - n)", "i64"), value("s", "floor(m / n)", "i64"), value("t", "sizeof(T) * 100 + sizeof(f16)", "i64"),
        value("u", "log2(m)", "i64"), value("v", "ispow2(m) and 1 or 0", "i64"), value("w", "m > n and 3 or m == n and 2 or 1", "i64"),
        value("x", "(m <= n or not (n >= 7)) and m < 100 and m ~= 5 and 1 or 0", "i64"), value("y", "T == 'f32' and 7 or T < 'g' and 8 or 9", "i64"),
        value("z", "m / n", "f64"), value("aa", "m ^ 0.5 + n ^ 2", "f64"), value("bb", "m % 1.5", "f64"), value("cc", "-m // 2.5", "f64"),
        value("dd", "min(-m / 3, n)", "f32"), value("ee", "on == 1 and 0x7fffffff or 1e3", "f64"),
    },
    work = { bytes = "m + n" },
    shapes = { { m = 61, n = 64, on = 0 } },
    reference = { template = "formulas.cu", launch = { kernel = "formulas" } },
    check = "exact",
    variants = {
        { name = "plain", template = "formulas.cu", params = { { "K", 1, 2 } }, launch = { kernel = "formulas" } },
        {
            name = "overflow", template = "formulas.cu", params = { { "K", 3 } },
            where = { "m * m * m * m * n * 1000 > 0" }, launch = { kernel = "formulas" },
        },
        {
            name = "zero", template = "formulas.cu", params = { { "K", 4 } }, where = { "1000 // (m % 3) > 0", "1 / (n % 5) > 0" },
            launch = { kernel = "formulas" },
        },
        {
            name = "domain", template = "formulas.cu", params = { { "K", 5 } },
            where = { "log2(4000 - m) >= 0", "1 << m % 70 ~= 0", "2.0 ^ m > 1", "(m + 3) / 4 & 1 == 1" }, launch = { kernel = "formulas" },
        },
        {
            name = "types", template = "formulas.cu", params = { { "K", 6 } },
            where = { "m % 7 ~= 3 or m == T", "(n % 7 == 3 and 3 or 'a') ~= 'b'" }, launch = { kernel = "formulas" },
        },
    },
    defaults = {
        { variant = "overflow" }, { variant = "zero" }, { variant = "domain" }, { variant = "types" }, { variant = "plain", K = 2 },
    },
}
