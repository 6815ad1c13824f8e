-- Reads from a kernel's text what a buffer's extents are, for read_kernel.lua: c[row * n + col], where row < m, is of m x n elements. Returns
-- a function of the kernel's body, the buffer's name and the axes, which gives the names of axes, the outermost first; nil if it cannot tell.

local words = kernel_text
local elements, whole, trimmed = words.elements, words.whole, words.trimmed

-- The axis that a variable is less than, the only one that the text compares it with.
local function limit_of(body, name, axes)
    local found
    for _, a in ipairs(axes) do
        for _, sign in ipairs(a.name and { " ?< ?", " ?>= ?" } or {}) do
            local axis = whole(a.name) .. "()"
            for past in body:gmatch("%f[%w_]" .. name .. sign .. axis) do
                if (found and found ~= a) or body:find("^ ?[%*%+%-/%%%[%.]", past) then
                    return nil
                end
                found = a
            end
        end
    end
    return found
end

local function axis_of(word, axes)
    for _, a in ipairs(axes) do
        if a.name == word then
            return a
        end
    end
end

-- row; row * n + col, (plane * m + row) * n + col, with the summands and factors in any order.
local function extents_of(index, body, axes)
    index = trimmed(index)
    while index:find("^%b()$") do
        index = trimmed(index:sub(2, -2))
    end
    if index:find("^[%a_][%w_]*$") then
        local limit = limit_of(body, index, axes)
        return limit and { limit.axis }
    end
    local product, inner = index:match("^(.+%S) ?%+ ?([%w_]+)$")
    if not product or not product:find("%*") then -- the column stands first
        inner, product = index:match("^([%w_]+) ?%+ ?(.+)$")
    end
    for _, of in ipairs { "^(%b()) ?%* ?([%w_]+)$", "^([%w_]+) ?%* ?(%b())$", "^([%w_]+) ?%* ?([%w_]+)$" } do
        local outer, axis = (product or ""):match(of)
        if outer and axis_of(outer, axes) then
            outer, axis = axis, outer
        end
        local columns, list = axis_of(axis, axes), outer and extents_of(outer, body, axes)
        local limit = columns and limit_of(body, inner, axes)
        if list and columns and (not limit or limit == columns) then
            list[#list + 1] = columns.axis
            return list
        end
    end
end

return function(body, name, axes)
    local found
    body = body:gsub("%(([%w_ ]+)%)", function(c) return elements[trimmed(c)] and "" end) -- (size_t)row
    for index in body:gmatch(whole(name) .. " ?(%b[])") do
        local list = extents_of(index:sub(2, -2):gsub(" ?[%+%-] ?%d+ ?$", ""), body, axes)
        if not list or found and table.concat(found, " ") ~= table.concat(list, " ") then
            return nil
        end
        found = list
    end
    return found
end
