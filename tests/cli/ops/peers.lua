-- Transposition with peers of every kind, for the pretend device.
local T = { "f32", "f64" }
return op {
    name = "peers",
    problem = { size "m", size "n" },
    types = { T = T },
    args = {
        output("out", "T", { "n", "m" }), input("inp", "T", { "m", "n" }), input("x", "T", { "m" }), input("y", "T", { "m" }),
        value "m", value "n", scalar("s", "T", 0.5),
    },
    work = { bytes = "2*m*n*sizeof(T)" },
    shapes = { { m = 100, n = 70 } },
    reference = { template = "copy_reference.cu", launch = { kernel = "copy_reference", grid = 1, block = 256, args = { "out", "inp", "m" } } },
    check = { sum = "n" },
    variants = {
        {
            name = "plain",
            template = "copy_plain.cu",
            params = { { "BLOCK", 64, 32 } },
            launch = { kernel = "copy", grid = "ceildiv(m,BLOCK)", block = "BLOCK", args = { "out", "inp", "m" } },
        },
        {
            name = "naive",
            template = "copy_plain.cu",
            params = { { "BLOCK", 32, 64 } },
            launch = { kernel = "copy", grid = "ceildiv(m,BLOCK)", block = "BLOCK", args = { "out", "inp", "m" } },
        },
    },
    defaults = { { variant = "plain", BLOCK = 64 } },
    peers = {
        { library = "cublas", call = "geam", a = "inp", c = "out", m = "m", n = "n", ta = 1, lda = "n", ldc = "m", alpha = "s" },
        { library = "cublas", call = "dot", a = "x", b = "y", c = "out", n = "m", when = "sizeof(T) == 8" },
        {
            library = "cublaslt", call = "gemm", mode = "tf32", a = "inp", b = "x", c = "out", m = "n", n = 1, k = "m",
            lda = "n", ldb = "m", ldc = "n",
        },
    },
}
