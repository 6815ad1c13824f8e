-- P has its own time; a WIDE one takes half of that, but needs whole words. Times are directives of src/device/null.c.
return op {
    name = "words",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("out", "T", { "n" }), input("inp", "T", { "n" }), value("n") },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 1000 } },
    reference = { template = "words.cu", launch = { kernel = "words" } },
    check = "exact",
    variants = {
        {
            name = "v",
            template = "words.cu",
            params = { { "P", 1, 2, 3, 4, 6, 8, 12, 16 }, { "WIDE", false, true } },
            where = { "not WIDE or n % 4 == 0" },
            launch = { kernel = "words" },
        },
    },
    defaults = { { variant = "v" } },
}
