-- C = alpha op(A) op(B) + beta C, all row-major: c[i][j] = alpha * the sum over p of a[i][p] * b[p][j] + beta * c[i][j]. If ta is 1, A
-- lies in memory transposed, as k x m; if tb is 1, B. Rows lie lda, ldb and ldc elements apart. The matrices of a batch follow each other.

-- The tiles of C, in all matrices of a batch, are numbered in x only, because a grid in y is limited to 65535.
local function tiles(width, height)
    return "ceildiv(n, " .. width .. ") * ceildiv(m, " .. height .. ") * batch"
end

-- Libraries have matrices by columns, so it is C' = B' A' to them.
local function product(library, mode)
    return {
        library = library, call = "gemm", mode = mode, when = (mode and "sizeof(T) == 4 and " or "") .. "batch == 1",
        a = "b", b = "a", c = "c", m = "n", n = "m", k = "k", lda = "ldb", ldb = "lda", ldc = "ldc", ta = "tb", tb = "ta",
        alpha = "alpha", beta = "beta",
    }
end

-- What of A and B is a row in memory, and how many there are of them.
local columns_a, rows_a = "(ta == 1 and m or k)", "(ta == 1 and k or m)"
local columns_b, rows_b = "(tb == 1 and k or n)", "(tb == 1 and n or k)"

-- Which of A and B is transposed, for templates that are another kernel for each: templates/gemm.h.
local function formed(t, any)
    table.insert(t.params, any and { "FORM", "nn", "nt", "tn", "tt", "any" } or { "FORM", "nn", "nt", "tn", "tt" })
    any = any and "FORM == 'any' or " or ""
    table.insert(t.where, 1, any .. "(FORM == 'tn' or FORM == 'tt') == (ta == 1)")
    table.insert(t.where, 2, any .. "(FORM == 'nt' or FORM == 'tt') == (tb == 1)")
    return t
end

-- For variants that split k among several blocks: how many parts, so that there are FILL blocks a multiprocessor, each at least
-- `deepest` deep; where that is one part, FILL must be 0. Parts are joined by a second launch: templates/gemm_parts.h.
local acc = "max(sizeof(T), 4)" -- bytes of a T_acc
local function split(kernel, block, blocks, deepest, shared)
    local parts = "(FILL == 0 and 1 or max(1, min(FILL * device.multiprocessors // (" .. blocks .. "), k // (" .. deepest .. "))))"
    local lines = "(" .. parts .. " >= 64 and 32 or " .. parts .. " >= 8 and 8 or 1)"
    return {
        parts = parts,
        workspaces = { workspace("partial", "u8", parts .. " == 1 and 1 or batch * m * n * " .. parts .. " * " .. acc) },
        launch = {
            {
                kernel = kernel, block = block, grid = blocks .. " * " .. parts, shared = shared,
                values = { parts = parts },
                args = { "c", "alpha", "a", "b", "beta", "m", "n", "k", "lda", "ldb", "ldc", "batch", "parts", "partial" },
            },
            {
                kernel = "gemm_total", block = 256, grid = "ceildiv(batch * m * n, 256 // " .. lines .. ")", when = parts .. " > 1",
                values = { parts = parts, lines = lines },
                args = { "c", "alpha", "beta", "m", "n", "ldc", "batch", "parts", "lines", "partial" },
            },
        },
    }
end

-- The parts of k in the reference.
local ref_parts = "(batch * m * n >= 65536 and 1 or min(ceildiv(65536, batch * m * n), ceildiv(k, 256)))"

-- The plain variants do not split k: where it is deep and C small they would take thousands of times as long as the best.
local shallow = "k <= 64 * batch * m * n"

-- Rows of a matrix that are whole words of 16 bytes, and begin at such.
local function wide(...)
    local all = {}
    for i, length in ipairs { ... } do
        all[i] = length .. " % (16 // sizeof(T)) == 0"
    end
    return "(" .. table.concat(all, " and ") .. ")"
end
local whole_a, whole_b = wide(columns_a, "lda"), wide(columns_b, "ldb", "n", "ldc") -- C goes with B

-- Tiles in shared memory, fetched while the one before is used; each warp's part of a tile in registers. `stages`: of them at a time, by
-- cp.async; without it two. `clusters`: how many blocks share a tile of C and add in each other's shared memory, instead of FILL.
local function blocked(name, stages, clusters, requires)
    local blocks = tiles("TILE_N", "TILE_M")
    local shared = (stages and "STAGES" or "2") .. " * (TILE_K * (TILE_M + TILE_N) + 4 * max(TILE_M, TILE_K) + 4 * TILE_K * tb)"
    if clusters then
        shared = "max(" .. shared .. ", TILE_M * TILE_N)"
    end
    local work = split("gemm_blocked", "TILE_M * TILE_N // (ITEMS_M * ITEMS_N)", blocks, "4 * TILE_K", "(" .. shared .. ") * " .. acc)
    local t = formed {
        name = name,
        template = "gemm_blocked.cu",
        params = {
            { "TILE_M", 128, 16, 32, 64, 256 }, -- rows and columns of C that a block computes
            { "TILE_N", 128, 16, 32, 64, 256 },
            { "TILE_K", 8, 16 },                -- depth of the tiles of A and B
            { "ITEMS_M", 8, 4, 16 },            -- rows and columns of C that a thread computes
            { "ITEMS_N", 8, 4 },
            { "LANES_X", 8, 2, 4, 16 },         -- threads of a warp side by side
            { "WIDE_A", true, false },
            { "WIDE_B", true, false },
        },
        where = {
            -- What the template needs.
            "TILE_N % (LANES_X * ITEMS_N) == 0", "TILE_M % (32 // LANES_X * ITEMS_M) == 0",
            "TILE_M * TILE_K * ITEMS_M * ITEMS_N % (TILE_M * TILE_N * (WIDE_A and 16 // sizeof(T) or 1)) == 0",
            "TILE_N * TILE_K * ITEMS_M * ITEMS_N % (TILE_M * TILE_N * (WIDE_B and 16 // sizeof(T) or 1)) == 0",
            "k < 1 << 31 and (ta == 1 and TILE_K * lda + TILE_M or TILE_M * lda) < 1 << 31",
            "(tb == 1 and TILE_N * ldb or TILE_K * ldb + TILE_N) < 1 << 31",
            "not WIDE_A or " .. whole_a, "not WIDE_B or " .. whole_b,
            -- What is never better.
            "TILE_M < 2 * m or TILE_M == 16 or TILE_M == 32 and TILE_N == 32", "TILE_M >= 64 or m < 512",
            "TILE_N < 2 * n or TILE_N == 16 or TILE_M == 32 and TILE_N == 32", "TILE_N >= 64 or n < 512",
            "batch * m * n <= TILE_M * TILE_N * device.multiprocessors * 32 or TILE_M * TILE_N >= 8192",
            "ITEMS_M * ITEMS_N >= 64 or TILE_M * TILE_N < 8192 or batch * m * n < 1 << 20",
            "ITEMS_M * ITEMS_N * " .. acc .. " <= 512", -- registers
            "TILE_M * TILE_N // (ITEMS_M * ITEMS_N) >= 64", "TILE_M * TILE_N // (ITEMS_M * ITEMS_N) <= 256",
            "LANES_X == 8 or LANES_X <= 4 and TILE_N == LANES_X * ITEMS_N or LANES_X == 16 and TILE_M * LANES_X == 32 * ITEMS_M",
            "TILE_M * TILE_N >= 8192 or TILE_K > 8",
            "TILE_M * TILE_N < 32768 or device.backend == 'cuda'",
        },
        requires = requires,
        needs = {
            aligned("a", "WIDE_A and 16 or sizeof(T)"), aligned("b", "WIDE_B and 16 or sizeof(T)"),
            aligned("c", "WIDE_B and 16 or sizeof(T)"),
        },
        workspaces = work.workspaces,
        launch = work.launch,
    }
    local function param(...)
        table.insert(t.params, #t.params, { ... }) -- FORM stays the last
    end
    local function where(...)
        for _, line in ipairs { ... } do
            table.insert(t.where, line)
        end
    end
    -- cp.async moves no less than 4 bytes, and turns nothing on its way.
    local async = { "sizeof(T) >= 4", "(ta == 1 or not WIDE_A) and (tb == 0 or not WIDE_B)",
        "tb == 1 or WIDE_B or TILE_M + TILE_N == 64 and not WIDE_A or not " .. whole_b }
    local held = { "WIDE_A or TILE_M + TILE_N == 64 and not WIDE_B or not " .. whole_a,
        "WIDE_B or TILE_M + TILE_N == 64 and not WIDE_A or not " .. whole_b }
    if clusters then
        param("STAGES", 3, 4, 2)
        for _, line in ipairs(async) do
            where("STAGES == 2 or " .. line)
        end
        for _, line in ipairs(held) do
            where("STAGES > 2 or " .. line)
        end
        where("STAGES > 2 or not WIDE_B", "sizeof(T) >= 4")
    elseif stages then
        param("STAGES", 3, 4)
        where(table.unpack(async))
    else
        where(table.unpack(held))
        where("device.cc < 80 or sizeof(T) < 4 or WIDE_A or WIDE_B or TILE_M + TILE_N == 64")
    end
    if clusters then
        param("CLUSTER", table.unpack(clusters))
        param("FILL", 0)
        work.launch[1].grid = work.launch[1].grid .. " * CLUSTER"
        where("k >= 2 * TILE_K * CLUSTER", "TILE_M * TILE_N <= 16384",
            "CLUSTER * " .. blocks .. " <= 2 * device.multiprocessors", "CLUSTER == 8 or 2 * CLUSTER * " .. blocks .. " >= device.multiprocessors",
            "TILE_M * TILE_N <= 8192 or 4 * CLUSTER * " .. blocks .. " <= 5 * device.multiprocessors") -- all at the same time
    else
        param("FILL", 0, 1, 2, 4, 8) -- blocks per multiprocessor that k is split for; 0: it is not
        where("FILL == 0 or " .. work.parts .. " > 1", "FILL > 0 or k < 1024 or 2 * " .. blocks .. " >= device.multiprocessors",
            "FILL * TILE_M * TILE_N <= 1024 * ITEMS_M * ITEMS_N",
            "FILL > 0 or TILE_M * TILE_N < 32768 or 4 * " .. blocks .. " >= 3 * device.multiprocessors")
    end
    return t
end

-- Few rows: B is read once. If A is transposed (SWAP) also for few columns, and then A is read once.
local function columns()
    local vec = "(WIDE_B and 16 // sizeof(T) or 1)"
    local few, many, ld_few, ld_many = "(SWAP and n or m)", "(SWAP and m or n)", "(SWAP and ldb or lda)", "(SWAP and lda or ldb)"
    local turned = "(SWAP and tb == 0 or not SWAP and ta == 1)" -- what there are few rows of
    local whole_few, whole_many = "(not " .. turned .. " and " .. wide("k", ld_few) .. ")", wide(many, ld_many)
    local blocks = "ceildiv(" .. many .. ", LANES * " .. vec .. ") * ceildiv(" .. few .. ", ROWS) * batch"
    local room = "BLOCK * ROWS * " .. vec
    local work = split("gemm_columns", "BLOCK", blocks, "BLOCK // LANES * DEEP * 2", room .. " * " .. acc)
    return formed {
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
            { "SWAP", false, true },
        },
        where = {
            "SWAP and ta == 1 or not SWAP and tb == 0",
            "not WIDE_A or " .. whole_few .. " and DEEP % (16 // sizeof(T)) == 0", "not WIDE_B or " .. whole_many,
            room .. " <= 16384",
            -- What is never better.
            few .. " <= 16", "ROWS >= " .. few .. " and ROWS < 2 * " .. few,
            "WIDE_A or not " .. whole_few .. " or DEEP % (16 // sizeof(T)) ~= 0", "WIDE_B or not " .. whole_many,
            "LANES * " .. vec .. " < 2 * " .. many .. " or LANES == 8",
            "ROWS * DEEP <= 64", "FILL == 0 or " .. work.parts .. " > 1",
        },
        needs = {
            aligned("a", "(SWAP and WIDE_B or not SWAP and WIDE_A) and 16 or sizeof(T)"),
            aligned("b", "(SWAP and WIDE_A or not SWAP and WIDE_B) and 16 or sizeof(T)"),
        },
        workspaces = work.workspaces,
        launch = work.launch,
    }
end

-- Few columns: A is read once. If B is transposed (SWAP) also for few rows, and then B is read once.
local function rows()
    local vec = "(WIDE_A and 16 // sizeof(T) or 1)"
    local few, many, ld_few, ld_many = "(SWAP and m or n)", "(SWAP and n or m)", "(SWAP and lda or ldb)", "(SWAP and ldb or lda)"
    local turned = "(SWAP and ta == 0 or not SWAP and tb == 1)" -- what there are few columns of
    local whole = "(" .. wide("k", ld_many) .. " and (not " .. turned .. " or " .. wide(ld_few) .. "))"
    local blocks = "ceildiv(" .. many .. ", BLOCK // LANES * ROWS) * ceildiv(" .. few .. ", COLS) * batch"
    local work = split("gemm_rows", "BLOCK", blocks, "LANES * " .. vec .. " * 4")
    return formed {
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
            { "SWAP", false, true },
        },
        where = {
            "SWAP and tb == 1 or not SWAP and ta == 0",
            "not WIDE_A or " .. whole,
            -- What is never better.
            few .. " <= 16", "COLS < 2 * " .. few, "COLS >= " .. few .. " or " .. few .. " > 8 and COLS == 8", "ROWS < 2 * " .. many,
            "WIDE_A or not " .. whole,
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

-- Copies of A and B, of 2 bytes an element, with rows of whole words of 16 bytes: templates/gemm_pack.h.
local packed_lda, packed_ldb = "alignup(" .. columns_a .. ", 8)", "alignup(" .. columns_b .. ", 8)"
local elements_a, elements_b = "batch * " .. rows_a .. " * " .. packed_lda, "batch * " .. rows_b .. " * " .. packed_ldb
local function pack(work)
    table.insert(work.launch, 1, {
        kernel = "gemm_pack", block = 256, grid = "ceildiv((" .. elements_a .. " + " .. elements_b .. ") // 8, 256)",
        values = { rows_a = "batch * " .. rows_a, rows_b = "batch * " .. rows_b, columns_a = columns_a, columns_b = columns_b },
        args = { "a", "b", "rows_a", "columns_a", "lda", "rows_b", "columns_b", "ldb", "packed_a", "packed_b" },
    })
    table.insert(work.workspaces, workspace("packed_a", "T", elements_a))
    table.insert(work.workspaces, workspace("packed_b", "T", elements_b))
end

-- Tensor cores, for f16 and bf16. `packed`: copies of A and B are made first. `joined`: all in one launch, in which the blocks of a
-- cluster share k, for rows of any length.
local function mma(packed, joined)
    local blocks = tiles("TILE_N", "TILE_M")
    local lda, ldb = packed and packed_lda or "lda", packed and packed_ldb or "ldb"
    local whole = wide(columns_a, "lda", columns_b, "ldb")
    local threads = "(32 * (TILE_M // WARP_M) * (TILE_N // WARP_N))"
    local staged = "STAGES * 2 * (TILE_M * TILE_K + 8 * (ta == 1 and TILE_K or TILE_M) + TILE_K * TILE_N + 8 * (tb == 1 and TILE_N or TILE_K))"
    local sums = "TILE_M * (TILE_N + 8) * 4"
    local work = split("gemm_mma", threads, blocks, "4 * TILE_K", staged)
    if packed then
        work.launch[1].values.packed_lda, work.launch[1].values.packed_ldb = lda, ldb
        work.launch[1].args = {
            "c", "alpha", "packed_a", "packed_b", "beta", "m", "n", "k", "packed_lda", "packed_ldb", "ldc", "batch", "parts", "partial",
        }
        pack(work)
    elseif joined then
        work = {
            launch = {
                kernel = "gemm_mma", block = threads, grid = blocks .. " * CLUSTER",
                shared = "CLUSTER == 1 and " .. staged .. " or max(" .. staged .. ", " .. sums .. ")",
                args = { "c", "alpha", "a", "b", "beta", "m", "n", "k", "lda", "ldb", "ldc", "batch" },
            },
        }
    end
    local form = formed {
        name = packed and "mma_packed" or joined and "mma_cluster" or "mma",
        template = "gemm_mma.cu",
        params = {
            { "TILE_M", 128, 16, 32, 64, 256 }, -- rows and columns of C that a block computes
            { "TILE_N", 128, 16, 32, 64, 256 },
            { "TILE_K", 32, 64, joined and 128 or nil }, -- depth of the tiles of A and B
            { "WARP_M", 64, 16, 32 },           -- rows and columns of C that a warp computes
            { "WARP_N", 64, 16, 32 },
            { "STAGES", 4, 3, 6, 8, joined and 2 or nil }, -- tiles of A and B in shared memory
            joined and { "CLUSTER", 8, 1, 2, 4 } or { "FILL", 0, 1, 2, 4, 8 }, -- blocks per multiprocessor that k is split for; 0: it is not
            joined and { "WHOLE", true, false } or nil, -- rows of A and B are whole words of 16 bytes
        },
        where = {
            "T == 'f16' or T == 'bf16'",
            "TILE_M % WARP_M == 0", "TILE_N % WARP_N == 0",
            "TILE_K * WARP_M * WARP_N % (256 * TILE_N) == 0", "TILE_K * WARP_M * WARP_N % (256 * TILE_M) == 0",
            "k < 1 << 31 and (ta == 1 and TILE_K * " .. lda .. " + TILE_M or TILE_M * " .. lda .. ") < 1 << 31",
            "(tb == 1 and TILE_N * " .. ldb .. " or TILE_K * " .. ldb .. " + TILE_N) < 1 << 31",
            packed and elements_a .. " + " .. elements_b .. " < 1 << 34" or joined and "WHOLE == " .. whole or whole,
            -- What is never better.
            packed and "not " .. whole or "true",
            "TILE_M < 2 * m or TILE_M == 16", "TILE_N < 2 * n or TILE_N == 16",
            "TILE_M >= 64 or m < 512", "TILE_N >= 64 or n < 512",
            "TILE_M <= 4 * TILE_N or n < 64", "TILE_N <= 4 * TILE_M or m < 64",
            "WARP_M <= 2 * WARP_N or WARP_N == TILE_N", "WARP_N <= 2 * WARP_M or WARP_M == TILE_M",
            "batch * m * n <= TILE_M * TILE_N * device.multiprocessors * 16 or TILE_M * TILE_N >= 16384",
            "WARP_M * WARP_N >= 1024 or TILE_M * TILE_N <= 2048", "WARP_M == 64 and WARP_N >= 32 or TILE_M * TILE_N < 16384",
            "TILE_M * TILE_N >= 2 * WARP_M * WARP_N", "TILE_M * TILE_N <= 8 * WARP_M * WARP_N",
            "STAGES <= 4 or TILE_M * TILE_N <= 4096 and k >= 1024",
        },
        requires = joined and { backend = "cuda", cc = 90 } or { cc = 80 },
        needs = packed and {} or { aligned("a", joined and "WHOLE and 16 or 4" or 16), aligned("b", joined and "WHOLE and 16 or 4" or 16) },
        workspaces = work.workspaces,
        launch = work.launch,
    }
    for _, condition in ipairs(joined and {
        "WHOLE == (STAGES ~= 2)",
        -- What is never better. Without WHOLE tiles pass through registers.
        "WHOLE or (TILE_M + TILE_N) * TILE_K <= 48 * " .. threads,
        "CLUSTER > 1 or not WHOLE", "TILE_M * TILE_N <= 4096 or TILE_M * TILE_N <= 8192 and CLUSTER <= 4",
        "TILE_K <= 64 or WHOLE and TILE_M * TILE_N <= 1024",
        "CLUSTER == 1 or CLUSTER * TILE_K < k + TILE_K",
        blocks .. " * CLUSTER <= 8 * device.multiprocessors or CLUSTER == 1",
        "k <= 512 * CLUSTER or 2 * " .. blocks .. " * CLUSTER >= device.multiprocessors",
    } or {
        "FILL == 0 or " .. work.parts .. " > 1",
        "FILL > 0 or k < 1024 or 2 * " .. blocks .. " >= device.multiprocessors",
        "FILL * TILE_M * TILE_N <= 32 * WARP_M * WARP_N", "STAGES <= 4 or FILL > 0",
    }) do
        table.insert(form.where, condition)
    end
    return form
end

-- Hopper's tensor cores and copy engine, for f16 and bf16.
local function wgmma(packed)
    local blocks = tiles("TILE_N", "TILE_M")
    local lda, ldb = packed and packed_lda or "lda", packed and packed_ldb or "ldb"
    local whole = wide("lda", "ldb", "(ta == 1 and tb == 0 and 8 or k)") -- rows along k also end so: what is behind k is not read as 0
    local work = split("gemm_wgmma", "128 * (CONSUMERS + 1)", blocks, "256",
        "1024 + STAGES * (128 * (TILE_M + TILE_N) + 16) + (FILL == 0 and TILE_M * TILE_N * 2 or 0)")
    local function map(name, height, width, ld)
        return tensor_map(packed and "packed_" .. name or name, {
            extent = { "batch", height, width }, stride = { height .. " * " .. ld, ld }, box = { 1, 64, 64 }, swizzle = 128, l2 = 256,
        })
    end
    local launch = work.launch[1]
    launch.grid = "min(" .. launch.grid .. ", device.multiprocessors)"
    launch.args = {
        "c", tensor_map("c", { -- without WIDE_C any
            extent = { "WIDE_C and batch or 1", "WIDE_C and m or 1", "WIDE_C and n or 1" },
            stride = { "WIDE_C and m * ldc or 8", "WIDE_C and ldc or 8" }, box = { 1, 16, 64 }, swizzle = 128,
        }),
        "alpha", map("a", rows_a, columns_a, lda), map("b", rows_b, columns_b, ldb), "beta", "m", "n", "k", "ldc",
        "batch", "parts", "partial",
    }
    if packed then
        pack(work)
    end
    return formed {
        name = packed and "wgmma_packed" or "wgmma",
        template = "gemm_wgmma.cu",
        params = {
            { "TILE_M", 128, 64, 256 },      -- rows and columns of C that a block computes
            { "TILE_N", 256, 64, 128, 192 },
            { "STAGES", 3, 4, 6, 8 },        -- tiles of A and B in shared memory
            { "CONSUMERS", 2, 1 },           -- warpgroups that multiply
            { "WIDE_C", true, false },
            { "GROUP", 8, 4 },               -- rows of tiles that are computed at the same time
            { "FILL", 0, 1, 2, 4 },          -- tiles per multiprocessor that k is split for; 0: it is not
        },
        where = {
            "T == 'f16' or T == 'bf16'",
            "TILE_M % (64 * CONSUMERS) == 0", "TILE_M * TILE_N <= 16384 * CONSUMERS", -- registers
            "max(m, max(n, k)) <= 1 << 30", blocks .. " * " .. work.parts .. " < 1 << 31",
            packed and elements_a .. " + " .. elements_b .. " < 1 << 34" or whole,
            "WIDE_C == (FILL == 0 and " .. wide("n", "ldc") .. ")", -- it writes whole words
            -- What is never better.
            packed and "not " .. whole or "true",
            "TILE_M < 2 * m or TILE_M == 64", "TILE_N < 2 * n or TILE_N == 64",
            "GROUP == 8 or ceildiv(m, TILE_M) > 8",
            "STAGES * (TILE_M + TILE_N) >= 1024 or STAGES == 8",
            "TILE_M * TILE_N == 4096 or 2 * " .. blocks .. " * " .. work.parts .. " >= device.multiprocessors",
            "FILL == 0 or " .. work.parts .. " > 1",
            "FILL > 0 or k < 1024 or 2 * " .. blocks .. " >= device.multiprocessors",
        },
        requires = { backend = "cuda", cc = 90, arch_specific = true },
        workspaces = work.workspaces,
        launch = work.launch,
    }
end

-- Defaults: the first that is valid. `when` keeps those for a class of sizes to it. What each is for was seen in what won on an H200
-- (db/tables/nvidia-h200.txt); docs/results.md has them beside what they replaced.
local sms = "device.multiprocessors"
local function count(tile_m, tile_n) -- tiles of C
    return "ceildiv(m, " .. tile_m .. ") * ceildiv(n, " .. tile_n .. ") * batch"
end
local function waves(tile_m, tile_n)
    return "ceildiv(" .. count(tile_m, tile_n) .. ", " .. sms .. ")"
end
local function on_gpus(when, default)
    default.when = { "device.backend == 'cuda'", table.unpack(when) }
    return default
end
local deep, very_deep = "k >= 2048", "k >= 16384"

-- Tiles of the type's own arithmetic: `shape` is { TILE_M, TILE_N, TILE_K, ITEMS_M, ITEMS_N, LANES_X (8) }.
local function tiled(variant, shape, wide_a, wide_b, more)
    local d = {
        variant = variant, TILE_M = shape[1], TILE_N = shape[2], TILE_K = shape[3], ITEMS_M = shape[4], ITEMS_N = shape[5],
        LANES_X = shape[6] or 8, WIDE_A = wide_a, WIDE_B = wide_b,
    }
    for name, value in pairs(more) do
        d[name] = value
    end
    return d
end
local function joined(blocks) -- all of them at the same time
    return on_gpus({ blocks .. " * " .. count(128, 128) .. " <= " .. sms },
        tiled("cluster", { 128, 128, 16, 8, 8 }, false, true, { STAGES = 3, CLUSTER = blocks }))
end
local function joined_odd(blocks, stages)
    return tiled("cluster", { 64, 128, 16, 4, 8 }, false, false, { STAGES = stages, CLUSTER = blocks })
end
local function large(of)
    return tiled("blocked", { 128, of.TILE_N or 128, of.TILE_K or 16, of.ITEMS_M or 8, 8 }, true, true, { FILL = 0, FORM = of.FORM or "nn" })
end
local function async(shape, wide_b, fill, stages)
    return tiled("async", shape, false, wide_b, { FILL = fill, STAGES = stages })
end
local function rows_by(lanes, rows, cols, items, wide_a, fill)
    return { variant = "rows", BLOCK = 256, LANES = lanes, ROWS = rows, COLS = cols, ITEMS = items, WIDE_A = wide_a, FILL = fill }
end
local function row_of(wide_a, wide_b, block, lanes, fill) -- one row by a matrix
    return { variant = "columns", BLOCK = block, LANES = lanes, ROWS = 1, DEEP = 8, WIDE_A = wide_a, WIDE_B = wide_b, FILL = fill }
end
local function plain_tiles(form, items)
    return { variant = "registers", TILE_M = 16 * items, TILE_N = 16 * items, TILE_K = 2 * items, ITEMS_M = items, ITEMS_N = items, FORM = form }
end
local function turned(default)
    default.SWAP, default.FORM = true, "nt"
    return default
end

-- For f16 and bf16: much of C by wgmma; few rows or columns, and little of C, by clusters that share k; the same of rows that are no whole
-- words; what is left, what is deep, and what devices before Hopper have. Tables have each twice: no more than are worth it. On an H200 the
-- wgmma tiles of 64 x 64 lead the clusters by 1.1 to 2.2 from 320^3 to 640^3, and the packed ones of 128 x 64 lead mma_packed by 1.2 to 1.8.
local function tensor_cores()
    local all = {}
    local function add(forms, variant, tile_m, tile_n, more)
        for form in forms:gmatch("%a+") do
            local d = { variant = variant, TILE_M = tile_m, TILE_N = tile_n, FORM = form }
            for name, value in pairs(more) do
                d[name] = value
            end
            table.insert(all, d)
        end
    end
    local function wg(forms, variant, tile_m, tile_n, stages, wide_c)
        add(forms, variant, tile_m, tile_n, { STAGES = stages, CONSUMERS = tile_m // 64, WIDE_C = wide_c, GROUP = 8, FILL = 0 })
    end
    local function split_wg(variant, tile, stages) -- k is split for all multiprocessors
        add("nn", variant, tile, tile, {
            STAGES = stages, CONSUMERS = tile // 64, WIDE_C = false, GROUP = 8, FILL = 1,
            when = { "k >= 8192", "4 * " .. count(tile, tile) .. " <= " .. sms },
        })
    end
    local function cluster(forms, tile_m, tile_n, tile_k, warp, blocks, whole, when)
        add(forms, "mma_cluster", tile_m, tile_n,
            { TILE_K = tile_k, WARP_M = warp, WARP_N = warp, STAGES = whole and 4 or 2, CLUSTER = blocks, WHOLE = whole, when = when })
    end
    local function older(forms, variant, tile, tile_k, warp_m, fill)
        add(forms, variant, tile, tile, { TILE_K = tile_k, WARP_M = warp_m, WARP_N = 32, STAGES = 4, FILL = fill })
    end
    split_wg("wgmma", 64, 8)
    wg("nn nt tn", "wgmma", 128, 256, 3, true)
    add("nn", "mma_cluster", 32, 64,
        { TILE_K = 64, WARP_M = 16, WARP_N = 16, STAGES = 8, CLUSTER = 2, WHOLE = true, when = { "m > 16", "m <= 32", "2 * " .. count(32, 64) .. " <= " .. sms } })
    cluster("nn nt", 16, 64, 64, 16, 8, true)
    cluster("nn", 64, 16, 64, 16, 8, true)
    wg("nn nt", "wgmma", 64, 128, 6, true)
    wg("nn nt", "wgmma", 64, 64, 8, true)
    cluster("nn nt", 64, 64, 64, 32, 4, true)
    split_wg("wgmma_packed", 128, 4)
    cluster("nn", 16, 64, 64, 16, 8, false)
    cluster("nn", 128, 32, 32, 32, 8, false, { "n > 16", "n <= 32" })
    cluster("nn", 64, 16, 64, 16, 8, false)
    wg("nn nt", "wgmma_packed", 128, 256, 3, true)
    wg("nn nt", "wgmma_packed", 128, 128, 6, true)
    wg("nn nt", "wgmma_packed", 128, 128, 6, false)
    wg("nn nt", "wgmma_packed", 128, 64, 8, true)
    wg("nn nt", "wgmma_packed", 128, 64, 8, false)
    add("nn nt", "wgmma_packed", 64, 64,
        { STAGES = 8, CONSUMERS = 1, WIDE_C = false, GROUP = 8, FILL = 0, when = { "2 * " .. count(64, 64) .. " >= " .. sms } })
    cluster("nn nt", 64, 64, 32, 32, 8, false)
    cluster("nn nt", 32, 32, 32, 16, 4, false)
    older("nn nt", "mma", 128, 32, 64, 0)
    older("nn", "mma", 64, 64, 32, 2)
    older("nn nt", "mma_packed", 64, 64, 32, 0)
    return all
end

local plain = { "c", "alpha", "a", "b", "beta", "m", "n", "k", "ta", "tb", "lda", "ldb", "ldc" } -- what the plain variants take

-- A matrix by a vector; tensor cores; a vector by a matrix; of the other types what is small, what is deep, what few blocks have to share,
-- large tiles; few rows and few columns; the same of rows of any length; for all that is left plain ones, the last of any form.
local defaults = tensor_cores()
for i, d in ipairs {
    on_gpus({ very_deep, "m * batch <= " .. sms }, rows_by(256, 1, 1, 1, true, 2)),
    rows_by(32, 1, 1, 4, true, 0), turned(rows_by(32, 1, 1, 4, true, 0)),
    on_gpus({ very_deep, "m * batch <= " .. sms }, rows_by(256, 1, 1, 4, false, 2)),
    on_gpus({ deep }, rows_by(256, 2, 1, 4, false, 0)),
    on_gpus({}, rows_by(32, 1, 1, 4, false, 0)), on_gpus({}, turned(rows_by(32, 1, 1, 4, false, 0))),
    on_gpus({ very_deep, "m <= 8" }, rows_by(256, 2, 8, 2, true, 4)), on_gpus({ very_deep, "m <= 8" }, rows_by(256, 2, 8, 2, false, 4)),
    on_gpus({ very_deep, "m <= 8" }, rows_by(256, 2, 4, 2, true, 4)), on_gpus({ very_deep, "m <= 8" }, rows_by(256, 2, 4, 2, false, 4)),
    on_gpus({ very_deep, "m <= 8" }, rows_by(256, 2, 2, 2, true, 4)), on_gpus({ very_deep, "m <= 8" }, rows_by(256, 2, 2, 2, false, 4)),
    on_gpus({ "n * sizeof(T) >= 8192", "n * sizeof(T) <= 65536" }, row_of(true, true, 1024, 8, 0)),
} do
    table.insert(defaults, i, d)
end
for _, d in ipairs {
    row_of(true, true, 256, 32, 1),
    on_gpus({}, row_of(true, false, 256, 32, 4)), on_gpus({}, row_of(true, false, 256, 32, 0)),
    on_gpus({}, row_of(false, false, 256, 32, 4)), on_gpus({}, row_of(false, false, 256, 32, 0)),
    on_gpus({ "m * n <= 1 << 15", "k < 1024" }, async({ 16, 64, 16, 4, 4 }, true, 0, 4)),
    on_gpus({ very_deep, "max(m, n) <= 32" }, async({ 32, 32, 16, 4, 4 }, true, 4, 3)),
    on_gpus({ "k <= 512", count(64, 128) .. " >= " .. sms }, async({ 64, 128, 8, 8, 8 }, true, 0, 3)),
    on_gpus({ deep, "2 * " .. count(128, 128) .. " <= " .. sms }, async({ 128, 128, 8, 8, 8 }, true, 1, 4)),
    on_gpus({ "k <= 1024", "3 * " .. count(32, 64) .. " <= 2 * " .. sms }, tiled("cluster", { 32, 64, 16, 4, 4 }, false, true, { STAGES = 4, CLUSTER = 3 })),
    on_gpus({ "k <= 1024", "2 * " .. count(64, 64) .. " <= " .. sms }, tiled("cluster", { 64, 64, 16, 4, 4 }, false, true, { STAGES = 4, CLUSTER = 2 })),
    joined(8), joined(4), joined(3), joined(2),
    on_gpus({ waves(256, 64) .. " < " .. waves(128, 128), "m >= 1024" }, async({ 256, 64, 8, 8, 8 }, true, 0, 4)),
    on_gpus({ "10 * " .. count(128, 128) .. " < 9 * " .. sms .. " * " .. waves(128, 128) }, async({ 64, 64, 16, 8, 4 }, true, 0, 3)),
    large { TILE_N = 256, TILE_K = 8, ITEMS_M = 16 }, large {}, large { FORM = "nt" }, large { FORM = "tn" },
    async({ 16, 128, 16, 4, 4 }, true, 4, 3),
    on_gpus({ "n <= 16" }, async({ 64, 16, 16, 4, 4, 4 }, true, 8, 4)), on_gpus({ "n <= 16" }, async({ 64, 16, 16, 4, 4, 4 }, true, 0, 4)),
    on_gpus({ "n <= 32" }, async({ 64, 32, 16, 4, 4 }, true, 4, 4)), on_gpus({ "n <= 32" }, async({ 64, 32, 16, 4, 4 }, true, 0, 4)),
    on_gpus({}, async({ 64, 64, 16, 8, 4 }, true, 2, 3)), on_gpus({}, async({ 64, 64, 16, 8, 4 }, true, 0, 4)),
    on_gpus({ "k >= 8192", "2 * " .. count(256, 32) .. " <= " .. sms }, async({ 256, 32, 8, 8, 8, 4 }, false, 4, 3)),
    joined_odd(3, 2), joined_odd(5, 2), joined_odd(2, 2), joined_odd(8, 2),
    joined_odd(3, 3), joined_odd(5, 3), joined_odd(2, 3), joined_odd(8, 3), -- where rows of A are whole words
    on_gpus({ waves(256, 64) .. " < " .. waves(128, 128), "m >= 1024" }, async({ 256, 64, 8, 8, 8 }, false, 0, 4)),
    on_gpus({ "k <= 16" }, plain_tiles("nn", 8)), async({ 128, 128, 8, 8, 8 }, false, 0, 3),
    on_gpus({ "m <= 16" }, async({ 16, 128, 16, 4, 4 }, false, 4, 3)),
    on_gpus({ "n <= 32" }, tiled("cluster", { 128, 32, 16, 4, 4 }, false, false, { STAGES = 3, CLUSTER = 7 })),
    on_gpus({ "n <= 32" }, async({ 64, 16, 16, 4, 4, 4 }, false, 8, 4)), on_gpus({ "n <= 32" }, async({ 64, 16, 16, 4, 4, 4 }, false, 0, 4)),
    on_gpus({}, async({ 64, 64, 16, 8, 4 }, false, 2, 3)), on_gpus({}, async({ 64, 64, 16, 8, 4 }, false, 0, 3)),
    tiled("blocked", { 32, 32, 16, 4, 4 }, false, false, { FILL = 8 }),
    plain_tiles("nn", 4), plain_tiles("any", 4),
} do
    table.insert(defaults, d)
end

return op {
    name = "gemm",
    problem = {
        size "m", size "n", size "k",
        flag("ta", { default = 0 }), flag("tb", { default = 0 }), -- 1: the matrix lies in memory transposed
        stride("lda", { default = "ta == 1 and m or k" }), stride("ldb", { default = "tb == 1 and k or n" }),
        stride("ldc", { default = "n" }),
        batch("batch", { max = "1 << 30", default = 1 }),
    },
    where = { "lda >= " .. columns_a, "ldb >= " .. columns_b, "ldc >= n" },
    types = { T = { "f32", "f64", "i32", "f16", "bf16" } },
    -- What most calls have is what is timed; with the other scalars C is read.
    args = {
        inout("c", "T", { "batch", "m", "ldc" }),
        scalar("alpha", "T_acc", 1, { other = "T == 'i32' and 3 or 0.5" }),
        input("a", "T", { "batch", rows_a, "lda" }), input("b", "T", { "batch", rows_b, "ldb" }),
        scalar("beta", "T_acc", 0, { other = "T == 'i32' and -2 or -0.5" }),
        value "m", value "n", value "k", value "ta", value "tb", value "lda", value "ldb", value "ldc", value "batch",
    },
    work = { bytes = "batch*(m*n + m*k + k*n)*sizeof(T)", flops = "2*batch*m*n*k" },
    shapes = {
        { m = 512, n = 512, k = 512, when = "device.backend ~= 'cuda'" },
        { m = 111, n = 113, k = 777, when = "device.backend ~= 'cuda'" },
        { m = 1111, n = 113, k = 777, when = "device.backend == 'cuda'" },
        { m = 2048, n = 2048, k = 2048, when = "device.backend == 'cuda'" },
        { m = 4096, n = 4096, k = 4096, when = "device.backend == 'cuda'" },
    },
    reference = {
        template = "gemm_ref.cu",
        workspaces = { workspace("partial", "u64", "1 << 17") }, -- doubles, or narrower; of a smaller problem, too
        launch = {
            {
                kernel = "gemm_ref", block = 256, grid = "min(ceildiv(batch * m * n * " .. ref_parts .. ", 256), 65535)",
                values = { parts = ref_parts },
                args = {
                    "c", "alpha", "a", "b", "beta", "m", "n", "k", "ta", "tb", "lda", "ldb", "ldc", "batch", "parts", "partial",
                },
            },
            {
                kernel = "gemm_ref_total", block = 256, grid = "min(ceildiv(batch * m * n, 256), 65535)", when = ref_parts .. " > 1",
                values = { parts = ref_parts }, args = { "c", "alpha", "beta", "m", "n", "ldc", "batch", "parts", "partial" },
            },
        },
    },
    -- A 16-bit result is that of f32, rounded; of k terms in [-1, 1) it is seldom beyond sqrt(k) * 4 / 3, and may differ by one step.
    check = { sum = "sizeof(T) == 2 and 4 + 4 * floor(k ^ 0.5) or k + 1" },
    variants = {
        blocked("blocked"),
        blocked("async", true, nil, { cc = 80 }),
        blocked("cluster", true, { 8, 7, 6, 5, 4, 3, 2 }, { backend = "cuda", cc = 90 }),
        columns(),
        rows(),
        mma(false),
        mma(true),
        mma(false, true),
        wgmma(false),
        wgmma(true),
        formed({
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
                -- With CUDA `blocked` takes half as long at the least.
                "device.backend ~= 'cuda' or TILE_M == 16 * ITEMS_M and TILE_N == TILE_M and ITEMS_N == ITEMS_M and TILE_K == 2 * ITEMS_M",
                -- The last defaults are always valid; only one of them is for any form.
                "FORM ~= 'any' and " .. shallow .. " or TILE_M == 64 and TILE_N == 64 and TILE_K == 8 and ITEMS_M == 4 and ITEMS_N == 4",
            },
            launch = {
                kernel = "gemm",
                block = { "TILE_N // ITEMS_N", "TILE_M // ITEMS_M" },
                grid = tiles("TILE_N", "TILE_M"), args = plain,
            },
        }, true),
        {
            name = "tile", -- square tiles of A and B in shared memory, one element of C per thread
            template = "gemm_tile.cu",
            params = { { "TILE", 16, 8, 32 }, { "PAD", 1, 0 } }, -- edge of the tiles; padding per row
            where = { shallow },
            launch = { kernel = "gemm", block = { "TILE", "TILE" }, grid = tiles("TILE", "TILE"), args = plain },
        },
        {
            name = "naive", -- straight from memory, one element of C per thread
            template = "gemm_naive.cu",
            params = { { "BLOCK_X", 32, 16, 64 }, { "BLOCK_Y", 8, 4, 16 } },
            where = { shallow },
            launch = { kernel = "gemm", block = { "BLOCK_X", "BLOCK_Y" }, grid = tiles("BLOCK_X", "BLOCK_Y"), args = plain },
        },
    },
    defaults = defaults,
    peers = {
        product("cublas"), product("cublas", "tf32"), product("cublaslt"), product("cublaslt", "tf32"), product("cutensor"),
        product("clblast"),
    },
}
