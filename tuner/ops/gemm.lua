-- C = A B, all row-major and packed: c[i][j] = the sum over p of a[i][p] * b[p][j].

-- The tiles of C are numbered in x only, because a grid in y is limited to 65535.
local function tiles(width, height)
    return "ceildiv(n, " .. width .. ") * ceildiv(m, " .. height .. ")"
end

-- Libraries have matrices by columns, so it is C' = B' A' to them.
local function product(library, mode)
    return {
        library = library, call = "gemm", mode = mode, when = mode and "sizeof(T) == 4",
        a = "b", b = "a", c = "c", m = "n", n = "m", k = "k", lda = "n", ldb = "k", ldc = "n",
    }
end

-- For variants that split k among several blocks: how many parts, so that there are FILL blocks a multiprocessor, each at least
-- `deepest` deep; where that is one part, FILL must be 0. Parts are joined by a second launch: templates/gemm_parts.h.
local acc = "max(sizeof(T), 4)" -- bytes of a T_acc
local function split(kernel, block, blocks, deepest, shared)
    local parts = "(FILL == 0 and 1 or max(1, min(FILL * device.multiprocessors // (" .. blocks .. "), k // (" .. deepest .. "))))"
    local lines = "(" .. parts .. " >= 64 and 32 or " .. parts .. " >= 8 and 8 or 1)"
    return {
        parts = parts,
        workspaces = { workspace("partial", "u8", parts .. " == 1 and 1 or m * n * " .. parts .. " * " .. acc) },
        launch = {
            {
                kernel = kernel, block = block, grid = blocks .. " * " .. parts, shared = shared,
                values = { parts = parts }, args = { "c", "a", "b", "m", "n", "k", "parts", "partial" },
            },
            {
                kernel = "gemm_total", block = 256, grid = "ceildiv(m * n, 256 // " .. lines .. ")", when = parts .. " > 1",
                values = { parts = parts, lines = lines }, args = { "c", "m", "n", "parts", "lines", "partial" },
            },
        },
    }
end

-- The parts of k in the reference.
local ref_parts = "(m * n >= 65536 and 1 or min(ceildiv(65536, m * n), ceildiv(k, 256)))"

-- The plain variants do not split k: where it is deep and C small they would take thousands of times as long as the best.
local shallow = "k <= 64 * m * n"

-- Rows of a matrix that are whole words of 16 bytes.
local function wide(columns)
    return "(" .. columns .. " % (16 // sizeof(T)) == 0)"
end

-- Tiles in shared memory, fetched while the one before is used; each warp's part of a tile in registers. `stages` of them at a time.
local function blocked(name, stages, wide_a, more, requires)
    local blocks = tiles("TILE_N", "TILE_M")
    local work = split("gemm_blocked", "TILE_M * TILE_N // (ITEMS_M * ITEMS_N)", blocks, "4 * TILE_K",
        stages .. " * (TILE_K * (TILE_M + TILE_N) + 4 * max(TILE_M, TILE_K)) * " .. acc)
    return {
        name = name,
        template = "gemm_blocked.cu",
        params = {
            { "TILE_M", 128, 16, 32, 64, 256 }, -- rows and columns of C that a block computes
            { "TILE_N", 128, 16, 32, 64, 256 },
            { "TILE_K", 8, 16, 32 },            -- depth of the tiles of A and B
            { "ITEMS_M", 8, 4, 16 },            -- rows and columns of C that a thread computes
            { "ITEMS_N", 8, 4 },
            { "LANES_X", 8, 2, 4, 16 },         -- threads of a warp side by side
            { "WIDE_A", table.unpack(wide_a) },
            { "WIDE_B", true, false },
            { "FILL", 0, 1, 2, 4, 8 },          -- blocks per multiprocessor that k is split for; 0: it is not
            table.unpack(more),
        },
        where = {
            -- What the template needs.
            "TILE_N % (LANES_X * ITEMS_N) == 0", "TILE_M % (32 // LANES_X * ITEMS_M) == 0",
            "TILE_M * TILE_K * ITEMS_M * ITEMS_N % (TILE_M * TILE_N * (WIDE_A and 16 // sizeof(T) or 1)) == 0",
            "TILE_N * TILE_K * ITEMS_M * ITEMS_N % (TILE_M * TILE_N * (WIDE_B and 16 // sizeof(T) or 1)) == 0",
            stages == "2" and "true" or "sizeof(T) >= 4", -- cp.async moves no less
            "TILE_M * k < 1 << 31", "TILE_K * n + TILE_N < 1 << 31",
            "not WIDE_A or " .. wide "k", "not WIDE_B or " .. wide "n",
            -- What is never better.
            stages ~= "2" and "true" or "WIDE_A or TILE_M + TILE_N == 64 and not WIDE_B or not " .. wide "k",
            "WIDE_B or TILE_M + TILE_N == 64 and not WIDE_A or not " .. wide "n",
            "TILE_M < 2 * m or TILE_M == 16 or TILE_M == 32 and TILE_N == 32", "TILE_M >= 64 or m < 512",
            "TILE_N < 2 * n or TILE_N == 16 or TILE_M == 32 and TILE_N == 32", "TILE_N >= 64 or n < 512",
            "m * n <= TILE_M * TILE_N * device.multiprocessors * 32 or TILE_M * TILE_N >= 8192",
            "ITEMS_M * ITEMS_N >= 64 or TILE_M * TILE_N < 8192 or m * n < 1 << 20",
            "ITEMS_M * ITEMS_N * " .. acc .. " <= 512", -- registers
            "TILE_M * TILE_N // (ITEMS_M * ITEMS_N) >= 64", "TILE_M * TILE_N // (ITEMS_M * ITEMS_N) <= 256",
            "LANES_X == 8 or LANES_X <= 4 and TILE_N == LANES_X * ITEMS_N or LANES_X == 16 and TILE_M * LANES_X == 32 * ITEMS_M",
            "TILE_M * TILE_N >= 8192 and TILE_K < 32 or TILE_M * TILE_N < 8192 and TILE_K > 8",
            "FILL == 0 or " .. work.parts .. " > 1",
            "FILL > 0 or k < 1024 or 2 * " .. blocks .. " >= device.multiprocessors",
            "FILL * TILE_M * TILE_N <= 1024 * ITEMS_M * ITEMS_N",
        },
        requires = requires,
        needs = {
            aligned("a", "WIDE_A and 16 or sizeof(T)"), aligned("b", "WIDE_B and 16 or sizeof(T)"),
            aligned("c", "WIDE_B and 16 or sizeof(T)"),
        },
        workspaces = work.workspaces,
        launch = work.launch,
    }
end

-- Few rows: B is read once.
local function columns()
    local vec = "(WIDE_B and 16 // sizeof(T) or 1)"
    local blocks = "ceildiv(n, LANES * " .. vec .. ") * ceildiv(m, ROWS)"
    local room = "BLOCK * ROWS * " .. vec
    local work = split("gemm_columns", "BLOCK", blocks, "BLOCK // LANES * DEEP * 2", room .. " * " .. acc)
    return {
        name = "columns",
        template = "gemm_columns.cu",
        params = {
            { "BLOCK", 256, 512, 1024 },   -- threads
            { "LANES", 32, 8, 16, 64 },    -- threads side by side
            { "ROWS", 1, 2, 4, 8, 16 },    -- rows of C that a thread computes
            { "DEEP", 8, 4, 16 },          -- rows of B that a thread takes at a time
            { "WIDE_A", true, false },
            { "WIDE_B", true, false },
            { "FILL", 0, 1, 2, 4 },        -- blocks per multiprocessor that k is split for; 0: it is not
        },
        where = {
            "not WIDE_A or " .. wide "k" .. " and DEEP % (16 // sizeof(T)) == 0", "not WIDE_B or " .. wide "n",
            room .. " <= 16384",
            -- What is never better.
            "m <= 16", "ROWS >= m and ROWS < 2 * m",
            "WIDE_A or not " .. wide "k" .. " or DEEP % (16 // sizeof(T)) ~= 0", "WIDE_B or not " .. wide "n",
            "LANES * " .. vec .. " < 2 * n or LANES == 8",
            "ROWS * DEEP <= 64", "FILL == 0 or " .. work.parts .. " > 1",
        },
        needs = { aligned("a", "WIDE_A and 16 or sizeof(T)"), aligned("b", "WIDE_B and 16 or sizeof(T)") },
        workspaces = work.workspaces,
        launch = work.launch,
    }
end

-- Few columns: A is read once.
local function rows()
    local vec = "(WIDE_A and 16 // sizeof(T) or 1)"
    local blocks = "ceildiv(m, BLOCK // LANES * ROWS) * ceildiv(n, COLS)"
    local work = split("gemm_rows", "BLOCK", blocks, "LANES * " .. vec .. " * 4")
    return {
        name = "rows",
        template = "gemm_rows.cu",
        params = {
            { "BLOCK", 256, 512 },          -- threads
            { "LANES", 32, 8, 64, 256 },    -- threads that share rows
            { "ROWS", 1, 2, 4, 8 },         -- rows of C that they compute
            { "COLS", 1, 2, 4, 8 },         -- columns of C that they compute
            { "ITEMS", 4, 2, 1 },           -- packs of each row that a thread takes at a time
            { "WIDE_A", true, false },
            { "FILL", 0, 1, 2, 4, 8 },      -- blocks per multiprocessor that k is split for; 0: it is not
        },
        where = {
            "not WIDE_A or " .. wide "k",
            -- What is never better.
            "n <= 16", "COLS < 2 * n", "COLS >= n or n > 8 and COLS == 8", "ROWS < 2 * m",
            "WIDE_A or not " .. wide "k",
            "LANES * " .. vec .. " < 2 * k or LANES == 8",
            "ROWS * COLS <= 32", "ROWS * ITEMS <= 8",
            "device.backend == 'cuda' or BLOCK * ROWS * COLS * " .. acc .. " <= device.max_shared",
             "FILL == 0 or " .. work.parts .. " > 1",
        },
        needs = { aligned("a", "WIDE_A and 16 or sizeof(T)"), aligned("b", "WIDE_A and 16 or sizeof(T)") },
        workspaces = work.workspaces,
        launch = work.launch,
    }
end

-- Tensor cores, for f16 and bf16. `packed`: copies of A and B, with rows of whole words of 16 bytes, are made first.
local function mma(packed)
    local blocks = tiles("TILE_N", "TILE_M")
    local lda, ldb = packed and "alignup(k, 8)" or "k", packed and "alignup(n, 8)" or "n"
    local work = split("gemm_mma", "32 * (TILE_M // WARP_M) * (TILE_N // WARP_N)", blocks, "4 * TILE_K",
        "STAGES * 2 * (TILE_M * (TILE_K + 8) + TILE_K * (TILE_N + 8))")
    local launch, workspaces = work.launch, work.workspaces
    launch[1].values.lda, launch[1].values.ldb = lda, ldb
    launch[1].args = { "c", packed and "packed_a" or "a", packed and "packed_b" or "b", "m", "n", "k", "lda", "ldb", "parts", "partial" }
    if packed then
        table.insert(launch, 1, {
            kernel = "gemm_pack", block = 256, grid = "ceildiv((m * " .. lda .. " + k * " .. ldb .. ") // 8, 256)",
            args = { "a", "b", "m", "n", "k", "packed_a", "packed_b" },
        })
        table.insert(workspaces, workspace("packed_a", "T", "m * " .. lda))
        table.insert(workspaces, workspace("packed_b", "T", "k * " .. ldb))
    end
    return {
        name = packed and "mma_packed" or "mma",
        template = "gemm_mma.cu",
        params = {
            { "TILE_M", 128, 16, 32, 64, 256 }, -- rows and columns of C that a block computes
            { "TILE_N", 128, 16, 32, 64, 256 },
            { "TILE_K", 32, 64 },               -- depth of the tiles of A and B
            { "WARP_M", 64, 16, 32 },           -- rows and columns of C that a warp computes
            { "WARP_N", 64, 16, 32 },
            { "STAGES", 4, 3 },                 -- tiles of A and B in shared memory
            { "FILL", 0, 1, 2, 4, 8 },          -- blocks per multiprocessor that k is split for; 0: it is not
        },
        where = {
            "T == 'f16' or T == 'bf16'",
            "TILE_M % WARP_M == 0", "TILE_N % WARP_N == 0",
            "TILE_K * WARP_M * WARP_N % (256 * TILE_N) == 0", "TILE_K * WARP_M * WARP_N % (256 * TILE_M) == 0",
            "TILE_M * " .. lda .. " < 1 << 31", "TILE_K * " .. ldb .. " + TILE_N < 1 << 31",
            packed and "m * " .. lda .. " + k * " .. ldb .. " < 1 << 34" or "k % 8 == 0 and n % 8 == 0",
            -- What is never better.
            packed and "k % 8 ~= 0 or n % 8 ~= 0" or "true",
            "TILE_M < 2 * m or TILE_M == 16", "TILE_N < 2 * n or TILE_N == 16",
            "TILE_M >= 64 or m < 512", "TILE_N >= 64 or n < 512",
            "TILE_M <= 4 * TILE_N or n < 64", "TILE_N <= 4 * TILE_M or m < 64",
            "WARP_M <= 2 * WARP_N or WARP_N == TILE_N", "WARP_N <= 2 * WARP_M or WARP_M == TILE_M",
            "m * n <= TILE_M * TILE_N * device.multiprocessors * 16 or TILE_M * TILE_N >= 16384",
            "WARP_M * WARP_N >= 1024 or TILE_M * TILE_N <= 2048", "WARP_M == 64 and WARP_N >= 32 or TILE_M * TILE_N < 16384",
            "TILE_M * TILE_N >= 2 * WARP_M * WARP_N", "TILE_M * TILE_N <= 8 * WARP_M * WARP_N",
            "FILL == 0 or " .. work.parts .. " > 1",
            "FILL > 0 or k < 1024 or 2 * " .. blocks .. " >= device.multiprocessors",
            "FILL * TILE_M * TILE_N <= 32 * WARP_M * WARP_N",
        },
        requires = { cc = 80 },
        needs = packed and {} or { aligned("a", 16), aligned("b", 16) },
        workspaces = workspaces,
        launch = launch,
    }
end

return op {
    name = "gemm",
    problem = { size "m", size "n", size "k" },
    types = { T = { "f32", "f64", "i32", "f16", "bf16" } },
    args = {
        output("c", "T", { "m", "n" }), input("a", "T", { "m", "k" }), input("b", "T", { "k", "n" }),
        value "m", value "n", value "k",
    },
    work = { bytes = "(m*n + m*k + k*n)*sizeof(T)", flops = "2*m*n*k" },
    shapes = {
        { m = 512, n = 512, k = 512, when = "device.backend ~= 'cuda'" },
        { m = 111, n = 113, k = 777, when = "device.backend ~= 'cuda'" },
        { m = 1111, n = 113, k = 777, when = "device.backend == 'cuda'" },
        { m = 2048, n = 2048, k = 2048, when = "device.backend == 'cuda'" },
        { m = 4096, n = 4096, k = 4096, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = "gemm_ref.cu",
        workspaces = { workspace("partial", "u64", ref_parts .. " == 1 and 1 or m * n * " .. ref_parts) }, -- doubles, or narrower
        launch = {
            {
                kernel = "gemm_ref", block = 256, grid = "min(ceildiv(m * n * " .. ref_parts .. ", 256), 65535)",
                values = { parts = ref_parts }, args = { "c", "a", "b", "m", "n", "k", "parts", "partial" },
            },
            {
                kernel = "gemm_ref_total", block = 256, grid = "min(ceildiv(m * n, 256), 65535)", when = ref_parts .. " > 1",
                values = { parts = ref_parts }, args = { "c", "m", "n", "parts", "partial" },
            },
        },
    },
    -- A 16-bit result is that of f32, rounded; of k terms in [-1, 1) it is seldom beyond sqrt(k) * 4 / 3, and may differ by one step.
    check = { sum = "sizeof(T) == 2 and 4 + 4 * floor(k ^ 0.5) or k" },
    variants = {
        blocked("blocked", "2", { true, false }, {}),
        blocked("async", "STAGES", { true, false }, { { "STAGES", 3, 4 } }, { cc = 80 }),
        columns(),
        rows(),
        mma(false),
        mma(true),
        {
            name = "registers", -- tiles in shared memory; a thread computes ITEMS_M x ITEMS_N elements in registers
            template = "gemm_registers.cu",
            params = {
                { "TILE_M", 64, 32, 128 }, -- rows and columns of C that a block computes
                { "TILE_N", 64, 32, 128 },
                { "TILE_K", 8, 16 },       -- depth of the tiles of A and B
                { "ITEMS_M", 4, 2, 8 },    -- rows and columns of C that a thread computes
                { "ITEMS_N", 4, 2, 8 },
            },
            where = {
                "TILE_M // ITEMS_M * (TILE_N // ITEMS_N) >= 64",
                "TILE_M // ITEMS_M * (TILE_N // ITEMS_N) <= 256",
                -- The last default is always valid.
                shallow .. " or TILE_M * TILE_N == 4096 and TILE_K == 8 and ITEMS_M == 4 and ITEMS_N == 4",
            },
            launch = {
                kernel = "gemm",
                block = { "TILE_N // ITEMS_N", "TILE_M // ITEMS_M" },
                grid = tiles("TILE_N", "TILE_M"),
            },
        },
        {
            name = "tile", -- square tiles of A and B in shared memory, one element of C per thread
            template = "gemm_tile.cu",
            params = { { "TILE", 16, 8, 32 }, { "PAD", 1, 0 } }, -- edge of the tiles; padding per row
            where = { shallow },
            launch = { kernel = "gemm", block = { "TILE", "TILE" }, grid = tiles("TILE", "TILE") },
        },
        {
            name = "naive", -- straight from memory, one element of C per thread
            template = "gemm_naive.cu",
            params = { { "BLOCK_X", 32, 16, 64 }, { "BLOCK_Y", 8, 4, 16 } },
            where = { shallow },
            launch = { kernel = "gemm", block = { "BLOCK_X", "BLOCK_Y" }, grid = tiles("BLOCK_X", "BLOCK_Y") },
        },
    },
    -- Large tiles, small ones with k split, and for all that is left the plain ones.
    defaults = {
        {
            variant = "blocked", TILE_M = 128, TILE_N = 128, TILE_K = 16, ITEMS_M = 8, ITEMS_N = 8, LANES_X = 8,
            WIDE_A = true, WIDE_B = true, FILL = 0,
        },
        {
            variant = "blocked", TILE_M = 32, TILE_N = 32, TILE_K = 16, ITEMS_M = 4, ITEMS_N = 4, LANES_X = 8,
            WIDE_A = false, WIDE_B = false, FILL = 8,
        },
        { variant = "registers", TILE_M = 64, TILE_N = 64, TILE_K = 8, ITEMS_M = 4, ITEMS_N = 4 },
    },
    peers = { product("cublas"), product("cublas", "tf32"), product("cublaslt"), product("cublaslt", "tf32"), product("cutensor"), product("clblast") },
}
