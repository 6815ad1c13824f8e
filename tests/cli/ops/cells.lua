-- out = the mean of the eight elements of x from here on in depth, height and width (the last ones again at the edges): by loads, and by
-- textures of every kind, whose filter takes the means of two, four or eight.
local grid = "ceildiv(d * m * n, 256)"
local function by(name, img)
    return { name = name, template = "cells_texture.cu", params = { { "KIND", name } }, -- for metrics that choose one
             launch = { kernel = "cells_" .. name, block = 256, grid = grid, args = { "out", img, "d", "m", "n" } } }
end
return op {
    name = "cells",
    problem = { size("d", { max = 16384 }), size("m", { max = 16384 }), size("n", { max = 16384 }) },
    types = { T = { "f32", "f16" } },
    args = { output("out", "f32", { "d", "m", "n" }), input("x", "T", { "d", "m", "n" }), value "d", value "m", value "n" },
    work = { bytes = "d*m*n*(sizeof(T) + 4)" },
    shapes = { { d = 20, m = 100, n = 1000 } },
    reference = { template = "cells.cu", launch = { kernel = "cells_plain", block = 256, grid = grid } },
    check = "close",
    variants = {
        { name = "plain", template = "cells.cu", params = { { "KIND", "plain" } }, launch = { kernel = "cells_plain", block = 256, grid = grid } },
        by("fetch", texture("x", { extent = { "d * m * n" } })),
        by("rows", texture("x", { extent = { "d * m", "n" } })),
        by("filter", texture("x", { extent = { "d * m", "n" }, filter = "linear", address = { "border", "clamp" } })),
        by("array", texture("x", { extent = { "d * m", "n" }, array = true, filter = "linear" })),
        by("volume", texture("x", { filter = "linear", address = "clamp" })),
        by("layers", texture("x", { layered = true, filter = "linear" })),
    },
    defaults = { { variant = "plain" } },
}
