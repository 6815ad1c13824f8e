-- Reads a kernel's text for `cutune new-op` (new_op.lua): its arguments, parameters and launch. Returns a function of the text that gives
-- { source = TEXT without comments, kernel = NAMES, arguments =, axes =, types =, generic = ARGUMENTS OF A C++ TEMPLATE, list = PARAMETERS,
-- default = THEIR VALUES, block =, grid =, where = OF THE OP, shared = WHETHER THE LAUNCH GIVES SHARED MEMORY, fixed = CONSTANTS }. What it cannot know it guesses.

-- What C calls an element: its type here, and how many of them (of a vector) lie side by side.
local elements = {
    ["float"] = "f32", ["double"] = "f64", ["half"] = "f16", ["__half"] = "f16", ["__nv_bfloat16"] = "bf16", ["nv_bfloat16"] = "bf16",
    ["__nv_fp8_e4m3"] = "f8e4m3", ["__nv_fp8_e5m2"] = "f8e5m2", ["bool"] = "u8",
    ["char"] = "i8", ["signed char"] = "i8", ["unsigned char"] = "u8", ["uchar"] = "u8",
    ["short"] = "i16", ["unsigned short"] = "u16", ["ushort"] = "u16",
    ["int"] = "i32", ["unsigned"] = "u32", ["unsigned int"] = "u32", ["uint"] = "u32",
    ["long long"] = "i64", ["long"] = "i64", ["unsigned long long"] = "u64", ["unsigned long"] = "u64", ["ulong"] = "u64",
    ["size_t"] = "u64", ["ptrdiff_t"] = "i64", ["cuFloatComplex"] = "c64", ["cuDoubleComplex"] = "c128",
}
for _, bits in ipairs { 8, 16, 32, 64 } do -- int8 is the dialect's
    for word, type in pairs { int = "i", uint = "u" } do
        elements[word .. bits], elements[word .. bits .. "_t"] = type .. bits, type .. bits
    end
end

local function element(c)
    local base, n = c:match("^([a-z]+)([234])$")
    if base and elements[base] then
        return elements[base], math.tointeger(n)
    end
    return elements[c], 1
end

-- The pattern of a word, for one that is not a part of another.
local function whole(word) return "%f[%w_]" .. word .. "%f[^%w_]" end
local function has_word(text, word) return text:find(whole(word)) ~= nil end

local skipped = { "^//[^\n]*", "^/%*.-%*/", '^"[^"\n]*"', "^'.'" }

-- Without comments and strings, and with single spaces; lines stay, as the directives need them.
local function plain(text)
    text = text:gsub("\\\n", " "):gsub("\\.", "_")
    local parts, at = {}, 1
    for begin in text:gmatch "()[/\"']" do
        local last
        for i = 1, begin >= at and #skipped or 0 do
            last = last or select(2, text:find(skipped[i], begin))
        end
        if last then
            parts[#parts + 1] = text:sub(at, begin - 1)
            at = last + 1
        end
    end
    parts[#parts + 1] = text:sub(at)
    return (table.concat(parts, " "):gsub("[ \t\r]+", " "))
end

-- What the text itself calls a type: typedef float real; using real = float; #define real float.
local function aliases(text)
    local names = {}
    for c, name in text:gmatch("%f[%w_]typedef ([%w_ ]-) ?([%a_][%w_]*) ?;") do
        names[name] = c
    end
    for name, c in text:gmatch("%f[%w_]using ([%a_][%w_]*) ?= ?([%w_ ]-) ?;") do
        names[name] = c
    end
    for name, c in ("\n" .. text):gmatch("\n ?# ?define ([%a_][%w_]*) ([%a_][%w_ ]-) ?%f[\n]") do
        names[name] = c
    end
    return names
end

-- Words of Lua that a kernel's sizes may be called: expressions and shapes cannot name them.
local reserved = {}
for word in ("and elseif end function in local nil not or repeat then until"):gmatch("%a+") do
    reserved[word] = true
end

local function trimmed(s) return s:match("^%s*(.-)%s*$") end

-- The parts of a list between its commas, those within brackets left alone.
local function split(list)
    local parts, depth, from = {}, 0, 1
    for at, sign in list:gmatch("()([(<%[,%]>)])") do
        if sign == "," and depth == 0 then
            parts[#parts + 1] = trimmed(list:sub(from, at - 1))
            from = at + 1
        elseif sign ~= "," then
            depth = depth + ((sign == "(" or sign == "<" or sign == "[") and 1 or -1)
        end
    end
    local last = trimmed(list:sub(from))
    if last ~= "" and last ~= "void" then
        parts[#parts + 1] = last
    end
    return parts
end

local kinds = {
    { word = "__global__", language = "cuda" },
    { word = "__kernel", language = "opencl" },
    { word = "KERNEL" }, -- the dialect
    { word = "kernel", language = "opencl" },
}

-- "la::": the namespaces that are open at the end of the text.
local function spaces(text)
    local depth = {}
    for name, brace in text:gsub("namespace ([%a_][%w_]*) ?{", "\1%1\2"):gmatch("\1?([%w_]*)([{}\2])") do
        if brace == "}" then
            table.remove(depth)
        else
            depth[#depth + 1] = brace == "\2" and name .. "::" or ""
        end
    end
    return table.concat(depth)
end

-- The first kernel of the text: language, template's parameters, name, list of arguments, body and the names of others.
local function find_kernel(text)
    for _, kind in ipairs(kinds) do
        local found, others = nil, {}
        for at, rest in text:gmatch("()" .. whole(kind.word) .. "()") do
            local head = text:sub(rest):gsub("^([^{;(]-)%s*__launch_bounds__%s*%b()", "%1"):gsub("^([^{;(]-)%s*__attribute__%s*%b()", "%1")
            local name, list, body = head:match("^[^{;(]-([%a_][%w_]*)%s*(%b())%s*(%b{})")
            if name and found then
                others[#others + 1] = name
            elseif name then
                found = { language = kind.language, name = name, space = spaces(text:sub(1, at - 1)), list = list:sub(2, -2), body = body,
                          generic = text:sub(1, at - 1):match("template%s*<([^<>]*)>[^;{}]*$") }
            end
        end
        if found then
            found.others = others
            return found
        end
    end
    error("there is no kernel in it: `__global__ void name(...) { ... }`, or `__kernel` of OpenCL C", 0)
end

-- Whether the body reads an element of a buffer; an `a[i] =` alone writes.
local function is_read(body, name)
    if body:find("atomic[%w_]*%s*%(%s*&?%s*" .. whole(name)) then
        return true
    end
    for rest in body:gmatch("%f[%w_]" .. name .. "%s*%b[]()") do
        local after = body:sub(rest, rest + 8)
        if not after:find("^%s*=[^=]") and not after:find("^%s*%.[xyzw]%s*=[^=]") then
            return true
        end
    end
    return false
end

-- Whether it is used for more than to read its elements.
local function may_be_written(body, name)
    local part = "%f[%w_]" .. name .. "%s*%b[]%s*%.%w+%s*[%+%-%*/]?=[^=]" -- a[i].x =
    for before, rest in body:gmatch("([^\n]?[^\n]?)" .. whole(name) .. "()") do
        local index, after = body:match("^%s*(%b[])%s*([^\n]?[^\n]?[^\n]?)", rest)
        local assigned = index and (after:find("^[%+%-%*/%%&|^]?=") and not after:find("^==") or after:find("^[<>][<>]="))
        if not index or assigned or after:find("^%+%+") or after:find("^%-%-") or after:find("^%.") and body:find(part)
           or before:find("&%s*$") or before:find("%+%+$") or before:find("%-%-$") then
            return true
        end
    end
    return false
end

-- Words that say nothing of an argument's elements.
local qualifiers = { "__?restrict_?_?", "_?_?global", "GLOBAL", "volatile", "struct" }

-- A texture: of what elements, and how, its first read says: tex2D<float4>(img, x, y).
local function texture_argument(kernel, name)
    local call, c = kernel.body:match("%f[%w_](tex%w+)%s*<%s*([%w_ ]-)%s*>%s*%(%s*" .. whole(name))
    if not call then
        call, c = kernel.body:match("%f[%w_](tex%w+)%s*%(%s*" .. whole(name)), "float"
    end
    c, call = c or "float", call or "tex1Dfetch"
    local type, channels = element(kernel.aliases[c] or c)
    local layered = call:find("Layered") ~= nil
    return { name = name, type = type or "f32", side = channels, kind = "input",
             texture = { c = c, array = not call:find("fetch"), dims = math.tointeger(call:match("^tex(%d)D") or 1) + (layered and 1 or 0),
                         layered = layered } }
end

-- One argument: how the script writes it, as a function of the axes; and what it adds to the axes.
local function read_argument(kernel, types, text, at)
    local c = text:gsub("%s*=.*", ""):gsub("%s*DYNAMIC_SHARED_PARAM", "")
    for _, word in ipairs(qualifiers) do
        c = c:gsub(whole(word), " ")
    end
    local name = c:match("([%a_][%w_]*)%s*$") or c:match("([%a_][%w_]*)%s*%[[^%[%]]*%]%s*$")
    local pointer = c:find("[%*%[]") ~= nil
    local const = c:find(whole("const") .. ".*[%*%[]") ~= nil or c:find("__constant", 1, true) ~= nil
    local word = trimmed((c:gsub(whole("const"), " "):gsub("__constant", " "):gsub("[%*%[].*", "")))
    if not c:find("*", 1, true) then -- the name stands with it: int n, float x[]
        word = trimmed((word:gsub("[%a_][%w_]*$", "")))
    end
    word = word:gsub("%s+", " ")
    word = kernel.aliases[word] or word
    local kind, side = element(word)
    if types[word] then
        kind, side = types[word], 1
    elseif not kind and (not kernel.language or word:find("^%u[%u%d_]*$")) and word:find("^[%a_][%w_]*$") and not text:find("struct ") then
        kind, side = word, 1 -- it is for the op to say
        types[word] = word
    end
    if has_word(c, "_?_?local") then
        error(("kernel %s, argument %d, `%s`: of what is passed in local memory there can be one, the last")
              :format(kernel.name, at, trimmed(text)), 0)
    end
    if word == "cudaSurfaceObject_t" then
        error(("kernel %s, argument %d, `%s`: there are no surfaces: write to a pointer to its elements instead")
              :format(kernel.name, at, trimmed(text)), 0)
    end
    if word == "cudaTextureObject_t" and name then
        return texture_argument(kernel, name)
    end
    if not name or not kind then
        error(("kernel %s, argument %d, `%s`: of what elements is it? Known are float, double, int, unsigned, size_t, half, float4 and "
               .. "the like: write it so, or copy the files of another op"):format(kernel.name, at, trimmed(text)), 0)
    end
    local argument = { name = name, type = kind, side = side }
    if pointer then
        argument.kind = (const or not may_be_written(kernel.body, name)) and "input" or is_read(kernel.body, name) and "inout" or "output"
        argument.index = kind:find("^[iu]%d") and kernel.body:find("%[[^%[%]]*%f[%w_]" .. name .. "%s*%[")
    elseif kind:find("^[iu]") then
        argument.kind, argument.axis = "axis", reserved[name] and name .. "_" or name
    else
        argument.kind = "scalar"
    end
    return argument
end

-- #ifndef TILE, #define TILE 32: a parameter that the kernel already has.
local function own_parameters(text)
    local list, seen = {}, {}
    for name, value in ("\n" .. text):gmatch("\n ?# ?ifndef ([%a_][%w_]*) ?\n+ ?# ?define ([^\n]+)") do
        local defined, number = value:match("^([%a_][%w_]*) %(?(%d+)%)? ?$")
        if defined == name and not seen[name] then
            seen[name] = true
            list[#list + 1] = { name, math.tointeger(number) }
        end
    end
    return list, seen
end

-- #define TILE 32 without an #ifndef: no parameter can change it.
local function constants_of(text, own)
    local list = {}
    for name, value in ("\n" .. text):gmatch("\n ?# ?define ([%a_][%w_]*) %(?(%d+)%)? ?%f[\n]") do
        list[name] = not own[name] and math.tointeger(value) or nil
    end
    return list
end

-- Macros that compilers and the usual headers have.
local common = {}
for word in ("NULL INFINITY NAN FLT_MAX FLT_MIN FLT_EPSILON DBL_MAX DBL_MIN DBL_EPSILON INT_MAX INT_MIN UINT_MAX CHAR_BIT M_PI M_PI_F "
             .. "MAXFLOAT HUGE_VALF CLK_LOCAL_MEM_FENCE CLK_GLOBAL_MEM_FENCE GLOBAL SHARED CONSTANT DYNAMIC_SHARED BACKEND_CUDA "
             .. "BACKEND_OPENCL"):gmatch("%S+") do
    common[word] = true
end

-- Words in capitals that nothing in the text defines.
local function unknown_macros(text, kernel, known)
    local found = {}
    for word in kernel.body:gmatch("%f[%w_]%u[%u%d_]*%f[^%w_]") do
        local w = whole(word)
        local declared = text:find("# ?define " .. w) or text:find("enum[^{};]*{[^{}]*" .. w) or text:find("[%w_>][ %*&]+" .. w .. " ?[=;,%)%[{]")
                         or text:find("[%w_>][ %*&]+" .. w .. " ?%([^;{}]*%) ?{") or text:find("[<,] ?%l+ " .. w) or text:find("using " .. w)
        if not declared and not known[word] and not common[word] then
            found[word] = true
        end
    end
    return found
end

-- __constant__ arrays without contents: { name =, type =, extents = TEXTS }.
local function constant_arrays(text, kernel, numbers)
    local list = {}
    for of in text:gmatch("__constant__ ([^;={}]-) ?;") do
        local c, name, sizes = of:match("^(.-) ([%a_][%w_]*) ?(%[.*)$")
        if not c then
            c, name, sizes = of:match("^(.-) ([%a_][%w_]*)$")
        end
        c, name, sizes = c or "", name or of, sizes or ""
        local type, side = element(kernel.aliases[c] or c)
        local extents = {}
        for size in sizes:gmatch("%[ ?([%w_]+) ?%]") do
            extents[#extents + 1] = tonumber(size) and size or numbers[size] and tostring(numbers[size]) or "?"
        end
        extents[#extents + 1] = extents[1] and side > 1 and tostring(side) or nil
        list[#list + 1] = { name = name, type = type, extents = extents }
    end
    return list
end

local indices = {
    x = { "blockIdx%.x", "get_group_id ?%( ?0 ?%)", "get_global_id ?%( ?0 ?%)" },
    y = { "blockIdx%.y", "get_group_id ?%( ?1 ?%)", "get_global_id ?%( ?1 ?%)" },
}

-- The axes that an index along x or y is compared with: `if (i < n)`, `j < a * b`. Nil if there is no such comparison.
local function compared(text, along, axes)
    for _, index in ipairs(indices[along]) do
        for name in text:gmatch("([%a_][%w_]*) ?= ?[^;=]-" .. index) do
            for limit in text:gmatch("%f[%w_]" .. name .. " ?[<>]=? ?([%a_][%w_ %*]*)") do
                local found, all = {}, true
                for word in limit:gmatch("[%w_]+") do
                    local at
                    for i, axis in ipairs(axes) do
                        at = axis.name == word and i or at
                    end
                    found[#found + 1], all = at, all and at ~= nil
                end
                if all then
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
        if is_type and before ~= "return" and before ~= "case" and before ~= "else" then
            return false
        end
    end
    local w = "%f[%w_]" .. word
    return not (text:find(w .. " ?=[^=]") or text:find(w .. " ?%(") or text:find("[%.>]" .. word .. "%f[^%w_]") or elements[word]
                or word:find("^%d") or word:find("^%l+Idx$") or word:find("^%w+Dim$") or word:find("^get_"))
end

local usual = {
    x = { "BLOCK", "block_size_x", "BLOCK_SIZE_X", "BLOCK_X", "BLOCK_SIZE", "WORK_GROUP_SIZE_X" },
    y = { "BLOCK_Y", "block_size_y", "BLOCK_SIZE_Y", "WORK_GROUP_SIZE_Y" },
}

-- The parameters; block and grid as expressions; and the axis that the grid's y limits, with its largest size. `list` has the parameters
-- that the kernel's template has.
local function read_launch(kernel, text, axes, list)
    local own, seen = own_parameters(text)
    local fixed = constants_of(text, seen)
    local default = {}
    local function parameter(name, value)
        if not default[name] then
            default[name] = value
            list[#list + 1] = { name, value }
        end
        return name
    end
    for _, p in ipairs(list) do
        default[p[1]] = p[2]
    end
    for _, p in ipairs(own) do
        parameter(p[1], p[2])
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
    local function block_size(along, words, value)
        for _, name in ipairs(usual[along]) do
            if not words[1] and (default[kernel.renamed[name] or name] or fixed[name] or has_word(text, name)) then
                words[1] = fixed[name] and tostring(fixed[name]) or kernel.renamed[name] or name
            end
        end
        local name = words[1] or usual[along][1]
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
        block[1] = block_size("x", words[1] and words or { asked[1] }, tall and 32 or 256)
    end
    each.x = words[1] and table.concat(words, " * ") or block[1]
    if not (text:find("blockDim%.y") or text:find("threadIdx%.y") or text:find("get_global_id ?%( ?1") or text:find("get_local_id ?%( ?1")) then
        each.y = "1" -- rows are blocks
    elseif not by_y then
        words = chain("y")
        block[2] = block_size("y", words[1] and words or { asked[2] }, 8)
        each.y = words[1] and table.concat(words, " * ") or block[2]
    end
    for word in (each.x .. " " .. (each.y or "")):gmatch("[%a_][%w_]*") do
        parameter(word, 1)
    end
    -- float sum[tile][tile], for (...; i < tile; ...): other words that nothing declares.
    for _, place in ipairs { "%[([^%[%]]*)%]", "[<>]=? ?([%a_][%w_]*) ?;" } do
        for inside in kernel.body:gmatch(place) do
            for word in inside:gmatch("[%a_][%w_]*") do
                if not default[word] and not kernel.renamed[word] and not fixed[word] and undeclared(text, word) then
                    local few = word:lower():find("tile") or word:lower():find("item") or word:lower():find("per") or word:lower():find("vec")
                    parameter(word, few and 1 or 16)
                end
            end
        end
    end
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
    if not two then
        if x and not x[2] and product(each.x) < 8 then -- a grid has less than 2^31 blocks in x
            axes[x[1]].max = 2147483647
        end
        local all = {}
        for i = 1, #axes do
            all[i] = i
        end
        return list, default, block, { ("ceildiv(%s, %s)"):format(named(x or all), each.x) }
    end
    x = x or { y and y[1] == 2 and 1 or 2 }
    y = y and y[1] ~= x[1] and y or { x[1] == 1 and 2 or 1 }
    if #axes == 2 and x[1] == 1 then -- rows first
        axes[1], axes[2], x, y = axes[2], axes[1], { 2 }, { 1 }
    end
    local where
    if y[2] then
        where = ("%s <= %d"):format(named(y), 65535 * product(each.y))
    else
        axes[y[1]].max = 65535 * product(each.y)
    end
    return list, default, block, { ("ceildiv(%s, %s)"):format(named(x), each.x), ("ceildiv(%s, %s)"):format(named(y), each.y) }, where
end

return function(text)
    local source = plain(text)
    local kernel = find_kernel(source)
    local reference = source:match("%f[%w_]texture%s*<[^>;]*>%s*([%a_][%w_]*)%s*;")
    if reference then
        error(("`texture<...> %s;`: CUDA 12 and later have no texture references: make it an argument, cudaTextureObject_t %s, and read "
               .. "tex2D<float>(%s, x, y)"):format(reference, reference, reference), 0)
    end
    local types, generic, arguments, axes = {}, {}, {}, {}
    local params, order = {}, {}
    kernel.aliases, kernel.renamed = aliases(source), {}
    -- Parameters and types are macros, and a macro of that name would spoil `template <typename T, int TILE>`.
    for i, part in ipairs(kernel.generic and split(kernel.generic) or {}) do
        local head, value = part:match("^([^=]*)=?(.*)$")
        local what, word = head:match("^%s*(.-)%s+([%a_][%w_]*)%s*$")
        if not word then
            error(("kernel %s: its template's parameter `%s` has no name"):format(kernel.name, part), 0)
        end
        generic[i] = "OP_" .. word
        if what == "typename" or what == "class" then
            types[word] = generic[i]
        else
            kernel.renamed[word] = generic[i]
            params[#params + 1] = { generic[i], math.tointeger(tonumber(value)) or ({ 256, 1 })[#params + 1] or 1 }
        end
    end
    function kernel.generic_number(other)
        for _, p in ipairs(params) do
            if p[1] ~= other then
                return p[1]
            end
        end
    end
    local parts = split(kernel.list)
    local shared = kernel.list:find("DYNAMIC_SHARED_PARAM") or kernel.body:find("extern%s+__shared__")
    if kernel.language == "opencl" and #parts > 0 and has_word(parts[#parts], "_?_?local") then
        parts[#parts], shared = nil, true
    end
    for i, part in ipairs(parts) do
        if part ~= "DYNAMIC_SHARED_PARAM" then
            local a = read_argument(kernel, types, part, i)
            arguments[#arguments + 1] = a
            axes[#axes + 1] = a.kind == "axis" and a or nil
        end
    end
    if #axes == 0 then
        local two = source:find("blockIdx%.y") or source:find("get_%w+_id ?%( ?1")
        axes = two and { { axis = "m" }, { axis = "n" } } or { { axis = "n" } }
    end
    local list, default, block, grid, where = read_launch(kernel, source, axes, params)
    local fixed, known = constants_of(source, default), {}
    for _, names in ipairs { types, kernel.renamed, default, fixed } do
        for word, value in pairs(names) do
            known[word] = value
        end
    end
    return { source = source, kernel = kernel, arguments = arguments, axes = axes, types = types, generic = generic, list = list,
             default = default, block = block, grid = grid, where = where, shared = shared, fixed = fixed,
             unknown = unknown_macros(source, kernel, known), constants = kernel.language == "cuda" and constant_arrays(source, kernel, known) or {} }
end
