-- Layer norm of the rows of an N x C matrix, which also keeps each row's mean and inverse deviation for the backward pass: the signature
-- that training codes in plain CUDA use.
return op {
    name = "layer_norm_rows",
    problem = { size("N", { max = "1 << 24" }), size("C", { max = "1 << 24" }) },
    types = { T = { "f32" } },
    args = {
        output("out", "f32", { "N", "C" }), output("mean", "f32", { "N" }, { atol = 1e-5 }), output("rstd", "f32", { "N" }),
        input("inp", "f32", { "N", "C" }, { range = { -1, 3 }, peaks = { "C^0.5", "1.4 * C^0.5" } }), input("weight", "f32", { "C" }),
        input("bias", "f32", { "C" }), value("N", "N", "i32"), value("C", "C", "i32"),
    },
    work = { bytes = "8 * N * C + 8 * C + 8 * N", flops = "8 * N * C" },
    shapes = { { N = 50, C = 300 }, { N = 16384, C = 4096, when = "device.backend == 'cuda'" } },
    reference = { template = "layer_norm_ref.cu", launch = { kernel = "layer_norm_ref", block = 64, grid = "ceildiv(N, 64)" } },
    check = "close",
    variants = {
        {
            name = "rows", -- THREADS threads a row, ROWS rows a block; with CACHE the row is kept in shared memory
            template = "layer_norm.cu",
            params = { param("THREADS", 128, powers(32, 1024)), { "ROWS", 1, 2, 4, 8 }, { "CACHE", 0, 1 } },
            where = { "THREADS * ROWS <= 1024" },
            launch = {
                kernel = "layernorm_forward", block = { "THREADS", "ROWS" }, grid = "ceildiv(N, ROWS)", shared = "CACHE * ROWS * C * 4",
            },
        },
    },
    defaults = { { variant = "rows" } },
}
