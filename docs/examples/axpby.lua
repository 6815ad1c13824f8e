-- out[i] = alpha * x[i] + beta * y[i]; callers choose alpha and beta at each launch.
return op {
    name = "axpby",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = {
        output("out", "T", { "n" }),
        scalar("alpha", "f32", 0.5), input("x", "T", { "n" }),
        scalar("beta", "f32", -0.25), input("y", "T", { "n" }),
        value "n",
    },
    work = { bytes = "3*n*sizeof(T)", flops = "3*n" },
    shapes = { { n = 1000004 }, { n = 1 << 26, when = "device.backend == 'cuda'" } },
    reference = { template = "axpby_ref.cu", launch = { kernel = "axpby_ref", block = 256, grid = "ceildiv(n, 256)" } },
    check = { sum = 2 }, -- a half and a quarter of a small whole number are exact
    variants = {
        {
            name = "strips", -- a block takes a strip of BLOCK * ITEMS elements
            template = "axpby.cu",
            params = { { "BLOCK", 256, 64, 128, 512, 1024 }, { "ITEMS", 4, 1, 2, 8 } },
            where = { "BLOCK * ITEMS <= 4096" },
            launch = { kernel = "axpby", block = "BLOCK", grid = "ceildiv(n, BLOCK * ITEMS)" },
        },
        {
            name = "fours", -- a thread takes four elements at once
            template = "axpby_fours.cu",
            params = { { "BLOCK", 256, 64, 128, 512, 1024 } },
            where = { "n % 4 == 0" },
            launch = { kernel = "axpby_fours", block = "BLOCK", grid = "ceildiv(n // 4, BLOCK)" },
            needs = { aligned("out", 16), aligned("x", 16), aligned("y", 16) },
        },
    },
    defaults = { { variant = "strips", BLOCK = 256, ITEMS = 4 } },
}
