-- Results that many threads, blocks or launches compute together.
local parts = ...
local fill, with, tree = parts.fill, parts.with, parts.tree
local bases = {}

-- total: the sum of x[i] * y[i].
local function own_sum(pick, fault, block)
    local sync = fault == "no_barrier" and "" or "__syncthreads();"
    return fill([[
    __shared__ T sums[@block@];
    T sum = 0;
    for (int64 i = GID@start@; i < @bound@; i += @step@)
        sum += x[i] * y[@y@];
    sums[threadIdx.x] = sum;
    __syncthreads();
]] .. tree, {
        block = block, sync = sync, last = fault == "tree" and 1 or 0,
        start = fault == "start" and " + 1" or "", bound = fault == "short" and "n - " .. pick { 1, 2 } or fault == "long" and "n + 1" or "n",
        step = fault == "step" and "GSIZE - 1" or "GSIZE", y = fault == "shifted" and "i > 0 ? i - 1 : 0" or "i",
    })
end
local sum_faults = {
    short = "bounds", long = "reads outside", start = "bounds", step = "wrong stride", shifted = "index", tree = "loop bounds", no_barrier = "race",
}
bases.total = {
    axes = { "n" }, shape = { n = 20011 }, elem = "float", dtype = "f32", check = '{ sum = "n" }', places = 1, length = "n",
    args = { "out", "x", "y", "n" }, outputs = { out = "{ 1 }" }, inputs = { x = { '{ "n" }', 20011 }, y = { '{ "n" }', 20011 } },
    bytes = "2*n*sizeof(T)", total = "n",
    reference = [[
    if (GID)
        return;
    T sum = 0;
    for (int64 i = 0; i < n; i++)
        sum += x[i] * y[i];
    out[0] = sum;
]],
    forms = {
        two = {
            faults = with(sum_faults, {
                fewer = "loop bounds", more = "reads outside", unwritten = "reads workspace", adds = "missing clear", keeps = "own leftover",
            }),
            make = function(pick, fault)
                local block, blocks = pick { 64, 128, 256 }, pick { 4, 8, 16 }
                local store = "    if (threadIdx.x == 0)\n        partial[blockIdx.x] = sums[0];\n"
                if fault == "unwritten" then
                    store = ("    if (threadIdx.x == 0 && blockIdx.x != %d)\n        partial[blockIdx.x] = sums[0];\n"):format(pick { 0, 1, 2, 3 })
                elseif fault == "adds" then
                    store = "    if (threadIdx.x == 0)\n        partial[blockIdx.x] += sums[0];\n"
                elseif fault == "keeps" then -- what looks like a sum must be one
                    store = [[
    if (threadIdx.x == 0) {
        T old = fabs(partial[blockIdx.x]);
        if (!(old > (T)0.00001f && old < (T)100000.0f))
            partial[blockIdx.x] = sums[0];
    }
]]
                end
                local all = fault == "fewer" and blocks - 1 or fault == "more" and blocks + 1 or blocks
                return {
                    kernels = {
                        { name = "total_parts", args = { "x", "y", "n", "partial" }, text = own_sum(pick, fault, block) .. store, grid = blocks, block = block },
                        {
                            name = "total_all", args = { "out", "partial" }, grid = 1, block = pick { 1, 32 },
                            text = fill([[
    if (threadIdx.x == 0) {
        T sum = 0;
        for (int k = 0; k < @all@; k++)
            sum += partial[k];
        STORE(0, sum);
    }
]], { all = all }),
                        },
                    },
                    final = 2, ws = { { "partial", "T", "float", blocks } },
                }
            end,
        },
        atomic = {
            faults = with(sum_faults, { not_cleared = "missing clear", one_block = "index" }),
            make = function(pick, fault)
                local block, blocks = pick { 64, 128, 256 }, pick { 4, 8, 16 }
                local text = own_sum(pick, fault, block) .. fill("    if (threadIdx.x == 0@but@)\n        atomicAdd(out, sums[0]);\n",
                    { but = fault == "one_block" and " && blockIdx.x != " .. pick { 0, 1, 2, 3 } or "" })
                return {
                    kernels = { { name = "total_atomic", args = { "out", "x", "y", "n" }, text = text, grid = blocks, block = block } },
                    clear = fault ~= "not_cleared",
                }
            end,
        },
        last_block = {
            faults = { not_cleared = "missing clear", modulo = "race", fewer = "loop bounds", short = "bounds" },
            make = function(pick, fault)
                local block, blocks = pick { 64, 128 }, pick { 4, 8, 16 }
                local text = own_sum(pick, fault, block) .. fill([[
    if (threadIdx.x == 0) {
        ((volatile GLOBAL T *)partial)[blockIdx.x] = sums[0];
        FENCE;
        uint32 before = atomicAdd(ticket, 1u);
        if (@last@) {
            FENCE;
            sum = 0;
            for (int k = 0; k < @all@; k++)
                sum += ((volatile GLOBAL T *)partial)[k];
            STORE(0, sum);
        }
    }
]], {
                    last = fault == "modulo" and "before % " .. blocks .. " == " .. blocks - 1 or "before == " .. blocks - 1,
                    all = fault == "fewer" and blocks - 1 or blocks,
                })
                local k = {
                    kernels = { { name = "total_last", args = { "out", "x", "y", "n", "partial", "ticket" }, text = text, grid = blocks, block = block } },
                    final = 1, ws = { { "partial", "T", "float", blocks }, { "ticket", "u32", "uint32", 1, clear = not (fault == "not_cleared" or fault == "modulo") } },
                }
                if k.ws[2].clear and pick { true, false } then -- cleared by a launch of its own
                    k.ws[2].clear = nil
                    table.insert(k.kernels, 1, { name = "total_reset", args = { "ticket" }, text = "    if (GID == 0)\n        ticket[0] = 0;\n", grid = 1, block = pick { 1, 32 } })
                    k.final = 2
                end
                return k
            end,
        },
        single = {
            faults = { short = "bounds", start = "bounds", tree = "loop bounds", shifted = "index", no_barrier = "race" },
            make = function(pick, fault)
                local block = pick { 128, 256, 512 }
                local text = own_sum(pick, fault, block) .. "    if (threadIdx.x == 0)\n        STORE(0, sums[0]);\n"
                return { kernels = { { name = "total_single", args = { "out", "x", "y", "n" }, text = text, grid = 1, block = block } }, final = 1 }
            end,
        },
    },
}

-- chain: running sums of whole numbers that wrap.
bases.chain = {
    axes = { "n" }, shape = { n = 20011 }, elem = "uint32", dtype = "u32", check = '"exact"', places = 20011,
    args = { "out", "x", "n" }, outputs = { out = '{ "n" }' }, inputs = { x = { '{ "n" }', 20011 } },
    bytes = "2*n*sizeof(T)", total = "n",
    reference = [[
    if (GID)
        return;
    T sum = 0;
    for (int64 i = 0; i < n; i++) {
        sum += x[i];
        out[i] = sum;
    }
]],
}
local in_tile = [[
    __shared__ T sums[@block@];
    int64 first = tile * @all@ + (int64)threadIdx.x * @items@;
    T sum = 0;
    for (int k = 0; k < @items@; k++)
        if (first + k < n)
            sum += x[first + k];
    sums[threadIdx.x] = sum;
    __syncthreads();
]]
local store_tile = [[
    T here = carry;
    for (int k = 0; k < threadIdx.x; k++)
        here += sums[k];
    for (int k = 0; k < @items@; k++)
        if (first + k < @bound@) {
            @before@
            here += x[first + k];
            @after@
        }
]]
local function tile_values(pick, fault, block, items)
    return {
        block = block, items = items, all = block * items, bound = fault == "short" and "n - 1" or "n",
        before = fault == "exclusive" and "STORE(first + k, here);" or "", after = fault == "exclusive" and "" or "STORE(first + k, here);",
    }
end
bases.chain.forms = {
    chained = {
        faults = {
            short = "bounds", exclusive = "off by one", no_carry = "index", one_tile = "index", flags = "flags not cleared",
            ticket = "missing clear", before_last = "index",
        },
        make = function(pick, fault)
            local block, items = pick { 64, 128 }, pick { 4, 8 }
            local v = tile_values(pick, fault, block, items)
            v["end"] = fault == "ticket" and fill("    if (tile * @all@ >= n)\n        return;", v) or ""
            v.which = fault == "before_last" and "tile > 1 ? ((volatile GLOBAL T *)prefix)[tile - 2] : 0"
                or "((volatile GLOBAL T *)prefix)[tile - 1]"
            v.publish = fault == "one_tile" and fill("(tile == @t@ ? 0 : total) + before", { t = pick { 1, 2, 3 } })
                or fault == "no_carry" and "total" or "total + before"
            local text = fill([[
    __shared__ T shared_tile, shared_carry;
    if (threadIdx.x == 0)
        shared_tile = atomicAdd(ticket, 1u);
    __syncthreads();
    int64 tile = shared_tile;
@end@
]] .. in_tile .. [[
    if (threadIdx.x == 0) {
        T total = 0, before = 0;
        for (int k = 0; k < @block@; k++)
            total += sums[k];
        if (tile > 0) {
            while (((volatile GLOBAL uint32 *)flag)[tile - 1] != 1u)
                ;
            FENCE;
            before = @which@;
        }
        ((volatile GLOBAL T *)prefix)[tile] = @publish@;
        FENCE;
        ((volatile GLOBAL uint32 *)flag)[tile] = 1u;
        shared_carry = before;
    }
    __syncthreads();
    T carry = shared_carry;
]] .. store_tile, v)
            local tiles = ("ceildiv(n, %d)"):format(block * items)
            local k = {
                kernels = { { name = "chain_pass", args = { "out", "x", "n", "prefix", "flag", "ticket" }, text = text, grid = tiles, block = block } },
                final = 1,
                ws = {
                    { "prefix", "u32", "uint32", tiles }, { "flag", "u32", "uint32", tiles, clear = fault ~= "flags" or nil },
                    { "ticket", "u32", "uint32", 1, clear = fault ~= "ticket" or nil },
                },
            }
            if fault ~= "flags" and fault ~= "ticket" and pick { true, false } then -- cleared by a launch of its own
                k.ws[2].clear, k.ws[3].clear = nil, nil
                table.insert(k.kernels, 1, {
                    name = "chain_reset", args = { "flag", "ticket", "n" }, grid = 1, block = pick { 32, 128 },
                    text = fill([[
    for (int64 k = threadIdx.x; k * @all@ < n; k += blockDim.x)
        flag[k] = 0;
    if (threadIdx.x == 0)
        ticket[0] = 0;
]], v),
                })
                k.final = 2
            end
            return k
        end,
    },
    three = {
        faults = {
            short = "bounds", exclusive = "off by one", fewer = "loop bounds", unwritten = "reads workspace", done = "flags not cleared in time",
        },
        make = function(pick, fault)
            local block, items = pick { 64, 128 }, pick { 4, 8 }
            local v = tile_values(pick, fault, block, items)
            v.but = fault == "unwritten" and " && tile != " .. pick { 0, 1, 2, 3 } or ""
            v.start = fault == "fewer" and 1 or 0
            local tiles = ("ceildiv(n, %d)"):format(block * items)
            local parts = fill("    int64 tile = blockIdx.x;\n" .. in_tile .. [[
    if (threadIdx.x == 0@but@) {
        T total = 0;
        for (int k = 0; k < @block@; k++)
            total += sums[k];
        part[tile] = total;
    }
]], v)
            local k = {
                kernels = {
                    { name = "chain_parts", args = { "x", "n", "part" }, text = parts, grid = tiles, block = block },
                    {
                        name = "chain_offsets", args = { "part", "base", "n" }, grid = 1, block = 1,
                        text = fill([[
    T sum = 0;
    for (int64 k = 0; k * @all@ < n; k++) {
        base[k] = sum;
        if (k >= @start@)
            sum += part[k];
    }
]], v),
                    },
                    {
                        name = "chain_add", args = { "out", "x", "n", "base" }, grid = tiles, block = block,
                        text = fill("    int64 tile = blockIdx.x;\n" .. in_tile .. "    T carry = base[tile];\n" .. store_tile, v),
                    },
                },
                final = 3, ws = { { "part", "u32", "uint32", tiles }, { "base", "u32", "uint32", tiles } },
            }
            if fault == "done" then -- a part that is marked as done is not summed again, and nobody takes the marks away
                k.ws[3] = { "mark", "u32", "uint32", tiles }
                table.insert(k.kernels[1].args, "mark")
                k.kernels[1].text = "    if (mark[blockIdx.x] == 0x600df1a9u)\n        return;\n" .. k.kernels[1].text
                table.insert(k.kernels[2].args, "mark")
                k.kernels[2].text = k.kernels[2].text .. fill("    for (int64 k = 0; k * @all@ < n; k++)\n        mark[k] = 0x600df1a9u;\n", v)
            end
            return k
        end,
    },
    serial = {
        faults = { short = "bounds", exclusive = "off by one", no_carry = "index", no_barrier = "race" },
        make = function(pick, fault)
            local block, items = pick { 64, 128 }, pick { 4, 8 }
            local v = tile_values(pick, fault, block, items)
            v.sync = fault == "no_barrier" and "" or "__syncthreads();"
            v.keep = fault == "no_carry" and "" or "carry = here_all;"
            local text = fill([[
    __shared__ T sums[@block@];
    T carry = 0;
    for (int64 tile = 0; tile * @all@ < n; tile++) {
        int64 first = tile * @all@ + (int64)threadIdx.x * @items@;
        T sum = 0;
        for (int k = 0; k < @items@; k++)
            if (first + k < n)
                sum += x[first + k];
        sums[threadIdx.x] = sum;
        @sync@
        T here_all = carry;
        for (int k = 0; k < @block@; k++)
            here_all += sums[k];
]] .. store_tile .. [[
        __syncthreads();
        @keep@
    }
]], v)
            return { kernels = { { name = "chain_serial", args = { "out", "x", "n" }, text = text, grid = 1, block = block } }, final = 1 }
        end,
    },
}

return bases
