-- What is checked as close: exponentials, a division, and sums in another order than the reference's.
local parts = ...
local fill, with, tree = parts.fill, parts.with, parts.tree
local bases = {}

-- soften: softmax along rows.
bases.soften = {
    axes = { "m", "n" }, shape = { m = 67, n = 301 }, elem = "float", dtype = "f32", check = '"close"', places = 67 * 301,
    args = { "out", "x", "m", "n" }, outputs = { out = '{ "m", "n" }' }, inputs = { x = { '{ "m", "n" }', 67 * 301 } },
    bytes = "2*m*n*sizeof(T)", total = "m",
    reference = [[
    int64 row = GID;
    if (row >= m)
        return;
    T sum = 0;
    for (int64 c = 0; c < n; c++)
        sum += exp(x[row * n + c]);
    for (int64 c = 0; c < n; c++)
        out[row * n + c] = exp(x[row * n + c]) / sum;
]],
}

local row_faults = { short = "bounds", start = "bounds", shifted = "index", step = "wrong stride", tree = "loop bounds", no_barrier = "race" }
local function row_sum(pick, fault, block)
    return fill([[
    __shared__ T sums[@block@];
    for (int64 row = blockIdx.x; row < m; row += gridDim.x) {
    T sum = 0;
    for (int64 c = threadIdx.x@start@; c < @bound@; c += @step@)
        sum += exp(x[row * n + @c@]);
    sums[threadIdx.x] = sum;
    __syncthreads();
]] .. tree, {
        block = block, sync = fault == "no_barrier" and "" or "__syncthreads();", last = fault == "tree" and 1 or 0,
        start = fault == "start" and " + 1" or "", bound = fault == "short" and "n - " .. pick { 1, 2 } or "n",
        step = fault == "step" and "blockDim.x - 1" or "blockDim.x", c = fault == "shifted" and "(c > 0 ? c - 1 : 0)" or "c",
    })
end

bases.soften.forms = {
    block = {
        faults = with(row_faults, { next_row = "index", not_divided = "index" }),
        make = function(pick, fault)
            local block = pick { 32, 64, 128 }
            local text = row_sum(pick, fault, block) .. fill([[
    for (int64 c = threadIdx.x; c < n; c += blockDim.x)
        STORE(row * n + c, exp(x[@row@ * n + c])@by@);
    __syncthreads();
    }
]], { row = fault == "next_row" and "(row + 1 < m ? row + 1 : row)" or "row", by = fault == "not_divided" and "" or " / sums[0]" })
            return { kernels = { { name = "soften_block", args = { "out", "x", "m", "n" }, text = text, grid = "ceildiv(m, 8)", block = block } }, final = 1 }
        end,
    },
    two = {
        faults = with(row_faults, { unwritten = "reads workspace", adds = "missing clear", first_sum = "index" }),
        make = function(pick, fault)
            local block = pick { 32, 64, 128 }
            local store = fault == "adds" and "    if (threadIdx.x == 0)\n        total[row] += sums[0];\n"
                or fault == "unwritten" and ("    if (threadIdx.x == 0 && row != %d)\n        total[row] = sums[0];\n"):format(pick { 0, 1, 30 })
                or "    if (threadIdx.x == 0)\n        total[row] = sums[0];\n"
            local divide = parts.strips(pick, nil, "m * n", fill("        STORE(i, exp(x[i]) / total[@row@]);\n",
                { row = fault == "first_sum" and "0" or "i / n" }), { "out", "x", "m", "n", "total" }, "soften_divide")
            return {
                kernels = {
                    { name = "soften_sums", args = { "x", "m", "n", "total" }, text = row_sum(pick, fault, block) .. store .. "    __syncthreads();\n    }\n", grid = "ceildiv(m, 8)", block = block },
                    divide,
                },
                final = 2, ws = { { "total", "T", "float", "m" } },
            }
        end,
    },
    online = {
        faults = { short = "bounds", not_scaled = "index", old_most = "index" },
        make = function(pick, fault)
            local block = pick { 32, 64 }
            local text = fill([[
    int64 row = GID;
    if (row < m) {
        T most = x[row * n], sum = 0;
        for (int64 c = 0; c < @bound@; c++) {
            T v = x[row * n + c];
            if (v > most) {
                @scale@
                most = v;
            }
            sum += exp(v - most);
        }
        for (int64 c = 0; c < n; c++)
            STORE(row * n + c, exp(x[row * n + c] - @most@) / sum);
    }
]], {
                bound = fault == "short" and "n - 1" or "n", scale = fault == "not_scaled" and "" or "sum *= exp(most - v);",
                most = fault == "old_most" and "x[row * n]" or "most",
            })
            return { kernels = { { name = "soften_online", args = { "out", "x", "m", "n" }, text = text, grid = ("ceildiv(m, %d)"):format(block), block = block } }, final = 1 }
        end,
    },
}

return bases
