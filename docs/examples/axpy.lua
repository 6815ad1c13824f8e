-- out[i] = a * x[i] + y[i]; a is one element in device memory.
return op {
    name = "axpy",
    problem = { size "n" },
    types = { T = { "f32", "f64", "i32" } },
    args = { output("out", "T", { "n" }), input("a", "T", { 1 }), input("x", "T", { "n" }), input("y", "T", { "n" }), value "n" },
    work = { bytes = "3*n*sizeof(T)", flops = "2*n" },
    shapes = { { n = 1000003 }, { n = 1 << 26, when = "device.backend == 'cuda'" } },
    reference = { template = "axpy_ref.cu", launch = { kernel = "axpy_ref", block = 256, grid = "ceildiv(n, 256)" } },
    check = { sum = 2 }, -- of two products: a * x[i] and 1 * y[i]
    variants = {
        {
            name = "strips", -- a block takes a strip of BLOCK * ITEMS elements
            template = "axpy.cu",
            params = {
                { "BLOCK", 256, 64, 128, 512, 1024 }, -- threads
                { "ITEMS", 4, 1, 2, 8 },              -- elements a thread takes, BLOCK apart
            },
            where = { "BLOCK * ITEMS <= 4096" },
            launch = { kernel = "axpy", block = "BLOCK", grid = "ceildiv(n, BLOCK * ITEMS)" },
        },
    },
    defaults = { { variant = "strips", BLOCK = 256, ITEMS = 4 } },
}
