-- The Bhattacharyya distance of two particles of localizations: expdist of the template-free particle fusion, with the space of the benchmark
-- suites. CUDA C++ as it is; block sums by CUB.
return op {
    name = "expdist",
    problem = { size("m", { max = "1 << 20" }), size("n", { max = "1 << 20" }) },
    types = { T = { "f64", "f32" } },
    args = {
        input("A", "T", { 2, "m" }), input("B", "T", { 2, "n" }), value("m", "m", "i32"), value("n", "n", "i32"),
        input("scale_A", "T", { "m" }, { range = { 0.5, 1.5 } }), input("scale_B", "T", { "n" }, { range = { 0.5, 1.5 } }),
        output("d_cost", "T", { 1 }),
    },
    work = { bytes = "3 * (m + n) * sizeof(T)", flops = "12 * m * n" },
    shapes = { { m = 16384, n = 16384 } },
    reference = { language = "cuda", template = "expdist_ref.cu", launch = { kernel = "expdist_ref", block = 256, grid = 1 } },
    check = "close",
    variants = {
        {
            name = "blocks",
            language = "cuda",
            template = "expdist.cu",
            params = {
                param("block_size_x", 32, powers(32, 1024)), param("block_size_y", 1, powers(1, 32)), param("tile_size_x", 1, range(1, 8)),
                param("tile_size_y", 1, range(1, 8)), { "use_shared_mem", 1, 0, 2 }, param("loop_unroll_factor_x", 1, range(1, 8)),
                param("loop_unroll_factor_y", 1, range(1, 8)), { "use_column", 1, 0 }, param("n_y_blocks", 1, powers(1, 1024)),
            },
            where = {
                "block_size_x * block_size_y >= 32", "block_size_x * block_size_y <= 1024",
                "tile_size_x % loop_unroll_factor_x == 0", "tile_size_y % loop_unroll_factor_y == 0",
                "use_column == 1 or n_y_blocks == 1", "use_column == 1 or use_shared_mem ~= 2",
            },
            workspaces = {
                workspace("partial", "T", "ceildiv(m, block_size_x * tile_size_x) * (use_column == 1 and n_y_blocks or ceildiv(n, block_size_y * tile_size_y))"),
            },
            options = { "-std=c++17" },
            launch = {
                {
                    kernel = "expdist_blocks", block = { "block_size_x", "block_size_y" }, args = { "A", "B", "m", "n", "scale_A", "scale_B", "partial" },
                    grid = { "ceildiv(m, block_size_x * tile_size_x)", "use_column == 1 and n_y_blocks or ceildiv(n, block_size_y * tile_size_y)" },
                },
                {
                    kernel = "expdist_total", block = 256, args = { "d_cost", "partial", "parts" },
                    values = { parts = { "ceildiv(m, block_size_x * tile_size_x) * (use_column == 1 and n_y_blocks or ceildiv(n, block_size_y * tile_size_y))", "i32" } },
                },
            },
        },
    },
    defaults = { { variant = "blocks" } },
}
