-- The library that op scripts are written in. A script is ordinary Lua that returns one table, made by op { ... }; the functions
-- here only build parts of it. cutune reads the table in a child process and checks every field; nothing of the script runs later.
--
-- A script sees Lua's basic functions, string, table, math and utf8, and what stands here. It has no files, no clock, no modules
-- and no metatables, and it must end within seconds and a few hundred megabytes.
--
-- THE TABLE
--   name       the op's name: a letter or _, then letters, digits, _ (so is every name below)
--   problem    the axes of a problem, in the order in which they are written and stored: size, stride, batch, flag
--   types      the type bindings that kernels are made for, the first being the usual one:
--                { T = { "f32", "f64" } }                                      one type name
--                { names = { "T", "ACC" }, { "f16", "f32" }, { "f32", "f32" } } several: one row a binding
--              i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64, c64 (two f32), c128 (two f64)
--   args       what the kernels are called with, in this order: input, output, inout, value
--   work       { bytes = EXPR, flops = EXPR }: what any kernel must move and compute, so that results read in GB/s and GFLOP/s
--   shapes     problems that a plain run tunes: { m = 64, n = 64 }, with when = "device.backend == 'cuda'" only where that holds
--   reference  { template = "FILE", launch = { ... } }: the simplest right kernel, for any problem, that others are checked with
--   check      "exact", or { sum = EXPR }: each result is a sum of so many products, and may round as such a sum does
--   variants   a list: the first has the defaults of a plain run. Each is
--                name       its name
--                template   the kernel template's file: beside the script, or in cutune's folder of templates. It may #include
--                           "files" that lie below one of the two
--                params     a list of { "NAME", default, other values ... }: integers, floats, booleans or words, of one kind.
--                           A word is an enumeration in the template: #if GRID == GRID_xy
--                where      constraints of the algorithm. Limits of the device need not be written: cutune derives them
--                launch     a list of launches (or the only one), run in order:
--                             kernel  the entry's name; not that of a function that OpenCL C has (dot, cross, length, ...)
--                             grid    blocks, block: threads; one expression, or a list of up to three
--                             shared  bytes of dynamic shared memory
--                             args    names of arguments and workspaces; all arguments, then all workspaces, where it is left out
--                workspaces a list of workspace(...)
--                clear      names of outputs that must be zero when the first launch begins
--                needs      what must hold of the pointers: aligned, noalias
--                requires   { backend = "cuda", cc = 80, arch_specific = true, grid_order = true, grid_progress = true }
--   defaults   a list of complete configurations { variant = "tile", TILE = 32 }; a parameter left out has its own default. An
--              untuned look-up takes the first whose constraints hold, so the last must hold for every problem on every device
--
-- EXPRESSIONS are texts in Lua's syntax: and or not, comparisons, + - * / // % ^ and the bit operators; ceildiv(a,b) min max abs
-- floor sizeof(T) log2 ispow2 alignup(a,b); parameters, axes, types (as words: T == 'f32') and device.backend .cc .warp .l2
-- .multiprocessors .memory .max_threads .max_shared. Overflow, a division by zero or mixed types are errors. A plain number will do
-- too.

-- The op itself. Everything else is checked when cutune reads the table.
function op(t)
    if type(t) ~= "table" then
        error("op { ... } wants a table, not a " .. type(t), 2)
    end
    return t
end

-- Axes of a problem.
function size(name) return { kind = "size", name = name } end     -- a number of elements, at least 1
function stride(name) return { kind = "stride", name = name } end -- elements from one row to the next
function batch(name) return { kind = "batch", name = name } end   -- a count of like problems, at least 1
function flag(name) return { kind = "flag", name = name } end     -- 0 or 1

-- The last argument of a function, which must be a table of options: one that nobody knows is a slip of the pen.
local function checked(who, options, known)
    if options == nil then
        return {}
    end
    if type(options) ~= "table" then
        error(who .. "(...) wants its options as a table, not as a " .. type(options), 3)
    end
    for key in pairs(options) do
        if type(key) ~= "string" or not (" " .. known .. " "):find(" " .. key .. " ", 1, true) then
            error(who .. "(...): unknown option '" .. tostring(key) .. "'; known here: " .. known, 3)
        end
    end
    return options
end

-- Buffers: a type name of the op, or a fixed type; the extents in elements, outermost first, row-major. `fill` says what an input
-- is tried with: "bits" (any pattern) or "numbers"; left out, bits where the check is exact and numbers elsewhere. `partial` is for
-- outputs: true if the op means to leave a part of it alone.
local function buffer(kind)
    return function(name, element, extent, options)
        options = checked(kind, options, "fill partial")
        local fill, partial = options.fill, options.partial
        return { kind = kind, name = name, type = element, extent = extent, fill = fill, partial = partial }
    end
end
input = buffer("input")
output = buffer("output") -- written in full by the kernel, or cleared before it (see `clear`), unless it is partial
inout = buffer("inout")   -- read and written: set back before each run, which is not timed

-- A scalar: value("n") passes the axis n as 64 bits; value("scale", "2*n", "f32") any expression over axes and types.
function value(name, expression, dtype)
    return { kind = "value", name = name, value = expression or name, type = dtype }
end

-- A buffer of the variant's own. options.clear: zeroed before each run, which is timed.
function workspace(name, element, count, options)
    return { name = name, type = element, count = count, clear = checked("workspace", options, "clear").clear }
end

-- What must hold of an argument's pointer: its address is a multiple of so many bytes; it overlaps no other argument.
function aligned(arg, bytes) return { kind = "aligned", arg = arg, bytes = bytes } end
function noalias(arg) return { kind = "noalias", arg = arg } end

-- Lists of values: range(8, 32, 8) is 8 16 24 32; powers(8, 64) is 8 16 32 64.
function range(first, last, step)
    if step == 0 then
        error("range(first, last, step) wants a step that is not 0", 2)
    end
    local list = {}
    for v = first, last, step or 1 do
        list[#list + 1] = v
    end
    return list
end

function powers(first, last)
    if math.type(first) ~= "integer" or first < 1 then
        error("powers(first, last) wants a first of at least 1", 2)
    end
    local list = {}
    while first <= last do
        list[#list + 1] = first
        if first > last // 2 then
            break
        end
        first = first * 2
    end
    return list
end

-- A parameter from values and lists of values: param("TILE", 32, powers(8, 64)) has the default 32, then 8, 16 and 64. A value
-- that is there already is left out.
function param(name, ...)
    local row, seen = { name }, {}
    local function add(v)
        if v ~= nil and not seen[v] then
            seen[v] = true
            row[#row + 1] = v
        end
    end
    for _, v in ipairs({ ... }) do
        if type(v) == "table" then
            for _, each in ipairs(v) do
                add(each)
            end
        else
            add(v)
        end
    end
    return row
end
