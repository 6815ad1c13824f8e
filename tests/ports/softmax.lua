-- Softmax over the rows of an N x C matrix, with the signature that training codes in plain CUDA use. One pass finds maximum and sum
-- together (ONLINE), or two do.
return op {
    name = "softmax_rows",
    problem = { size("N", { max = "1 << 24" }), size("C", { max = "1 << 24" }) },
    types = { T = { "f32" } },
    args = {
        output("out", "f32", { "N", "C" }), -- exponentials of peaks are too large for f32
        input("inp", "f32", { "N", "C" }, { range = { 74, 78 }, peaks = { 89.5, 90 } }), value("N", "N", "i32"), value("C", "C", "i32"),
    },
    work = { bytes = "8 * N * C", flops = "5 * N * C" },
    shapes = { { N = 50, C = 300 }, { N = 8192, C = 8192, when = "device.backend == 'cuda'" } },
    reference = { template = "softmax_ref.cu", launch = { kernel = "softmax_ref", block = 64, grid = "ceildiv(N, 64)" } },
    check = "close",
    variants = {
        {
            name = "block", -- a block a row
            template = "softmax.cu",
            params = { param("block_size", 128, powers(32, 1024)), { "ONLINE", 0, 1 }, { "UNROLL", 1, 2, 4, 8 } },
            launch = { kernel = "softmax_forward", block = "block_size", grid = "N" },
        },
    },
    defaults = { { variant = "block" } },
}
