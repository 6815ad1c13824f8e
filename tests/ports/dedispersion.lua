-- Undoes the dispersion of radio signals: for each dispersion measure, the sum over all channels of samples that are shifted by a delay
-- of that channel. The delays are in a table, which is a file; kernel and space as in the published benchmark suites.
return op {
    name = "dedispersion",
    problem = { size("dms", { max = "1 << 20" }), size("samples", { max = "1 << 20" }), size("channels", { max = 128 }) },
    types = { T = { "u8" } },
    args = {
        input("input", "T", { "channels", "samples + 4 * dms" }), -- a delay is below 4 samples a measure
        output("output", "f32", { "dms", "samples" }),
        input("shifts", "f32", { "channels" }, { file = "shifts.npy" }),
        value("samples", "samples", "i32"), value("dms", "dms", "i32"), value("channels", "channels", "i32"),
    },
    work = { bytes = "channels * (samples + 4 * dms) + 4 * dms * samples", flops = "dms * samples * channels" },
    shapes = { { dms = 40, samples = 1000, channels = 128 },
               { dms = 2048, samples = 25000, channels = 128, when = "device.backend == 'cuda'" } },
    reference = {
        template = "dedispersion_ref.cu",
        launch = { kernel = "dedispersion_ref", block = 256, grid = "ceildiv(samples * dms, 256)" },
    },
    check = "exact", -- sums of at most 128 bytes are exact in f32
    variants = {
        {
            name = "tiled",
            template = "dedispersion.cu",
            params = {
                { "block_size_x", 1, 2, 4, 8, 16, 32 }, param("block_size_y", 32, range(32, 256, 8)), { "block_size_z", 1 },
                param("tile_size_x", 1, range(1, 4)), param("tile_size_y", 1, range(1, 8)),
                { "tile_stride_x", 0, 1 }, { "tile_stride_y", 0, 1 }, { "loop_unroll_factor_channel", 0 },
            },
            where = {
                "32 <= block_size_x * block_size_y", "block_size_x * block_size_y <= 1024",
                "tile_size_x > 1 or tile_stride_x == 0", "tile_size_y > 1 or tile_stride_y == 0",
            },
            launch = {
                kernel = "dedispersion", block = { "block_size_x", "block_size_y" },
                grid = { "ceildiv(dms, block_size_x * tile_size_x)", "ceildiv(samples, block_size_y * tile_size_y)" },
            },
        },
    },
    defaults = { { variant = "tiled", block_size_y = 256 } },
}
