-- Building blocks of small computations. Each has several correct forms, and faults that only that form can have.
--
-- A form is a function of (pick, fault). It makes a kernel from random choices; if a fault is named, the kernel has that fault.
-- A kernel is { kernels = { { name, args, text, grid, block } ... }, final = the one that stores results, ws = workspaces,
-- clear = outputs are cleared }. In a text, STORE(place, value) stores a result, so that more faults can be inserted there. ENTRY is where
-- the final kernel begins.
local parts = {}

function parts.fill(text, values)
    return (text:gsub("@(%w+)@", function(name)
        return tostring(values[name] == nil and error("no value for " .. name) or values[name])
    end))
end

-- Some threads that are slow, so that whoever does not wait for them is early; and nothing that is right lies there from an earlier block.
local dawdle = [[
    for (int k = threadIdx.x + threadIdx.y * blockDim.x; k < (int)sizeof(@shared@) / 4; k += blockDim.x * blockDim.y)
        ((SHARED uint32 *)@shared@)[k] = 0x3f3f3f3fu;
    __syncthreads();
    uint32 seen = 0;
    if (threadIdx.x + threadIdx.y * blockDim.x + 32 >= blockDim.x * blockDim.y)
        for (int wait = 0; wait < 3000; wait++)
            seen += ((volatile GLOBAL const uint32 *)@from@)[wait & 7];
]]

-- The barrier between writing and reading shared memory: there, missing, or missing with a writer that is late.
function parts.barrier(fault, from, shared)
    if fault == "no_barrier" then
        return "", ""
    elseif fault == "late_writer" then
        return "", parts.fill(dawdle, { from = from, shared = shared })
    end
    return "__syncthreads();", ""
end

-- A loop over all places, in one of three ways. Faults: short, long, few_blocks, gap.
function parts.strips(pick, fault, total, body, args, name)
    local block, way = pick { 32, 64, 96, 128, 256 }, pick { "one", "items", "stride" }
    if fault == "gap" then
        way = "items"
    end
    local items = way == "items" and pick { 2, 3, 4 } or 1
    local bound = fault == "short" and "(" .. total .. ") - " .. pick { 1, 2, 5 } or fault == "long" and "(" .. total .. ") + 1" or total
    local grid = ("ceildiv(%s, %d)"):format(total, block * items)
    local head
    if way == "one" then
        head = parts.fill("    int64 i = GID;\n    if (i < @bound@) {\n", { bound = bound })
    elseif way == "items" then
        local start = fault == "gap" and "(int64)blockIdx.x * @all@ + 1 + threadIdx.x" or "(int64)blockIdx.x * @all@ + threadIdx.x"
        head = parts.fill("    int64 i = " .. start .. ";\n    for (int strip = 0; strip < @items@; strip++, i += @block@) if (i < @bound@) {\n",
            { all = block * items, items = items, block = block, bound = bound })
    else
        grid = ("max(1, %s // %d)"):format(grid, fault == "few_blocks" and pick { 2, 5 } or pick { 1, 2, 5 })
        head = parts.fill("    for (int64 i = GID; i < @bound@; i += @step@) {\n",
            { bound = bound, step = fault == "few_blocks" and "GSIZE + blockDim.x" or "GSIZE" })
    end
    if fault == "few_blocks" and way ~= "stride" then
        grid = ("max(1, %s - %d)"):format(grid, pick { 1, 2 })
    end
    return { name = name, args = args, text = head .. body .. "    }\n", grid = grid, block = block }
end
parts.strip_faults = { short = "bounds", long = "bounds", few_blocks = "too few blocks", gap = "index" }

function parts.with(faults, more)
    local out = {}
    for k, v in pairs(faults) do
        out[k] = v
    end
    for k, v in pairs(more) do
        out[k] = v
    end
    return out
end

-- The sum of sums[], by halves.
parts.tree = [[
    for (int width = @block@ / 2; width > @last@; width /= 2) {
        if (threadIdx.x < width)
            sums[threadIdx.x] += sums[threadIdx.x + width];
        @sync@
    }
]]

return parts
