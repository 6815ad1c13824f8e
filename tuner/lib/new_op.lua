-- Writes the files of a new op, for `cutune new-op`. Runs in the sandbox that op scripts have; docs/op-authors.md says what they mean.
--
-- new_op(name, file, text, read_kernel): the op's name; the kernel that it is made from, as the script names its file, and the kernel's
-- text; both nil for an op of its own; what read_kernel.lua gives. Returns a list of { file = NAME, text = TEXT }; what has no name is a note to the
-- user. What it cannot know it guesses, and says so in a comment.

local function values_of(p)
    local v = p[2]
    local list = { v, table.unpack(p.values or {}) }
    for _, other in ipairs(p.values and {} or { v // 4, v // 2, v * 2, v * 4 }) do
        if other >= 1 and other <= 1024 and other ~= v then
            list[#list + 1] = other
        end
    end
    return table.concat(list, ", ")
end

local script = [[
-- $(NAME): made from $(FILE) by cutune new-op. Tune it: `cutune run --op ./$(NAME).lua`.
-- Lines with a "?" are guesses from its text: read them, and correct what is wrong. docs/op-authors.md is the guide.
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
    -- The simplest kernel that is right: others are compared with it. It is the same kernel until you write a simpler one, with the first
    -- values of params: these must be right for it.
    reference = {
        template = "$(REF)",$(LANGUAGE)
        -- ? threads of a block and blocks of the grid, { x, y, z }: guessed to be a thread for each element
        launch = { kernel = "$(REF_KERNEL)", block = $(REF_BLOCK), grid = $(REF_GRID)$(REF_SHARED) },
    },
    check = $(CHECK)
    variants = {
        {
            name = "first",
            template = "$(TEMPLATE)",$(LANGUAGE8)
            params = {$(PARAMS)}, -- ? a name, the default, and the other values to try. In the kernel they are macros
            where = {$(NEEDS)}, -- what the kernel needs: "BLOCK % 32 == 0", say. Limits of the device are known without you
            -- ? block and grid: as above, with parameters. If a thread takes PER elements: "ceildiv(n, BLOCK * PER)" blocks, say.
            -- shared = bytes of dynamic shared memory
            launch = { kernel = "$(KERNEL)", block = $(BLOCK), grid = $(GRID)$(SHARED)$(VIEWS) },
        },
    },
    defaults = { { variant = "first" } }, -- the last must be right for every problem
}
]]

local function sorted(t, of)
    local list = {}
    for name, value in pairs(t) do
        list[#list + 1] = of == "names" and name or value
    end
    table.sort(list)
    return list
end

local function filled(text, words)
    return (text:gsub("%$%(([%w_]+)%)", words))
end

-- A launch's expressions, with numbers for the parameters if these are given.
local function geometry(list, numbers)
    local texts = {}
    for i, text in ipairs(list) do
        texts[i] = '"' .. (numbers and text:gsub("[%a_][%w_]*", numbers) or text) .. '"'
    end
    return #texts == 1 and texts[1] or "{ " .. table.concat(texts, ", ") .. " }"
end

-- The largest size of an axis with which a texture's extents are possible: docs/op-authors.md.
local function most_of(t, axes)
    if t.dims == 1 then
        return t.array and ({ 131072, 256 })[axes] or not t.array and ({ 1 << 28, 16384 })[axes] or 32
    end
    return t.layered and 2048 or t.dims == 3 and 16384 or axes > 2 and 256 or 65536
end

-- Indices of few bits are below these.
local small = { i8 = 128, u8 = 256, i16 = 32768, u16 = 65536 }

-- What the launch's args are if some are textures, else nothing; and the text of the reference, which reads memory in their place.
local function textures(kernel, arguments, names, text)
    local args, any = {}, false
    for i, a in ipairs(arguments) do
        args[i] = '"' .. (a.axis or a.name) .. '"'
        if a.texture then
            local t, extent = a.texture, {}
            for d = 1, t.dims do -- the outermost takes the axes that are too many
                extent[d] = names[#names - t.dims + d] or "1"
            end
            extent[1] = table.concat(names, " * ", 1, math.max(1, #names - t.dims + 1))
            extent[1] = #names < t.dims and "1" or extent[1]
            if a.side > 1 then
                extent[t.dims] = ("%d * %s"):format(a.side, extent[t.dims])
            end
            args[i] = ('texture("%s", { extent = { "%s" }%s%s%s })'):format(a.name, table.concat(extent, '", "'), t.array and ", array = true" or "",
                      t.layered and ", layered = true" or "", a.side > 1 and ", channels = " .. a.side or "")
            any = true
            local size = {} -- of the inner extents, as the kernel calls them
            for _, b in ipairs(arguments) do
                size[#size + 1] = b.axis and b.name or nil
            end
            text = text:gsub("cudaTextureObject_t(%s+)" .. a.name .. "%f[^%w_]", "const " .. t.c .. " *%1" .. a.name)
            text = text:gsub("%f[%w_]tex[%w_]+%s*<?[%w_ ]*>?%s*(%b())", function(list)
                local parts, depth, from = {}, 0, 2
                for at, sign in list:gmatch("()([(%[,%]%)])") do
                    depth = depth + ((sign == "(" or sign == "[") and 1 or sign == "," and 0 or -1)
                    if (sign == "," and depth == 1) or depth == 0 then
                        parts[#parts + 1] = list:sub(from, at - 1):match("^%s*(.-)%s*$")
                        from = at + 1
                    end
                end
                if parts[1] ~= a.name or #parts ~= t.dims + 1 then
                    return nil
                end
                local rows = parts[3] and ("(int)(%s)"):format(parts[3])
                if t.dims == 3 then
                    rows = ("((int)(%s) * %s + (int)(%s))"):format(parts[4], size[#size - 1] or 1, parts[3])
                end
                local index = rows and ("%s * %s + (int)(%s)"):format(rows, size[#size] or 1, parts[2]) or ("(int)(%s)"):format(parts[2])
                return ("%s[%s]"):format(a.name, index)
            end)
        end
    end
    if any and not kernel.language then
        error(("kernel %s: textures are CUDA's: write __global__ in place of KERNEL"):format(kernel.name), 0)
    end
    if any then
        text = "// ? Reads of textures are reads of memory here, without filter, and with nothing outside.\n" .. text
    end
    return any and ",\n                       -- ? filter and address: as the application makes its texture\n                       args = { " .. table.concat(args, ", ") .. " }"
           or "", text
end

local function from_kernel(name, file, text, read_kernel)
    local k = read_kernel(text)
    local kernel, arguments, axes, types, generic, list, default = k.kernel, k.arguments, k.axes, k.types, k.generic, k.list, k.default
    local names, problem, shape, lines, bytes, float = {}, {}, {}, {}, {}, false
    local where, sizes = { k.where and ('"%s"'):format(k.where) or nil }, {}
    for _, need in ipairs(k.needs and k.needs[1] or {}) do
        where[#where + 1] = ('"%s"'):format(need)
    end
    local square = axes[1].square and 2
    local each = ({ 1 << 20, 1024 })[square or #axes] or 64 -- elements along each axis; fewer where a texture has room for no more
    local roof = #axes > 3 and math.floor(2 ^ (26 / #axes)) -- so that no buffer of all sizes, and no such grid, is too large
    if roof and not table.concat(k.grid):find(axes[1].axis .. ".*" .. axes[2].axis .. ".*" .. axes[3].axis) then
        local guessed = false
        for _, a in ipairs(arguments) do
            guessed = guessed or a.side and not a.axis and a.kind ~= "scalar" and a.kind ~= "flag" and not a.extents
        end
        roof = guessed and roof
    end
    for i, a in ipairs(axes) do
        for _, of in ipairs(arguments) do
            local most = of.texture and most_of(of.texture, #axes)
            a.max = most and math.min(a.max or most, most) or a.max
        end
        a.max = roof and math.min(a.max or roof, roof) or a.max
        names[i] = a.axis
        problem[i] = (a.max and 'size("%s", { max = %d })' or 'size "%s"'):format(a.axis, a.max)
        shape[i] = a.axis .. " = " .. (a.fixed or math.min(each, a.max or each))
        where[#where + 1] = a.fixed and ('"%s == %d"'):format(a.axis, a.fixed) or nil
        sizes[a.macro or ""] = a.fixed
    end
    names[2] = square and names[1] or names[2]
    local written, scalars = false, 0
    for _, a in ipairs(arguments) do
        if a.kind == "flag" then -- kernels that differ by it are tuned each
            lines[#lines + 1] = ('value("%s", "%s", "%s"),'):format(a.name, a.name, a.type)
            problem[#problem + 1], shape[#shape + 1] = ('flag "%s"'):format(a.name), a.name .. " = 1"
        elseif a.kind == "axis" then
            lines[#lines + 1] = ('value("%s", "%s", "%s"),'):format(a.axis, a.axis, a.type)
        elseif a.kind == "scalar" then
            local value = ({ "0.5", "1.5", "0.25", "0.75" })[scalars % 4 + 1]
            if a.type:find("^[iu]") then
                value = "3, { other = 2 }"
            end
            lines[#lines + 1] = ('scalar("%s", "%s", %s), -- ? the value that it is tuned with; callers choose it'):format(a.name, a.type, value)
            scalars = scalars + 1
        else
            local of = a.extents or names
            local extent = '"' .. table.concat(of, '", "') .. '"' .. (a.side > 1 and (", " .. a.side) or "")
            local why = a.index and " -- ? indices: below what?" .. (a.ends and " Ascending, and one more than there are rows?" or "") or a.kind == "inout" and " -- ? read and written"
                        or a.extents and " -- ? its extents in elements, by its index"
                        or #names > 1 and " -- ? its extents in elements: all sizes is a guess. Leave out those that it does not have"
                        or " -- ? its extents in elements"
            if a.texture then
                why = " -- ? read as a texture"
            end
            local most = small[a.type] -- what fits the type
            if a.ends and #names == 1 then -- rows[r + 1]: where the next begins
                extent = ('"%s + 1"'):format(names[1])
            end
            local below = most and ("min(%s, %d)"):format(names[#names], most) or names[#names]
            local data = a.index and a.kind == "input" and (', { below = "%s"%s }'):format(below, a.ends and ", sorted = true" or "") or ""
            lines[#lines + 1] = ('%s("%s", "%s", { %s }%s),%s'):format(a.kind, a.name, a.type, extent, data, why)
            local size = ("%s%ssizeof(%s)"):format(a.side > 1 and a.side .. "*" or "", a.kind == "inout" and "2*" or "", a.type)
            local all = table.concat(of, " * ")
            if all ~= bytes.of then
                bytes[#bytes + 1], bytes.of = { of = all, sizes = {} }, all
            end
            table.insert(bytes[#bytes].sizes, size)
            written = written or a.kind ~= "input"
            float = float or not a.type:find("^[iu]%d")
        end
    end
    local moved = {}
    for i, b in ipairs(bytes) do
        moved[i] = ("%s * (%s)"):format(b.of, table.concat(b.sizes, " + "))
    end
    if not written then
        error(("kernel %s writes nothing: its body changes what none of its arguments points to"):format(kernel.name), 0)
    end
    local suffix = kernel.language == "opencl" and ".cl" or ".cu"
    local defines, rows = {}, {}
    for i, p in ipairs(list) do
        defines[#defines + 1] = i > #generic and ("#define %s %d\n"):format(p[1], p[2]) or nil
        rows[i] = ('                { "%s", %s },%s\n'):format(p[1], values_of(p), k.guessed[p[1]] and " -- ? nothing in the file defines it" or "")
    end
    local function entry(with)
        local words = {}
        for i, word in ipairs(generic) do
            words[i] = with[word] and tostring(with[word]) or word
        end
        return kernel.space .. (#words > 0 and ("%s<%s>"):format(kernel.name, table.concat(words, ", ")) or kernel.name)
    end
    local function bytes_of(numbers) -- 16 bytes a thread
        local text = table.concat(k.block, " * ") .. " * 16"
        return k.shared and ', shared = "' .. (numbers and text:gsub("[%a_][%w_]*", numbers) or text) .. '"' or ""
    end
    local template = file or name .. suffix
    local tnames, unused, main = sorted(types, "values"), k.source:find("%f[%w_]T%f[^%w_]") and "ELEMENT" or "T", nil -- it is a macro
    for _, a in ipairs(arguments) do -- results are listed as of the kernel's own type, a float's if it has one
        local buffer = a.kind ~= "axis" and a.kind ~= "scalar" and a.kind ~= "flag"
        main = buffer and (not main or main:find("^[iu]%d") and not a.type:find("^[iu]%d")) and a.type or main
        unused = a.name == unused and "ELEMENT" or unused
    end
    local trow = ('{ "%s" }'):format(string.rep("f32", #tnames, '", "'))
    local others = #kernel.others > 0
        and ("-- The file has other kernels, too: %s. A launch may be a list of several.\n"):format(table.concat(kernel.others, ", ")) or ""
    for _, a in ipairs(k.constants) do
        local extents = table.concat(a.extents, ", ")
        if a.type and not extents:find("?", 1, true) then
            lines[#lines + 1] = ('input("%s", "%s", { %s }, { constant = "%s" }), -- constant memory'):format(a.name, a.type, #a.extents > 0 and extents or 1, a.name)
        else
            others = others .. ('-- ? constant memory: input("%s", its type, { its extents }, { constant = "%s" }) in args fills it.\n'):format(a.name, a.name)
        end
    end
    for _, word in ipairs(sorted(k.unknown, "names")) do
        others = others .. ("-- ? nothing in the file defines %s: enter it in params, or write a #define.\n"):format(word)
    end
    local numbers = table.concat(k.block, " ") .. " " .. table.concat(k.grid, " ")
    for _, p in ipairs(sorted(k.fixed, "names")) do
        local what = sizes[p] and "-- ? %s is %d, a size: the kernel serves this one only. For others make it an argument, int %s"
                     or "-- ? %s is %d: to tune it write #ifndef %s around its #define, and enter it in params"
        if not sizes[p] and not k.source:find("# ?define " .. p) then
            what = "-- ? %s is %d: to tune it leave out the line that says so, and enter it in params"
        end
        others = others .. what:format(p, k.fixed[p], p)
        if not sizes[p] and numbers:find("%f[%w]" .. k.fixed[p] .. "%f[%W]") then
            others = others .. (". In the variant's launch write %s in place of %d"):format(p, k.fixed[p])
        end
        others = others .. ".\n"
    end
    local views, reference = textures(kernel, arguments, names, text)
    local language = kernel.language and ('\n        language = "%s",'):format(kernel.language) or ""
    local files = {
        { file = name .. ".lua", text = filled(script, {
            NAME = name, FILE = file or "a kernel", OTHERS = others, PROBLEM = table.concat(problem, ", "),
            NEEDS = k.needs and (' "%s" '):format(table.concat(k.needs[2], '", "')) or "",
            WHERE = where[1] and ('    where = { %s },%s\n'):format(table.concat(where, ", "),
                    k.needs and " -- ? the kernel compares no index with a size, so blocks are whole ones" or next(sizes) and " -- ? the kernel has the sizes as macros" or " -- a grid has at most 65535 blocks in y") or "",
            TYPES = #tnames == 0 and ('%s = { "%s" }'):format(unused, main)
                    or #tnames == 1 and ('%s = { "f32" }'):format(tnames[1])
                    or ('names = { "%s" }, %s'):format(table.concat(tnames, '", "'), trow),
            ARGS = "        " .. table.concat(lines, "\n        "),
            BYTES = table.concat(moved, " + "), SHAPE = table.concat(shape, ", "),
            REF = name .. "_ref" .. suffix, LANGUAGE = language, LANGUAGE8 = language:gsub("\n", "\n    "),
            REF_KERNEL = entry(default), REF_BLOCK = geometry(k.block, default), REF_GRID = geometry(k.grid, default), VIEWS = views, SHARED = bytes_of(nil), REF_SHARED = bytes_of(default),
            CHECK = float and '"close", -- ? "exact" and { sum = "k" } prove more, where they fit: section 6 of the guide'
                    or '"exact", -- ? integers are compared bit by bit',
            TEMPLATE = template, PARAMS = rows[1] and "\n" .. table.concat(rows) .. "            " or "", KERNEL = entry({}), BLOCK = geometry(k.block), GRID = geometry(k.grid),
        }) },
        { file = name .. "_ref" .. suffix,
          text = ("// The reference of %s.lua: the kernel as it came, with one configuration. Make it as simple as it can be.\n"):format(name)
                 .. table.concat(defines) .. reference },
    }
    if not file then
        files[3] = { file = template, text = text }
    end
    local host = host_code(k.source)
    if host[1] then
        files[#files + 1] = { file = "", text = ("%s has code for the host (%s), which the compiler of kernels does not take: %s"):format(template,
                              table.concat(host, ", "), kernel.language ~= "cuda" and "move it into another file"
                              or ("put #ifndef __CUDACC_RTC__ before it and #endif behind it, there and in %s"):format(files[2].file)) }
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

return function(name, file, text, read_kernel)
    if text then
        return from_kernel(name, file, text, read_kernel)
    end
    local words = { NAME = name }
    return { { file = name .. ".lua", text = filled(own_script, words) }, { file = name .. ".cu", text = filled(own_kernel, words) },
             { file = name .. "_ref.cu", text = filled(own_reference, words) } }
end
