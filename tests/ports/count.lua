-- Counts valid configurations by brute force: nested loops over all values, and conditions in plain Lua, written from the published spaces
-- and not from the op scripts. Usage: lua5.4 count.lua [NAME...]; prints a name and a count a line.

local function range(from, to, step)
    local list = {}
    for v = from, to, step do
        list[#list + 1] = v
    end
    return list
end

-- How many points of the product of `values`, a list of lists, make `holds` true, which is called with one value of each. No
-- point whose first two values do not make `block_holds` true is looked at.
local function count(values, holds, block_holds)
    local n, point = 0, {}
    local function at(i)
        if i > #values then
            n = n + ((not holds or holds(table.unpack(point))) and 1 or 0)
            return
        end
        if i == 3 and block_holds and not block_holds(point[1], point[2]) then
            return
        end
        for _, v in ipairs(values[i]) do
            point[i] = v
            at(i + 1)
        end
    end
    at(1)
    return n
end

local spaces = {}

function spaces.bicg()
    local blocks = { 32, 64, 128, 256, 512 }
    return count { blocks, { 8, 16, 32, 64, 128 }, { 0, 1 } } + count { blocks }
end

function spaces.bitonic()
    local blocks, keys = { 64, 128, 256, 512, 1024 }, 1 << 14
    return count { blocks, { 1, 2, 4 } } + count({ blocks }, function(block) return keys >= 4 * block end)
end

function spaces.convolution()
    local function holds(bx, by, tx, ty, padding)
        return bx * by >= 32 and bx * by <= 1024 and (padding == 0 or bx % 32 ~= 0) and (bx * tx + 16) * (by * ty + 16) * 4 <= 49152
    end
    return count({ range(16, 256, 16), { 1, 2, 4, 8, 16 }, { 1, 2, 4 }, { 1, 2, 4 }, { 0, 1 }, { 0, 1 } }, holds)
end

function spaces.coulomb()
    local to32 = { 1, 2, 4, 8, 16, 32 }
    return count({ { 8, 16, 32 }, to32, to32, to32, { 0, 1 } }, function(x, y) return x * y >= 64 end)
end

function spaces.dedispersion()
    local function holds(bx, by, tx, ty, sx, sy)
        return bx * by >= 32 and bx * by <= 1024 and (tx > 1 or sx == 0) and (ty > 1 or sy == 0)
    end
    return count({ { 1, 2, 4, 8, 16, 32 }, range(32, 256, 8), range(1, 4, 1), range(1, 8, 1), { 0, 1 }, { 0, 1 } }, holds)
end

function spaces.expdist()
    local eight, blocks = range(1, 8, 1), {}
    for i = 0, 10 do blocks[#blocks + 1] = 1 << i end
    local function holds(_, _, tx, ty, shared, ux, uy, column, n_y)
        return tx % ux == 0 and ty % uy == 0 and (column == 1 or (n_y == 1 and shared ~= 2))
    end
    return count({ { 32, 64, 128, 256, 512, 1024 }, { 1, 2, 4, 8, 16, 32 }, eight, eight, { 0, 1, 2 }, eight, eight, { 0, 1 }, blocks }, holds,
                 function(bx, by) return bx * by <= 1024 end)
end

function spaces.hotspot()
    local x = { 1, 2, 4, 8, 16, table.unpack(range(32, 1024, 32)) }
    local ten = range(1, 10, 1)
    local function holds(bx, by, tx, ty, t, unroll, power, blocks)
        local shared = (bx * tx + t * 2) * (by * ty + t * 2) * (2 + power) * 4
        return t % unroll == 0 and shared <= 49152 and (blocks == 0 or shared * blocks <= 102400)
    end
    return count({ x, { 1, 2, 4, 8, 16, 32 }, ten, ten, ten, ten, { 0, 1 }, { 0, 1, 2, 3, 4 } }, holds,
                 function(bx, by) return bx * by >= 32 and bx * by <= 1024 end)
end

function spaces.layer_norm()
    return count({ { 32, 64, 128, 256, 512, 1024 }, { 1, 2, 4, 8 }, { 0, 1 } }, function(threads, rows) return threads * rows <= 1024 end)
end

function spaces.matmul()
    return count({ { 16, 32, 64, 128 }, { 8, 16, 32 }, { 1, 2, 4, 8 } }, function(block, _, side)
        local threads = block // side
        return threads * threads <= 1024 and threads * threads >= 32
    end)
end

function spaces.nbody()
    return count({ { 64, 128, 256, 512 }, { 1, 2, 4, 8 }, { 1, 2, 4, 8, 16, 32 }, { 0, 1 }, { 0, 1 } },
                 function(_, outer, inner) return inner < 16 or outer <= 4 end)
end

function spaces.reduction()
    local block, blocks = {}, {}
    for i = 5, 10 do block[#block + 1] = 1 << i end
    for i = 5, 15 do blocks[#blocks + 1] = 1 << i end
    return count { block, { 1, 2, 4 }, blocks, { 0, 1 } } -- the first shape is a multiple of 4
end

function spaces.softmax()
    return count { { 32, 64, 128, 256, 512, 1024 }, { 0, 1 }, { 1, 2, 4, 8 } }
end

function spaces.spmv()
    return 6 + 2 * count { { 64, 128, 256, 512 }, { 2, 4, 8, 16, 32 } }
end

function spaces.stencil()
    return count({ { 16, 32, 64, 128, 256 }, { 1, 2, 4, 8, 16 }, { 1, 4, 8, 16, 32, 64 }, { 0, 1 } },
                 function(x, y) return x * y >= 64 and x * y <= 1024 end)
end

function spaces.vector_add()
    return count { range(64, 1024, 32) }
end

local names = { table.unpack(arg) }
if #names == 0 then
    for name in pairs(spaces) do
        names[#names + 1] = name
    end
    table.sort(names)
end
for _, name in ipairs(names) do
    print(name, spaces[name]())
end
