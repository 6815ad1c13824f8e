-- One step over a box of cells: out = a * the cell + b * the sum of its four neighbours in the plane + c * that of the two above and below
-- it. Callers choose a, b and c at each launch. Cells at the border stay as they are.

local plane = { { "BLOCK_X", 32, 64, 128 }, { "BLOCK_Y", 8, 2, 4, 16 } }
local depth = { "DEPTH", 16, 4, 8, 32, 64 } -- planes that a block walks through
local threads = "BLOCK_X * BLOCK_Y >= 64 and BLOCK_X * BLOCK_Y <= 1024"
local columns = "ceildiv(nx, BLOCK_X) * ceildiv(ny, BLOCK_Y) * ceildiv(nz, DEPTH)"

return op {
    name = "stencil",
    problem = { size "nz", size "ny", size "nx" },
    types = { T = { "f32", "f64" } },
    args = {
        output("out", "T", { "nz", "ny", "nx" }), input("in", "T", { "nz", "ny", "nx" }),
        scalar("a", "T", 0.5), scalar("b", "T", 0.0625), scalar("c", "T", 0.125),
        value "nz", value "ny", value "nx",
    },
    work = { bytes = "2*nz*ny*nx*sizeof(T)", flops = "9*nz*ny*nx" },
    shapes = {
        { nz = 60, ny = 70, nx = 90, when = "device.backend ~= 'cuda'" },
        { nz = 512, ny = 512, nx = 512, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = "stencil_ref.cu",
        launch = { kernel = "stencil_ref", block = 256, grid = "min(ceildiv(nz * ny * nx, 256), 65535)" },
    },
    check = { sum = 7 }, -- a half, a sixteenth and an eighth of small whole numbers are exact
    variants = {
        {
            name = "cells", -- a thread takes single cells, straight from memory
            template = "stencil_cells.cu",
            params = { { "BLOCK", 256, 128, 512, 1024 }, { "ITEMS", 1, 2, 4 } },
            launch = { kernel = "stencil", block = "BLOCK", grid = "ceildiv(nz * ny * nx, BLOCK * ITEMS)" },
        },
        {
            name = "walk", -- a thread walks through the planes, with the cells above and below in registers
            template = "stencil_walk.cu",
            params = { plane[1], plane[2], depth },
            where = { threads },
            launch = { kernel = "stencil", block = { "BLOCK_X", "BLOCK_Y" }, grid = columns },
        },
        {
            name = "shared", -- the same; neighbours in the plane are in shared memory
            template = "stencil_walk.cu",
            params = { plane[1], plane[2], depth, { "SHARED_PLANE", true } },
            where = { threads },
            launch = { kernel = "stencil", block = { "BLOCK_X", "BLOCK_Y" }, grid = columns },
        },
    },
    defaults = { { variant = "cells" } },
}
