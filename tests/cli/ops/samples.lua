-- out = the element before, with 0 at a row's begin; the one after, with the row's first at its end; and the one after, with the last again:
-- in a byte each. One of them comes through a texture, in each variant in another way.
local grid = "ceildiv(m * n, 256)"
local function by(name, options)
    return { name = name, template = "samples_texture.cu",
             launch = { kernel = "samples_" .. name, block = 256, grid = grid, args = { "out", "img", texture("img", options), "m", "n" } } }
end
return op {
    name = "samples",
    problem = { size("m", { max = 16384 }), size("n", { max = 16384 }) },
    types = { T = { "u8" } },
    args = { output("out", "i32", { "m", "n" }), input("img", "T", { "m", "n" }), value "m", value "n" },
    work = { bytes = "5*m*n" },
    shapes = { { m = 64, n = 1024 } },
    reference = { template = "samples.cu", launch = { kernel = "samples_plain", block = 256, grid = grid } },
    check = "exact",
    variants = {
        { name = "plain", template = "samples.cu", launch = { kernel = "samples_plain", block = 256, grid = grid } },
        by("border", { address = "border" }),
        by("border_array", { address = { "clamp", "border" }, array = true }),
        by("wrap", { address = "wrap", normalized = true }),
        by("wrap_array", { address = { "mirror", "wrap" }, normalized = true, array = true }),
        by("mirror", { address = "mirror", normalized = true, array = true }),
        by("words", { extent = { "m * n" }, channels = 4 }),
        by("words_array", { channels = 4, array = true }),
        by("floats", { read = "normalized_float" }),
        by("table", { extent = { "m * n" }, array = true }),
    },
    defaults = { { variant = "plain" } },
}
