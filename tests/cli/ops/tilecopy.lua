-- out = x, by tensor maps: a box comes into shared memory with one instruction, and goes out with another.
return op {
    name = "tilecopy",
    problem = { size("m", { max = "1 << 24" }), size("n", { max = "1 << 24" }) },
    types = { T = { "f32", "f16", "u8" } },
    args = { output("out", "T", { "m", "n" }), input("x", "T", { "m", "n" }), value "m", value "n" },
    work = { bytes = "2*m*n*sizeof(T)" },
    shapes = { { m = 1000, n = 1024 } },
    reference = { template = "tilecopy.cu", launch = { kernel = "tilecopy_plain", block = 256, grid = "ceildiv(m * n, 256)" } },
    check = "exact",
    variants = {
        { name = "plain", template = "tilecopy.cu", launch = { kernel = "tilecopy_plain", block = 256, grid = "ceildiv(m * n, 256)" } },
        {
            name = "tensor", template = "tilecopy_tensor.cu", where = { "SWIZZLE == 0 or WIDE * sizeof(T) == SWIZZLE", "HIGH * WIDE * sizeof(T) <= 32768" },
            params = { { "HIGH", 32, 8, 64 }, { "WIDE", 32, 64, 128 }, { "SWIZZLE", 0, 128 } },
            launch = {
                kernel = "tilecopy_tensor", block = 32, grid = { "ceildiv(n, WIDE)", "ceildiv(m, HIGH)" },
                args = { tensor_map("out", { box = { "HIGH", "WIDE" }, swizzle = "SWIZZLE" }),
                         tensor_map("x", { box = { "HIGH", "WIDE" }, swizzle = "SWIZZLE", l2 = 128 }) },
            },
        },
        {
            name = "row", template = "tilecopy_tensor.cu", params = { { "HIGH", 1 }, { "WIDE", 128, 256 } }, -- as one long row
            where = { "m * n * sizeof(T) % 16 == 0" }, -- a box at the end is written in pieces of 16 bytes
            launch = {
                kernel = "tilecopy_tensor", block = 32, grid = "ceildiv(m * n, WIDE)",
                args = { tensor_map("out", { extent = { 1, "m * n" }, stride = { "alignup(m * n, 16)" }, box = { 1, "WIDE" } }),
                         tensor_map("x", { extent = { 1, "m * n" }, stride = { "alignup(m * n, 16)" }, box = { 1, "WIDE" } }) },
            },
        },
    },
    defaults = { { variant = "plain" } },
}
