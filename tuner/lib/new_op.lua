-- Writes the files of a new op, for `cutune new-op`. Runs in the sandbox that op scripts have; docs/op-authors.md says what they mean.
--
-- new_op(name, file, text): the op's name; the kernel that it is made from, as the script names its file, and the kernel's text; both nil
-- for an op of its own. Returns a list of { file = NAME, text = TEXT }. What it cannot know it guesses, and says so in a comment.

-- What C calls an element: its type here, and how many of them (of a vector) lie side by side.
local elements = {
    ["float"] = "f32", ["double"] = "f64", ["half"] = "f16", ["__half"] = "f16", ["__nv_bfloat16"] = "bf16", ["nv_bfloat16"] = "bf16",
    ["__nv_fp8_e4m3"] = "f8e4m3", ["__nv_fp8_e5m2"] = "f8e5m2", ["bool"] = "u8",
    ["char"] = "i8", ["signed char"] = "i8", ["unsigned char"] = "u8", ["uchar"] = "u8", ["int8_t"] = "i8", ["uint8_t"] = "u8",
    ["short"] = "i16", ["unsigned short"] = "u16", ["ushort"] = "u16", ["int16_t"] = "i16", ["uint16_t"] = "u16",
    ["int"] = "i32", ["unsigned"] = "u32", ["unsigned int"] = "u32", ["uint"] = "u32", ["int32_t"] = "i32", ["uint32_t"] = "u32",
    ["long long"] = "i64", ["long"] = "i64", ["unsigned long long"] = "u64", ["unsigned long"] = "u64", ["ulong"] = "u64",
    ["int64_t"] = "i64", ["uint64_t"] = "u64", ["size_t"] = "u64", ["ptrdiff_t"] = "i64",
    ["int8"] = "i8", ["int16"] = "i16", ["int32"] = "i32", ["int64"] = "i64", ["uint8"] = "u8", ["uint16"] = "u16",
    ["uint32"] = "u32", ["uint64"] = "u64", ["cuFloatComplex"] = "c64", ["cuDoubleComplex"] = "c128",
}

local function element(c)
    local base, n = c:match("^([a-z]+)([234])$")
    if base and elements[base] then
        return elements[base], math.tointeger(n)
    end
    return elements[c], 1
end

-- Without comments and with single spaces; lines stay, as the directives need them.
local function plain(text)
    text = text:gsub("\\\n", " "):gsub("//[^\n]*", ""):gsub("/%*.-%*/", " ")
    return (text:gsub("[ \t\r]+", " "))
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

-- The first kernel of the text: language, template's parameters, name, list of arguments, body and the names of others.
local function find_kernel(text)
    for _, kind in ipairs(kinds) do
        local found, others = nil, {}
        for at, rest in text:gmatch("()%f[%w_]" .. kind.word .. "%f[^%w_]()") do
            local head = text:sub(rest):gsub("^([^{;(]-)%s*__launch_bounds__%s*%b()", "%1"):gsub("^([^{;(]-)%s*__attribute__%s*%b()", "%1")
            local name, list, body = head:match("^[^{;(]-([%a_][%w_]*)%s*(%b())%s*(%b{})")
            if name and found then
                others[#others + 1] = name
            elseif name then
                found = { language = kind.language, name = name, list = list:sub(2, -2), body = body,
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
    if body:find("atomic[%w_]*%s*%(%s*&?%s*" .. name .. "%f[^%w_]") then
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

-- One argument: how the script writes it, as a function of the axes; and what it adds to the axes.
local function read_argument(kernel, types, text, at)
    local c = text:gsub("%s*=.*", ""):gsub("%f[%w_]__?restrict_?_?%f[^%w_]", " "):gsub("%f[%w_]_?_?global%f[^%w_]", " "):gsub("%f[%w_]GLOBAL%f[^%w_]", " ")
                  :gsub("%f[%w_]volatile%f[^%w_]", " "):gsub("%f[%w_]struct%f[^%w_]", " "):gsub("%s*DYNAMIC_SHARED_PARAM", "")
    local name = c:match("([%a_][%w_]*)%s*$") or c:match("([%a_][%w_]*)%s*%[%s*%]%s*$")
    local pointer = c:find("[%*%[]") ~= nil
    local const = c:find("%f[%w_]const%f[^%w_].*[%*%[]") ~= nil or c:find("__constant", 1, true) ~= nil
    local word = trimmed((c:gsub("%f[%w_]const%f[^%w_]", " "):gsub("__constant", " "):gsub("[%*%[].*", "")))
    if not pointer then
        word = trimmed((word:gsub("[%a_][%w_]*$", "")))
    end
    word = word:gsub("%s+", " ")
    local kind, side = element(word)
    if not kind and not kernel.language and word:find("^%u[%w_]*$") then
        types[word] = true -- the dialect's T
    end
    if types[word] then
        kind, side = word, 1
    end
    if c:find("%f[%w_]_?_?local%f[^%w_]") then
        error(("kernel %s, argument %d, `%s`: of what is passed in local memory there can be one, the last"):format(kernel.name, at, trimmed(text)), 0)
    end
    if not name or not kind then
        error(("kernel %s, argument %d, `%s`: of what elements is it? Known are float, double, int, unsigned, size_t, half, float4 and "
               .. "the like: write it so, or copy the files of another op"):format(kernel.name, at, trimmed(text)), 0)
    end
    local argument = { name = name, type = kind, side = side }
    if pointer then
        argument.kind = const and "input" or is_read(kernel.body, name) and "inout" or "output"
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

local function word_in(text, word) return text:find("%f[%w_]" .. word .. "%f[^%w_]") ~= nil end

-- Parameters of the launch, and the launch's block and grid.
local function read_parameters(kernel, text, axes)
    local list, seen = own_parameters(text)
    local flat = text:find("block[ID][di][xm]%.y") == nil and text:find("threadIdx%.y") == nil and text:find("get_%w+_id ?%( ?1") == nil
    local wide = #axes > 1 and not flat
    local block = {}
    -- blockIdx.x * TILE + ...: the kernel's own word, else one of the usual ones, else a new one.
    local function block_size(axis, names, default)
        local used = text:match("blockIdx%." .. axis .. " ?%* ?([%a_][%w_]*)")
        if used and (seen[used] or not used:find("^blockDim")) then
            table.insert(names, 1, used)
        end
        for _, name in ipairs(names) do
            if not seen[name] and word_in(text, name) then
                seen[name] = true
                list[#list + 1] = { name, default }
            end
            if seen[name] then
                return name
            end
        end
        list[#list + 1] = { names[1], default } -- for the launch alone
        return names[1]
    end
    block[1] = block_size("x", { "BLOCK", "block_size_x", "BLOCK_SIZE_X", "BLOCK_X", "BLOCK_SIZE", "WORK_GROUP_SIZE_X" }, wide and 32 or 256)
    if wide then
        block[2] = block_size("y", { "BLOCK_Y", "block_size_y", "BLOCK_SIZE_Y", "WORK_GROUP_SIZE_Y" }, 8)
    end
    return list, block, wide
end

local function axis_names(axes)
    local names = {}
    for i, axis in ipairs(axes) do
        names[i] = axis.axis
    end
    return names
end

local function values_around(v)
    local list = { v }
    for _, other in ipairs { v // 4, v // 2, v * 2, v * 4 } do
        if other >= 1 and other <= 1024 and other ~= v then
            list[#list + 1] = other
        end
    end
    return table.concat(list, ", ")
end

local script = [[
-- $(NAME): made from $(FILE) by cutune new-op. It runs as it is: `cutune run --op ./$(NAME).lua`.
-- Lines with a "?" are guesses from the kernel's signature: read them, and correct what is wrong. docs/op-authors.md is the guide.
$(OTHERS)return op {
    name = "$(NAME)",
    problem = { $(PROBLEM) }, -- ? the sizes that a problem has
$(WHERE)    types = { $(TYPES) },
    args = { -- in the order of the kernel's signature
$(ARGS)
    },
    -- ? the bytes that any kernel must move at least; flops = "..." beside it gives GFLOP/s
    work = { bytes = "$(BYTES)" },
    shapes = { { $(SHAPE) } }, -- ? the problems that are worth tuning
    -- The simplest kernel that is right: others are compared with it. It is the same kernel until you write a simpler one.
    reference = {
        template = "$(REF)",$(LANGUAGE)
        launch = { kernel = "$(REF_KERNEL)", block = $(REF_BLOCK), grid = $(REF_GRID)$(REF_SHARED) },
    },
    check = $(CHECK)
    variants = {
        {
            name = "first",
            template = "$(TEMPLATE)",$(LANGUAGE8)
            params = { -- ? a name, the default, and the other values to try. In the kernel they are macros
$(PARAMS)
            },
            where = {}, -- what the kernel needs: "BLOCK % 32 == 0", say. Limits of the device are known without you
            -- ? a thread may take several elements: then fewer blocks; shared = bytes of dynamic shared memory
            launch = { kernel = "$(KERNEL)", block = $(BLOCK), grid = $(GRID)$(SHARED) },
        },
    },
    defaults = { { variant = "first" } }, -- the last must be right for every problem
}
]]

local function filled(text, words)
    return (text:gsub("%$%(([%w_]+)%)", words))
end

-- The launch for blocks and parameters given as texts.
local function geometry(axes, block, wide, value)
    local names = axis_names(axes)
    if not wide then
        local all = table.concat(names, " * ")
        return ('"%s"'):format(value(block[1])), ('"ceildiv(%s, %s)"'):format(all, value(block[1]))
    end
    local rows = table.concat(names, " * ", 1, #names - 1)
    return ('{ "%s", "%s" }'):format(value(block[1]), value(block[2])),
           ('{ "ceildiv(%s, %s)", "ceildiv(%s, %s)" }'):format(names[#names], value(block[1]), rows, value(block[2]))
end

local function from_kernel(name, file, text)
    local source = plain(text)
    local kernel = find_kernel(source)
    local types, generic, arguments, axes = {}, {}, {}, {}
    local params = {}
    for i, part in ipairs(kernel.generic and split(kernel.generic) or {}) do
        local what, word = part:match("^(.-)%s*([%a_][%w_]*)%s*$")
        word = word or part:match("([%a_][%w_]*)%s*=")
        if what == "typename" or what == "class" then
            types[word] = true
        elseif not word then
            error(("kernel %s: its template's parameter `%s` has no name"):format(kernel.name, part), 0)
        else
            params[#params + 1] = { word, 256 }
        end
        generic[i] = word
    end
    local list = split(kernel.list)
    local dynamic = kernel.list:find("DYNAMIC_SHARED_PARAM") or kernel.body:find("extern%s+__shared__")
    if kernel.language == "opencl" and #list > 0 and list[#list]:find("%f[%w_]_?_?local%f[^%w_]") then
        list[#list], dynamic = nil, true
    end
    for i, part in ipairs(list) do
        if part ~= "DYNAMIC_SHARED_PARAM" then
            local a = read_argument(kernel, types, part, i)
            arguments[#arguments + 1] = a
            axes[#axes + 1] = a.kind == "axis" and a or nil
        end
    end
    local lacks = #axes == 0
    if lacks then
        axes[1] = { axis = "n" }
    end
    local own, block, wide = read_parameters(kernel, source, axes)
    for _, p in ipairs(params) do
        local known = false
        for _, other in ipairs(own) do
            known = known or other[1] == p[1]
        end
        if not known then
            own[#own + 1] = p
        end
    end
    local names, problem, shape, lines, bytes, float = axis_names(axes), {}, {}, {}, {}, false
    local each = ({ 1 << 20, 1024 })[#axes] or 64
    for i, n in ipairs(names) do
        problem[i] = (wide and i < #names and 'size("%s", { max = 65535 })' or 'size "%s"'):format(n)
        shape[i] = n .. " = " .. each
    end
    local written = false
    for _, a in ipairs(arguments) do
        if a.kind == "axis" then
            lines[#lines + 1] = ('value("%s", "%s", "%s"),'):format(a.axis, a.axis, a.type)
        elseif a.kind == "scalar" then
            lines[#lines + 1] = ('scalar("%s", "%s", 1), -- ? the value that it is tuned with; callers choose it'):format(a.name, a.type)
        else
            local extent = '"' .. table.concat(names, '", "') .. '"' .. (a.side > 1 and (", " .. a.side) or "")
            local why = a.kind == "inout" and " -- ? read and written" or " -- ? its extents in elements"
            lines[#lines + 1] = ('%s("%s", "%s", { %s }),%s'):format(a.kind, a.name, a.type, extent, why)
            bytes[#bytes + 1] = ("%s%ssizeof(%s)"):format(a.side > 1 and a.side .. "*" or "", a.kind == "inout" and "2*" or "", a.type)
            written = written or a.kind ~= "input"
            float = float or not a.type:find("^[iu]%d")
        end
    end
    if not written then
        error(("kernel %s writes nothing: none of its arguments is a pointer without const"):format(kernel.name), 0)
    end
    local suffix = kernel.language == "opencl" and ".cl" or ".cu"
    local defines, rows, default = {}, {}, {}
    for i, p in ipairs(own) do
        defines[i] = ("#define %s %d\n"):format(p[1], p[2])
        rows[i] = ('                { "%s", %s },'):format(p[1], values_around(p[2]))
        default[p[1]] = p[2]
    end
    local function entry(with)
        local words = {}
        for i, word in ipairs(generic) do
            words[i] = with[word] and tostring(with[word]) or word
        end
        return #words > 0 and ("%s<%s>"):format(kernel.name, table.concat(words, ", ")) or kernel.name
    end
    local function itself(word) return word end
    local b, g = geometry(axes, block, wide, itself)
    local function value(word) return tostring(default[word]) end
    local rb, rg = geometry(axes, block, wide, value)
    local function shared(number) -- 16 bytes a thread
        return dynamic and (', shared = "%s * 16"'):format(number(block[1]) .. (wide and " * " .. number(block[2]) or "")) or ""
    end
    local template = file or name .. suffix
    local tnames, unused = {}, "T"
    for word in pairs(types) do
        tnames[#tnames + 1] = word
    end
    for _, a in ipairs(arguments) do
        unused = a.name == unused and "ELEMENT" or unused
    end
    table.sort(tnames)
    local trow = ('{ "%s" }'):format(string.rep("f32", #tnames, '", "'))
    local others = #kernel.others > 0
        and ("-- The file has other kernels, too: %s. A launch may be a list of several.\n"):format(table.concat(kernel.others, ", ")) or ""
    local language = kernel.language and ('\n        language = "%s",'):format(kernel.language) or ""
    local files = {
        { file = name .. ".lua", text = filled(script, {
            NAME = name, FILE = file or "a kernel", OTHERS = others, PROBLEM = table.concat(problem, ", "),
            WHERE = wide and #names > 2
                    and ('    where = { "%s <= 65535" }, -- a grid has no more blocks in y\n'):format(table.concat(names, " * ", 1, #names - 1)) or "",
            TYPES = #tnames == 0 and unused .. ' = { "f32" }'
                    or #tnames == 1 and ('%s = { "f32" }'):format(tnames[1])
                    or ('names = { "%s" }, %s'):format(table.concat(tnames, '", "'), trow),
            ARGS = "        " .. table.concat(lines, "\n        "),
            BYTES = ("%s * (%s)"):format(table.concat(names, " * "), table.concat(bytes, " + ")), SHAPE = table.concat(shape, ", "),
            REF = name .. "_ref" .. suffix, LANGUAGE = language, LANGUAGE8 = language:gsub("\n", "\n    "),
            REF_KERNEL = entry(default), REF_BLOCK = rb, REF_GRID = rg,
            CHECK = float and '"close", -- ? "exact" and { sum = "k" } prove more, where they fit: section 6 of the guide'
                    or '"exact", -- ? integers are compared bit by bit',
            TEMPLATE = template, PARAMS = table.concat(rows, "\n"), KERNEL = entry({}), BLOCK = b, GRID = g, SHARED = shared(itself), REF_SHARED = shared(value),
        }) },
        { file = name .. "_ref" .. suffix,
          text = ("// The reference of %s.lua: the kernel as it came, with one configuration. Make it as simple as it can be.\n"):format(name)
                 .. table.concat(defines) .. text },
    }
    if not file then
        files[3] = { file = template, text = text }
    end
    return files
end

local own_script = [[
-- $(NAME): made by cutune new-op. It runs as it is: `cutune run --op ./$(NAME).lua`. docs/op-authors.md is the guide.
-- As a start it computes y[i] = alpha * x[i].
return op {
    name = "$(NAME)",
    problem = { size "n" },                 -- the sizes of a problem: size "m", size "n"
    types = { T = { "f32", "f64", "i32" } }, -- kernels are made for each of these
    args = {                                -- in the order of the kernel's signature
        output("y", "T", { "n" }),          -- a name, its elements' type, its extents
        input("x", "T", { "n" }),
        scalar("alpha", "T", 2),            -- callers choose it; 2 is the value that it is tuned with
        value "n",                          -- a size, as int64
    },
    work = { bytes = "2*n*sizeof(T)", flops = "n" }, -- what any kernel must move and compute
    shapes = { { n = 1000003 }, { n = 1 << 26, when = "device.backend == 'cuda'" } }, -- what a plain run tunes
    -- The simplest kernel that is right: others are compared with it.
    reference = { template = "$(NAME)_ref.cu", launch = { kernel = "$(NAME)_ref", block = 256, grid = "ceildiv(n, 256)" } },
    check = "close", -- equal but for rounding; "exact" and { sum = "k" } prove more, where they fit
    variants = {     -- one for each algorithm
        {
            name = "strips",
            template = "$(NAME).cu",
            params = { -- a name, the default, the other values. In the kernel they are macros
                { "BLOCK", 256, 64, 128, 512, 1024 }, -- threads
                { "ITEMS", 4, 1, 2, 8 },              -- elements a thread takes
            },
            where = { "BLOCK * ITEMS <= 4096" }, -- what the algorithm needs; limits of the device are known without you
            launch = { kernel = "$(NAME)_strips", block = "BLOCK", grid = "ceildiv(n, BLOCK * ITEMS)" },
        },
    },
    defaults = { { variant = "strips", BLOCK = 256, ITEMS = 4 } }, -- the last must be right for every problem
}
]]

local own_kernel = [[
// y[i] = alpha * x[i]: a block takes a strip of BLOCK * ITEMS elements, a thread every BLOCK-th of them.
KERNEL void __launch_bounds__(BLOCK)
$(NAME)_strips(GLOBAL T *__restrict__ y, GLOBAL const T *__restrict__ x, T alpha, int64 n)
{
    int64 i = (int64)blockIdx.x * (BLOCK * ITEMS) + threadIdx.x;
#pragma unroll
    for (int k = 0; k < ITEMS; k++, i += BLOCK)
        if (i < n)
            y[i] = alpha * x[i];
}
]]

local own_reference = [[
KERNEL void $(NAME)_ref(GLOBAL T *y, GLOBAL const T *x, T alpha, int64 n)
{
    int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = alpha * x[i];
}
]]

return function(name, file, text)
    if text then
        return from_kernel(name, file, text)
    end
    local words = { NAME = name }
    return { { file = name .. ".lua", text = filled(own_script, words) }, { file = name .. ".cu", text = filled(own_kernel, words) },
             { file = name .. "_ref.cu", text = filled(own_reference, words) } }
end
