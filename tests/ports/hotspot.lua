-- Heat on a chip, `iterations` steps of a five-point stencil with a power source: Rodinia's hotspot with the temporal tiling and the space of
-- the benchmark suites. A launch makes up to temporal_tiling_factor steps in shared memory, on a tile with as wide a halo.
local function step(kernel, n, from, to, more)
    local launch = {
        kernel = kernel, args = { "power", from, to, "n", "m", "Rx_1", "Ry_1", "Rz_1", "step_div_cap", "steps" },
        block = { "block_size_x", "block_size_y" },
        grid = { "ceildiv(n, block_size_x * tile_size_x)", "ceildiv(m, block_size_y * tile_size_y)" },
        values = { steps = { n, "i32" } },
    }
    for k, v in pairs(more) do
        launch[k] = v
    end
    return launch
end
local shared = "(block_size_x * tile_size_x + temporal_tiling_factor * 2) * (block_size_y * tile_size_y + temporal_tiling_factor * 2)"
               .. " * (2 + sh_power) * 4"
return op {
    name = "hotspot",
    problem = { size("m", { max = "1 << 19" }), size("n", { max = "1 << 19" }), size("iterations", { max = 10 }) },
    types = { T = { "f32" } },
    args = {
        input("power", "f32", { "m", "n" }), input("temp_src", "f32", { "m", "n" }, { range = { 60, 90 } }),
        output("temp_dst", "f32", { "m", "n" }), value("n", "n", "i32"), value("m", "m", "i32"), value("iterations", "iterations", "i32"),
        scalar("Rx_1", "f32", 0.1), scalar("Ry_1", "f32", 0.1), scalar("Rz_1", "f32", 0.0001), scalar("step_div_cap", "f32", 0.5),
    },
    work = { bytes = "12 * m * n", flops = "15 * m * n * iterations" },
    shapes = { { m = 130, n = 201, iterations = 10 }, { m = 4096, n = 4096, iterations = 10, when = "device.backend == 'cuda'" } },
    reference = {
        template = "hotspot_ref.cu",
        launch = { kernel = "hotspot_ref", block = 256, grid = "ceildiv(m * n, 256)" },
    },
    check = "close",
    variants = {
        {
            name = "tiled",
            template = "hotspot.cu",
            params = {
                param("block_size_x", 16, { 1, 2, 4, 8, 16 }, range(32, 1024, 32)), param("block_size_y", 16, { 1, 2, 4, 8, 16, 32 }),
                param("tile_size_x", 1, range(1, 10)), param("tile_size_y", 1, range(1, 10)),
                param("temporal_tiling_factor", 2, range(1, 10)), param("loop_unroll_factor_t", 1, range(1, 10)),
                { "sh_power", 0, 1 }, { "blocks_per_sm", 0, 1, 2, 3, 4 },
            },
            where = {
                "block_size_x * block_size_y >= 32", "temporal_tiling_factor % loop_unroll_factor_t == 0",
                "block_size_x * block_size_y <= 1024", shared .. " <= 49152",
                "blocks_per_sm == 0 or " .. shared .. " * blocks_per_sm <= 102400",
            },
            workspaces = { workspace("other", "f32", "m * n") },
            -- The first launch reads the input; each of the others what the one before it wrote.
            launch = {
                step("hotspot", "min(iterations, temporal_tiling_factor)", "temp_src", "temp_dst", {}),
                step("hotspot", "min(temporal_tiling_factor, iterations - (ROUND + 1) * temporal_tiling_factor)", "other", "temp_dst",
                     { times = "ceildiv(iterations, temporal_tiling_factor) - 1", swap = { { "other", "temp_dst" } } }),
            },
        },
    },
    defaults = { { variant = "tiled" } },
}
