-- Two-dimensional convolution with the filter in constant memory: Kernel Tuner's example, its signature and its space. CUDA C++ as it is.
local shared = "(block_size_x * tile_size_x + fw - 1) * (block_size_y * tile_size_y + fh - 1) * 4"
return op {
    name = "convolution",
    problem = { size("h", { max = 65536 }), size("w", { max = 65536 }), size("fh", { max = 33 }), size("fw", { max = 33 }) },
    types = { T = { "f32" } },
    args = {
        output("output_array", "f32", { "h", "w" }), input("input_array", "f32", { "h + fh - 1", "w + fw - 1" }),
        input("filter", "f32", { "fh", "fw" }, { constant = "d_filter" }), value("w", "w", "i32"), value("h", "h", "i32"),
        value("fw", "fw", "i32"), value("fh", "fh", "i32"), scalar("scale", "f32", 1.0),
    },
    work = { bytes = "4 * (h * w + (h + fh - 1) * (w + fw - 1) + fh * fw)", flops = "2 * h * w * fh * fw" },
    shapes = { { h = 4096, w = 4096, fh = 17, fw = 17 } },
    reference = {
        language = "cuda", template = "convolution_ref.cu",
        launch = { kernel = "convolution_ref", block = 256, grid = "ceildiv(h * w, 256)" },
    },
    check = "close",
    variants = {
        {
            name = "tiled",
            language = "cuda",
            template = "convolution.cu",
            params = {
                param("block_size_x", 16, range(16, 256, 16)), param("block_size_y", 16, { 1, 2, 4, 8, 16 }),
                param("tile_size_x", 1, { 1, 2, 4 }), param("tile_size_y", 1, { 1, 2, 4 }), { "use_padding", 0, 1 }, { "read_only", 0, 1 },
                { "FILTER_MAX", 33 },
            },
            where = {
                "block_size_x * block_size_y >= 32", "block_size_x * block_size_y <= 1024", "use_padding == 0 or block_size_x % 32 ~= 0",
                shared .. " <= 49152",
            },
            options = { "--use_fast_math" },
            launch = {
                kernel = "convolution_kernel", block = { "block_size_x", "block_size_y" },
                grid = { "ceildiv(w, block_size_x * tile_size_x)", "ceildiv(h, block_size_y * tile_size_y)" },
                shared = "(block_size_x * tile_size_x + fw - 1 + 32 * use_padding) * (block_size_y * tile_size_y + fh - 1) * 4",
            },
        },
    },
    defaults = { { variant = "tiled" } },
}
