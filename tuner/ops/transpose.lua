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
local groups = "WIDTH * HEIGHT // (THREADS * max(4, sizeof(T)) * max(4, sizeof(T)))" -- of a thread
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
    window = { needs_aligned_matrices(4, 4) },
    weave = { needs_aligned_matrices(4, 1) },
    tall = { "ldin <= 2 * n", needs_aligned_matrices(16, 1) }, -- gaps are read, too
    wide = { "ldout == m", needs_aligned_matrices(1, 16) },
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

-- Defaults, for the shapes and sizes of elements of which measurements on an H200 say that they lead the plain tile, with times of both. At
-- 2^20 elements the tile is as fast or faster. What was not measured has the tile, too.
local function at_least(elements, when, variant, default)
    default.variant = variant
    default.when = { "device.backend == 'cuda'", "m * n >= " .. elements, table.unpack(when) }
    return default
end
local function large(...)
    return at_least("1 << 24", ...)
end
local function few(...) -- rows or columns: the tile leaves most of its threads without work
    return at_least("1 << 21", ...)
end
local function bytes(least, most) -- an element has
    return "sizeof(T) >= " .. least .. " and sizeof(T) <= " .. (most or least)
end
local both = "min(m, n) >= 1000"
local odd = "m * sizeof(T) % 16 ~= 0" -- rows of `out` begin anywhere
local whole = "n * sizeof(T) % 16 == 0" -- those of `in` at vectors
local defaults = {
    -- 10000000 x 3: i8 17.6 us, tile 466
    few({ bytes(1), "n % 2 == 1", "n <= 8" }, "tall", { LENGTH = 4096, STORE = 8, THREADS = 256 }),
    -- 10000000 x 3: f32 61.9 us, tile 489; by asynchronous copies, which the PTX here does without: 58.8; 3000000 x 7: f16 22.8, 148;
    -- 1000000 x 17: i8 14.6, 51.1
    few({ bytes(1, 4), "n % 2 == 1", "n * sizeof(T) <= 32" }, "tall", { LENGTH = 1024, STORE = 8, THREADS = 256 }),
    -- 1000000 x 4: f32 10.7 us, tile 49.2; 1000000 x 8: f32 20.4, 50.9; f16 11.5, 49.5
    few({ bytes(2, 4), "n % 2 == 0", "n <= 8" }, "tall", { LENGTH = 1024, STORE = 8, THREADS = 256, PAD = 1 }),
    -- 10000000 x 3: f64 115 us, tile 502; 1000000 x 8: 33.5, 56.1
    few({ bytes(8), "n <= 8" }, "tall", { LENGTH = 256, STORE = 8, THREADS = 256 }),
    -- 3000000 x 3: c128 70.2 us, tile 187; 1000000 x 8: 65.4, 77.6
    few({ bytes(16), "n <= 8" }, "tall", { LENGTH = 128, STORE = 16, THREADS = 256 }),
    -- 1000003 x 17: f32 38.1 us, tile 59.3; by asynchronous copies 35.4
    large({ bytes(4), "n % 2 == 1", "n < 32" }, "tall", { LENGTH = 256, STORE = 8, THREADS = 256 }),
    -- 1000001 x 31: f16 33.9 us, tile 60.0; 1000003 x 17: 19.4 with THREADS=128, 52.6
    large({ bytes(2), "n % 2 == 1", "n < 32" }, "tall", { LENGTH = 128, STORE = 8, THREADS = 256 }),
    -- 5 x 10000000: i8 33.0 us, tile 475; 3 x 10000000: f16 31.5, 419
    few({ bytes(1, 2), "m * sizeof(T) <= 6" }, "wide", { LENGTH = 4096, LOAD = 8, THREADS = 256 }),
    -- 3 x 1000000: f32 9.76 us, tile 46.2; 3 x 5000000: f64 62.8, 213; 17 x 3000000: i8 79.1, 148
    few({ bytes(1, 8), "m * sizeof(T) <= 24" }, "wide", { LENGTH = 1024, LOAD = 8, THREADS = 256 }),
    -- 17 x 500000: f32 20.7 us, tile 28.3; 5 x 2000000: f64 43.4, 89.0; 17 x 1000000: f16 26.3, 48.3;
    -- but 32 x 2097152: f16 280, of which the one below makes 66
    few({ bytes(2, 8), "m * sizeof(T) <= 68", "m ~= 32 or not (" .. whole .. ")" }, "wide", { LENGTH = 256, LOAD = 8, THREADS = 256 }),
    -- 3 x 3000000: c128 71.3 us, tile 137
    few({ bytes(16), "m <= 3" }, "wide", { LENGTH = 256, LOAD = 16, THREADS = 256 }),
    -- 2097152 x 32: i8 33.6 us, tile 83.0
    large({ bytes(1), "n > 16" }, "block", { WIDTH = 32, HEIGHT = 512, LOAD = 4, STORE = 16, THREADS = 128 }),
    -- 2097152 x 32: f32 134 us, tile 141; f16 68.1, 90.9
    large({ bytes(2, 4), "n * sizeof(T) >= 64", "n * sizeof(T) <= 128" }, "block",
        { WIDTH = 128, HEIGHT = 256, LOAD = 16, STORE = 16, THREADS = 128 }),
    -- 32 x 2097152: i8 36.0 us, tile 79.7; f16 65.9, 94.8
    large({ bytes(1, 2), "n >= 1000", whole, "m * sizeof(T) >= 32" }, "block",
        { WIDTH = 256, HEIGHT = 64, LOAD = 4, STORE = 16, THREADS = 256 }),
    -- 4096 x 4096: f32 32.8 us, tile 36.0; f16 19.1, 26.6; f64 65.1, 67.1; 8192 x 8192: f32 130, 147; f16 65.5, 93.3;
    -- 100000 x 1000: f32 217, 227; f16 111, 140; 2048 x 2048: f32 10.6, 10.8; f16 7.10, 8.51
    at_least("(sizeof(T) < 8 and 1 << 22 or 1 << 24)", { bytes(2, 8), both }, "block", { WIDTH = 256, HEIGHT = 256, LOAD = 16, STORE = 16, THREADS = 256 }),
    -- 4096 x 4096: i8 10.6 us, tile 21.6; 8192 x 8192: 34.7, 79.4; 100000 x 1000: 57.8, 124; 32 x 2097152: f32 129, 136;
    -- 2048 x 2048: i8 6.02, 8.32
    at_least("(sizeof(T) == 1 and 1 << 22 or 1 << 24)", { bytes(1, 4), "n >= 1000", whole, "m >= 1000 or m * sizeof(T) > 64 and m * sizeof(T) <= 128" }, "block",
        { WIDTH = 256, HEIGHT = 128, LOAD = 4, STORE = 16, THREADS = 256 }),
    -- 12345 x 6789: i8 48.6 us, tile 117; 8192 x 8193: 39.8, 79.2
    large({ bytes(1), both }, "weave", { WIDTH = 256, HEIGHT = 128, WINDOW = 32, THREADS = 256, BATCH = 8, ORDER = "columns" }),
    -- 12345 x 6789: f16 89.8 us, tile 166
    large({ bytes(2), both, odd }, "weave", { WIDTH = 256, HEIGHT = 256, WINDOW = 32, THREADS = 512, BATCH = 8, ORDER = "columns" }),
    -- 12345 x 6789: f32 172 us, tile 280; 8191 x 8193: 139, 228
    large({ bytes(4), both, odd }, "window",
        { WIDTH = 256, HEIGHT = 256, WINDOW = 32, STORE = 16, THREADS = 512, BATCH = 8, ORDER = "columns" }),
    -- 8191 x 8193: f64 273 us, tile 367
    large({ bytes(8), both, odd }, "window",
        { WIDTH = 256, HEIGHT = 256, WINDOW = 32, STORE = 16, THREADS = 256, BATCH = 4, ORDER = "columns" }),
    -- 8192 x 8193: f32 137 us, tile 147
    large({ bytes(4), both }, "block", { WIDTH = 256, HEIGHT = 128, LOAD = 4, STORE = 16, THREADS = 256 }),
    { variant = "tile", TILE = 32, ROWS = 8, PAD = 1, GRID = "xy" }, -- not valid if y would exceed its limit
    { variant = "tile", TILE = 32, ROWS = 8, PAD = 1, GRID = "x" },
    { variant = "tile_strided", TILE = 32, ROWS = 8, PAD = 1, GRID = "x" },
}

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
            name = "window", -- rows that begin anywhere: aligned words, shifted into place
            template = "transpose_window.cu",
            params = {
                { "WIDTH", 128, 256, 512 },
                { "HEIGHT", 256, 128, 512, 1024 }, -- bytes of a row of `out` that are read
                { "WINDOW", 32, 16 },              -- what is written of it begins and ends at a multiple of so many
                { "STORE", 16, 8 },
                { "THREADS", 512, 256 },
                { "BATCH", 8, 4, 2 }, -- groups that a thread reads before it uses one
                banded,
            },
            where = {
                "STORE >= max(4, sizeof(T)) and WINDOW >= STORE",
                "WIDTH * HEIGHT % (THREADS * max(4, sizeof(T)) * max(4, sizeof(T))) == 0",
                "THREADS * STORE % HEIGHT == 0 and THREADS * STORE // HEIGHT <= WIDTH // max(4, sizeof(T))",
                "THREADS * STORE // HEIGHT * max(4, sizeof(T)) % WINDOW == 0",
                "BATCH <= " .. groups .. " and (BATCH == 8 or sizeof(T) < 4 or BATCH == " .. groups .. ")",
                window_bytes .. " <= 81920",
                wide_enough,
                few_on_cpus,
            },
            needs = { aligned("in", "max(4, sizeof(T))"), aligned("out", "STORE") },
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
                grid = "ceildiv(n, WIDTH // sizeof(T) - (4 // sizeof(T) - 1)) * "
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
