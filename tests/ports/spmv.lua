-- y = A x for a sparse matrix in compressed rows. Tests make the matrix with an init kernel: rows of 0 to 2 * mean entries, columns ascending.
return op {
    name = "spmv",
    problem = { size("rows", { max = "1 << 26" }), size "columns", size("mean", { max = 64 }) },
    types = { T = { "f32", "f64" } },
    args = {
        output("y", "T", { "rows" }), input("values", "T", { "rows * 2 * mean" }), input("columns_of", "i32", { "rows * 2 * mean" }, { init = true }),
        input("row_starts", "i32", { "rows + 1" }, { init = true }), input("x", "T", { "columns" }), value("rows", "rows", "i32"),
        value("columns", "columns", "i32"), value("mean", "mean", "i32"),
    },
    where = { "rows * 2 * mean < 1 << 31", "columns < 1 << 31" },
    init = { template = "spmv_init.cu", launch = { kernel = "spmv_init", block = 128, grid = "ceildiv(rows + 1, 128)" } },
    work = { bytes = "rows * mean * (sizeof(T) + 4) + rows * (sizeof(T) + 4) + columns * sizeof(T)", flops = "2 * rows * mean" },
    shapes = { { rows = 3000, columns = 2500, mean = 16 }, { rows = 2000000, columns = 2000000, mean = 32, when = "device.backend == 'cuda'" } },
    reference = { template = "spmv_ref.cu", launch = { kernel = "spmv_ref", block = 128, grid = "ceildiv(rows, 128)" } },
    check = { sum = "2 * mean" },
    variants = {
        {
            name = "thread", -- a thread a row
            template = "spmv_thread.cu",
            params = { { "BLOCK", 128, 32, 64, 256, 512, 1024 } },
            launch = { kernel = "spmv_thread", block = "BLOCK", grid = "ceildiv(rows, BLOCK)" },
        },
        {
            name = "team", -- TEAM threads a row, whose sums are added in shared memory
            template = "spmv_team.cu",
            params = { { "BLOCK", 128, 64, 256, 512 }, { "TEAM", 8, 2, 4, 16, 32 } },
            launch = { kernel = "spmv_team", block = "BLOCK", grid = "ceildiv(rows, BLOCK // TEAM)" },
        },
        {
            name = "shuffles", -- the same within a warp
            requires = { backend = "cuda" },
            template = "spmv_shuffle.cu",
            params = { { "BLOCK", 128, 64, 256, 512 }, { "TEAM", 8, 2, 4, 16, 32 } },
            launch = { kernel = "spmv_shuffle", block = "BLOCK", grid = "ceildiv(rows, BLOCK // TEAM)" },
        },
    },
    defaults = { { variant = "thread" } },
}
