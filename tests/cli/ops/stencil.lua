-- Each of `steps` steps makes an element the sum of itself and its neighbours; the ends stay.
local function variant(name)
    return {
        name = name, template = "stencil.cu", params = { { "BLOCK", 64, 32 } },
        workspaces = { workspace("other", "T", "n") },
        launch = {
            { kernel = "stencil_step", block = "BLOCK", grid = "ceildiv(n, BLOCK)", args = { "out", "in", "n" } },
            { kernel = "stencil_step", block = "BLOCK", grid = "ceildiv(n, BLOCK)", args = { "out", "other", "n" },
              times = "steps - 1", swap = { { "out", "other" } } },
        },
    }
end
return op {
    name = "stencil",
    problem = { size("n", { max = 1 << 20 }), batch("steps", { max = 100 }) },
    types = { T = { "i32", "u32" } },
    args = { output("out", "T", { "n" }), input("in", "T", { "n" }), value "n", value "steps" },
    shapes = { { n = 1000, steps = 7 } },
    reference = { template = "stencil_ref.cu", launch = { kernel = "stencil_ref" } },
    check = "exact",
    variants = { variant("swapped") },
    defaults = { { variant = "swapped" } },
}
