-- Direct Coulomb summation on a cubic grid: KTT's example. Atoms come as structures (x, y, z, charge side by side) and as four arrays; a
-- configuration reads the one or the other. The arrays hold the same atoms: an init kernel derives them.
return op {
    name = "coulomb",
    problem = { size("grid", { max = 1024 }), size("atoms", { max = "1 << 24" }) },
    types = { T = { "f32" } },
    args = {
        input("atomInfo", "f32", { "atoms", 4 }, { range = { 0.1, 10 } }),
        input("atomInfoX", "f32", { "atoms" }, { init = true }), input("atomInfoY", "f32", { "atoms" }, { init = true }),
        input("atomInfoZ", "f32", { "atoms" }, { init = true }), input("atomInfoW", "f32", { "atoms" }, { init = true }),
        value("numberOfAtoms", "atoms", "i32"), scalar("gridSpacing", "f32", 0.3), value("gridSize", "grid", "i32"),
        output("energyGrid", "f32", { "grid", "grid", "grid" }),
    },
    init = { template = "coulomb_init.cu", launch = { kernel = "coulomb_init", block = 256, grid = "ceildiv(atoms, 256)" } },
    work = { bytes = "4 * grid * grid * grid", flops = "11 * grid * grid * grid * atoms" },
    shapes = { { grid = 21, atoms = 50 }, { grid = 256, atoms = 4000, when = "device.backend == 'cuda'" } },
    reference = {
        template = "coulomb_ref.cu",
        launch = { kernel = "coulomb_ref", block = 256, grid = "ceildiv(grid * grid * grid, 256)" },
    },
    check = "close",
    variants = {
        {
            name = "sum",
            template = "coulomb.cu",
            params = {
                { "WORK_GROUP_SIZE_X", 16, 8, 32 }, { "WORK_GROUP_SIZE_Y", 4, 1, 2, 8, 16, 32 }, { "Z_ITERATIONS", 1, 2, 4, 8, 16, 32 },
                { "INNER_UNROLL_FACTOR", 1, 2, 4, 8, 16, 32 }, { "USE_SOA", 0, 1 },
            },
            where = { "WORK_GROUP_SIZE_X * WORK_GROUP_SIZE_Y >= 64" },
            needs = { aligned("atomInfo", "USE_SOA == 1 and 4 or 16") },
            launch = {
                kernel = "directCoulombSum", block = { "WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE_Y" },
                grid = { "ceildiv(grid, WORK_GROUP_SIZE_X)", "ceildiv(grid, WORK_GROUP_SIZE_Y)", "ceildiv(grid, Z_ITERATIONS)" },
            },
        },
    },
    defaults = { { variant = "sum", USE_SOA = 1 } } -- of which atoms need not be aligned to 16 bytes,
}
