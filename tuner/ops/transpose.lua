-- out[j][i] = in[i][j], both row-major. Elements are moved as bits. Rows lie ldin and ldout elements apart, without gaps if nothing is said;
-- the matrices of a batch follow each other.

local grid_2d = function(width, height) -- over the tiles of `in`: columns, then rows; edge tiles may be partial
    return {
        "GRID == 'xy' and ceildiv(n, " .. width .. ") or ceildiv(n, " .. width .. ") * ceildiv(m, " .. height .. ")",
        "GRID == 'xy' and ceildiv(m, " .. height .. ") or 1",
    }
end
-- GRID x numbers the tiles in x only: for heights that exceed the limit in y.
local grid = param("GRID", "xy", "x")
-- Tiles are numbered along the rows or down the columns of `in`.
local order = param("ORDER", "columns", "rows")
local banded = param("ORDER", "bands", "columns") -- or in bands of four columns of tiles, along each and then down
-- Tiles of WIDTH x HEIGHT bytes are narrow only for a narrow matrix, and not much wider than that.
local wide_enough = "(WIDTH >= 128 or n * sizeof(T) <= WIDTH) and (WIDTH <= 128 or n * sizeof(T) > WIDTH // 2)"
local high_enough = "(HEIGHT >= 128 or m * sizeof(T) <= HEIGHT) and (HEIGHT <= 128 or m * sizeof(T) > HEIGHT // 2)"
-- What serves the memory of a GPU gains a processor nothing: there it is for few configurations.
local few_on_cpus = "device.warp > 1 or max(WIDTH, HEIGHT) <= max(128, 16 * sizeof(T)) and THREADS == 256 and ORDER == 'columns'"
local lead = "(WINDOW > sizeof(T) and WINDOW // sizeof(T) or 0)" -- rows that windows may begin earlier
local run = "WIDTH * HEIGHT // (THREADS * sizeof(T) * sizeof(T))" -- rows of a thread
local window_bytes = "WIDTH // sizeof(T) * (HEIGHT + max(WINDOW, sizeof(T)) + 2 * STORE)"
-- Strips of `side` rows or columns: a word behind 128 bytes more with PAD 1, against bank conflicts.
local pad = param("PAD", 0, 1)
local strip_bytes = function(side)
    local bytes = "LENGTH * " .. side .. " * sizeof(T)"
    return bytes .. " + PAD * (" .. bytes .. " // 128 + 1) * max(4, sizeof(T))"
end
local strip_fits = function(side)
    local bytes = "LENGTH * " .. side .. " * sizeof(T)"
    return bytes .. " <= 32768 and (" .. bytes .. " >= 6144 or LENGTH == 8192) or LENGTH == 128 and " .. bytes .. " <= 131072"
end
local shared_fits = "* sizeof(T) <= min(49152, device.max_shared)"
-- Columns as words, PACK of them and a word more; and the strip.
local stitch_groups = "ceildiv(m * sizeof(T), 4)"
local stitch_bytes = "LENGTH * sizeof(T) * (" .. stitch_groups .. " * 4 // sizeof(T) + 1) + LENGTH * m * sizeof(T) + "
    .. "PAD * (LENGTH * m * sizeof(T) // 128 + 1) * 4"
local woven_columns = "WIDTH // sizeof(T) - (4 // sizeof(T) - 1)" -- that a block reads of all its rows: transpose_weave.h
-- Whole columns, each in a multiple of 128 bytes: within these their vectors are swapped.
local braid_bytes = "WIDTH // sizeof(T) * ceildiv(m * sizeof(T), 128) * 128"
-- Rows, each with what is between two; less than sizeof(T) bytes of skew a row; and where the first begins.
local gather_bytes = "m * (WIDTH + 16 + (ldin * sizeof(T) - WIDTH - 16) % ALIGN + sizeof(T)) + ALIGN"

-- Of each variant two forms: of the same name, what most calls are for, one matrix without gaps; and NAME_strided for the others. They are the
-- same template, with transpose_strided.h before it or without, so what one form needs costs the other nothing.
local packed = "ldin == n and ldout == m and batch == 1"
local function needs_aligned_matrices(bytes_in, bytes_out) -- matrices of a batch begin at multiples of so many bytes
    return "batch == 1 or m * ldin * sizeof(T) % " .. bytes_in .. " == 0 and n * ldout * sizeof(T) % " .. bytes_out .. " == 0"
end
local strided = { -- those that have it, and what it needs
    tile = { "GRID == 'x'", "TILE == 32 and ROWS == 8 and PAD == 1 or not (" .. packed .. ")" }, -- the last default, which must always hold
    vector = { "GRID == 'x'" },
    block = {},
    window = {},
    weave = { needs_aligned_matrices(4, 1) },
    tall = { "ldin <= 2 * n", needs_aligned_matrices(16, 1) }, -- gaps are read, too
    wide = { "ldout == m", needs_aligned_matrices(1, 16) },
    stitch = { "ldout == m", needs_aligned_matrices(4, 16) },
    braid = { "ldout == m", needs_aligned_matrices(4, 1) },
    gather = { "ldout == m" },
    rows = { "GRID == 'x'" },
}
local function copy(t)
    local c = {}
    for k, v in pairs(t) do
        c[k] = type(v) == "table" and copy(v) or v
    end
    return c
end
local function forms(variants)
    local all = {}
    for i, v in ipairs(variants) do
        v.where = v.where or {}
        all[i] = copy(v)
        table.insert(all[i].where, 1, packed)
        all[i].launch.args = { "out", "in", "m", "n" }
    end
    for _, v in ipairs(variants) do
        local more = strided[v.name]
        if more then
            if v.name ~= "tile" then
                table.insert(v.where, 1, "not (" .. packed .. ")")
            end
            table.move(more, 1, #more, #v.where + 1, v.where)
            v.name, v.template = v.name .. "_strided", { "transpose_strided.h", v.template }
            local grid = v.launch.grid
            v.launch.grid = (type(grid) == "table" and grid[1] or grid) .. " * batch"
            v.launch.args = { "out", "in", "m", "n", "ldin", "ldout" }
            table.insert(all, v)
        end
    end
    return all
end

local function transposed(library) -- by columns `in` is n x m, and `out` m x n
    return {
        library = library, call = "geam", when = "batch == 1", a = "in", c = "out", m = "m", n = "n", ta = 1, lda = "ldin", ldc = "ldout",
    }
end

-- Defaults of GPUs by class of shape and size of elements, as measured on an H200: those for two long sides with times of them and of the plain
-- tile; the others by what was fastest of all configurations at 370 shapes drawn by chance. The first whose variant takes the problem is used.
local defaults = {}
local function default(least, most, bytes, when, variant, config) -- for elements of least to most bytes, and so many bytes in all
    config.when = { "device.backend == 'cuda'", "sizeof(T) >= " .. least .. " and sizeof(T) <= " .. most,
        "batch * m * n * sizeof(T) >= " .. bytes, table.unpack(when) }
    config.variant = variant
    table.insert(defaults, config)
end
local function any_form(...) -- for batches and rows with gaps, too, of which none was timed
    default(...)
    local gaps = copy(defaults[#defaults])
    gaps.variant = gaps.variant .. "_strided"
    table.insert(gaps.when, "n >= 64 and m * sizeof(T) >= 256")
    table.insert(defaults, gaps)
end
local K, M = 1 << 10, 1 << 20
local function block(width, height, load, store, threads)
    return { WIDTH = width, HEIGHT = height, LOAD = load, STORE = store, THREADS = threads }
end
local function window(width, height, bytes, store, threads, batch)
    return { WIDTH = width, HEIGHT = height, WINDOW = bytes, STORE = store, THREADS = threads, BATCH = batch }
end
local function weave(width, height, bytes, threads, batch)
    return { WIDTH = width, HEIGHT = height, WINDOW = bytes, THREADS = threads, BATCH = batch }
end

local both = "min(m, n) >= 1000"
-- 4096 x 4096: f32 32.8 us, tile 36.0; f16 19.1, 26.6; f64 65.1, 67.1; 8192 x 8192: f32 130, 147; f16 65.5, 93.3; 2048 x 2048: f32 10.6,
-- 10.8; f16 7.10, 8.51
any_form(2, 4, 8 * M, { both }, "block", block(256, 256, 16, 16, 256))
any_form(8, 8, 128 * M, { both }, "block", block(256, 256, 16, 16, 256))
-- 4096 x 4096: i8 10.6 us, tile 21.6; 8192 x 8192: 34.7, 79.4; 2048 x 2048: 6.02, 8.32; 8192 x 8193: f32 137, 147
any_form(1, 4, 4 * M, { both }, "block", block(256, 128, 4, 16, 256))
-- 12345 x 6789: i8 48.6 us, tile 117; 8192 x 8193: 39.8, 79.2
any_form(1, 1, 16 * M, { both }, "weave", weave(256, 128, 32, 256, 8))
-- 12345 x 6789: f16 89.8 us, tile 166
any_form(2, 2, 16 * M, { both }, "weave", weave(256, 256, 32, 512, 8))
-- 12345 x 6789: f32 172 us, tile 280; 8191 x 8193: 139, 228
any_form(4, 4, 32 * M, { both }, "window", window(256, 256, 32, 16, 512, 8))
-- 8191 x 8193: f64 273 us, tile 367
any_form(8, 8, 64 * M, { both }, "window", window(256, 256, 32, 16, 256, 4))

-- Strips of whole rows, or of whole columns, mostly of 6 to 12 KiB: for such of at most so many elements.
local function strips(variant, side, vector)
    return function(bytes, least, most, length, access, threads, pad, when)
        default(bytes, bytes, least, { side .. " <= " .. most, when }, variant,
            { LENGTH = length, [vector] = access, THREADS = threads, PAD = pad })
    end
end
local tall, wide = strips("tall", "n", "STORE"), strips("wide", "m", "LOAD")
local small = "m * n * sizeof(T) < 2 << 20"
for _, bytes in ipairs { 1, 2, 4 } do
    local access = bytes == 1 and 4 or 8
    tall(bytes, 256 * K, 8, 128, access, 128, 0, small)
    wide(bytes, 256 * K, 8, 128, access, 256, 0, small)
end
tall(1, 512 * K, 33, 128, 4, 256, 1, small .. " and n % 8 == 0")
tall(1, 512 * K, 33, 128, 4, 256, 0, small)
for _, bytes in ipairs { 1, 2, 4, 8, 16 } do
    tall(bytes, 2 * M, 1, 8192 // bytes, math.max(8, bytes), 256, 0)
    wide(bytes, 2 * M, 1, 8192 // bytes, math.max(8, bytes), 256, 0)
end

-- Few columns.
local odd, even = "n % 2 == 1", "n % 2 == 0"
tall(1, 2 * M, 3, 4096, 4, 256, 0)
tall(1, 2 * M, 8, 1024, 4, 256, 1, "n == 8")
tall(1, 2 * M, 8, 2048, 4, 256, 0)
default(1, 1, 2 * M, { "n <= 32" }, "block", block(32, 512, 4, 16, 128))
default(1, 1, 2 * M, { "n > 16 and n <= 32" }, "block", block(32, 512, 4, 8, 128))
tall(1, 2 * M, 33, 512, 4, 256, 1, "n > 8 and n % 8 == 0")
tall(1, 2 * M, 11, 1024, 8, 256, 0)
tall(1, 2 * M, 16, 512, 8, 256, 0)
tall(1, 2 * M, 33, 512, 4, 256, 0)
tall(2, 2 * M, 3, 2048, 8, 256, 0)
tall(2, 2 * M, 8, 512, 8, 256, 1, "n == 8")
tall(2, 2 * M, 8, 1024, 8, 256, 0)
tall(2, 2 * M, 11, 512, 8, 128, 1)
tall(2, 2 * M, 16, 256, 8, 128, 1)
tall(2, 2 * M, 33, 128, 8, 128, 1, "n % 2 ~= 0 or m % 8 ~= 0")
tall(4, 2 * M, 8, 1024, 8, 256, 0, odd)
tall(4, 2 * M, 8, 1024, 8, 256, 1, even)
tall(4, 2 * M, 16, 256, 8, 256, 0, odd)
tall(4, 2 * M, 16, 256, 8, 256, 1, even)
tall(8, 2 * M, 3, 512, 8, 256, 1)
tall(8, 2 * M, 8, 256, 8, 256, 0)
tall(16, 2 * M, 8, 128, 16, 256, 0)
default(8, 8, 2 * M, { "n <= 16" }, "block", block(128, 256, 8, 16, 128))
default(8, 8, 8 * M, { "n <= 16" }, "window", window(128, 512, 32, 16, 256, 4))

-- Few rows, by `gather`, where two blocks fit on a multiprocessor: one copies while the other writes. Bytes only where rows of in do not lie so
-- that too many of a line's elements come from the same banks, by a count for all m to 30 and n modulo 32.
local spread = "sizeof(T) > 1 or (m >= 16 or (16 % m * ldin + 16 // m) % 16 ~= 0) and "
    .. "(m <= 16 or m > 30 or ((m - 16) * ldin - 1) % 16 ~= 0 and (ldin + 1) % 32 > 2)"
local function gather(bytes, least, most, width, threads, apart, when) -- for `least` to `most` rows
    for _, form in ipairs { "gather", "gather_strided" } do
        default(bytes, bytes, 2 * M, { "m >= " .. least .. " and m <= " .. most, gather_bytes .. " <= device.max_shared // 2", spread, when },
            form, { WIDTH = width, THREADS = threads, ALIGN = 32, APART = apart })
    end
end
-- And bytes by `stitch`, from some eight rows on.
local function stitch(m, length, threads, batch)
    for pad = 1, 0, -1 do
        default(1, 1, 2 * M, { "m <= " .. m, pad == 1 and "m * sizeof(T) % 8 == 0" or nil }, "stitch",
            { LENGTH = length, THREADS = threads, BATCH = batch, PAD = pad })
    end
end
gather(1, 2, 3, 4096, 128, 1, "m == 2 or ldin % 8 ~= 3")
gather(1, 4, 7, 2048, 128, 1)
gather(1, 8, 13, 1024, 128, 1, "ldin % 2 == 1")
gather(1, 14, 22, 512, 128, 1, "ldin % 2 == 1")
gather(1, 23, 30, 256, 128, 1, "ldin % 2 == 1")
wide(1, 2 * M, 3, 4096, 8, 256, 0)
wide(1, 2 * M, 7, 2048, 8, 128, 0)
stitch(12, 1024, 128, 4)
stitch(32, 512, 256, 2)
stitch(70, 256, 256, 2)
any_form(1, 1, 2 * M, { "m > 128 and m < 600 and n >= 1000" }, "block", block(128, 256, 4, 8, 256))
gather(1, 181, 600, 128, 512, 4, "ldin % 2 == 1")
any_form(1, 1, 2 * M, { "m > 180 and m <= 384 and n >= 1000" }, "braid", { WIDTH = 256, THREADS = 512, BATCH = 4 })
any_form(1, 1, 2 * M, { "m > 180 and m <= 768 and n >= 1000", "m % 16 ~= 0 or ldin % 4 ~= 0" }, "braid",
    { WIDTH = 128, THREADS = 512, BATCH = 4 })
stitch(160, 128, 256, 2)
stitch(180, 64, 256, 2)
gather(2, 2, 3, 4096, 128, 1)
gather(2, 4, 9, 2048, 256, 1)
gather(2, 10, 15, 1024, 128, 1)
gather(2, 16, 31, 512, 128, 1)
default(2, 2, 2 * M, { "m >= 32 and m < 64" }, "vector", { TILE = 64, ROWS = 16, VEC = 8 })
default(2, 2, 2 * M, { "m >= 64 and m <= 128" }, "block", block(256, 128, 4, 16, 128))
any_form(2, 2, 2 * M, { "m >= 64 and m < 1000 and m % 8 ~= 0" }, "block", block(256, 128, 4, 8, 512))
gather(2, 32, 34, 512, 128, 1)
gather(2, 35, 120, 256, 256, 4)
gather(2, 121, 240, 256, 256, 4, "batch * m * n >= 8 << 20") -- else blocks are few
gather(2, 121, 240, 128, 256, 4)
gather(2, 241, 560, 128, 512, 4)
default(4, 4, 2 * M, { "m >= 16 and m <= 64 and m % 8 == 0 and n % 8 == 0" }, "block", block(256, 128, 4, 16, 128))
gather(4, 2, 5, 4096, 256, 4)
gather(4, 6, 9, 2048, 128, 4)
gather(4, 10, 18, 1024, 128, 1)
default(4, 4, 2 * M, { "m <= 33" }, "vector", { TILE = 32, ROWS = 8, VEC = 8 })
gather(4, 19, 45, 512, 128, 1)
gather(4, 46, 64, 256, 256, 4)
default(8, 8, 2 * M, { "m > 16 and m <= 64 and m % 8 == 0 and n % 8 == 0" }, "block", block(256, 256, 16, 16, 256))
gather(8, 2, 7, 4096, 256, 1)
gather(8, 8, 33, 1024, 256, 4)
wide(16, 2 * M, 8, 128, 16, 256, 1)

-- One short side, but not that short.
any_form(1, 1, 2 * M, { "n > 128" }, "block", block(256, 128, 4, 16, 256))
any_form(1, 1, 2 * M, { "n > 33" }, "block", block(128, 256, 4, 16, 256))
any_form(2, 2, 2 * M, { "n > 16 and n <= 64" }, "block", block(128, 256, 4, 16, 128))
any_form(4, 4, 4 * M, { "n > 16 and n <= 64" }, "block", block(128, 256, 4, 16, 128))
any_form(2, 4, 4 * M, { "n > 64" }, "block", block(256, 256, 4, 16, 256))
any_form(8, 8, 2 * M, { "m > 33 and m % 8 == 0" }, "block", block(256, 128, 8, 16, 128))
any_form(16, 16, 4 * M, {}, "block", block(256, 256, 16, 16, 128))
default(4, 4, 8 * M, { "n > 16 and n <= 33" }, "window", window(128, 512, 32, 16, 256, 8))
tall(4, 8 * M, 40, 128, 8, 256, 0)
default(4, 4, 8 * M, { "n > 40 and n <= 64" }, "window", window(128, 256, 32, 16, 256, 8))
gather(4, 65, 280, 256, 256, 4)
gather(4, 65, 500, 128, 256, 4)
any_form(4, 4, 16 * M, { "m > 64 and m < 400" }, "window", window(256, 128, 16, 8, 256, 8))
any_form(4, 4, 32 * M, { "m > 64 and n > 64 and n < 300" }, "window", window(256, 256, 32, 16, 256, 8))
any_form(4, 4, 32 * M, { "m > 64" }, "window", window(256, 256, 32, 16, 512, 8))
gather(8, 34, 80, 1024, 256, 4)
any_form(8, 8, 16 * M, { "m > 33 and n > 16" }, "window", window(256, 256, 32, 8, 256, 4))
-- 872 x 8792: i8 7.54 us, weave 10.8; 648 x 1528: 4.46, tile 4.86
any_form(1, 1, 512 * K, { "n > 33 and batch * m * n < 16 << 20" }, "block", block(128, 128, 4, 8, 512))
any_form(1, 1, 24 * M, { "n >= 200" }, "weave", weave(256, 128, 32, 256, 8))
any_form(1, 1, 4 * M, { "n > 33" }, "weave", weave(128, 256, 16, 256, 8))
any_form(2, 2, 16 * M, { "n > 64 and m < 700" }, "weave", weave(256, 256, 16, 256, 16))
any_form(2, 2, 8 * M, { "n > 64" }, "weave", weave(256, 256, 32, 512, 8))
any_form(2, 2, 8 * M, {}, "weave", weave(128, 256, 16, 256, 8))

-- Few tiles: smaller ones are more. 32 matrices of 14 to 1900 KB, of 1 to 8 bytes: 1.06 times as fast, 0.96 at least
default(1, 16, 0, { "m * n < 1900 * device.multiprocessors" }, "tile", { TILE = 16, ROWS = 16, PAD = 1, GRID = "xy" })
for _, grid_layout in ipairs { "xy", "x" } do -- xy is not valid if y would exceed its limit
    table.insert(defaults, { variant = "tile", TILE = 32, ROWS = 8, PAD = 1, GRID = grid_layout })
end
table.insert(defaults, { variant = "tile_strided", TILE = 32, ROWS = 8, PAD = 1, GRID = "x" })

return op {
    name = "transpose",
    problem = {
        size "m", size "n", -- rows and columns of `in`
        stride("ldin", { default = "n" }), stride("ldout", { default = "m" }), batch("batch", { max = "1 << 30", default = 1 }),
    },
    where = { "ldin >= n", "ldout >= m" },
    types = { T = { "f32", "i8", "u8", "i16", "u16", "f16", "bf16", "i32", "u32", "i64", "u64", "f64", "c64", "c128" } },
    args = {
        output("out", "T", { "batch", "n", "ldout" }, { partial = true }), input("in", "T", { "batch", "m", "ldin" }), -- not the gaps
        value "m", value "n", value "ldin", value "ldout", value "batch",
    },
    work = { bytes = "2*batch*m*n*sizeof(T)" },
    shapes = {
        { m = 1111, n = 113, when = "device.backend ~= 'cuda'" },
        { m = 4096, n = 4096 },
        { m = 8192, n = 8192, when = "device.backend == 'cuda'" },
        { m = 8191, n = 8193, when = "device.backend == 'cuda'" },
        { m = 2097152, n = 32, when = "device.backend == 'cuda'" },
        { m = 32, n = 2097152, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = "transpose_ref.cu",
        launch = { kernel = "transpose_ref", block = 256, grid = "min(ceildiv(batch*m*n, 256), 65535)" },
    },
    check = "exact",
    variants = forms {
        {
            name = "tile", -- through a square tile in shared memory
            template = "transpose_tile.cu",
            params = {
                { "TILE", 32, 8, 16, 64 },  -- edge of the tile, elements
                { "ROWS", 8, 2, 4, 16 },    -- height of the block: a thread moves TILE/ROWS elements
                { "PAD", 1, 0 },            -- padding per row of the tile, against bank conflicts
                grid,
            },
            where = { "TILE % ROWS == 0", "TILE * ROWS >= 32", "TILE * (TILE + PAD) " .. shared_fits },
            launch = { kernel = "transpose", block = { "TILE", "ROWS" }, grid = grid_2d("TILE", "TILE") },
        },
        {
            name = "rect", -- the same, with a rectangular tile: TILE_X columns of `in`, TILE_Y rows
            template = "transpose_tile.cu",
            params = { { "TILE_X", 32, 16, 64 }, { "TILE_Y", 64, 16, 32 }, { "ROWS", 8, 4 }, { "PAD", 1 }, grid },
            where = {
                "TILE_X ~= TILE_Y",
                "TILE_X * ROWS % TILE_Y == 0", -- the block, folded to TILE_Y wide, writes whole rows of `out`
                "TILE_X % (TILE_X * ROWS // TILE_Y) == 0",
                "TILE_Y * (TILE_X + PAD) " .. shared_fits,
            },
            launch = { kernel = "transpose", block = { "TILE_X", "ROWS" }, grid = grid_2d("TILE_X", "TILE_Y") },
        },
        {
            name = "vector", -- a square tile, read and written VEC bytes at a time
            template = "transpose_vector.cu",
            params = {
                { "TILE", 64, 32, 128 },
                { "ROWS", 16, 8, 32 }, -- height of the block
                { "VEC", 16, 8, 4 },   -- bytes of one access
                grid,
            },
            where = {
                "VEC > sizeof(T)",
                "m % max(1, VEC // sizeof(T)) == 0 and ldout % max(1, VEC // sizeof(T)) == 0",
                "ldin % max(1, VEC // sizeof(T)) == 0",
                "TILE * ROWS * sizeof(T) // VEC >= 64",
                "TILE * (TILE + 1) " .. shared_fits,
            },
            needs = { aligned("in", "VEC"), aligned("out", "VEC") },
            launch = { kernel = "transpose", block = { "TILE * sizeof(T) // VEC", "ROWS" }, grid = grid_2d("TILE", "TILE") },
        },
        {
            name = "block", -- blocks of registers, read LOAD and written STORE bytes at a time, through a tile of WIDTH x HEIGHT bytes
            template = "transpose_block.cu",
            params = {
                { "WIDTH", 256, 128, 64, 32 },
                { "HEIGHT", 256, 128, 64, 32, 512 },
                { "LOAD", 16, 8, 4 },
                { "STORE", 16, 8 },
                { "THREADS", 256, 128, 512 },
                order,
            },
            where = {
                "LOAD >= sizeof(T) and STORE >= sizeof(T)",
                "m * sizeof(T) % STORE == 0 and ldout * sizeof(T) % STORE == 0 and ldin * sizeof(T) % LOAD == 0",
                "WIDTH * HEIGHT % (LOAD * STORE * THREADS) == 0",
                "WIDTH * HEIGHT // sizeof(T) // THREADS <= 128",
                "HEIGHT <= 256 or WIDTH < 128",
                wide_enough,
                high_enough,
                few_on_cpus,
            },
            needs = { aligned("in", "LOAD"), aligned("out", "STORE") },
            launch = {
                kernel = "transpose",
                block = "THREADS",
                shared = "WIDTH // sizeof(T) * (HEIGHT // STORE | 1) * STORE",
                grid = "ceildiv(m, HEIGHT // sizeof(T)) * ceildiv(n, WIDTH // sizeof(T))",
            },
        },
        {
            name = "window", -- rows that begin anywhere, of words
            template = "transpose_window.cu",
            params = {
                { "WIDTH", 128, 256, 512 },
                { "HEIGHT", 256, 128, 512, 1024 }, -- bytes of a row of `out` that are read
                { "WINDOW", 32, 16 },              -- what is written of it begins and ends at a multiple of so many
                { "STORE", 16, 8 },
                { "THREADS", 512, 256 },
                { "BATCH", 8, 4, 2 }, -- rows that a thread reads before it uses one
                banded,
            },
            where = {
                "sizeof(T) >= 4 and STORE >= sizeof(T) and WINDOW >= STORE",
                "WIDTH * HEIGHT % (THREADS * sizeof(T) * sizeof(T)) == 0",
                "THREADS * STORE % HEIGHT == 0 and THREADS * STORE // HEIGHT <= WIDTH // sizeof(T)",
                "THREADS * STORE // HEIGHT * sizeof(T) % WINDOW == 0",
                "BATCH <= " .. run .. " and (BATCH == 8 or BATCH == " .. run .. ")",
                window_bytes .. " <= 81920",
                wide_enough,
                few_on_cpus,
            },
            needs = { aligned("in", "sizeof(T)"), aligned("out", "STORE") },
            launch = {
                kernel = "transpose",
                block = "THREADS",
                shared = window_bytes,
                grid = "ceildiv(n, WIDTH // sizeof(T)) * ceildiv(m + " .. lead .. ", HEIGHT // sizeof(T) - " .. lead .. ")",
            },
        },
        {
            name = "weave", -- the same for elements smaller than a word, by words of rows that lie four apart
            template = "transpose_weave.cu",
            params = {
                { "WIDTH", 128, 256 },
                { "HEIGHT", 256, 128, 512 },
                { "WINDOW", 16, 32 },
                { "THREADS", 256, 512 },
                { "BATCH", 8, 4, 16 }, -- groups that a thread reads before it uses one
                banded,
            },
            where = {
                "sizeof(T) < 4",
                "THREADS % WIDTH == 0 and HEIGHT // 16 % (THREADS // WIDTH * BATCH) == 0",
                "THREADS * 16 % HEIGHT == 0 and THREADS * 16 // HEIGHT % max(16 // sizeof(T), WINDOW // sizeof(T)) == 0",
                "WIDTH // sizeof(T) * HEIGHT <= device.max_shared",
                "BATCH * 4 // sizeof(T) <= 32",
                wide_enough,
                few_on_cpus,
            },
            needs = { aligned("in", 4), aligned("out", 16) },
            launch = {
                kernel = "transpose",
                block = "THREADS",
                shared = "WIDTH // sizeof(T) * HEIGHT",
                grid = "ceildiv(n, " .. woven_columns .. ") * "
                    .. "ceildiv(m + WINDOW // sizeof(T), (HEIGHT - WINDOW) // sizeof(T))",
            },
        },
        {
            name = "tall", -- few columns: strips of LENGTH whole rows
            template = "transpose_tall.cu",
            params = {
                { "LENGTH", 1024, 128, 256, 512, 2048, 4096, 8192 },
                { "STORE", 8, 4, 16 },
                { "THREADS", 256, 128 },
                pad,
            },
            where = {
                "n <= 64",
                "STORE >= max(4, sizeof(T)) and STORE <= max(8, sizeof(T)) and LENGTH * sizeof(T) >= 32 * STORE",
                strip_fits("ldin"),
            },
            needs = { aligned("in", 16), aligned("out", "STORE") },
            launch = {
                kernel = "transpose",
                block = "THREADS",
                shared = strip_bytes("ldin"),
                grid = "ceildiv(m + 32 // sizeof(T), LENGTH - 32 // sizeof(T))",
            },
        },
        {
            name = "wide", -- few rows: strips of LENGTH whole columns
            template = "transpose_wide.cu",
            params = {
                { "LENGTH", 1024, 128, 256, 512, 2048, 4096, 8192 },
                { "LOAD", 8, 4, 16 },
                { "THREADS", 256, 128 },
                pad,
            },
            where = {
                "m <= 64",
                "LOAD >= max(4, sizeof(T)) and LENGTH * sizeof(T) >= 32 * LOAD",
                "LENGTH * sizeof(T) <= 8 * LOAD * THREADS", -- vectors of a thread, in registers
                strip_fits("m"),
            },
            needs = { aligned("in", "LOAD"), aligned("out", 16) },
            launch = {
                kernel = "transpose",
                block = "THREADS",
                shared = strip_bytes("m"),
                grid = "ceildiv(n, LENGTH - 32 // sizeof(T))",
            },
        },
        {
            name = "stitch", -- the same for elements smaller than a word: words of columns, put together to a strip
            template = "transpose_stitch.cu",
            params = {
                { "LENGTH", 256, 64, 128, 512, 1024, 2048, 4096 },
                { "THREADS", 256, 128, 512 },
                { "BATCH", 4, 2, 8 }, -- groups of rows that a thread reads before it uses one
                pad,
            },
            where = {
                "sizeof(T) < 4 and m * sizeof(T) > 1 and m * sizeof(T) <= 768",
                stitch_groups .. " * LENGTH * sizeof(T) // 4 >= THREADS * min(BATCH, 4)",
                stitch_bytes .. " <= min(98304, device.max_shared) and (" .. stitch_bytes .. " >= 12288 or LENGTH == 4096)",
            },
            needs = { aligned("in", 4), aligned("out", 16) },
            launch = { kernel = "transpose", block = "THREADS", shared = stitch_bytes, grid = "ceildiv(n, LENGTH)" },
        },
        {
            name = "braid", -- the same by words of rows that lie four apart
            template = "transpose_braid.cu",
            params = {
                { "WIDTH", 128, 256, 64 },
                { "THREADS", 256, 512, 128 },
                { "BATCH", 4, 8, 2, 1 }, -- groups that a thread reads before it uses one
            },
            where = {
                "sizeof(T) < 4 and m * sizeof(T) >= 16 and m * sizeof(T) <= 2048",
                "n * sizeof(T) >= WIDTH", -- so that only the last vector of rows may reach behind the matrix
                "THREADS % WIDTH == 0",
                "BATCH * (THREADS // WIDTH) <= ceildiv(m * sizeof(T), 16)",
                braid_bytes .. " <= min(114688, device.max_shared)",
            },
            needs = { aligned("in", 4), aligned("out", 16) },
            launch = {
                kernel = "transpose",
                block = "THREADS",
                shared = braid_bytes,
                grid = "ceildiv(n, " .. woven_columns .. ")",
            },
        },
        {
            name = "gather", -- few rows that begin anywhere: as they lie in memory, and columns gathered from there element by element
            template = "transpose_gather.cu",
            params = {
                { "WIDTH", 256, 128, 512, 1024, 2048, 4096 },
                { "THREADS", 256, 512, 128 },
                { "ALIGN", 32, 128 }, -- bytes: rows in shared memory are as far behind a multiple of it as in memory
                { "APART", 4, 1 }, -- lines from one that a warp writes at a time to the next
            },
            where = {
                "sizeof(T) <= 8 and m * sizeof(T) <= 2048",
                gather_bytes .. " <= min(114688, device.max_shared)", -- two blocks on a multiprocessor of an H200
                "n * sizeof(T) >= WIDTH and m * WIDTH >= 5632", -- fewer bytes were never fast
                "device.warp > 1 or THREADS == 256 and ALIGN == 32 and APART == 4",
            },
            needs = { aligned("in", 16), aligned("out", 16) },
            launch = {
                kernel = "transpose",
                block = "THREADS",
                shared = gather_bytes,
                grid = "ceildiv(n, WIDTH // sizeof(T))",
            },
        },
        {
            name = "rows", -- straight from memory to memory; a block moves a square of TILE, a thread TILE/ROWS elements
            template = "transpose_rows.cu",
            params = { { "TILE", 32, 16, 64 }, { "ROWS", 8, 4 }, grid },
            launch = { kernel = "transpose", block = { "TILE", "ROWS" }, grid = grid_2d("TILE", "TILE") },
        },
        {
            name = "naive", -- straight from memory to memory, one element per thread
            template = "transpose_naive.cu",
            params = { { "BLOCK_X", 32, 16, 64 }, { "BLOCK_Y", 8, 4, 16 }, grid },
            launch = { kernel = "transpose", block = { "BLOCK_X", "BLOCK_Y" }, grid = grid_2d("BLOCK_X", "BLOCK_Y") },
        },
    },
    defaults = defaults,
    peers = { transposed "cublas", transposed "cutensor", transposed "clblast" },
}
