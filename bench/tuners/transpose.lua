-- out = in^T over a space of some two thousand different kernels; bench/tuners/compare has the same space for other tuners.
return op {
    name = "transpose",
    problem = { size("m", { max = "1 << 20" }), size("n", { max = "1 << 20" }) },
    types = { T = { "f32" } },
    args = { output("out", "f32", { "n", "m" }), input("in", "f32", { "m", "n" }), value("m", "m", "i32"), value("n", "n", "i32") },
    work = { bytes = "8 * m * n" },
    shapes = { { m = 8192, n = 8192 } },
    reference = {
        template = "transpose_ref.cu", launch = { kernel = "transpose_ref", block = 256, grid = "ceildiv(m * n, 256)" },
    },
    check = "exact",
    variants = {
        {
            name = "tile",
            language = "cuda",
            template = "transpose.cu",
            params = {
                { "TILE_X", 32, 16, 64, 128 }, { "TILE_Y", 32, 16, 64, 128 }, { "BLOCK_X", 32, 16, 64 }, { "BLOCK_Y", 8, 4, 16 },
                { "PAD", 1, 0 }, { "UNROLL", 1, 2, 4 }, { "ORDER", 0, 1 }, { "ROUND", 0, 1 },
            },
            where = {
                "(TILE_Y * (TILE_X + PAD)) * 4 <= 49152", "TILE_X * TILE_Y % (BLOCK_X * BLOCK_Y) == 0",
                "TILE_X * TILE_Y // (BLOCK_X * BLOCK_Y) >= UNROLL", "TILE_X * TILE_Y // (BLOCK_X * BLOCK_Y) <= 32",
            },
            launch = {
                kernel = "transpose", block = { "BLOCK_X", "BLOCK_Y" },
                grid = { "ORDER == 1 and ceildiv(m, TILE_Y) or ceildiv(n, TILE_X)", "ORDER == 1 and ceildiv(n, TILE_X) or ceildiv(m, TILE_Y)" },
            },
        },
    },
    defaults = { { variant = "tile" } },
}
