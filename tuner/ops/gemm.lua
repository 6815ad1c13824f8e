-- C = alpha op(A) op(B) + beta C, all row-major: c[i][j] = alpha * the sum over p of a[i][p] * b[p][j] + beta * c[i][j]. If ta is 1,
-- A lies in memory transposed, as k x m; if tb is 1, B. Rows lie lda, ldb and ldc elements apart. The matrices of a batch follow each
-- other.

local function append(list, ...)
    for _, item in ipairs { ... } do
        table.insert(list, item)
    end
end

-- The tiles of C, in all matrices of a batch, are numbered in x only, because a grid in y is limited to 65535.
local function tiles(tile_m, tile_n)
    return "ceildiv(n, " .. tile_n .. ") * ceildiv(m, " .. tile_m .. ") * batch"
end
local sms = "device.multiprocessors"
-- Of clusters of 2, 3, 4, 6 and 8 blocks, one block a multiprocessor, an H200 has room for 66, 39, 30, 17 and 15, says
-- cuOccupancyMaxActiveClusters: such parts of its 132 multiprocessors.
local at_once = { [2] = "1 / 2", [3] = "3 / 10", [4] = "3 / 13", [6] = "3 / 23", [8] = "3 / 26" }

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
    local filling = "FILL * device.multiprocessors // (" .. blocks .. ")"
    local parts = "(FILL == 0 and 1 or max(1, min(" .. filling .. ", k // (" .. deepest .. "))))"
    -- Threads that share an element of C: enough to fill the device, as long as each still adds four parts.
    local lines = "(1 << max(0, min(8, min(log2(" .. parts .. ") - 2, 16 - log2(batch * m * n)))))"
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

-- For variants whose blocks, FILL of them a multiprocessor, each compute as much of C: templates/gemm_stream.h.
local function stream(block, shared)
    local all, blocks, steps = "(" .. tiles("TILE_M", "TILE_N") .. ")", "(FILL * " .. sms .. ")", "ceildiv(k, TILE_K)"
    local uncut = "(" .. all .. " // " .. blocks .. " * " .. blocks .. ")" -- whole tiles
    local cut = "(" .. all .. " - " .. uncut .. ")"
    return {
        all = all, blocks = blocks, steps = steps,
        each = cut .. " * " .. steps .. " // " .. blocks, -- steps of what is cut that a block has
        workspaces = { workspace("partial", "u8", "(" .. cut .. " + " .. blocks .. ") * TILE_M * TILE_N * " .. acc) },
        launch = {
            {
                kernel = "gemm_stream", block = block, grid = blocks, shared = shared, values = { uncut = uncut },
                args = { "c", "alpha", "a", "b", "beta", "m", "n", "k", "lda", "ldb", "ldc", "batch", "uncut", "partial" },
            },
            {
                kernel = "gemm_join", block = block, grid = cut .. " * ITEMS_M", dependent = true,
                values = { uncut = uncut, blocks = blocks },
                args = { "c", "alpha", "beta", "m", "n", "k", "ldc", "batch", "uncut", "blocks", "partial" },
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
local whole_a = wide(columns_a, "lda")
local whole_b = "(tb == 1 and " .. wide("k", "ldb") .. " or tb == 0 and " .. wide("n", "ldb", "ldc") .. ")" -- C goes with B as it is

local function unless(condition, list)
    local all = {}
    for i, line in ipairs(list) do
        all[i] = condition .. " or " .. line
    end
    return table.unpack(all)
end

-- Tiles in shared memory, fetched while the one before is used; each warp's part of a tile in registers. All but `blocked` fetch STAGES of
-- them at a time, by cp.async, without which there are two. In `cluster` and `dmma_cluster` the blocks of a cluster share a tile of C and
-- add in each other's shared memory, in place of FILL. In `stream` and `dmma_stream` parts of k have any length. Those named dmma multiply f64
-- by tensor cores, before Hopper `dmma_80`.
local function blocked(name, requires)
    local stages, clusters, streams, mma, mma_80 =
        name ~= "blocked", name:find "cluster", name:find "stream", name:find "dmma", name == "dmma_80"
    local blocks = tiles("TILE_M", "TILE_N")
    -- Whether they lie along k in shared memory.
    local along_a = stages and "(STAGES > 2 and WIDE_A and ta == 0)" or "false"
    local along_b = stages and "(STAGES > 2 and WIDE_B and tb == 1)" or "false"
    local shared = (stages and "STAGES" or "2") .. " * (TILE_K * (TILE_M + TILE_N) + 4 * (" .. along_a .. " and TILE_M or TILE_K) + " ..
        (mma and "4" or "4 * tb") .. " * (" .. along_b .. " and TILE_N or TILE_K))"
    if clusters then
        shared = "max(" .. shared .. ", TILE_M * TILE_N)"
    end
    local threads, lanes = "TILE_M * TILE_N // (ITEMS_M * ITEMS_N)", mma and "4" or "LANES_X"
    shared = "(" .. shared .. ") * " .. acc
    local work = streams and stream(threads, shared) or split("gemm_blocked", threads, blocks, "min(64, 4 * TILE_K)", shared)
    local between = mma and { 48, 80, 96, 112 } or {}
    local params = {
        { "TILE_M", 128, 16, 32, 64, 256, table.unpack(between) }, -- rows and columns of C that a block computes
        { "TILE_N", 128, 16, 32, 64, 256, table.unpack(between) },
        { "TILE_K", 8, 16, stages and 32 or nil }, -- depth of the tiles of A and B
        { "ITEMS_M", 8, 4, mma and 2 or 16 },      -- rows and columns of C that a thread computes
        { "ITEMS_N", 8, 4, mma and 2 or nil },
        mma and { "MMA_K", 4, not mma_80 and 8 or nil } -- steps of k that a warp makes at a time
            or { "LANES_X", 8, 2, 4, 16 },         -- threads of a warp side by side
        { "WIDE_A", true, false },
        { "WIDE_B", true, false },
    }
    local where = {
        -- What the template needs.
        "TILE_N % (" .. lanes .. " * ITEMS_N) == 0", "TILE_M % (32 // " .. lanes .. " * ITEMS_M) == 0",
        "k < 1 << 31 and (ta == 1 and TILE_K * lda + TILE_M or TILE_M * lda) < 1 << 31",
        "(tb == 1 and TILE_N * ldb or TILE_K * ldb + TILE_N) < 1 << 31",
        "not WIDE_A or " .. whole_a, "not WIDE_B or " .. whole_b,
        -- What is never better.
        "TILE_M < 2 * m or TILE_M == 16 or TILE_M == 32 and TILE_N == 32", "TILE_M >= 64 or m < 512",
        "TILE_N < 2 * n or TILE_N == 16 or TILE_M == 32 and TILE_N == 32", "TILE_N >= 64 or n < 512",
        "batch * m * n <= TILE_M * TILE_N * device.multiprocessors * 32 or TILE_M * TILE_N >= " .. (mma and 4096 or 8192) ..
            " or 2 * TILE_M >= m or 2 * TILE_N >= n",
        "ITEMS_M * ITEMS_N >= 64 or TILE_M * TILE_N < 8192 or batch * m * n < 1 << 20",
        "ITEMS_M * ITEMS_N * " .. acc .. " <= 512", -- registers
        threads .. " >= 64",
        "TILE_M * TILE_N >= " .. (streams and 4096 or 8192) .. " or TILE_K > 8",
        "TILE_M * TILE_N < 32768 or device.backend == 'cuda'",
    }
    -- What each way of fetching needs, and what is never better with it.
    local held = {
        "WIDE_A or TILE_M + TILE_N == 64 and not WIDE_B or not " .. whole_a,
        "WIDE_B or TILE_M + TILE_N == 64 and not WIDE_A or not " .. whole_b,
    }
    local async
    if mma then
        local sharing = clusters and "CLUSTER" or work.parts or "1"
        local all = "(" .. sharing .. " * " .. blocks .. ")"
        -- Element by element, too, where only rows of one side are whole words, and for pointers that are not aligned.
        local narrow = "not WIDE_A and not WIDE_B and (" .. whole_a .. " ~= " .. whole_b .. " or TILE_M == 64 and TILE_N == 64)"
        async = {
            "T == 'f64'",
            "TILE_K >= 2 * MMA_K", -- an even number of steps: the next tile's first is loaded before this one's last is multiplied
            threads .. " <= (ITEMS_M * ITEMS_N == 64 and 256 or 384)", -- registers: of more ptxas 13.0 makes wrong code
            -- What is never better.
            "TILE_K < 32 or min(m, n) <= 64", "ITEMS_M * ITEMS_N > 4 or TILE_M * TILE_N <= 1024",
            "MMA_K == 4 or ITEMS_M * ITEMS_N < 64 or WIDE_A and WIDE_B", -- registers
            narrow .. " or WIDE_A == " .. whole_a .. " and WIDE_B == " .. whole_b,
            -- Sides that are no powers of two where nearly all multiprocessors are busy with little else than what is asked for.
            unless("ispow2(TILE_M) and ispow2(TILE_N)", {
                "TILE_K == 16", all .. " <= 4 * device.multiprocessors",
                "20 * batch * m * n * " .. sharing .. " >= 17 * TILE_M * TILE_N * alignup(" .. all .. ", device.multiprocessors)",
            }),
        }
        append(async, mma_80 and "device.cc < 90" or nil)
    else
        async = {
            "sizeof(T) == 4", -- cp.async moves no less; of 8 there is dmma, which was compared with this on an H200 only
            -- Where one side is short, tiles along k are best 32 deep, above all if it is the other one that lies so.
            "TILE_K < 32 or k > 16 and min(m, n) <= 64 and (" .. along_a .. " or " .. along_b .. ")",
            "TILE_K == 32 or k <= 16 or (n > 64 or not " .. along_a .. ") and (m > 64 or not " .. along_b .. ")",
            "WIDE_B or tb == 0 and TILE_M + TILE_N == 64 and not WIDE_A or not " .. whole_b,
            "ta == 1 or tb == 1 or not WIDE_A or n <= 64 or ITEMS_M == 4 and batch * m * n <= 1 << 18",
            "ta == 1 or tb == 0 or WIDE_A == (n <= 64 and " .. whole_a .. ")",
        }
        append(where, threads .. " <= 256",
            "LANES_X == 8 or LANES_X <= 4 and TILE_N == LANES_X * ITEMS_N or LANES_X == 16 and TILE_M * LANES_X == 32 * ITEMS_M",
            -- Each thread has as much to load: with two stages the template needs that, with more nothing is better without.
            "TILE_M * TILE_K % (" .. threads .. " * (WIDE_A and 16 // sizeof(T) or 1)) == 0",
            "TILE_N * TILE_K % (" .. threads .. " * (WIDE_B and 16 // sizeof(T) or 1)) == 0")
    end
    if clusters then
        append(params, { "STAGES", 3, 4, not mma and 2 or nil }, { "CLUSTER", 8, 7, 6, 5, 4, 3, 2 }, { "FILL", 0 })
        work.launch[1].grid = work.launch[1].grid .. " * CLUSTER"
        if mma then
            append(where, table.unpack(async))
        else
            append(where, unless("STAGES == 2", async))
            append(where, unless("STAGES > 2", held))
            append(where, "STAGES > 2 or not WIDE_B and TILE_K < 32", "sizeof(T) == 4")
        end
        append(where, "k >= 2 * TILE_K * CLUSTER",
            "TILE_M * TILE_N <= 16384", "CLUSTER * " .. blocks .. " <= 2 * device.multiprocessors",
            "CLUSTER == 8 or 2 * CLUSTER * " .. blocks .. " >= device.multiprocessors",
            "TILE_M * TILE_N <= 8192 or 4 * CLUSTER * " .. blocks .. " <= 5 * device.multiprocessors") -- all at the same time
    elseif streams then
        append(params, { "STAGES", 3, 4 }, { "STREAM", true }, { "FILL", 2, 1, 3, 4 }) -- blocks per multiprocessor
        append(where, table.unpack(async))
        local registers = mma and "2 * ITEMS_M * ITEMS_N + MMA_K * (ITEMS_M + ITEMS_N // 2) + 32" or
            "ITEMS_M * ITEMS_N + 48 + 3 * ((" .. along_a .. " and ITEMS_M or 0) + (" .. along_b .. " and ITEMS_N or 0))"
        append(where, work.each .. " >= 4", -- the template needs one
            work.all .. " * " .. work.steps .. " < 1 << 31",
            -- Room for all blocks at the same time.
            "FILL * " .. threads .. " * (" .. registers .. ") <= 65536", "FILL * (" .. shared .. " + 1024) <= device.max_shared + 1024",
            -- What is never better: where as many whole tiles leave few multiprocessors idle, or many blocks share one.
            "100 * " .. work.all .. " < 95 * alignup(" .. work.all .. ", " .. work.blocks .. ")",
            "16 * " .. work.all .. " >= " .. work.blocks, "TILE_M * TILE_N >= 2048")
    else
        if stages then
            append(params, { "STAGES", 3, 4 })
        else
            -- Of cp.async and of dmma, where these are.
            append(held, "device.cc < 80 or sizeof(T) < 4 or sizeof(T) == 4 and (WIDE_A or WIDE_B) or TILE_M + TILE_N == 64")
        end
        append(params, { "FILL", 0, 1, 2, 4, 8 }) -- blocks per multiprocessor that k is split for; 0: it is not
        append(where, table.unpack(stages and async or held))
        append(where, "FILL == 0 or " .. work.parts .. " > 1",
            "FILL > 0 or k < 1024 or 2 * " .. blocks .. " >= device.multiprocessors",
            "FILL * TILE_M * TILE_N <= 1024 * ITEMS_M * ITEMS_N",
            -- Not where there is `stream`, but for what few tiles or a short k leave to this: of 13 odd sizes it was best at none.
            stages and "FILL == 0 or min(TILE_M, TILE_N) < 64 or min(m, n) <= 128 or k < 512 or 4 * " .. blocks .. " <= " .. sms ..
                " or device.cc < 90" or "true",
            "FILL > 0 or TILE_M * TILE_N < 32768 or 4 * " .. blocks .. " >= 3 * device.multiprocessors")
    end
    return formed {
        name = name, template = "gemm_blocked.cu", params = params, where = where, requires = requires,
        needs = {
            aligned("a", "WIDE_A and 16 or sizeof(T)"), aligned("b", "WIDE_B and 16 or sizeof(T)"),
            aligned("c", "WIDE_B and (FORM == 'nn' or FORM == 'tn') and 16 or sizeof(T)"),
        },
        workspaces = work.workspaces, launch = work.launch,
    }
end

-- Few rows: B is read once. If A is transposed (SWAP) also for few columns, and then A is read once. `clustered`: the blocks of a cluster
-- share k, in place of FILL.
local function columns(clustered)
    local vec = "(WIDE_B and 16 // sizeof(T) or 1)"
    local few, many, ld_few, ld_many = "(SWAP and n or m)", "(SWAP and m or n)", "(SWAP and ldb or lda)", "(SWAP and lda or ldb)"
    local turned = "(SWAP and tb == 0 or not SWAP and ta == 1)" -- what there are few rows of
    local whole_few, whole_many = "(not " .. turned .. " and " .. wide("k", ld_few) .. ")", wide(many, ld_many)
    local blocks = "ceildiv(" .. many .. ", LANES * " .. vec .. ") * ceildiv(" .. few .. ", ROWS) * batch"
    local room = "BLOCK * ROWS * " .. vec
    local work = split("gemm_columns", "BLOCK", blocks, "BLOCK // LANES * DEEP * 2", room .. " * " .. acc)
    if clustered then
        work.launch[1].grid = work.launch[1].grid .. " * CLUSTER"
    end
    local form = formed {
        name = clustered and "columns_cluster" or "columns", template = "gemm_columns.cu",
        requires = clustered and { backend = "cuda", cc = 90 } or nil,
        params = {
            { "BLOCK", 256, 512, 1024 },   -- threads
            { "LANES", 32, 8, 16, 64 },    -- threads side by side
            { "ROWS", 1, 2, 4, 8, 16 },    -- rows of C that a thread computes
            { "DEEP", 8, 4, 16 },          -- rows of B that a thread takes at a time
            { "WIDE_A", true, false },
            { "WIDE_B", true, false },
            clustered and { "FILL", 0 } or { "FILL", 0, 1, 2, 4 }, -- blocks per multiprocessor that k is split for; 0: it is not
            { "SWAP", false, true },
            clustered and { "CLUSTER", 2, 4, 8 } or nil, -- blocks that share k
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
        workspaces = work.workspaces, launch = work.launch,
    }
    if clustered then
        append(form.where, "k >= BLOCK // LANES * DEEP * CLUSTER", -- each block has some for every thread
            "CLUSTER * " .. blocks .. " <= 4 * device.multiprocessors", "BLOCK < 1024 or ROWS == 1")
    end
    return form
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
        name = "rows", template = "gemm_rows.cu",
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
        workspaces = work.workspaces, launch = work.launch,
    }
end

-- Copies of A and B, of 2 bytes an element, with rows of whole words of 16 bytes: templates/gemm_pack.h.
local packed_lda, packed_ldb = "alignup(" .. columns_a .. ", 8)", "alignup(" .. columns_b .. ", 8)"
local elements_a, elements_b = "batch * " .. rows_a .. " * " .. packed_lda, "batch * " .. rows_b .. " * " .. packed_ldb
-- Adds copies of these sides, "a", "b" or "ab", and returns the constraint that they are not too long.
local function pack(work, sides)
    local a, b = sides:find "a", sides:find "b"
    local elements = (a and elements_a or "0") .. " + " .. (b and elements_b or "0")
    table.insert(work.launch, 1, {
        kernel = "gemm_pack", block = 256, grid = "ceildiv((" .. elements .. ") // 8, 256)",
        values = {
            rows_a = a and "batch * " .. rows_a or "0", rows_b = b and "batch * " .. rows_b or "0",
            columns_a = columns_a, columns_b = columns_b,
        },
        args = {
            "a", "b", "rows_a", "columns_a", "lda", "rows_b", "columns_b", "ldb", a and "packed_a" or "packed_b",
            b and "packed_b" or "packed_a", -- without rows nothing is written there
        },
    })
    if a then
        append(work.workspaces, workspace("packed_a", "T", elements_a))
    end
    if b then
        append(work.workspaces, workspace("packed_b", "T", elements_b))
    end
    return elements .. " < 1 << 34"
end

-- Tensor cores, for f16 and bf16. `packed`: copies of A and B are made first. `joined`: all in one launch, in which the blocks of a
-- cluster share k, for rows of any length.
local function mma(packed, joined)
    local blocks = tiles("TILE_M", "TILE_N")
    local lda, ldb = packed and packed_lda or "lda", packed and packed_ldb or "ldb"
    local whole = wide(columns_a, "lda", columns_b, "ldb")
    local threads = "(32 * (TILE_M // WARP_M) * (TILE_N // WARP_N))"
    local staged = "STAGES * 2 * (TILE_M * TILE_K + 8 * (ta == 1 and TILE_K or TILE_M) + " ..
        "TILE_K * TILE_N + 8 * (tb == 1 and TILE_N or TILE_K))"
    local sums = "TILE_M * (TILE_N + 8) * 4"
    local whole_words = joined and "WHOLE and 16 or 4" or 16
    local work, few_enough = split("gemm_mma", threads, blocks, "4 * TILE_K", staged)
    if packed then
        work.launch[1].values.packed_lda, work.launch[1].values.packed_ldb = lda, ldb
        work.launch[1].args = {
            "c", "alpha", "packed_a", "packed_b", "beta", "m", "n", "k", "packed_lda", "packed_ldb", "ldc", "batch", "parts",
            "partial",
        }
        few_enough = pack(work, "ab")
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
            joined and { "CLUSTER", 8, 1, 2, 4 } or { "FILL", 0, 1, 2, 4, 8 }, -- blocks that share k: of a cluster; as in `split`
            joined and { "WHOLE", true, false } or nil, -- rows of A and B are whole words of 16 bytes
        },
        where = {
            "T == 'f16' or T == 'bf16'",
            "TILE_M % WARP_M == 0", "TILE_N % WARP_N == 0",
            "TILE_K * WARP_M * WARP_N % (256 * TILE_N) == 0", "TILE_K * WARP_M * WARP_N % (256 * TILE_M) == 0",
            "k < 1 << 31 and (ta == 1 and TILE_K * " .. lda .. " + TILE_M or TILE_M * " .. lda .. ") < 1 << 31",
            "(tb == 1 and TILE_N * " .. ldb .. " or TILE_K * " .. ldb .. " + TILE_N) < 1 << 31",
            packed and few_enough or joined and "WHOLE == " .. whole or whole,
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
        needs = packed and {} or { aligned("a", whole_words), aligned("b", whole_words) },
        workspaces = work.workspaces, launch = work.launch,
    }
    append(form.where, table.unpack(joined and {
        "WHOLE == (STAGES ~= 2)",
        "WHOLE or (TILE_M + TILE_N) * TILE_K <= 48 * " .. threads, -- tiles pass through registers; the template takes no more than 32 pieces
        -- What is never better.
        "CLUSTER > 1 or not WHOLE", "TILE_M * TILE_N <= 4096 or TILE_M * TILE_N <= 8192 and CLUSTER <= 4",
        "TILE_K <= 64 or WHOLE and TILE_M * TILE_N <= 1024",
        "CLUSTER == 1 or CLUSTER * TILE_K < k + TILE_K",
        blocks .. " * CLUSTER <= 8 * device.multiprocessors or CLUSTER == 1",
        "k <= 512 * CLUSTER or 2 * " .. blocks .. " * CLUSTER >= device.multiprocessors",
    } or {
        "FILL == 0 or " .. work.parts .. " > 1",
        "FILL > 0 or k < 1024 or 2 * " .. blocks .. " >= device.multiprocessors",
        "FILL * TILE_M * TILE_N <= 32 * WARP_M * WARP_N", "STAGES <= 4 or FILL > 0",
    }))
    return form
end

-- Rows that the copy engine takes. Those along k, too: what is behind k is not read as 0.
local whole = { a = wide("lda", "(ta == 1 and 8 or k)"), b = wide("ldb", "(tb == 1 and k or 8)") }

-- Hopper's tensor cores and copy engine, for f16 and bf16. `packed`: which of A and B are copied first, "", "a", "b" or "ab"; `lanes`: which have
-- rows of any length that lanes bring in place of the engine.
local function wgmma(packed, lanes)
    lanes = lanes or ""
    local by_lanes, lanes_a, lanes_b = lanes ~= "", lanes:find "a", lanes:find "b"
    local cluster, clusters = "(CLUSTER_M * CLUSTER_N)", tiles("TILE_M * CLUSTER_M", "TILE_N * CLUSTER_N")
    local pack_a, pack_b = packed:find "a", packed:find "b"
    local lda, ldb = pack_a and packed_lda or "lda", pack_b and packed_ldb or "ldb"
    -- The template's sides, P and Q: of rows or columns a tile has some times 64 of P, and any multiple of 8 of Q.
    local function side(plain, swapped)
        return "(SWAP and " .. swapped .. " or " .. plain .. ")"
    end
    local tile_p, tile_q, size_p, size_q = side("TILE_M", "TILE_N"), side("TILE_N", "TILE_M"), side("m", "n"), side("n", "m")
    local cluster_p, cluster_q = side("CLUSTER_M", "CLUSTER_N"), side("CLUSTER_N", "CLUSTER_M")
    local by_depth = "(SWAP and ta == 0 or not SWAP and tb == 1)" -- Q lies along k in memory
    local lines = tile_p .. " + (" .. by_depth .. " and " .. tile_q .. " or alignup(" .. tile_q .. ", 64))"
    -- How many blocks share a tile, with CLUSTER_K: as many as all run at the same time.
    local all, sharing, most = tiles("TILE_M", "TILE_N"), "1", 8
    for _, each in ipairs { 2, 3, 4, 6, most } do
        sharing = ("%s <= %s * %s and %d or %s"):format(all, sms, at_once[each], each, sharing)
    end
    sharing = "(CLUSTER_K and min(max(1, k // 128), " .. sharing .. ") or 1)"
    local blocks = sharing .. " * " .. all
    local function shared(stages)
        return "(1032 + " .. stages .. " * (128 * (" .. lines .. ") + 16) + (CLUSTER_K and TILE_M * TILE_N * 4 + " ..
            (most - 1) * 512 .. " or FILL == 0 and TILE_M * alignup(TILE_N, 64) * 2 or 0))"
    end
    local threads = "128 * (CONSUMERS + " .. (by_lanes and "BRINGERS" or "1") .. ")"
    local work = split("gemm_wgmma", threads, all, "256", shared("STAGES"))
    local lines_a, lines_b = "(ta == 1 and 64 or TILE_M)", "(tb == 1 and TILE_N or 64)" -- that a cluster brings at a time
    local function map(name, height, width, ld, lines)
        return tensor_map(packed:find(name) and "packed_" .. name or name, {
            extent = { "batch", height, width }, stride = { height .. " * " .. ld, ld }, box = { 1, lines, 64 }, swizzle = 128,
        })
    end
    local launch = work.launch[1]
    launch.cluster = sharing
    launch.grid = "CLUSTER_K and " .. blocks .. " or min(" .. clusters .. " * " .. work.parts .. ", max(1, " .. sms .. " // " .. cluster ..
        ")) * " .. cluster
    launch.args = { "c" }
    if not by_lanes then
        append(launch.args, tensor_map("c", { -- without WIDE_C any
            extent = { "WIDE_C and batch or 1", "WIDE_C and m or 1", "WIDE_C and n or 1" },
            stride = { "WIDE_C and m * ldc or 8", "WIDE_C and ldc or 8" }, box = { 1, "SWAP and TILE_M or 16", 64 }, swizzle = 128,
        }))
    end
    append(launch.args, "alpha", lanes_a and "a" or map("a", rows_a, columns_a, lda, lines_a .. " // CLUSTER_N"),
        lanes_b and "b" or map("b", rows_b, columns_b, ldb, lines_b .. " // CLUSTER_M"),
        "beta", "m", "n", "k", "ldc", "batch", "parts", "partial")
    append(launch.args, table.unpack(by_lanes and { "lda", "ldb" } or {}))
    work.launch[2].dependent = true
    local few_enough = "true"
    if packed ~= "" then
        launch.dependent = true
        few_enough = pack(work, packed)
    end
    -- What a block computes of Q, all its tiles together, if each has so much of it.
    local function each(q)
        return "ceildiv(" .. cluster .. " * " .. tiles("CLUSTER_M * " .. side("TILE_M", q), "CLUSTER_N * " .. side(q, "TILE_N")) .. ", " ..
            sms .. ") * " .. q
    end
    local least = each(256)
    for q = 64, 192, 64 do
        least = "min(" .. each(q) .. ", " .. least .. ")"
    end
    local sizes = {}
    for size = 8, 248, 8 do
        table.insert(sizes, size % 64 > 0 and size or nil)
    end
    -- A tile has all of Q, and hardly more.
    local covers = ("(%s >= %s and %s < %s + (%s %% 16 == 0 and 16 or 8))"):format(tile_q, size_q, tile_q, size_q, tile_q)
    local requires = { backend = "cuda", cc = 90, arch_specific = true }
    if by_lanes then
        -- Registers of a lane for what is on its way of a side.
        local function held(tile, by_depth)
            local each = ("(%s > 32 and 32 or %s > 16 and 16 or %s > 8 and 8 or 4)"):format(tile, tile, tile)
            return ("(%s and %s // 2 or ceildiv(%s, 64) * %s)"):format(by_depth, tile, tile, each)
        end
        local registers = "(65536 // (" .. threads .. ") - 52)"
        local sides = { 64, 8, 16, 24, 32, 48, 80, 96, 112, 128 }
        return formed {
            name = "wgmma_lanes" .. (lanes == "ab" and "" or "_" .. lanes), template = "gemm_wgmma.cu",
            params = {
                { "SWAP", false, true }, { "TILE_M", table.unpack(sides) }, { "TILE_N", table.unpack(sides) }, { "STAGES", 4, 6, 8 },
                { "CONSUMERS", 1 }, { "BRINGERS", 3, 2, 4 }, -- warpgroups that bring
                { "FILL", 0, 1 }, { "CLUSTER_K", false, true }, -- as in the others
                { "WIDE_C", false }, { "GROUP", 8 }, { "CLUSTER_M", 1 }, { "CLUSTER_N", 1 },
                { "LANES_A", lanes_a ~= nil }, { "LANES_B", lanes_b ~= nil },
            },
            where = {
                "T == 'f16' or T == 'bf16'",
                tile_p .. " % 64 == 0",
                "max(m, max(n, k)) <= 1 << 30 and max(lda, ldb) < 1 << 30", all .. " * " .. work.parts .. " < 1 << 28",
                lanes_a and "true" or whole.a, lanes_b and "true" or whole.b,
                "not SWAP or CLUSTER_K or FILL > 0 and " .. tile_q .. " < 64", "FILL == 0 or not CLUSTER_K",
                "STAGES % BRINGERS == 0", -- so that each place has one warpgroup that fills it
                (lanes_a and held("TILE_M", "ta == 0") or "0") .. " + " .. (lanes_b and held("TILE_N", "tb == 1") or "0") .. " <= " ..
                    registers,
                tile_p .. " // 64 * " .. tile_q .. " // 2 <= " .. registers,
                -- What is never better.
                lanes == "ab" and "not (" .. whole.a .. " and " .. whole.b .. ")" or "not " .. whole[lanes], "min(m, n) <= 256",
                tile_p .. " < 2 * " .. size_p .. " or " .. tile_p .. " == 64",
                tile_q .. " >= 64 and " .. tile_q .. " < 2 * " .. size_q .. " or " .. covers,
                "FILL > 0 or CLUSTER_K or k < 1024 or 2 * " .. all .. " >= " .. sms,
                "FILL == 0 or " .. work.parts .. " > 1",
            },
            requires = requires, workspaces = work.workspaces, launch = work.launch,
        }
    end
    return formed {
        name = packed == "" and "wgmma" or packed == "ab" and "wgmma_packed" or "wgmma_packed_" .. packed,
        template = "gemm_wgmma.cu",
        params = {
            { "SWAP", false, true },         -- C is computed transposed
            { "TILE_M", 128, 64, 192, 256, table.unpack(sizes) }, -- rows and columns of C that a block computes
            { "TILE_N", 256, 64, 128, 192, table.unpack(sizes) },
            { "STAGES", 3, 4, 5, 6, 8, 10, 12, 14, 16 }, -- tiles of A and B in shared memory
            { "CONSUMERS", 2, 1, 3 },        -- warpgroups that multiply
            { "WIDE_C", true, false },
            { "GROUP", 8, 4 },               -- tiles along P that are computed at the same time
            { "FILL", 0, 1 },                -- tiles per multiprocessor that k is split for; 0: it is not
            { "CLUSTER_M", 1, 2, 4 },        -- blocks that share what they read of B
            { "CLUSTER_N", 1, 2, 4 },        -- blocks that share what they read of A
            { "CLUSTER_K", false, true },    -- the blocks of a cluster share k, and no more than that
        },
        where = {
            "T == 'f16' or T == 'bf16'",
            tile_p .. " % (64 * CONSUMERS) == 0",
            "TILE_M * TILE_N <= 16384 * CONSUMERS", "CONSUMERS < 3 or " .. tile_q .. " <= 200", -- registers
            "max(m, max(n, k)) <= 1 << 30", all .. " * " .. work.parts .. " < 1 << 28",
            few_enough, pack_a and "true" or whole.a, pack_b and "true" or whole.b,
            "WIDE_C == (FILL == 0 and not CLUSTER_K and " .. wide("n", "ldc") .. ")", -- it writes whole words
            "not SWAP or WIDE_C or CLUSTER_K or FILL > 0 and " .. tile_q .. " < 64",
            "FILL == 0 and not CLUSTER_K or " .. cluster .. " == 1", "FILL == 0 or not CLUSTER_K", cluster .. " <= 8",
            lines_a .. " % CLUSTER_N == 0", lines_b .. " % CLUSTER_M == 0",
            -- What is never better.
            packed == "" and "true" or "not (" .. (pack_a and whole.a or "true") .. " and " .. (pack_b and whole.b or "true") .. ")",
            tile_p .. " < 2 * " .. size_p .. " or " .. tile_p .. " == 64",
            tile_q .. " == 64 or " .. tile_q .. " < 2 * " .. size_q .. " or " .. covers,
            "m > TILE_M * (CLUSTER_M - 1)", "n > TILE_N * (CLUSTER_N - 1)",
            -- Clusters of more than two do not find room on all multiprocessors, and what has to wait takes as long again.
            cluster .. " <= 2 or 16 * " .. cluster .. " * " .. clusters .. " <= 15 * " .. sms,
            "not SWAP or TILE_M % 64 > 0 or TILE_M > TILE_N", tile_p .. " ~= 192 or CONSUMERS == 3 and " .. tile_q .. " % 64 > 0",
            "GROUP == 8 or " .. tile_q .. " >= 64 and not CLUSTER_K and " .. cluster .. " <= 2 and ceildiv(" .. size_p .. ", " .. tile_p ..
                " * " .. cluster_p .. ") > 8",
            -- Eight stages, or about as many as there is room for.
            "STAGES >= 8 or (STAGES + STAGES // 2) * 128 * (" .. lines .. ") > device.max_shared - 40960",
            "STAGES <= 8 or k >= 256 and (STAGES == 16 or " .. shared("(STAGES + 2)") .. " > device.max_shared)",
            "FILL == 0 or " .. shared("STAGES") .. " <= device.max_shared - 4096", -- what joins the parts has room beside it
            "TILE_M * TILE_N <= 4096 or 2 * " .. blocks .. " * " .. work.parts .. " >= " .. sms,
            "FILL > 0 or CLUSTER_K or k < 1024 or 2 * " .. all .. " >= " .. sms,
            "FILL == 0 or " .. work.parts .. " > 1",
            "not CLUSTER_K or " .. tile_q .. " < 64 or k >= 256 and 2 * " .. all .. " <= " .. sms,
            -- Tiles of no whole panels where blocks then have less to do: the shortest of those that make as many, or of a size that won on
            -- an H200 all the same. Less than 64 of Q where that makes one tile a multiprocessor at most.
            unless("(" .. tile_q .. " % 64 == 0 or " .. covers .. ")", {
                "not CLUSTER_K or " .. tile_q .. " == 96", "GROUP == 8",
                by_depth .. " or " .. tile_q .. " > 64 and (ta == 1 and tb == 0 or " .. cluster .. " > 2)",
                tile_q .. " > 64 or CONSUMERS == 1 and " .. tile_p .. " <= 128 and " .. all .. " <= " .. sms .. " and 2 * " .. all .. " * " ..
                    work.parts .. " >= " .. sms,
                "FILL == 0 or " .. tile_q .. " == 32",
                "FILL > 0 or " .. tile_q .. " % 48 == 0 or " .. tile_q .. " == 112 or ceildiv(" .. size_q .. ", " .. cluster_q .. " * " .. tile_q ..
                    ") < ceildiv(" .. size_q .. ", " .. cluster_q .. " * max(8, " .. tile_q .. " - 8))",
                "FILL > 0 or CLUSTER_K or " .. each(tile_q) .. " < " .. least,
            }),
        },
        requires = requires, workspaces = work.workspaces, launch = work.launch,
    }
end

-- Defaults: the first that is valid. What each is for was seen in what won on an H200 (db/tables/nvidia-h200.txt); docs/results.md has
-- them beside what they replaced. Tables have each twice: no more than are worth it.
local defaults = {}
local gpu, deep, very_deep = "device.backend == 'cuda'", "k >= 2048", "k >= 16384"

local function waves(tile_m, tile_n) -- of blocks, one a multiprocessor
    return "ceildiv(" .. tiles(tile_m, tile_n) .. ", " .. sms .. ")"
end
local many_idle = "10 * " .. tiles(128, 128) .. " < 9 * " .. sms .. " * " .. waves(128, 128) -- with large tiles

local types -- for which those that follow are; nil: for any
local any = "nn nt tn tt"

-- Adds some for problems of which all of `when` holds; nil: for any. Each is a list, with one for each form.
local function add(when, ...)
    for _, forms in ipairs { ... } do
        for _, default in ipairs(forms) do
            default.when = types and { types, table.unpack(when or {}) } or when
            table.insert(defaults, default)
        end
    end
end
-- Makes such lists: of the forms "nn nt" and values for these parameters.
local function of(variant, names, fixed)
    return function(forms, ...)
        local all, values = {}, { ... }
        for form in forms:gmatch("%a+") do
            local default, i = { variant = variant, FORM = form }, 0
            for name in names:gmatch("[%a_]+") do
                i = i + 1
                default[name] = values[i]
            end
            for name, value in pairs(fixed or {}) do
                default[name] = value
            end
            table.insert(all, default)
        end
        return all
    end
end
local few_columns = of("rows", "WIDE_A LANES ROWS COLS ITEMS FILL", { BLOCK = 256, SWAP = false })
local few_rows = of("rows", "WIDE_A LANES ROWS COLS ITEMS FILL", { BLOCK = 256, SWAP = true })
local one_row = of("columns", "WIDE_A WIDE_B BLOCK LANES FILL", { ROWS = 1, DEEP = 8 })
local alone = { SWAP = false, GROUP = 8, CLUSTER_M = 1, CLUSTER_N = 1, CLUSTER_K = false }
local function wg_tiles(variant)
    return of(variant, "TILE_M TILE_N STAGES CONSUMERS WIDE_C FILL", alone)
end
local wg, wg_packed_alone = wg_tiles "wgmma", wg_tiles "wgmma_packed"
local copied_names = "WIDE_C TILE_M TILE_N STAGES CLUSTER_M CLUSTER_N"
local copied_fixed = { SWAP = false, CONSUMERS = 2, GROUP = 8, FILL = 0, CLUSTER_K = false }
local function wg_packed_both(forms, ...)
    local list, all = of("wgmma_packed", copied_names, copied_fixed), {}
    append(all, table.unpack(list(forms, true, ...)))
    append(all, table.unpack(list(forms, false, ...)))
    return all
end
-- Of one side where that is enough, with neither transposed: mostly A if rows of C are whole words, else B.
local function wg_packed(forms, ...)
    local all = of("wgmma_packed_a", copied_names, copied_fixed)("nn", true, ...)
    append(all, table.unpack(of("wgmma_packed_b", copied_names, copied_fixed)("nn", false, ...)))
    append(all, table.unpack(wg_packed_both(forms, ...)))
    return all
end
local wg_cluster = of("wgmma", "SWAP TILE_M TILE_N STAGES CONSUMERS CLUSTER_M CLUSTER_N",
    { WIDE_C = true, GROUP = 8, FILL = 0, CLUSTER_K = false })
local wg_parts = of("wgmma", "TILE_M TILE_N STAGES",
    { SWAP = true, CONSUMERS = 1, WIDE_C = false, GROUP = 8, FILL = 1, CLUSTER_M = 1, CLUSTER_N = 1, CLUSTER_K = false })
local shares_k = { CONSUMERS = 1, WIDE_C = false, GROUP = 8, FILL = 0, CLUSTER_M = 1, CLUSTER_N = 1, CLUSTER_K = true }
local wg_shared_k = of("wgmma", "STAGES SWAP TILE_M TILE_N", shares_k)
local function wg_packed_shared_k(forms, ...)
    local all = {}
    for _, side in ipairs { "_a", "_b" } do
        append(all, table.unpack(of("wgmma_packed" .. side, "STAGES SWAP TILE_M TILE_N", shares_k)("nn", ...)))
    end
    append(all, table.unpack(of("wgmma_packed", "STAGES SWAP TILE_M TILE_N", shares_k)(forms, ...)))
    return all
end
local cluster = of("mma_cluster", "TILE_M TILE_N TILE_K WARP_M WARP_N STAGES CLUSTER WHOLE")
local warps = of("mma", "TILE_M TILE_N TILE_K WARP_M WARP_N STAGES FILL")
local warps_packed = of("mma_packed", "TILE_M TILE_N TILE_K WARP_M WARP_N STAGES FILL")
local shared = of("cluster", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N LANES_X WIDE_A WIDE_B STAGES CLUSTER")
local async = of("async", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N LANES_X WIDE_A WIDE_B STAGES FILL")
local streamed = of("stream", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N LANES_X WIDE_A WIDE_B STAGES FILL")
local blocked_tiles = of("blocked", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N LANES_X WIDE_A WIDE_B FILL")
-- The same with a list for each of these: rows of "both", "neither", "a" or "b" are whole words.
local function of_words(variant, names)
    local wide = { both = { true, true }, neither = { false, false }, a = { true, false }, b = { false, true } }
    local lists = of(variant, "WIDE_A WIDE_B " .. names)
    return function(forms, words, ...)
        local all = {}
        for which in words:gmatch("%a+") do
            append(all, table.unpack(lists(forms, wide[which][1], wide[which][2], ...)))
        end
        return all
    end
end
local doubles = of_words("dmma", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N MMA_K STAGES FILL")
local doubles_80 = of_words("dmma_80", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N MMA_K STAGES FILL")
local doubles_cluster = of_words("dmma_cluster", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N MMA_K STAGES CLUSTER")
local doubles_stream = of_words("dmma_stream", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N MMA_K STAGES FILL")
local floats_cluster = of_words("cluster", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N LANES_X STAGES CLUSTER")
local floats_async = of_words("async", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N LANES_X STAGES FILL")
local plain_tiles = of("registers", "TILE_M TILE_N TILE_K ITEMS_M ITEMS_N")

-- A matrix by a vector; few rows by a deep matrix of few columns; a vector by a matrix.
add({ gpu, very_deep, "m * batch <= " .. sms }, few_columns("nn", true, 256, 1, 1, 1, 2))
add(nil, few_columns("nn", true, 32, 1, 1, 4, 0), few_rows("nt", true, 32, 1, 1, 4, 0))
add({ gpu, very_deep, "m * batch <= " .. sms }, few_columns("nn", false, 256, 1, 1, 4, 2))
add({ gpu, deep }, few_columns("nn", false, 256, 2, 1, 4, 0))
add({ gpu }, few_columns("nn", false, 32, 1, 1, 4, 0), few_rows("nt", false, 32, 1, 1, 4, 0))
for _, cols in ipairs { 8, 4, 2 } do
    add({ gpu, very_deep, "m <= 8" }, few_columns("nn", true, 256, 2, cols, 2, 4), few_columns("nn", false, 256, 2, cols, 2, 4))
end
add({ gpu, "n * sizeof(T) >= 8192", "n * sizeof(T) <= 65536" }, one_row("nn", true, true, 1024, 8, 0))

-- Tensor cores, for f16 and bf16, by wgmma. Few rows or columns, and little of C where k is deep, by clusters that share k: on an H200 1.1
-- to 2.4 times as fast as mma_cluster at 16 x 5120 x 5120, 128 x 1000 x 8000, 300 x 304 x 2000 and the like.
add({ "k >= 8192", "8 * " .. tiles(64, 64) .. " <= " .. sms, "4 * alignup(n, 128) <= 5 * n" }, wg_parts("nn", 32, 128, 10))
add({ "k >= 8192", "16 * " .. tiles(64, 64) .. " <= " .. sms }, wg("nn", 64, 64, 8, 1, false, 1))
for _, few in ipairs { 16, 32 } do
    add({ "k >= 256", "k >= 1024 or " .. tiles(few, 64) .. " <= 4 * " .. sms }, wg_shared_k("nn nt", 8, true, few, 64))
    add({ "k >= 256", "k >= 1024 or " .. tiles(128, few) .. " <= 4 * " .. sms }, wg_shared_k("nn nt", 8, false, 128, few))
end
add({ "k <= 32", tiles(64, 64) .. " > " .. sms }, warps(any, 64, 32, 32, 32, 16, 3, 0))
-- One tile for most multiprocessors, as small as it has to be for that: k need not be shared then. Clusters of four do not find room on all
-- multiprocessors; with tiles of 48 rows on nearly all a larger one was as good.
local misaligned = "(lda % 64 ~= 0 or ldb % 64 ~= 0)" -- lines of tiles begin anywhere in those of memory
local function small(tile_m, stages, blocks_m, deepest, when)
    local all = blocks_m .. " * " .. tiles(tile_m .. " * " .. blocks_m, 64)
    add({ "k >= 256", "k <= " .. deepest, when or "true", "7 * alignup(m, " .. tile_m .. ") <= 8 * m", "16 * " .. all .. " <= " ..
        (blocks_m == 2 and 16 or 15) .. " * " .. sms, "16 * " .. all .. " >= 9 * " .. sms },
        wg_cluster("nn nt", true, tile_m, 64, stages, 1, blocks_m, 1))
end
small(48, 14, 1, 3072)
small(40, 16, 4, 4096, "m % 64 > 0")
small(32, 16, 2, 4096)
small(56, 14, 4, 3072, "m % 64 > 0")
small(56, 14, 2, 3072, misaligned)
add({ "k >= 1024", "m > 32", "m <= 48", "2 * " .. tiles(48, 64) .. " > " .. sms }, wg_cluster("nn", true, 48, 64, 14, 1, 1, 4))
local larger = tiles(64, 64) .. " > " .. sms
for _, tile_m in ipairs { 80, 96 } do
    add({ larger, "lda % 32 == 0", "ldb % 32 == 0", tiles(tile_m, 64) .. " <= " .. sms, "10 * alignup(m, " .. tile_m .. ") <= 11 * m" },
        wg_cluster("nn nt", true, tile_m, 64, 8, 1, 1, 1))
end
add({ "not " .. misaligned, tiles(64, 128) .. " <= " .. sms, "16 * " .. tiles(64, 128) .. " >= 15 * " .. sms },
    wg("nn nt", 64, 128, 8, 1, true, 0))
add({ larger, "10 * alignup(m, 104) <= 11 * m" }, wg_cluster("nn nt", true, 104, 64, 8, 1, 1, 4))
add({ larger, "10 * alignup(m, 88) <= 11 * m" }, wg_cluster("nn nt", true, 88, 64, 8, 1, 4, 1))
add({ "k >= 256", "k <= 8192", larger }, wg_cluster(any, false, 128, 64, 8, 1, 1, 4))
add({ "k >= 1024", "m > 64", "m <= 96" }, wg_shared_k("nn nt", 8, true, 96, 64))
add({ "k >= 1024" }, wg_shared_k(any, 8, false, 64, 64))
-- What the busiest multiprocessor computes by tiles of 128 x tile_n in clusters of down x across; and whether that is less by a ninth at
-- least than with other tiles.
local function work_of(tile_n, down, across)
    return tile_n .. " * ceildiv(" .. down * across .. " * " .. tiles(128 * down, tile_n * across) .. ", " .. sms .. ")"
end
local function prefers(work, ...)
    return "9 * " .. work .. " <= 8 * min(" .. table.concat({ ... }, ", ") .. ")"
end
-- About one tile for each multiprocessor: of clusters of so many blocks, with so large tiles, and work for so many sixteenths of the device at
-- least. On an H200 1.1 to 1.7 times as fast as tiles of 128 x 256, which do for all that is larger.
local function once(tile_m, tile_n, blocks, fewest)
    local all = blocks .. " * " .. tiles(tile_m, tile_n)
    return { all .. " <= " .. sms, all .. " >= " .. fewest .. " * " .. sms .. " // 16" }
end
add(once(128, 128, 1, 12), wg("nn nt", 128, 128, 6, 2, true, 0))
add(once(192, 192, 2, 14), wg_cluster("nn", true, 96, 192, 5, 3, 2, 1))
add({ "7 * alignup(m, 192) <= 8 * m", table.unpack(once(192, 256, 2, 10)) }, wg_cluster("nn nt", true, 192, 128, 4, 2, 1, 2))
add(once(256, 192, 4, 10), wg_cluster("nn", false, 64, 192, 6, 1, 4, 1))
add({ "5 * alignup(m, 256) <= 6 * m", table.unpack(once(256, 128, 2, 9)) }, wg_cluster("nn nt", false, 128, 128, 6, 2, 2, 1))
add({ prefers(work_of(192, 2, 1), work_of(256, 1, 1)) }, wg_cluster("nn nt", false, 128, 192, 4, 2, 2, 1))
add(nil, wg(any, 128, 256, 3, 2, true, 0), wg("nt", 128, 256, 3, 2, false, 0))
-- Lines that are not aligned take twice as long: pairs of blocks share them, if all run at the same time.
add({ misaligned, tiles(64, 128) .. " <= " .. sms, "2 * " .. tiles(64, 128) .. " >= " .. sms },
    wg_cluster("nn nt", false, 64, 128, 8, 1, 2, 1))
add(nil, wg("nn nt", 64, 128, 8, 1, true, 0), wg(any, 64, 64, 12, 1, true, 0), wg(any, 64, 64, 8, 1, true, 0),
    wg("nt", 64, 64, 8, 1, false, 0))
-- By clusters without wgmma what is newer than Hopper, which has no wgmma.
add({ "m > 16", "m <= 32", "2 * " .. tiles(32, 64) .. " <= " .. sms }, cluster("nn", 32, 64, 64, 16, 16, 8, 2, true))
add(nil, cluster("nn nt", 16, 64, 64, 16, 16, 4, 8, true), cluster("nn", 64, 16, 64, 16, 16, 4, 8, true),
    cluster("nn nt", 64, 64, 64, 32, 32, 4, 4, true))
-- The same of rows that are no whole words. Those of a long side, if the other is short, or of a deep product, lanes bring: that copies nothing.
local function wg_lanes(lanes, bringers)
    return of("wgmma_lanes" .. (lanes == "ab" and "" or "_" .. lanes), "SWAP TILE_M TILE_N FILL CLUSTER_K", {
        BRINGERS = bringers, STAGES = bringers == 4 and 4 or 6, CONSUMERS = 1, WIDE_C = false, GROUP = 8, CLUSTER_M = 1, CLUSTER_N = 1,
        LANES_A = lanes ~= "b", LANES_B = lanes ~= "a",
    })
end
local function few_parts(tile_m, tile_n)
    return "12 * " .. tiles(tile_m, tile_n) .. " <= " .. sms
end
-- Of a deep product one side alone, if that of the other is whole words, which the engine then brings.
for _, side in ipairs { "a", "b" } do
    local swap, few, tile_m, tile_n = side == "a", side == "a" and "m" or "n", side == "a" and 32 or 64, side == "a" and 64 or 32
    add({ "k >= 32768", few .. " > 16", few .. " <= 32", few_parts(tile_m, tile_n) },
        wg_lanes(side, 4)("nn tn tt", swap, tile_m, tile_n, 1, false))
    add({ "k >= 32768", "min(m, n) > 32", "min(m, n) <= 128", few_parts(64, 128) },
        wg_lanes(side, 3)("nn tn tt", false, 64, 128, 1, false))
end
-- For tiles that have all of a short side: `rule` gets the condition that it is short, how long it may be, that k is deep and has to be cut, that
-- the other side is one for the engine, and what makes defaults of a form.
local function by_short_side(rule)
    for _, few in ipairs { 16, 32, 64 } do
        for _, short in ipairs { { "m", "n", whole.b, true, few, 64 }, { "n", "m", whole.a, false, 64, few } } do
            local size, other, words, swap, tile_m, tile_n = table.unpack(short)
            rule(size .. " <= " .. few .. " and " .. size .. " <= " .. other, few, "k >= 8192 and " .. few_parts(tile_m, tile_n),
                words .. " and " .. other .. " > 256", function(forms, parts)
                    return wg_lanes("ab", few <= 32 and 4 or 3)(forms, swap, tile_m, tile_n, parts and 1 or 0, not parts)
                end)
        end
    end
end
by_short_side(function(short, few, deep, words, lanes)
    if few <= 32 then
        add({ short, deep }, lanes(any, true))
    end
    -- Only of row-major A and B there are kernels that copy one side alone.
    add({ short, "not (" .. deep .. ")", "k >= 1024", "not (" .. words .. ")" }, lanes "nn")
    add({ short, "not (" .. deep .. ")", "k >= 128" }, lanes "nt tn tt")
end)
add({ "m <= 80", "m <= n", "k >= 1024", "k < 8192 or not (" .. few_parts(80, 64) .. ")", "not " .. whole.b },
    wg_lanes("ab", 3)("nn", true, 80, 64, 0, true))
add({ "k >= 8192", "k >= 32768 or not (" .. whole.a .. " or " .. whole.b .. ")", "min(m, n) <= 128", few_parts(64, 64) },
    wg_lanes("ab", 3)(any, false, 64, 64, 1, false))
-- What is small is faster without copies of A and B, too.
add({ very_deep, "4 * " .. tiles(128, 128) .. " <= " .. sms }, wg_packed_alone("nn", 128, 128, 4, 2, false, 1))
for _, few in ipairs { 16, 32 } do
    local k = "k >= " .. 4096 // few -- what is smaller is as fast without copies
    add({ k, "m > " .. few // 2, "m <= " .. few }, wg_packed_shared_k("nn", 8, true, few, 64))
    add({ k, "n > " .. few // 2, "n <= " .. few }, wg_packed_shared_k("nn", 8, false, 128, few))
end
local many, full = "min(m, n) > 32", "(m <= 96 or 4 * alignup(m, 96) <= 5 * m)"
add({ deep, many, "8 * " .. tiles(64, 64) .. " <= " .. sms }, wg_packed_shared_k("nn nt", 8, false, 64, 64))
add({ "k >= 1024", many, "m > 64", full, "3 * " .. tiles(96, 128) .. " <= " .. sms }, wg_packed_shared_k("nn nt", 6, true, 96, 128))
add({ "k >= 512", many, "m > 64", "2 * " .. tiles(128, 64) .. " <= " .. sms }, wg_packed_shared_k("nn nt", 6, true, 128, 64))
add({ "k >= 512 or k >= 256 and 4 * " .. tiles(64, 64) .. " >= " .. sms, many, "2 * " .. tiles(64, 64) .. " <= " .. sms },
    wg_packed_shared_k(any, 8, false, 64, 64))
add(nil, cluster("nn", 16, 64, 64, 16, 16, 2, 8, false))
add({ "m <= 32" }, cluster("nt tn tt", 16, 64, 64, 16, 16, 2, 8, false))
add({ "n <= 32" }, cluster("nt tn tt", 64, 16, 64, 16, 16, 2, 8, false))
add({ "n > 16", "n <= 32" }, cluster("nn", 128, 32, 32, 32, 32, 2, 8, false))
add(nil, cluster("nn", 64, 16, 64, 16, 16, 2, 8, false))
by_short_side(function(short, _, _, _, lanes)
    add({ short, "k >= 128" }, lanes "nn")
end)
-- What is shallow.
add({ "k <= 64", "min(m, n) > 32", tiles(32, 64) .. " <= 2 * " .. sms }, cluster(any, 32, 64, 64, 16, 16, 2, 1, false),
    cluster(any, 64, 32, 64, 16, 16, 2, 1, false))
add({ "k <= 64", "min(m, n) > 32", tiles(64, 64) .. " <= 4 * " .. sms }, cluster(any, 64, 64, 32, 32, 32, 2, 1, false))
-- In pairs of blocks, which read half as much of one side: pairs across where few tiles below each other are an odd number. The largest
-- tiles of those with which the busiest multiprocessor computes least, nearly.
add({ tiles(128, 64) .. " <= " .. sms, "n > 64" }, wg_packed_both(any, 128, 64, 8, 1, 4), wg_packed(any, 128, 64, 8, 1, 2))
for _, pair in ipairs { { "m < 2048 and ceildiv(m, 128) % 2 == 1", 1, 2 }, { "true", 2, 1 } } do
    local when, down, across = table.unpack(pair)
    local of_128, of_192, of_256 = work_of(128, down, across), work_of(192, down, across), work_of(256, down, across)
    add({ when, prefers(of_128, of_192, of_256) }, wg_packed(any, 128, 128, 5, down, across))
    add({ when, prefers(of_192, of_256) }, wg_packed("nn nt", 128, 192, 4, down, across))
    add({ when }, wg_packed("nn nt", 128, 256, 3, down, across))
end
add({ "n <= 64" }, wg_packed("nn nt", 128, 64, 8, 2, 1))
add(nil, wg_packed_both("tn tt", 128, 128, 5, 2, 1), wg_packed_both("tn tt", 128, 64, 8, 1, 2))
add({ "2 * " .. tiles(64, 64) .. " >= " .. sms }, wg_packed_alone(any, 64, 64, 8, 1, false, 0))
add(nil, cluster("nn nt", 64, 64, 32, 32, 32, 2, 8, false), cluster("nn nt", 32, 32, 32, 16, 16, 2, 4, false))
-- Small and shallow products of any form.
add({ "sizeof(T) == 2", "k <= 40", "batch * m * n <= 1 << 15" }, { { variant = "tile", TILE = 8, PAD = 0 } })
local tiny = { "sizeof(T) == 2", "m <= 16", "n <= 16", "k < 512" }
for _, lanes in ipairs { 64, 32 } do
    for _, cols in ipairs { 8, 4 } do
        add(tiny, few_rows("nt tt", false, lanes, 1, cols, 4, 0), few_columns("nn", false, lanes, 1, cols, 4, 0))
    end
end
add(tiny, of("columns", "BLOCK LANES ROWS DEEP", { WIDE_A = false, WIDE_B = false, FILL = 0, SWAP = false })("tn", 256, 8, 4, 4))
for _, blocks in ipairs { 4, 2, 1 } do
    add({ "m <= 16" }, cluster(any, 16, 32, 32, 16, 16, 2, blocks, false), cluster(any, 16, 64, 32, 16, 32, 2, blocks, false))
    add({ "n <= 16" }, cluster(any, 32, 16, 32, 16, 16, 2, blocks, false), cluster(any, 64, 16, 32, 32, 16, 2, blocks, false))
    add({ "m <= 32 or n <= 32 or " .. tiles(32, 32) .. " <= " .. sms }, cluster(blocks == 4 and "tn tt" or any, 32, 32, 32, 16, 16, 2, blocks, false),
        cluster(any, 32, 64, 32, 32, 16, 2, blocks, false), cluster(any, 64, 32, 32, 16, 32, 2, blocks, false))
end
-- Larger ones.
add({ "k < 1024" }, wg_lanes("ab", 3)(any, true, 64, 64, 0, true))
add({ "k < 1024" }, wg_packed_alone(any, 64, 64, 8, 1, true, 0), wg_packed_alone(any, 64, 64, 8, 1, false, 0))
add({ "4 * " .. tiles(128, 128) .. " <= " .. sms }, wg_packed_alone("tn tt", 128, 128, 4, 2, false, 1))
-- Rows of C that are no whole words, beside such of A and B.
add({ tiles(128, 128) .. " > 2 * " .. sms }, wg("nn tn tt", 128, 256, 3, 2, false, 0))
add({ tiles(64, 64) .. " > " .. sms }, of("wgmma", copied_names, copied_fixed)("nn tn tt", false, 128, 64, 8, 1, 4))
add(nil, wg("nn tn tt", 64, 64, 8, 1, false, 0))
-- What is left, what is deep, and what devices before Hopper have, on which none of these was timed.
add(nil, warps(any, 128, 128, 32, 64, 32, 4, 0), warps("nn", 64, 64, 64, 32, 32, 4, 2))
for _, list in ipairs { warps, warps_packed } do
    for _, fill in ipairs { 0, 4, 2 } do
        add({ "m <= 16" }, list(any, 16, 64, 64, 16, 16, 4, fill))
        add({ "n <= 16" }, list(any, 64, 16, 64, 16, 16, 4, fill))
        add({ "m <= 32" }, list(any, 32, 64, 64, 32, 16, 4, fill))
        add({ "n <= 32" }, list(any, 64, 32, 64, 16, 32, 4, fill))
    end
end
add({ tiles(128, 128) .. " >= " .. sms }, warps_packed(any, 128, 128, 32, 64, 32, 4, 0))
for _, fill in ipairs { 0, 2 } do
    add(nil, warps_packed(any, 64, 64, 64, 32, 32, 4, fill), warps(any, 64, 64, 64, 32, 32, 4, fill))
end

-- Of the other types one row; what is small; what is deep.
add(nil, one_row("nn", true, true, 256, 32, 1))
add({ gpu }, one_row("nn", true, false, 256, 32, 4), one_row("nn", true, false, 256, 32, 0),
    one_row("nn", false, false, 256, 32, 4), one_row("nn", false, false, 256, 32, 0))

-- f64 by its tensor cores, in the order of: little of C and a deep k; few rows; few columns; small products; what blocks share; what is about
-- one tile for each multiprocessor; the rest. Chosen on an H200; how, and what was not timed: docs/results.md.
types = "T == 'f64'"
local usual_forms, words = "nn nt tn", "both neither"
-- Whether so many blocks for each tile are from `least` to `most` tenths of the multiprocessors; nil: any.
local function tenths(each, tile_m, tile_n, least, most)
    local all = "10 * " .. each .. " * " .. tiles(tile_m, tile_n)
    local enough, few_enough = all .. " >= " .. (least or 0) .. " * " .. sms, all .. " <= " .. (most or 0) .. " * " .. sms
    return "(" .. (not least and few_enough or not most and enough or enough .. " and " .. few_enough) .. ")"
end
local function room(each, tile_m, tile_n) -- for a cluster for each tile at the same time
    return tiles(tile_m, tile_n) .. " <= " .. sms .. " * " .. at_once[each]
end
local function small_tiles()
    return doubles(any, words, 32, 32, 32, 2, 4, 4, 3, 2)
end
add({ "k >= 8192", "max(m, n) <= 16", tenths(1, 64, 64, nil, 3) }, doubles(usual_forms, words, 16, 16, 32, 2, 2, 8, 4, 4))
add({ "k >= 8192", "min(m, n) <= 32", tenths(1, 64, 64, nil, 1) }, small_tiles())
add({ "k >= 8192", tenths(1, 64, 64, nil, 3) }, doubles(any, "neither", 64, 128, 8, 8, 8, 4, 4, 2),
    doubles(any, "both a b neither", 64, 64, 16, 4, 8, 8, 4, 2))
for _, each in ipairs { 8, 4, 2 } do
    add({ "m <= 16", room(each, 16, 64) }, doubles_cluster(usual_forms, words, 16, 64, 32, 2, 4, 4, 4, each))
end
add({ "m <= 16" }, doubles(any, words, 16, 128, 16, 2, 8, 4, 4, 2), doubles(any, words, 16, 128, 16, 2, 8, 4, 4, 0))
add({ "n <= 16", tenths(4, 64, 16, 10, 20) }, doubles_cluster(usual_forms, words, 64, 16, 16, 2, 4, 8, 4, 4))
add({ "n <= 16" }, doubles(any, words, 64, 16, 16, 4, 4, 4, 4, 4), doubles(any, words, 64, 16, 16, 4, 4, 4, 4, 0))
add({ "n <= 32", tenths(1, 64, 32, 3) }, doubles(usual_forms, "neither", 128, 32, 16, 4, 8, 8, 4, 1))
for _, few in ipairs { { "m <= 32", 32, 64 }, { "n <= 32", 64, 32 } } do
    local when, tile_m, tile_n = table.unpack(few)
    for _, share in ipairs { { 8, 6, 9, 16 }, { 7, 14, 20, 16 }, { 2, 6, 10, 32 } } do
        local each, least, most, tile_k = table.unpack(share)
        add({ when, tenths(each, tile_m, tile_n, least, most) },
            doubles_cluster(usual_forms, words, tile_m, tile_n, tile_k, 2, 4, 4, 4, each))
    end
    add({ when }, doubles(any, words, tile_m, tile_n, 16, 4, 4, 4, 4, 2), doubles(any, words, tile_m, tile_n, 16, 4, 4, 4, 4, 0))
end
add({ "k <= 256", tenths(2, 16, 32, nil, 20) }, doubles_cluster(usual_forms, words, 16, 32, 16, 2, 4, 4, 4, 2))
add({ "k <= 192", tenths(1, 16, 32, nil, 10) }, doubles(usual_forms, words, 16, 32, 16, 2, 2, 8, 4, 0))
add({ "k <= 192", tenths(1, 32, 64, nil, 25) }, doubles(any, words, 32, 64, 16, 4, 4, 4, 4, 0))
add({ "k > 128", tenths(3, 32, 64, 14, 20) }, doubles_cluster(usual_forms, words, 32, 64, 16, 2, 4, 4, 4, 3))
for _, each in ipairs { 8, 4, 3 } do -- what is no longer than 512 has smaller tiles, below, if these are too few
    add({ "k > 128", room(each, 64, 64), "max(m, n) >= 512 or " .. tenths(each, 64, 64, 6) },
        doubles_cluster(usual_forms, words, 64, 64, 16, 4, 4, 8, 4, each))
end
add({ "k > 128", tenths(2, 64, 64, 8, 10) .. " or " .. tenths(2, 64, 64, 15, 20) .. " or k < 2048 and " .. tenths(2, 64, 64, 6, 8) },
    doubles_cluster(usual_forms, words, 64, 64, 16, 4, 4, 8, 4, 2))
for _, each in ipairs { 8, 4, 2 } do
    add({ "k > 128", tenths(each, 32, 32, nil, 20) }, doubles_cluster(usual_forms, words, 32, 32, 16, 2, 4, 4, 4, each))
end
add({ "k > 128", tenths(3, 64, 128, 6), room(3, 64, 128) }, doubles_cluster(usual_forms, words, 64, 128, 8, 4, 8, 4, 4, 3))
add({ "m > 64", "m <= 128", tenths(1, 128, 64, 5) }, doubles_stream("nn", "a neither", 128, 64, 8, 4, 8, 4, 4, 2))
add({ "k >= 768 and " .. tenths(1, 64, 64, 3, 12) .. " or k >= 2048 and " .. tenths(1, 64, 64, 12, 15) },
    doubles_stream("nn", "both a b neither", 64, 64, 16, 4, 8, 8, 3, 3), doubles_stream("nt tn tt", words, 64, 64, 16, 4, 8, 8, 3, 3))
add({ "k >= 768", tenths(1, 64, 64, nil, 3) }, doubles("tt", words, 64, 64, 16, 4, 4, 8, 4, 4))
add({ tenths(1, 64, 128, 7, 10) }, doubles(usual_forms, "both", 64, 128, 8, 4, 8, 4, 4, 0),
    doubles_cluster(usual_forms, "neither", 64, 128, 8, 4, 8, 4, 4, 2), doubles(usual_forms, "neither", 64, 128, 8, 4, 8, 4, 4, 0))
-- Large tiles where the busiest multiprocessor computes at most a ninth more than with small ones.
local function busiest(tile_m, tile_n)
    return tile_m * tile_n .. " * " .. waves(tile_m, tile_n)
end
for _, large in ipairs { { "nn tn", 64, 256 }, { "nn tn", 256, 64 }, { "nt tt", 128, 128 } } do
    local forms, tile_m, tile_n = table.unpack(large)
    add({ "9 * " .. busiest(tile_m, tile_n) .. " <= 10 * " .. busiest(64, 64) },
        doubles(forms, "both", tile_m, tile_n, 16, 8, 8, 8, 3, 0), doubles(forms, "a b neither", tile_m, tile_n, 16, 8, 8, 4, 3, 0))
end
add({ many_idle, tiles(128, 128) .. " >= " .. sms }, doubles_stream(any, "both", 128, 128, 16, 8, 8, 8, 4, 1))
add({ tiles(64, 64) .. " > 2 * " .. sms }, doubles(any, "both", 64, 64, 16, 4, 8, 8, 4, 0),
    doubles(any, "neither", 64, 64, 16, 4, 8, 8, 3, 0))
add(nil, doubles(any, words, 64, 64, 16, 4, 4, 8, 4, 0), small_tiles())
-- Before Hopper: not timed.
for _, fill in ipairs { 4, 0 } do
    add({ "m <= 32" }, doubles_80(any, words, 16, 128, 16, 2, 8, 4, 4, fill))
    add({ "n <= 32" }, doubles_80(any, words, 64, 16, 16, 4, 4, 4, 4, fill))
end
add({ tenths(1, 64, 64, nil, 15) }, doubles_80(any, words, 64, 64, 16, 4, 4, 4, 4, 4))
add(nil, doubles_80(any, words, 128, 128, 16, 8, 8, 4, 3, 0), doubles_80(any, words, 64, 64, 16, 4, 4, 4, 4, 0),
    doubles_80(any, words, 32, 32, 32, 2, 4, 4, 3, 2))

-- f32 of some hundred rows and columns: clusters that share k, with the largest tiles whose blocks nearly fill one wave or two; and small
-- tiles where k is too short for that. Chosen on an H200: docs/results.md.
types = "T == 'f32'"
local function floats(list, when, ...)
    for _, w in ipairs { { "nn tn tt", "both" }, { "nn nt", "b" }, { any, "neither" } } do
        add({ gpu, "min(m, n) > 8", when }, list(w[1], w[2], ...))
    end
end
local function floats_shared(tile_m, tile_n, items_n, stages, blocks, when)
    floats(floats_cluster, "k >= 96 and k <= 2560 and (" .. when .. ")", tile_m, tile_n, 16, 4, items_n, 8, stages, blocks)
end
floats_shared(64, 128, 8, 3, 2, tenths(2, 64, 128, 16, 20))
floats_shared(64, 64, 4, 4, 2, tenths(2, 64, 64, 8, 10) .. " or " .. tenths(2, 64, 64, 16, 20) .. " or k < 256 and " .. tenths(2, 64, 64, 7, 8))
floats_shared(64, 64, 4, 4, 4, tenths(4, 64, 64, 13, 20) .. " or m >= 512 and " .. tenths(4, 64, 64, 5, 8))
floats_shared(32, 64, 4, 4, 4, "(k < 256 or " .. tenths(4, 32, 64, 5) .. ") and " .. tenths(4, 32, 64, nil, 20))
floats_shared(16, 64, 4, 4, 8, tenths(8, 16, 64, nil, 20))
floats(floats_async, "k < 128 and " .. tenths(1, 32, 32, nil, 60), 32, 32, 16, 4, 4, 8, 4, 0)
floats(floats_async, "k < 128 and " .. tenths(1, 32, 64, nil, 60), 32, 64, 16, 4, 4, 8, 3, 0)
floats(floats_async, "k < 128 and " .. tenths(1, 64, 32, nil, 60), 64, 32, 16, 4, 4, 8, 4, 0)

types = "T ~= 'i32'" -- of which nothing was measured
local four = "sizeof(T) == 4"
add({ gpu, "m * n <= 1 << 15", "k < 1024" }, async("nn", 16, 64, 16, 4, 4, 8, false, true, 4, 0))
-- Few columns of a row-major A, and few rows by a B transposed: words along k. On an H200 in f32 1.2 to 1.5 times as fast as element by
-- element. The same without whole rows of one side.
add({ gpu, very_deep, "max(m, n) <= 32" }, async("nn nt", 32, 32, 32, 4, 4, 8, true, true, 3, 4))
add({ gpu, very_deep, "max(m, n) <= 32" }, async("nn", 32, 32, 16, 4, 4, 8, false, true, 3, 4))
for _, fill in ipairs { 4, 0 } do
    local tall = fill > 0 and 64 or 128
    for _, b in ipairs { true, false } do
        add({ gpu, "n <= 16" }, async("nn", 64, 16, 32, 4, 4, 4, true, b, 3, fill))
        add({ gpu, "n <= 32" }, async("nn", tall, 32, 32, 8, 4, 8, true, b, 3, fill))
        add({ gpu, "n <= 64" }, async("nn", 64, 64, 32, 8, 4, 8, true, b, 3, fill))
    end
    for _, a in ipairs { true, false } do
        local forms = a and "nt tt" or "tt"
        add({ gpu, "n <= 16" }, async(forms, 64, 16, 32, 4, 4, 4, a, true, 3, fill))
        add({ gpu, "n <= 32" }, async(forms, tall, 32, 32, 8, 4, 8, a, true, 3, fill))
        add({ gpu, "n <= 64" }, async("tt", 64, 64, 32, 8, 4, 8, a, true, 3, fill))
    end
end
for _, fill in ipairs { 2, 0 } do
    add({ gpu, "n <= 64" }, async("nt", 64, 64, 32, 8, 4, 8, true, true, 3, fill)) -- with more than three blocks some would wait
    add({ gpu, "m <= 16" }, async("nt tt", 16, 128, 32, 4, 4, 8, false, true, 3, fill))
    add({ gpu, "m <= 32" }, async("nt tt", 32, 128, 32, 4, 8, 8, false, true, 3, fill))
    add({ gpu, "m <= 64" }, async("nt tt", 64, 128, 32, 4, 8, 8, false, true, 3, fill))
end
-- Some rows of a deep A: up to 32 by clusters of 7, where these make one and a half to two blocks for each
-- multiprocessor; from 65 to 128 by tiles of 256 columns.
local function by_sevens(tile_m, tile_n)
    local blocks = "7 * " .. tiles(tile_m, tile_n)
    return blocks .. " <= 2 * " .. sms .. " and 2 * " .. blocks .. " >= 3 * " .. sms
end
add({ gpu, deep, "m > 8", "m <= 16", by_sevens(16, 128) }, shared("nn", 16, 128, 16, 4, 4, 8, false, true, 4, 7))
add({ gpu, deep, "m > 16", "m <= 32", by_sevens(32, 128) }, shared("nn", 32, 128, 16, 4, 8, 8, false, true, 4, 7))
add({ gpu, deep, "m > 64", "m <= 128", "n >= 1024" }, async("nn", 64, 256, 8, 16, 8, 8, false, true, 4, 1))
add({ gpu, "k <= 512", tiles(64, 128) .. " >= " .. sms }, async("nn", 64, 128, 8, 8, 8, 8, false, true, 3, 0))
add({ gpu, deep, "2 * " .. tiles(128, 128) .. " <= " .. sms }, async("nn", 128, 128, 8, 8, 8, 8, false, true, 4, 1))
-- Rows of any length, where parts of k are long or blocks many; and where large tiles leave many multiprocessors idle.
local few_waves = tiles(128, 128) .. " <= 3 * " .. sms
local enough = "2 * " .. tiles(128, 128) .. " >= " .. sms .. " or k >= 2048 and 4 * " .. tiles(128, 128) .. " > " .. sms
for _, pair in ipairs { { "m >= n", 128, 64, 8 }, { "m < n", 64, 128, 16 } } do
    local when, tile_m, tile_n, tile_k = table.unpack(pair)
    add({ gpu, four, "k >= 128", "k < 512", when, tenths(2, tile_m, tile_n, 9, 20) },
        shared(any, tile_m, tile_n, tile_k, 4, 8, 8, false, false, 2, 2))
end
add({ gpu, four, "k >= 128", "k < 512", tenths(2, 64, 64, 10, 20) }, shared(any, 64, 64, 16, 4, 4, 8, false, false, 4, 2))
add({ gpu, "k < 128", few_waves, tiles(64, 64) .. " >= 2 * " .. sms }, async(any, 64, 64, 16, 4, 8, 8, false, false, 3, 0))
add({ gpu, "k < 512", few_waves, tiles(64, 64) .. " >= " .. sms }, async(any, 64, 64, 16, 8, 4, 8, false, false, 3, 0))
add({ gpu, many_idle, few_waves, enough }, streamed("nn nt", 128, 128, 16, 8, 8, 8, false, true, 3, 1),
    streamed("tn tt", 128, 128, 16, 8, 8, 8, true, true, 3, 1), streamed("nn", 128, 128, 16, 8, 8, 8, false, false, 3, 1))
add({ gpu, few_waves, "k >= 1024 or 2 * " .. tiles(64, 128) .. " > " .. sms, "4 * " .. tiles(64, 64) .. " >= " .. sms },
    streamed(any, 64, 64, 16, 8, 4, 8, false, false, 3, 3))
-- What few blocks have to share: clusters that all run at the same time.
add({ gpu, "k <= 1024", "3 * " .. tiles(32, 64) .. " <= 2 * " .. sms }, shared("nn", 32, 64, 16, 4, 4, 8, false, true, 4, 3))
add({ gpu, "k <= 1024", "2 * " .. tiles(64, 64) .. " <= " .. sms }, shared("nn", 64, 64, 16, 4, 4, 8, false, true, 4, 2))
for _, blocks in ipairs { 8, 4, 3, 2 } do
    add({ gpu, blocks .. " * " .. tiles(128, 128) .. " <= " .. sms }, shared("nn", 128, 128, 16, 8, 8, 8, false, true, 3, blocks))
end
-- Large tiles; others where that leaves fewer multiprocessors idle.
local fewer_waves = waves(256, 64) .. " < " .. waves(128, 128)
-- A or B transposed: where there is little of C, and where large tiles leave many multiprocessors idle.
add({ gpu, "k <= 1024", "2 * " .. tiles(64, 64) .. " <= " .. sms }, shared("nt", 64, 64, 16, 4, 4, 8, false, true, 3, 2))
add({ gpu, tiles(32, 64) .. " <= 2 * " .. sms }, async("nt", 32, 64, 16, 4, 8, 8, false, true, 3, 4))
add({ gpu, deep, tiles(64, 64) .. " <= " .. sms }, streamed("nt", 64, 64, 16, 4, 8, 8, false, true, 3, 3))
add({ gpu, "k >= 512", tiles(64, 64) .. " <= " .. sms }, streamed("tn tt", 64, 64, 16, 8, 4, 8, true, true, 3, 3))
add({ gpu, deep, tiles(64, 64) .. " <= " .. sms }, async("nt", 64, 64, 16, 4, 8, 8, false, true, 3, 4))
add({ gpu, tiles(64, 64) .. " <= " .. sms }, async("tn tt", 64, 64, 16, 8, 4, 8, true, true, 3, 2))
add({ gpu, "2 * " .. tiles(128, 128) .. " <= " .. sms }, shared("nt", 128, 128, 16, 8, 8, 8, false, true, 3, 2),
    shared("tn tt", 128, 128, 16, 8, 8, 8, true, true, 3, 2))
add({ gpu, many_idle, tiles(128, 128) .. " <= 2 * " .. sms }, async("nt", 64, 64, 16, 4, 8, 8, false, true, 3, 0),
    async("tn tt", 64, 64, 16, 8, 4, 8, true, true, 3, 0))
for _, fill in ipairs { 4, 0 } do
    add({ gpu }, async("tn", 16, 128, 16, 4, 4, 8, false, true, 3, fill), async("tn", 128, 16, 16, 8, 4, 4, true, true, 3, fill))
end
add({ gpu, many_idle }, async("nn", 64, 64, 16, 8, 4, 8, false, true, 3, 0))
add(nil, blocked_tiles("nn", 128, 256, 8, 16, 8, 8, true, true, 0))
-- 3648 x 2520 x 1528 566 us, for 735; at 1671 x 4504 x 1270 as fast; larger ones were not timed.
add({ gpu, tiles(128, 128) .. " <= 6 * " .. sms }, async("tn", 64, 128, 16, 8, 8, 8, true, true, 3, 0))
add({ gpu, "2 * " .. waves(128, 256) .. " <= " .. waves(128, 128) .. " + 1" }, blocked_tiles("nt tn tt", 128, 256, 8, 16, 8, 8, true, true, 0))
types = nil
add(nil, blocked_tiles(any, 128, 128, 16, 8, 8, 8, true, true, 0))
types = "T ~= 'i32'"
-- Few rows and few columns.
add(nil, async("nn", 16, 128, 16, 4, 4, 8, false, true, 3, 4))
add({ gpu, "m <= 16" }, async("nn", 16, 128, 16, 4, 4, 8, false, true, 3, 0))
add({ gpu, "m <= 32" }, async("nn", 32, 128, 16, 4, 8, 8, false, true, 3, 0))
add({ gpu, "n <= 16" }, async("nn", 64, 16, 16, 4, 4, 4, false, true, 4, 8), async("nn", 64, 16, 16, 4, 4, 4, false, true, 4, 0))
add({ gpu, "n <= 32" }, async("nn", 64, 32, 16, 4, 4, 8, false, true, 4, 4), async("nn", 64, 32, 16, 4, 4, 8, false, true, 4, 0))
add({ gpu }, async("nn", 64, 64, 16, 8, 4, 8, false, true, 3, 2), async("nn", 64, 64, 16, 8, 4, 8, false, true, 4, 0))
add({ gpu }, async("nn", 128, 128, 8, 8, 8, 8, false, true, 3, 0))
-- Where only rows of A are whole words.
add({ gpu, four, very_deep, "m > 16", "n > 16", tiles(32, 32) .. " <= " .. sms }, blocked_tiles("nn", 32, 32, 16, 4, 4, 8, true, false, 8))
add({ gpu, four, "m > 64", "n > 32", tiles(128, 64) .. " >= 3 * " .. sms }, blocked_tiles("nn", 128, 64, 8, 8, 8, 8, true, false, 0))
-- The same of rows of any length; three stages where those of A are whole words.
add({ gpu, "k >= 8192", "2 * " .. tiles(256, 32) .. " <= " .. sms }, async("nn", 256, 32, 8, 8, 8, 4, false, false, 3, 4))
for _, stages in ipairs { 2, 3 } do
    for _, blocks in ipairs { 3, 5, 2, 8 } do
        add(nil, shared("nn", 64, 128, 16, 4, 8, 8, false, false, stages, blocks))
    end
end
add({ gpu, fewer_waves, "m >= 1024" }, async("nn", 256, 64, 8, 8, 8, 8, false, false, 4, 0))
add({ gpu, four, "m > 16", "n > 32", tiles(64, 64) .. " <= 3 * " .. sms }, blocked_tiles("nn", 64, 64, 16, 8, 4, 8, true, false, 8))
add({ gpu, "sizeof(T) >= 4", "k <= 16" }, plain_tiles("nn", 128, 128, 16, 8, 8))
add({ gpu }, async("nn", 128, 64, 8, 8, 8, 8, false, false, 4, 0))
add(nil, async("nn", 128, 128, 8, 8, 8, 8, false, false, 3, 0))
add({ gpu, tiles(128, 128) .. " >= " .. sms }, async("nt tn tt", 128, 128, 8, 8, 8, 8, false, false, 3, 0),
    async("tn tt", 128, 128, 8, 8, 8, 8, false, true, 3, 0))
add({ gpu }, async("tn tt", 64, 64, 16, 8, 4, 8, false, true, 3, 2), async("tn tt", 64, 64, 16, 8, 4, 8, false, true, 3, 0))
add({ gpu, "m <= 16" }, async(any, 16, 128, 16, 4, 4, 8, false, false, 3, 4),
    async(any, 16, 128, 16, 4, 4, 8, false, false, 3, 0))
add({ gpu, "n <= 32" }, shared("nn", 128, 32, 16, 4, 4, 8, false, false, 3, 7),
    async(any, 64, 16, 16, 4, 4, 4, false, false, 4, 8), async(any, 64, 16, 16, 4, 4, 4, false, false, 4, 0))
add({ gpu, "m <= 32" }, async(any, 32, 64, 16, 4, 4, 8, false, false, 3, 4),
    async(any, 32, 64, 16, 4, 4, 8, false, false, 3, 0))
add({ gpu }, async(any, 64, 64, 16, 8, 4, 8, false, false, 3, 2),
    async(any, 64, 64, 16, 8, 4, 8, false, false, 3, 0))
-- Plain ones for all that is left, the last of any form.
types = nil
add(nil, blocked_tiles(any, 32, 32, 16, 4, 4, 8, false, false, 8), plain_tiles("nn any", 64, 64, 8, 4, 4))

local plain = { "c", "alpha", "a", "b", "beta", "m", "n", "k", "ta", "tb", "lda", "ldb", "ldc" } -- what the plain variants take

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
        blocked("async", { cc = 80 }),
        blocked("cluster", { backend = "cuda", cc = 90 }),
        blocked("dmma", { cc = 90 }),
        blocked("dmma_cluster", { backend = "cuda", cc = 90 }),
        blocked("stream", { cc = 90 }),
        blocked("dmma_stream", { cc = 90 }),
        blocked("dmma_80", { cc = 80 }), -- a variant, since what ships is PTX for what a variant requires
        columns(false),
        columns(true),
        rows(),
        mma(false),
        mma(true),
        mma(false, true),
        wgmma(""),
        wgmma("ab"),
        wgmma("a"),
        wgmma("b"),
        wgmma("", "ab"),
        wgmma("", "a"),
        wgmma("", "b"),
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
                "device.backend ~= 'cuda' or TILE_M == 16 * ITEMS_M and TILE_N == TILE_M and ITEMS_N == ITEMS_M " ..
                    "and TILE_K == 2 * ITEMS_M",
                -- The last defaults are always valid; only one of them is for any form.
                "FORM ~= 'any' and " .. shallow ..
                    " or TILE_M == 64 and TILE_N == 64 and TILE_K == 8 and ITEMS_M == 4 and ITEMS_N == 4",
            },
            launch = {
                kernel = "gemm",
                block = { "TILE_N // ITEMS_N", "TILE_M // ITEMS_M" },
                grid = tiles("TILE_M", "TILE_N"), args = plain,
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
            launch = { kernel = "gemm", block = { "BLOCK_X", "BLOCK_Y" }, grid = tiles("BLOCK_Y", "BLOCK_X"), args = plain },
        },
    },
    defaults = defaults,
    peers = {
        product("cublas"), product("cublas", "tf32"), product("cublaslt"), product("cublaslt", "tf32"), product("cutensor"),
        product("clblast"),
    },
}
