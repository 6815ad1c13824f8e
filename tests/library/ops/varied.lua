-- Everything that a record can contain: several types, every kind of axis, values, workspaces, clears, alignment, dynamic shared memory,
-- words, floats and booleans as parameters, two launches. For the pretend device, which runs nothing.
local total = "m * n * batch"
return op {
    name = "varied",
    problem = { size "m", size "n", stride "ld", batch "batch", flag "trans" },
    types = { names = { "T", "ACC" }, { "f32", "f32" }, { "f16", "f32" }, { "i8", "i32" }, { "f64", "f64" } },
    args = {
        output("out", "T", { "batch", "trans == 1 and n or m", "max(ld, n)" }), input("in", "T", { "batch", "m", "n" }),
        inout("sum", "ACC", { 1 }), value "m", value("alpha", "m * 0.5", "f32"), value("half", "n / 2 ^ 8", "f16"),
        value("bits", "(m | n << 3) & 0xffff ~ trans", "i32"),
    },
    work = { bytes = "2 * " .. total .. " * sizeof(T)", flops = total .. " * log2(max(2, n))" },
    shapes = { { m = 64, n = 64, ld = 64, batch = 1, trans = 0 } },
    reference = { template = "varied.cu", launch = { kernel = "varied_ref", args = { "out", "in", "sum", "m" } } },
    check = "exact",
    variants = {
        {
            name = "tiled",
            template = "varied.cu",
            params = {
                { "TILE", 32, 8, 16 }, { "ORDER", "rows", "columns", "both" }, { "SCALE", 0.5, 2.0 }, { "PAD", true, false },
                { "VEC", 16, 4 },
            },
            where = {
                "TILE % 8 == 0 and (ORDER ~= 'both' or n // TILE >= 1)",
                "floor(SCALE * TILE) >= 1",
                "n % (VEC // sizeof(T)) == 0",
                "not PAD or abs(m - n) < 1 << 20",
                "device.backend ~= 'cuda' or device.cc >= 70",
                "min(m, n, ld) >= 2 or ispow2(TILE)",
                "m * n * batch * sizeof(ACC) < 9223372036854775807 // 64",
            },
            workspaces = {
                workspace("partial", "ACC", "ceildiv(" .. total .. ", TILE * 4)"), workspace("count", "i32", "alignup(batch, 32)"),
            },
            clear = { "out" },
            needs = { aligned("in", "VEC"), noalias "out" },
            launch = {
                {
                    kernel = "first", block = { "TILE", "ORDER == 'rows' and 8 or 4" },
                    grid = { "ORDER == 'columns' and ceildiv(m, TILE) or ceildiv(n, TILE)", "min(batch, 65535)" },
                    shared = "TILE * (TILE + (PAD and 1 or 0)) * sizeof(T)",
                    args = { "out", "in", "sum", "m", "alpha", "half", "bits", "partial", "count" },
                },
                { kernel = "second", block = "min(256, device.max_threads)", args = { "out", "sum", "partial" } },
            },
        },
        { name = "plain", template = "varied.cu", params = { { "TILE", 64, 128 } }, launch = { kernel = "plain", block = "TILE", grid = "ceildiv(m, TILE)" } },
    },
    defaults = { { variant = "tiled", TILE = 16, VEC = 4 }, { variant = "plain" } },
}
