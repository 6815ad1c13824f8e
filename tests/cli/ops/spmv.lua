-- y = A x, A sparse in compressed rows, which init makes: of row r the columns begin at rows[r], ascending.
return op {
    name = "spmv",
    problem = { size "m", size "n", size "most" },
    types = { T = { "f32", "i32" } },
    args = {
        output("y", "T", { "m" }),
        input("rows", "i32", { "m + 1" }, { init = true }),
        input("columns", "i32", { "m * most" }, { init = true, below = "n" }),
        input("values", "T", { "m * most" }),
        input("x", "T", { "n" }),
        input("lengths", "i32", { "m" }, { below = "min(most, n) + 1" }),
        value "m", value "n", value "most",
    },
    shapes = { { m = 1000, n = 700, most = 12 } },
    init = { template = "spmv_init.cu", launch = {
        { kernel = "spmv_rows", args = { "rows", "lengths", "m" } },
        { kernel = "spmv_columns", block = 64, grid = "ceildiv(m, 64)", args = { "columns", "rows", "lengths", "m", "n" } },
    } },
    reference = { template = "spmv.cu", launch = { kernel = "spmv", block = 64, grid = "ceildiv(m, 64)",
                                                   args = { "y", "rows", "columns", "values", "x", "m", "n" } } },
    check = { sum = "most" },
    variants = { { name = "row", template = "spmv.cu", params = { { "BLOCK", 64, 32, 128 } },
                   launch = { kernel = "spmv", block = "BLOCK", grid = "ceildiv(m, BLOCK)",
                              args = { "y", "rows", "columns", "values", "x", "m", "n" } } } },
    defaults = { { variant = "row" } },
}
