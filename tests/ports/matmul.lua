-- C = A B as a C++ template: its element type and its tiles are arguments of the template, and the entry is a name expression.
return op {
    name = "matmul",
    problem = { size("m", { max = "1 << 30" }), size("n", { max = "1 << 30" }), size("k", { max = "1 << 30" }) },
    types = { T = { "f32", "f64" } },
    args = {
        output("C", "T", { "m", "n" }), input("A", "T", { "m", "k" }), input("B", "T", { "k", "n" }), value("m", "m", "i32"),
        value("n", "n", "i32"), value("k", "k", "i32"),
    },
    work = { bytes = "(m * k + k * n + m * n) * sizeof(T)", flops = "2 * m * n * k" },
    shapes = { { m = 2048, n = 2048, k = 2048 } },
    reference = {
        language = "cuda", template = "matmul_ref.cu",
        launch = { kernel = "matmul_ref", block = 256, grid = "ceildiv(m * n, 256)" },
    },
    check = { sum = "k" },
    variants = {
        {
            name = "tiles",
            language = "cuda",
            template = "matmul.cu",
            params = {
                { "BLOCK", 16, 32, 64, 128 }, { "STEP", 8, 16, 32 }, { "SIDE", 1, 2, 4, 8 },
            },
            where = { "BLOCK % SIDE == 0", "BLOCK // SIDE * (BLOCK // SIDE) <= 1024", "BLOCK // SIDE * (BLOCK // SIDE) >= 32" },
            options = { "-std=c++17" },
            launch = {
                kernel = "tiled::matmul<T, BLOCK, STEP, SIDE>", block = { "BLOCK // SIDE", "BLOCK // SIDE" },
                grid = "ceildiv(m, BLOCK) * ceildiv(n, BLOCK)",
            },
        },
    },
    defaults = { { variant = "tiles" } },
}
