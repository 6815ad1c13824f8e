-- A seven-point stencil in three dimensions with three coefficients that callers choose: one for the middle, one for the neighbours in the
-- plane, one for those above and below. As in Parboil and the benchmark suites; walls keep their values.
return op {
    name = "stencil",
    problem = { size("nz", { max = 4096 }), size("ny", { max = 4096 }), size("nx", { max = 4096 }) },
    types = { T = { "f32", "f64" } },
    args = {
        scalar("c0", "T", 0.5), scalar("c1", "T", 0.1), scalar("c2", "T", 0.05), input("A0", "T", { "nz", "ny", "nx" }),
        output("Anext", "T", { "nz", "ny", "nx" }), value "nx", value "ny", value "nz",
    },
    work = { bytes = "2 * nx * ny * nz * sizeof(T)", flops = "9 * nx * ny * nz" },
    shapes = { { nz = 20, ny = 37, nx = 70 }, { nz = 512, ny = 512, nx = 512, when = "device.backend == 'cuda'" } },
    reference = { template = "stencil_ref.cu", launch = { kernel = "stencil_ref", block = 256, grid = "ceildiv(nx * ny * nz, 256)" } },
    check = "close",
    variants = {
        {
            name = "columns", -- a thread goes up a column of Z_STEPS points and keeps what is below and above
            template = "stencil.cu",
            params = { { "BLOCK_X", 32, 16, 64, 128, 256 }, { "BLOCK_Y", 4, 1, 2, 8, 16 }, { "Z_STEPS", 4, 1, 8, 16, 32, 64 }, { "SHARED_PLANE", 0, 1 } },
            where = { "BLOCK_X * BLOCK_Y >= 64", "BLOCK_X * BLOCK_Y <= 1024" },
            launch = {
                kernel = "stencil_columns", block = { "BLOCK_X", "BLOCK_Y" },
                grid = "ceildiv(nx, BLOCK_X) * ceildiv(ny, BLOCK_Y) * ceildiv(nz, Z_STEPS)",
            },
        },
    },
    defaults = { { variant = "columns" } },
}
