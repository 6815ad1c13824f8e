-- Reads from a kernel's text how it is launched, for read_kernel.lua. kernel_text is what the file of that name gives.

local words = kernel_text
local elements, whole, has_word, trimmed = words.elements, words.whole, words.has_word, words.trimmed
local own_parameters, constants_of = words.own_parameters, words.constants_of

local indices = {
    x = { "blockIdx%.x", "get_group_id ?%( ?0 ?%)", "get_global_id ?%( ?0 ?%)" },
    y = { "blockIdx%.y", "get_group_id ?%( ?1 ?%)", "get_global_id ?%( ?1 ?%)" },
}

-- The axes that an index along x or y is compared with: `if (i < n)`, `j < a * b`. Nil if there is no such comparison.
local function compared(text, along, axes)
    for _, index in ipairs(indices[along]) do
        local names = { index }
        for name in text:gmatch("([%a_][%w_]*) ?= ?[^;=]-" .. index) do
            names[#names + 1] = "%f[%w_]" .. name
        end
        for _, name in ipairs(names) do
            for limit in text:gmatch(name .. " ?[<>]=? ?([%a_][%w_ %*]*)") do
                local found, all = {}, true
                for word in limit:gmatch("[%w_]+") do
                    local at
                    for i, axis in ipairs(axes) do
                        at = axis.name == word and i or at
                    end
                    found[#found + 1], all = at, all and at ~= nil
                end
                if all and found[1] then
                    return found
                end
            end
        end
    end
end

-- Whether nothing in the text declares the word: then it is for the op to define, as a parameter.
local function undeclared(text, word)
    for before, signs in text:gmatch("([%a_][%w_]*)([ %*&]+)" .. word .. "%f[^%w_]") do
        local is_type = elements[before] or not signs:find("[%*&]")
        if is_type and not (" return case else if elif unroll "):find(" " .. before .. " ", 1, true) then
            return false
        end
    end
    local w = "%f[%w_]" .. word
    return not (text:find(w .. " ?=[^=]") or text:find(w .. " ?%(") or text:find("[%.>]" .. word .. "%f[^%w_]") or elements[word]
                or word:find("^%d") or word:find("^%l+Idx$") or word:find("^%w+Dim$") or word:find("^get_"))
end

-- The text with the index itself in place of a name for it, row = blockIdx.x, and blockIdx.x * TILE in place of TILE * blockIdx.x.
local function by_indices(text)
    local places = { "blockIdx%.[xyz]", "threadIdx%.[xyz]", "get_group_id ?%( ?%d ?%)", "get_local_id ?%( ?%d ?%)", "get_global_id ?%( ?%d ?%)" }
    for _, index in ipairs(places) do
        for name, is in text:gmatch("%f[%w_]([%a_][%w_]*) ?= ?(" .. index .. ") ?[;,]") do
            text = text:gsub("([^%.>])" .. whole(name), function(before) return before .. is end)
        end
    end
    for _ = 1, 4 do
        for _, index in ipairs { "blockIdx%.[xyz]", "get_group_id ?%( ?%d ?%)" } do
            text = text:gsub("(%f[%w_][%w_]+) ?%* ?(" .. index .. ")", "%2 * %1")
        end
    end
    return text
end

-- __shared__ float t[TILE][TILE + 1], or t[TILE]: what a block of two dimensions, or of one, takes, if it is one word.
local function tile_of(text, tall, may)
    for of in text:gmatch "%f[%w_]_*[ls][oh][ca][ar]%a*_* ([^;=]-) ?;" do
        local rows, columns = of:match("^[%w_ ]-%[ ?([%w_]+) ?%] ?%[ ?([%w_]+)[%+ %d]*%]$")
        local line = of:match("^[%w_ ]-%[ ?([%w_]+) ?%]$")
        local word = tall and rows == columns and rows or not tall and line
        if word and word:find("^[%a_]") and may(word) then
            return word
        end
    end
end

-- Macros that take the place of sizes where the kernel has no such argument: what its buffers' rows are apart, a[y * WIDTH + x], and what
-- indices are compared with. What nothing defines becomes a parameter of one value.
local function sizes_of(kernel, text, arguments, axes, fixed, default)
    local two = text:find("blockIdx%.y") or text:find("get_%w+_id ?%( ?1")
    local usually = two and 1024 or 1 << 20
    local macros = {}
    for name, value in pairs(fixed) do
        macros[#macros + 1] = value >= 64 and { name = name } or nil
    end
    table.sort(macros, function(a, b) return a.name < b.name end)
    local stride
    for _, a in ipairs(arguments) do
        for index in text:gmatch(whole(a.name) .. " ?(%b[])") do
            for word in index:gmatch("[%w_%)] ?%* ?([%a_][%w_]*)") do
                local size = (fixed[word] or 0) >= 64 or not fixed[word] and not default[word] and undeclared(text, word)
                                                         and not word:lower():find("block") and not word:lower():find("tile")
                stride = stride or size and word or nil
            end
        end
    end
    local x, y = compared(text, "x", macros), two and compared(text, "y", macros)
    x, y = x and macros[x[1]].name, y and macros[y[1]].name
    local function axis(name, macro)
        axes[#axes + 1] = { axis = name, name = macro, macro = macro, fixed = macro and (fixed[macro] or usually) }
    end
    if two then
        axis("m", y or stride or x)
        axis("n", stride or x)
    else
        axis("n", x or stride)
    end
end

-- Words of headers, and of the language.
local function is_foreign(word)
    for _, prefix in ipairs { "__", "CUDA", "CL_", "CLK_", "M_", "FLT_", "DBL_", "U?INT%d*_M", "U?L?LONG_M", "CHAR_", "SHRT_", "HALF_", "cuda" } do
        if word:find("^" .. prefix) then
            return true
        end
    end
    return (" true false nullptr NULL INFINITY NAN MAXFLOAT HUGE_VALF warpSize this new sizeof return const static unsigned signed struct auto "
            .. "volatile else if for while do case default defined KERNEL GLOBAL SHARED CONSTANT DEVICE DYNAMIC_SHARED BACKEND_CUDA BACKEND_OPENCL ")
               :find(" " .. word .. " ", 1, true) ~= nil
end

-- Words that nothing defines become parameters; which, and the word that says how many blocks there are.
local function guess_parameters(kernel, source, arguments, fixed, default, list, parameter)
    local guessed, blocks, taken, conditions, compared_with = {}, nil, {}, {}, {}
    local function is_compared(word, value)
        local list = compared_with[word] or {}
        compared_with[word] = list
        for _, v in ipairs(list) do
            value = v ~= value and value or nil
        end
        list[#list + 1] = value
    end
    -- The values but the first: what the text compares it with, or 0 and 1 if that is one number.
    local function cases(values, first)
        local row, seen = {}, { [first] = true }
        for _, v in ipairs(values[2] and values or { 0, 1, values[1] }) do
            row[#row + 1] = not seen[v] and v or nil
            seen[v] = true
        end
        return row
    end
    for _, a in ipairs(arguments) do
        taken[a.name] = true
    end
    for line in ("\n" .. source):gmatch("\n ?# ?e?l?if ([^\n]+)") do
        conditions[#conditions + 1] = line:gsub("defined ?%(? ?[%w_]+ ?%)?", "")
        for word, value in line:gmatch("([%a_][%w_]*) ?[=!]= ?(%d+)") do
            is_compared(word, math.tointeger(value))
        end
        for at, word, past in line:gmatch("()%f[%w_]([%a_][%w_]*)()") do -- #if word, #if !word
            local before, after = line:sub(1, at - 1):match("(%S?)%s*$"), line:match("^%s*(%S?)", past)
            if ("(!&|"):find(before, 1, true) and (")&|"):find(after, 1, true) then
                is_compared(word, 0)
                is_compared(word, 1)
            end
        end
    end
    local function is_switch(lower) return lower:find("^use_") or lower:find("^with_") or lower:find("only$") end
    local function look_at(word, often)
        if default[word] or taken[word] or kernel.renamed[word] or kernel.types[word] or fixed[word] or kernel.aliases[word] or is_foreign(word)
           or not undeclared(source, word) or source:find(whole(word) .. " ?%[") or source:find("# ?define " .. whole(word)) or source:find("# ?define [%w_]+%([^)\n]*" .. whole(word))
           or source:find("DYNAMIC_SHARED ?%([^)\n]*" .. whole(word)) or source:find("enum[^{};]*{[^{}]*" .. whole(word)) then
            return
        end
        local lower, few = word:lower(), often
        for _, part in ipairs { "tile", "item", "per", "vec", "unroll", "factor", "step" } do
            few = few or lower:find(part) ~= nil
        end
        guessed[word] = true
        local values = compared_with[word] or is_switch(lower) and { 1 }
        if lower:find("^n[um_]*blocks$") then
            blocks = parameter(word, 64)
        elseif values then
            local first = values[2] and values[1] or 0
            parameter(word, first, cases(values, first))
        else
            parameter(word, few and 1 or 16, few and { 2, 4, 8 })
        end
    end
    for _, body in ipairs(kernel.bodies) do -- other kernels of the file are compiled with it
        for _, place in ipairs { "%[([^%[%]]*)%]", "[<>]=? ?([%a_][%w_]*) ?;", "[/%%%+%-=] ?([%a_][%w_]*)%f[^%w_<:]", "[%d%)%]] ?%* ?([%a_][%w_]*)" } do
            for inside in body:gmatch(place) do
                for word in inside:gmatch("%f[%w_][%a_][%w_]*") do
                    look_at(word)
                end
            end
        end
        for word in body:gmatch("# ?pragma unroll ?%(? ?([%a_][%w_]*)") do
            look_at(word, true)
        end
    end
    for _, line in ipairs(conditions) do
        for word in line:gmatch("%f[%w_][%a_][%w_]*") do
            look_at(word)
        end
    end
    for _, p in ipairs(list) do -- #ifndef use_padding, #if use_padding == 1
        p.values = p.values or compared_with[p[1]] and cases(compared_with[p[1]], p[2])
                   or (p[2] == 0 or p[2] == 1 and is_switch(p[1]:lower())) and { 1 - p[2] } or nil
    end
    return guessed, blocks
end

-- The axis of which each block takes one: blockIdx.x is an index, multiplied with nothing but other sizes. Nil if there is none. If all that
-- are there are sizes of a row, there is one more.
local function row_of_block(text, axes, limit)
    local columns, alone = {}, false
    if text:find("get_global_id ?%( ?0") then
        return nil
    end
    for _, index in ipairs { "blockIdx%.x", "get_group_id ?%( ?0 ?%)" } do
        for after in text:gmatch(index .. " ?%)? ?([^\n;]?[^\n;]?[^;\n]*)") do
            after = after:gsub("%(([%w_ ]+)%)", function(c) return elements[trimmed(c)] and "" end)
            local word = after:match("^%* ?%(? ?([%w_]+)")
            local column
            for i, a in ipairs(axes) do
                column = a.name == word and word and i or column
            end
            if word and not column then
                return nil
            end
            columns[column or 0], alone = true, true
        end
    end
    if not alone then
        return nil
    end
    for i = 1, #axes do
        if limit and limit[1] == i and not limit[2] or not limit and not columns[i] then
            return i
        end
    end
    table.insert(axes, 1, { axis = "rows" })
    return 1
end

-- get_global_id(0) / LANES: so many threads take one element along x. Nil if it is one.
local function threads_each(text, may)
    for _, index in ipairs { "get_global_id ?%( ?0 ?%) ?%)?", "blockIdx%.x ?%* ?blockDim%.x ?%+ ?threadIdx%.x ?%)", "blockIdx%.x ?%* ?[%w_]+ ?%+ ?threadIdx%.x ?%)" } do
        local word = text:match(index .. " ?/ ?([%w_]+)")
        if word and may(word) then
            return word
        end
    end
end

local usual = {
    x = { "BLOCK", "block_size_x", "BLOCK_SIZE_X", "BLOCK_X", "BLOCK_SIZE", "WORK_GROUP_SIZE_X", "WORK_GROUP_SIZE", "THREADS",
          "NUM_THREADS", "THREADS_PER_BLOCK", "BLOCK_DIM", "TPB", "LOCAL_SIZE" },
    y = { "BLOCK_Y", "block_size_y", "BLOCK_SIZE_Y", "WORK_GROUP_SIZE_Y" },
}

-- The parameters; block and grid as expressions; what the grid's y asks of the sizes; the words that nothing defines; and, of a kernel that
-- compares no index with a size, what it then asks of the sizes, for one whose parameters have their first values and for any. `list` has
-- the parameters that the kernel's template has.
local function read_launch(kernel, source, arguments, axes, list)
    local own, seen = own_parameters(source)
    local fixed = constants_of(source, seen)
    local text = by_indices(source)
    local default = {}
    local function parameter(name, value, values)
        if not default[name] then
            default[name] = value
            list[#list + 1] = { name, value, values = values or nil }
        end
        return name
    end
    for _, p in ipairs(list) do
        default[p[1]] = p[2]
    end
    for _, p in ipairs(own) do
        parameter(p[1], p[2])
    end
    local given = #axes > 0
    if not given then
        sizes_of(kernel, text, arguments, axes, fixed, default)
    end
    for _, a in ipairs(axes) do
        if not given and a.macro and not fixed[a.macro] then
            parameter(a.macro, a.fixed)
            list[#list].values = {}
        end
    end
    local tall = text:find("blockDim%.y") or text:find("threadIdx%.y") or text:find("get_%w+_id ?%( ?1")
    local two = #axes > 1 and (text:find("blockIdx%.y") or text:find("get_%w+_id ?%( ?1")) -- in the grid
    -- blockIdx.x * TILE * ITEMS + ...: the elements of a block, the block's own size first.
    local function chain(along)
        for i = 1, 2 do
            local product, rest = text:match(indices[along][i] .. " ?%)? ?%*([^;+,]*)%+? ?([%w_]*%.?[xy]?)")
            local words = {}
            product = product and product:gsub("%(([%w_ ]+)%)", function(c) return elements[trimmed(c)] and " " or nil end)
            for word in (product or ""):gmatch("[%w_]+") do
                word = kernel.renamed[word] or word
                if fixed[word] or word:find("^%d+$") then
                    words[#words + 1] = tostring(fixed[word] or word)
                elseif default[word] or undeclared(text, word) then
                    words[#words + 1] = word
                else
                    words = {}
                    break
                end
            end
            if words[1] then
                return words, along == "x" and rest == "threadIdx.y"
            end
        end
        return {}
    end
    local tile = tile_of(text, tall, function(word) return fixed[word] or default[word] or undeclared(source, word) end)
    local function block_size(along, words, value)
        if not words[1] and tile then
            words[1] = fixed[tile] and tostring(fixed[tile]) or tile
        end
        local free = usual[along][1]
        for _, a in ipairs(arguments) do
            free = a.name == free and usual[along][2] or free
        end
        for _, name in ipairs(usual[along]) do
            if not words[1] and (name ~= usual[along][1] or name == free) and (default[kernel.renamed[name] or name] or fixed[name] or has_word(text, name)) then
                words[1] = fixed[name] and tostring(fixed[name]) or kernel.renamed[name] or name
            end
        end
        local name = words[1] or free
        return name:find("^%d") and name or parameter(name, value)
    end
    local block, each = {}, {}
    local asked = { text:match("reqd_work_group_size ?%( ?([%w_]+) ?, ?([%w_]+)") }
    for i = 1, 2 do
        asked[i] = asked[i] and tostring(fixed[asked[i]] or asked[i])
    end
    local words, by_y = chain("x")
    if by_y then -- a block takes a row for each threadIdx.y
        block[2] = block_size("y", words, 4)
        block[1] = block_size("x", { asked[1] or kernel.generic_number(block[2]) }, 32)
    else
        block[1] = block_size("x", words[1] and words or { asked[1] or kernel.generic_block() }, tall and 32 or 256)
    end
    each.x = words[1] and table.concat(words, " * ") or block[1]
    if not (text:find("blockDim%.y") or text:find("threadIdx%.y") or text:find("get_global_id ?%( ?1") or text:find("get_local_id ?%( ?1")) then
        each.y = "1" -- rows are blocks
    elseif not by_y then
        words = chain("y")
        local rows -- of a tile's: for (j = 0; j < TILE; j += ROWS)
        for limit, step in text:gmatch("< ?([%a_][%w_]*) ?; ?[%a_][%w_]* ?%+= ?([%a_][%w_]*) ?%)") do
            if tostring(fixed[limit] or limit) == words[1] and not words[2] and step ~= limit
               and (fixed[step] or default[step] or undeclared(source, step)) then
                rows = { tostring(fixed[step] or step) }
            end
        end
        block[2] = block_size("y", rows or words[1] and words or { asked[2] }, 8)
        each.y = words[1] and table.concat(words, " * ") or block[2]
    end
    for word in (each.x .. " " .. (each.y or "")):gmatch("[%a_][%w_]*") do
        parameter(word, 1)
    end
    local guessed, blocks = guess_parameters(kernel, source, arguments, fixed, default, list, parameter)
    local function product(words)
        local all = 1
        for factor in words:gsub("[%a_][%w_]*", default):gmatch("%d+") do
            all = all * math.tointeger(factor)
        end
        return all
    end
    local function named(at)
        local names = {}
        for i, a in ipairs(at) do
            names[i] = axes[a].axis
        end
        return table.concat(names, " * ")
    end
    local x, y = compared(text, "x", axes), two and compared(text, "y", axes)
    local lanes = threads_each(text, function(word) return word:find("^%d+$") or fixed[word] or default[word] end)
    lanes = lanes and " * " .. (fixed[lanes] or lanes) or ""
    local needs
    local function divide(axis, each)
        needs = needs or { {}, {} }
        table.insert(needs[1], ("%s %% %d == 0"):format(axis, product(each)))
        table.insert(needs[2], ("%s %% (%s) == 0"):format(axis, each))
    end
    local whole_blocks = not x and not y and not kernel.body:find("[<>?]")
    if #axes == 1 and (text:find("blockIdx%.y") or text:find("get_g%w+_id ?%( ?1")) then -- a square
        local n = axes[1]
        n.square, n.max = true, 65535 * product(each.y)
        return list, default, block, { ("ceildiv(%s, %s)"):format(n.axis, each.x), ("ceildiv(%s, %s)"):format(n.axis, each.y) }, nil, guessed
    end
    if not two and blocks then
        return list, default, block, { blocks }, nil, guessed
    end
    if not two then
        local rows = row_of_block(text, axes, x)
        if rows then
            axes[rows].max = math.min(axes[rows].max or 2147483647, 2147483647)
            return list, default, block, { axes[rows].axis }, nil, guessed
        end
        if x and not x[2] and product(each.x) < 8 * product(lanes) then -- a grid has less than 2^31 blocks in x
            axes[x[1]].max = 2147483647
        end
        local all = {}
        for i = 1, #axes do
            all[i] = i
        end
        if whole_blocks and #axes == 1 then
            divide(axes[1].axis, each.x)
        end
        return list, default, block, { ("ceildiv(%s%s, %s)"):format(named(x or all), lanes, each.x) }, nil, guessed, needs
    end
    x = x or { y and y[1] == 2 and 1 or 2 }
    y = y and y[1] ~= x[1] and y or { x[1] == 1 and 2 or 1 }
    if #axes == 2 and x[1] == 1 then -- rows first
        axes[1], axes[2], x, y = axes[2], axes[1], { 2 }, { 1 }
    end
    local where
    if whole_blocks and not axes[1].fixed then
        divide(named(x), each.x)
        divide(named(y), each.y)
    end
    if y[2] then
        where = ("%s <= %d"):format(named(y), 65535 * product(each.y))
    else
        axes[y[1]].max = 65535 * product(each.y)
    end
    return list, default, block, { ("ceildiv(%s, %s)"):format(named(x), each.x), ("ceildiv(%s, %s)"):format(named(y), each.y) }, where, guessed, needs
end

return read_launch
