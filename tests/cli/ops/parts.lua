-- PARTS blocks share a tile; four are best. Times are directives of src/device/null.c, and the same for every n.
return op {
    name = "parts",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("out", "T", { "n" }), input("inp", "T", { "n" }), value("n") },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 1000 } },
    reference = { template = "parts.cu", launch = { kernel = "parts" } },
    check = "exact",
    variants = {
        {
            name = "v",
            template = "parts.cu",
            params = { { "PARTS", 1, 2, 3, 4, 5, 6, 7, 8 } },
            launch = {
                { kernel = "parts", grid = "ceildiv(n, 128) * PARTS" },
                { kernel = "parts", when = "n < 0" }, -- never, so that it has but one block says nothing
            },
        },
    },
    defaults = { { variant = "v" } },
}
