-- Block sums in OpenCL C as it is, of two files.
return op {
    name = "native_cl",
    problem = { size "n" },
    types = { T = { "f32", "i32" } },
    args = { output("sums", "T", { "ceildiv(n, 64)" }), input("x", "T", { "n" }), value("n", "n", "i32") },
    shapes = { { n = 100003 } },
    include_dirs = { "native_inc" },
    reference = {
        template = "native_ref.cl",
        language = "opencl",
        launch = { kernel = "sums_ref", block = 64, grid = "ceildiv(n, 64 * 64)" },
    },
    check = { sum = 64 },
    variants = {
        {
            name = "tree",
            template = { "native_add.cl", "native_tree.cl" },
            language = "opencl",
            options = { "-cl-mad-enable", "-DTIMES=$(UNROLL)" },
            params = { { "UNROLL", 1, 4 } },
            launch = { kernel = "sums_tree", block = 64, grid = "ceildiv(n, 64)", shared = "64 * sizeof(T)" },
        },
    },
    defaults = { { variant = "tree" } },
}
