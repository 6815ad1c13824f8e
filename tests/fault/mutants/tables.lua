-- Histograms, and a matrix product.
local parts = ...
local fill, strips, strip_faults, with, barrier, tree = parts.fill, parts.strips, parts.strip_faults, parts.with, parts.barrier, parts.tree
local bases = {}

-- count: how many numbers fall into each of 61 bins.
bases.count = {
    axes = { "n" }, shape = { n = 20011 }, elem = "int32", dtype = "i32", check = '"exact"', places = 61,
    args = { "out", "x", "n" }, outputs = { out = "{ 61 }" }, inputs = { x = { '{ "n" }', 20011, "u32" } },
    bytes = "n*4", total = "n",
    reference = [[
    int64 bin = GID;
    if (bin >= 61)
        return;
    T hits = 0;
    for (int64 i = 0; i < n; i++)
        hits += x[i] % 61 == bin;
    out[bin] = hits;
]],
    forms = {
        atomic = {
            faults = with(strip_faults, { not_cleared = "missing clear", bins = "index", plain = "race", long = "reads outside" }),
            make = function(pick, fault)
                local body = fill("        @add@;\n", {
                    add = fault == "plain" and "out[x[i] % 61]++" or fault == "bins" and "atomicAdd(&out[x[i] % 60], 1)" or "atomicAdd(&out[x[i] % 61], 1)",
                })
                return { kernels = { strips(pick, fault, "n", body, { "out", "x", "n" }, "count_atomic") }, clear = fault ~= "not_cleared" }
            end,
        },
        zeroed = {
            faults = { clears_short = "missing clear", after = "missing clear", short = "bounds" },
            make = function(pick, fault)
                local bin = pick { 0, 30, 60 }
                local zero = {
                    name = "count_zero", args = { "out" }, grid = 1, block = 64,
                    text = fill("    if (threadIdx.x < 61@but@)\n        out[threadIdx.x] = 0;\n", { but = fault == "clears_short" and " && threadIdx.x != " .. bin or "" }),
                }
                local add = strips(pick, fault, "n", "        atomicAdd(&out[x[i] % 61], 1);\n", { "out", "x", "n" }, "count_add")
                return { kernels = fault == "after" and { add, zero } or { zero, add } }
            end,
        },
        rows = {
            faults = { not_cleared = "missing clear", clears_after = "missing clear", fewer = "loop bounds", short = "bounds", no_barrier = "race" },
            make = function(pick, fault)
                local block, blocks = pick { 64, 128 }, pick { 4, 8 }
                local clear = [[
    for (int k = threadIdx.x; k < 61; k += @block@)
        rows[blockIdx.x * 61 + k] = 0;
    @sync@
]]
                local text = fill((fault == "not_cleared" or fault == "clears_after") and "" or clear, { block = block, sync = fault == "no_barrier" and "" or "__syncthreads();" })
                    .. fill([[
    for (int64 i = GID; i < @bound@; i += GSIZE)
        atomicAdd(&rows[blockIdx.x * 61 + x[i] % 61], 1);
]], { bound = fault == "short" and "n - 1" or "n" })
                return {
                    kernels = {
                        { name = "count_rows", args = { "x", "n", "rows" }, text = text, grid = blocks, block = block },
                        {
                            name = "count_sum", args = { "out", "rows" }, grid = 1, block = 64,
                            text = fill([[
    if (threadIdx.x < 61) {
        T sum = 0;
        for (int k = 0; k < @all@; k++) {
            sum += rows[k * 61 + threadIdx.x];
            @after@
        }
        STORE(threadIdx.x, sum);
    }
]], {
                                all = fault == "fewer" and blocks - 1 or blocks,
                                after = fault == "clears_after" and "rows[k * 61 + threadIdx.x] = 0;" or "",
                            }),
                        },
                    },
                    final = 2, ws = { { "rows", "i32", "int32", 61 * blocks } },
                }
            end,
        },
        bins = {
            faults = { short = "bounds", few_blocks = "too few blocks", tree = "loop bounds", no_barrier = "race" },
            make = function(pick, fault)
                local block = pick { 64, 128, 256 }
                local text = fill([[
    __shared__ T sums[@block@];
    T hits = 0;
    for (int64 i = threadIdx.x; i < @bound@; i += @block@)
        hits += x[i] % 61 == blockIdx.x;
    sums[threadIdx.x] = hits;
    __syncthreads();
]] .. tree .. "    if (threadIdx.x == 0)\n        STORE(blockIdx.x, sums[0]);\n", {
                    block = block, bound = fault == "short" and "n - 1" or "n", last = fault == "tree" and 1 or 0,
                    sync = fault == "no_barrier" and "" or "__syncthreads();",
                })
                return {
                    kernels = { { name = "count_bins", args = { "out", "x", "n" }, text = text, grid = fault == "few_blocks" and 60 or 61, block = block } },
                    final = 1,
                }
            end,
        },
    },
}

-- mul: a small matrix product.
bases.mul = {
    axes = { "m", "n", "k" }, shape = { m = 61, n = 53, k = 47 }, elem = "float", dtype = "f32", check = '{ sum = "k" }', places = 61 * 53,
    length = "k", args = { "out", "a", "b", "m", "n", "k" }, outputs = { out = '{ "m", "n" }' },
    inputs = { a = { '{ "m", "k" }', 61 * 47 }, b = { '{ "k", "n" }', 47 * 53 } }, bytes = "(m*k+k*n+m*n)*sizeof(T)", total = "m * n",
    reference = [[
    int64 i = GID;
    if (i >= m * n)
        return;
    T sum = 0;
    for (int64 l = 0; l < k; l++)
        sum += a[i / n * k + l] * b[l * n + i % n];
    out[i] = sum;
]],
    forms = {
        plain = {
            faults = with(strip_faults, {
                inner = "loop bounds", inner_long = "loop bounds", stride_a = "wrong stride", stride_b = "wrong stride", exchanged = "wrong buffer",
            }),
            make = function(pick, fault)
                local body = fill([[
        int64 r = i / n, c = i % n;
        T sum = 0;
        for (int64 l = 0; l < @k@; l++)
            sum += @a@ * @b@;
        STORE(i, sum);
]], {
                    k = fault == "inner" and "k - 1" or fault == "inner_long" and "k + 1" or "k",
                    a = fault == "stride_a" and "a[r * n + l]" or fault == "exchanged" and "a[l * n + c]" or "a[r * k + l]",
                    b = fault == "stride_b" and "b[l * k + c]" or fault == "exchanged" and "b[(r * k + l) % (k * n)]" or "b[l * n + c]",
                })
                if fault == "long" then
                    body = body:gsub("int64 r = i / n", "int64 r = i < m * n ? i / n : 0")
                end
                return { kernels = { strips(pick, fault, "m * n", body, { "out", "a", "b", "m", "n", "k" }, "mul_plain") }, final = 1 }
            end,
        },
        tile = {
            faults = {
                edge = "bounds", inner = "loop bounds", tail = "bounds", no_barrier = "race", no_second = "race", late_writer = "missing barrier",
                swapped = "swapped indices", few_blocks = "too few blocks",
            },
            make = function(pick, fault)
                local tile = fault == "late_writer" and 16 or pick { 8, 16 }
                local sync, late = barrier(fault, "a", "right")
                local text = fill([[
    __shared__ T left[@tile@][@tile@], right[@tile@][@tile@];
    int64 across = (n + @tile@ - 1) / @tile@, r = blockIdx.x / across * @tile@ + threadIdx.y, c = blockIdx.x % across * @tile@ + threadIdx.x;
    T sum = 0;
    for (int64 from = 0; from < @k@; from += @tile@) {
@late@
        left[threadIdx.y][threadIdx.x] = r < m && from + threadIdx.x < @tail@ ? a[r * k + from + threadIdx.x] : 0;
        right[threadIdx.y][threadIdx.x] = c < n && from + threadIdx.y < @tail@ ? b[(from + threadIdx.y) * n + c] : 0;
        @sync@
        for (int l = 0; l < @tile@; l++)
            sum += @product@;
        @second@
    }
    if (@inside@)
        STORE(r * n + c, sum);
]], {
                    tile = tile, k = fault == "inner" and "k - k % " .. tile or "k", tail = fault == "tail" and "k - 1" or "k", late = late, sync = sync,
                    second = fault == "no_second" and "" or "__syncthreads();",
                    product = fault == "swapped" and "left[l][threadIdx.y] * right[l][threadIdx.x]" or "left[threadIdx.y][l] * right[l][threadIdx.x]",
                    inside = fault == "edge" and "c < n" or "r < m && c < n",
                })
                local grid = ("ceildiv(m, %d) * ceildiv(n, %d)"):format(tile, tile)
                if fault == "few_blocks" then
                    grid = ("max(1, %s - 1)"):format(grid)
                end
                return {
                    kernels = {
                        { name = "mul_tile", args = { "out", "a", "b", "m", "n", "k" }, text = text, grid = grid, block = ("{ %d, %d }"):format(tile, tile) },
                    },
                    final = 1,
                }
            end,
        },
        split = { -- the inner loop shared by several blocks, which add
            faults = { not_cleared = "missing clear", inner = "loop bounds", few_blocks = "too few blocks" },
            make = function(pick, fault)
                local parts, block = pick { 2, 3, 4 }, pick { 64, 128 }
                local text = fill([[
    int64 i = (int64)blockIdx.x * @block@ + threadIdx.x;
    if (i < m * n) {
        T sum = 0;
        for (int64 l = blockIdx.y; l < @k@; l += @parts@)
            sum += a[i / n * k + l] * b[l * n + i % n];
        atomicAdd(&out[i], sum);
    }
]], { block = block, parts = parts, k = fault == "inner" and "k - 1" or "k" })
                return {
                    kernels = {
                        {
                            name = "mul_split", args = { "out", "a", "b", "m", "n", "k" }, text = text, block = block,
                            grid = ('{ "ceildiv(m * n, %d)", %d }'):format(block, fault == "few_blocks" and parts - 1 or parts),
                        },
                    },
                    clear = fault ~= "not_cleared",
                }
            end,
        },
    },
}

return bases
