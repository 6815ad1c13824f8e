-- Counts valid configurations by brute force: nested loops over all values, and conditions in plain Lua, written from the published spaces
-- and not from the op scripts. Usage: lua5.4 count.lua [NAME...]; prints a name and a count a line.

local function range(from, to, step)
    local list = {}
    for v = from, to, step do
        list[#list + 1] = v
    end
    return list
end

-- How many points of the product of `values`, a list of lists, make `holds` true, which is called with one value of each.
local function count(values, holds)
    local n, point = 0, {}
    local function at(i)
        if i > #values then
            n = n + ((not holds or holds(table.unpack(point))) and 1 or 0)
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

function spaces.vector_add()
    return count { range(64, 1024, 32) }
end

-- More spaces go here, in the order of their names.

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
