-- Reads a kernel's text for `cutune new-op` (new_op.lua): its arguments, parameters and launch. Returns a function of the text that gives
-- { source = TEXT without comments, kernel = NAMES, arguments =, axes =, types =, generic = ARGUMENTS OF A C++ TEMPLATE, list = PARAMETERS,
-- default = THEIR VALUES, block =, grid =, where = OF THE OP, needs = OF A VARIANT, shared = WHETHER THE LAUNCH GIVES SHARED MEMORY, fixed = CONSTANTS,
-- guessed = PARAMETERS THAT NOTHING DEFINES }. What it cannot know it guesses. kernel_text, read_extents and read_launch are what the files of these
-- names give.

local words = kernel_text
local element, whole, has_word, plain, aliases = words.element, words.whole, words.has_word, words.plain, words.aliases
local reserved, trimmed, split, constants_of, count = words.reserved, words.trimmed, words.split, words.constants_of, words.count

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
            local head, more = text:sub(rest), nil
            repeat -- __launch_bounds__(256), __cluster_dims__(2, 1, 1)
                head, more = head:gsub("^([^{;(]-)%s*__[%w_]+__%s*%b()", "%1")
            until more == 0
            local name, list, body = head:match("^[^{;(]-([%a_][%w_]*)%s*(%b())%s*(%b{})")
            if name and found then
                others[#others + 1] = name
                found.bodies[#found.bodies + 1] = body
            elseif name then
                found = { language = kind.language, name = name, space = spaces(text:sub(1, at - 1)), list = list:sub(2, -2), body = body, bodies = { body },
                          generic = (text:sub(1, at - 1):match("template%s*(%b<>)[^;{}]*$") or "<>"):sub(2, -2) }
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
           or before:find("&%s*$") or before:find("%+%+$") or before:find("%-%-$")
           or body:find("& ?[%a_][%w_]* ?= ?%f[%w_]" .. name .. "%s*%[") then -- float &v = a[i];
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

-- Whether its elements are indices: a[x[i]], or v = x[i] and a[v].
local function is_index(body, name)
    for v in body:gmatch("%f[%w_]([%a_][%w_]*) ?= ?" .. whole(name) .. "%s*%b[] ?;") do
        if body:find("%[[^%[%]]*" .. whole(v)) then
            return true
        end
    end
    for v, limit in body:gmatch("for ?%( ?[%w_ ]-([%a_][%w_]*) ?= ?" .. whole(name) .. "[^;]*;([^;]*);") do
        if has_word(limit, v) and body:find("%[[^%[%]]*" .. whole(v)) then -- from row to row: rows[r] and rows[r + 1]
            return true
        end
    end
    return body:find("%[[^%[%]]*%f[%w_]" .. name .. "%s*%[") ~= nil
end

-- Whether a whole number may say how many there are of something: not if elements are computed with it, y[i] = x[i] * a, and no more.
local function is_size(body, name)
    local used = false
    for statement in body:gmatch("[^;{}]+") do
        if has_word(statement, name) then
            used = true
            local left, value = statement:match("^(.*%])%s*[%+%-%*/]?=([^=].*)$")
            if not value or has_word(left, name) or value:find("[<>?]") then
                return true
            end
            for index in value:gmatch("%b[]") do
                if has_word(index, name) then
                    return true
                end
            end
        end
    end
    return not used
end

-- One argument: how the script writes it, as a function of the axes; and what it adds to the axes.
local function read_argument(kernel, types, text, at)
    local c = text:gsub("%s*=.*", ""):gsub("%s*DYNAMIC_SHARED_PARAM", "")
    for _, word in ipairs(qualifiers) do
        c = c:gsub(whole(word), " ")
    end
    local name = c:match("([%a_][%w_]*)%s*$") or c:match("([%a_][%w_]*)%s*%[[^%[%]]*%]%s*$")
    local pointer = c:find("[%*%[]") ~= nil
    local constant = whole(kernel.language == "opencl" and "_?_?constant" or "__constant")
    local const = c:find(whole("const") .. ".*[%*%[]") ~= nil or c:find(constant) ~= nil
    local word = trimmed((c:gsub(whole("const"), " "):gsub(constant, " "):gsub("[%*%[].*", "")))
    if not c:find("*", 1, true) then -- the name stands with it: int n, float x[]
        word = trimmed((word:gsub("[%a_][%w_]*$", "")))
    end
    word = word:gsub("%s+", " "):gsub("^std ?:: ?", ""):gsub("^:: ?", "")
    word = kernel.aliases[word] or word
    local kind, side = element(word)
    if types[word] then
        kind, side = types[word], 1
    elseif not kind and (not kernel.language or word:find("^%u[%u%d_]*$")) and word:find("^[%a_][%w_]*$") and not text:find("struct ")
           and not kernel.source:find("%f[%w_]struct " .. whole(word)) and not kernel.source:find("} ?" .. word .. " ?;") then
        kind, side = word, 1 -- it is for the op to say
        types[word] = word
    end
    if c:find("%*[^%*]*%*") or c:find("%*.*%[") or c:find("%[.*%[") then
        error(("kernel %s, argument %d, `%s`: pass one pointer to all of its elements, without pointers or arrays between"):format(kernel.name,
              at, trimmed(text)), 0)
    end
    if not name then
        error(("kernel %s, argument %d, `%s`, has no name"):format(kernel.name, at, trimmed(text)), 0)
    end
    if kernel.language ~= "cuda" and has_word(c, "_?_?local") then
        error(("kernel %s, argument %d, `%s`: of what is passed in local memory there can be one, the last: move it to the end, or write "
               .. "`__local %s %s[BLOCK];` in the kernel's body"):format(kernel.name, at, trimmed(text),
              trimmed((word:gsub("_*local", ""))), name), 0)
    end
    if word == "cudaSurfaceObject_t" then
        error(("kernel %s, argument %d, `%s`: there are no surfaces: write to a pointer to its elements instead")
              :format(kernel.name, at, trimmed(text)), 0)
    end
    if word == "cudaTextureObject_t" then
        return texture_argument(kernel, name)
    end
    if not kind then
        error(("kernel %s, argument %d, `%s`: of what elements is it? Known are float, double, int, unsigned, size_t, half, float4 and "
               .. "the like: write it so, or copy the files of another op"):format(kernel.name, at, trimmed(text)), 0)
    end
    if side > 1 and not pointer then
        error(("kernel %s, argument %d, `%s`: a vector is not passed by value: pass its %d numbers"):format(kernel.name, at, trimmed(text), side), 0)
    end
    local argument = { name = name, type = kind, side = side }
    if pointer then
        argument.kind = (const or not may_be_written(kernel.body, name)) and "input" or is_read(kernel.body, name) and "inout" or "output"
        argument.index = kind:find("^[iu]%d") and is_index(kernel.body, name)
        argument.ends = argument.index and kernel.body:find("%f[%w_]" .. name .. "%s*%[[^%[%]]-%+ ?1 ?%]") ~= nil
    elseif word == "bool" then
        argument.kind, argument.name = "flag", reserved[name] and name .. "_" or name
    elseif kind:find("^[iu][36]") then
        argument.kind, argument.axis = "axis", reserved[name] and name .. "_" or name
    else
        argument.kind = "scalar"
    end
    return argument
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

-- __constant__ arrays without contents: { name =, type =, extents = TEXTS }. `sizes` gets the words that their sizes are made of.
local function constant_arrays(text, kernel, macros, default, sizes)
    local value_of = words.values_by(macros, default)
    local function note(text, depth)
        for word in text:gmatch("%f[%w_][%a_][%w_]*") do
            sizes[word] = true
            if macros[word] and depth < 20 then
                note(macros[word], depth + 1)
            end
        end
    end
    local list = {}
    for of in text:gmatch("__constant__ ([^;={}]-) ?;") do
        local c, name, sizes = of:match("^(.-) ([%a_][%w_]*) ?(%[.*)$")
        if not c then
            c, name, sizes = of:match("^(.-) ([%a_][%w_]*)$")
        end
        c, name, sizes = c or "", name or of, sizes or ""
        local type, side = element(kernel.aliases[c] or c)
        local extents = {}
        for size in sizes:gmatch("%b[]") do
            extents[#extents + 1] = tostring(count(size:sub(2, -2), value_of) or "?")
            note(size, 0)
        end
        extents[#extents + 1] = extents[1] and side > 1 and tostring(side) or nil
        list[#list + 1] = { name = name, type = type, extents = extents }
    end
    return list
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
    kernel.types, kernel.source = types, source
    local params, order = {}, {}
    kernel.aliases, kernel.renamed = aliases(source), {}
    -- Parameters and types are macros, and a macro of that name would spoil `template <typename T, int TILE>`.
    for i, part in ipairs(split(kernel.generic)) do
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
            local given = math.tointeger(tonumber(value))
            if what == "bool" then
                given = value:find("true") and 1 or 0
                params[#params + 1] = { generic[i], given, values = { 1 - given } }
            else
                params[#params + 1] = { generic[i], given or ({ 256, 1 })[#params + 1] or 1, free = not given }
            end
        end
    end
    function kernel.generic_number(other)
        for _, p in ipairs(params) do
            if p[1] ~= other then
                return p[1]
            end
        end
    end
    function kernel.generic_block()
        for _, p in ipairs(params) do
            if p[1]:lower():find("block") then
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
    local sizes = {}
    for _, a in ipairs(axes) do
        sizes[#sizes + 1] = is_size(kernel.body, a.name) and a or nil
    end
    if sizes[1] then -- else it is hard to say
        for _, a in ipairs(axes) do
            if not is_size(kernel.body, a.name) then
                a.kind, a.axis = "scalar", nil
            end
        end
        axes = sizes
    end
    local list, default, block, grid, where, guessed, needs = read_launch(kernel, source, arguments, axes, params)
    for _, a in ipairs(arguments) do
        if #axes > 1 and not a.texture and (a.kind == "input" or a.kind == "output" or a.kind == "inout") then
            a.extents = read_extents(kernel.body, a.name, axes)
        end
    end
    local launch = table.concat(block, " ") .. " " .. table.concat(grid, " ")
    for _, p in ipairs(list) do
        if p.free and not has_word(launch, p[1]) then -- no size of a block, so a number of times
            p[2], p.values, default[p[1]] = 1, { 2, 4, 8 }, 1
        end
    end
    local fixed, known = constants_of(source, default), {}
    for _, names in ipairs { types, kernel.renamed, default, fixed } do
        for word, value in pairs(names) do
            known[word] = value
        end
    end
    local macros, sizes = words.macros_of(source), {}
    local constants = kernel.language == "cuda" and constant_arrays(source, kernel, macros, default, sizes) or {}
    for _, p in ipairs(list) do
        p.values = sizes[p[1]] and {} or p.values -- the script says how long the array is
    end
    for word in pairs(fixed) do -- what other macros make has no value of its own, and is worth a word as a size only
        local made, size = macros[word] and macros[word]:gsub("0[xX]%x+", ""):find("%f[%w_][%a_]"), false
        for _, a in ipairs(axes) do
            size = size or a.macro == word
        end
        fixed[word] = (size or not made) and fixed[word] or nil
    end
    return { source = source, kernel = kernel, arguments = arguments, axes = axes, types = types, generic = generic, list = list,
             default = default, block = block, grid = grid, where = where, needs = needs, shared = shared, fixed = fixed, guessed = guessed,
             unknown = unknown_macros(source, kernel, known), constants = constants }
end
