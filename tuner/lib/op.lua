-- The functions that op scripts use. A script is ordinary Lua that returns one table, made by op { ... }; the functions here only build
-- parts of it. cutune reads the table in a child process and checks every field. Nothing in the script runs later.
--
-- A script sees Lua's basic functions, string, table, math and utf8, and the functions of this file. It has no files, no clock, no
-- modules and no metatables. It must end within seconds and use no more than a few hundred megabytes. docs/op-authors.md is the guide.
--
-- THE TABLE
--   name       the op's name: a letter or _, then letters, digits, _ (like every name below)
--   problem    the axes of a problem, in the order in which they are written and stored: size, stride, batch, flag
--   where      what must be true of a problem, over axes and types: { "m % 4 == 0" }
--   types      the element types that kernels are made for, the usual ones first:
--                { T = { "f32", "f64" } }                                      one type name
--                { names = { "T", "ACC" }, { "f16", "f32" }, { "f32", "f32" } } several: one row a binding
--              i8 i16 i32 i64 u8 u16 u32 u64 f8e4m3 f8e5m2 f16 bf16 f32 f64, c64 (two f32), c128 (two f64)
--   args       what the kernels are called with, in this order: input, output, inout, value, scalar
--   work       { bytes = EXPR, flops = EXPR }: what any kernel must move and compute; needed to show GB/s and GFLOP/s
--   shapes     problems that a plain run tunes: { m = 64, n = 64 }. With when = "device.backend == 'cuda'", only if that is true
--   reference  { template = "FILE", launch = { ... } }: the simplest correct kernel, for any problem. Others are compared with it
--   include_dirs  folders below the script's in which #include looks, too
--   init       { template = "FILE", launch = { ... } or a list }: kernels that write the inputs marked { init = true }, untimed
--   check      "exact", or { sum = EXPR }: each result is a sum of that many products, and may round as such a sum does; or "close":
--              within atol + rtol * |the reference's|, with bounds by type or { close = { rtol = 1e-5, atol = 1e-6 } }
--   variants   a list. Each has
--                name       its name
--                template   the kernel template's file, beside the script or in cutune's folder of templates, or a list of files
--                           that make one source. They may #include "files" below one of these two folders
--                language   "cuda" or "opencl": the template is in that language, not in the dialect
--                options    of the compiler: { "-maxrregcount=$(REGS)" }, or { cuda = { ... }, opencl = { ... } } in the dialect
--                params     a list of { "NAME", default, other values ... }: integers, floats, booleans or words, of one kind.
--                           A word is an enumeration in the template: #if GRID == GRID_xy
--                where      constraints of the algorithm. Do not write limits of the device: cutune derives them
--                launch     one launch, or a list that runs in order. Each has
--                             kernel  the name of the kernel; not the name of an OpenCL C function (dot, cross, length, ...)
--                             grid, block  the number of blocks, and of threads per block: one expression, or a list of up to three
--                             shared  bytes of dynamic shared memory
--                             args    names of arguments and workspaces. The default is all arguments, then all workspaces
--                             when    it is launched only if this expression is true
--                             times   how often; or { rounds, steps }. Grid and values may use ROUND and STEP, which count from 0
--                             swap    { { "a", "b" } }: buffers exchanged between repetitions; the last has them as written
--                             values  { k = "1 << ROUND", j = { "STEP", "i32" } }: values that args pass beside the op's own
--                             cluster  blocks of a cluster, like grid
--                             cooperative, dependent  true: all blocks run at once; it may begin before the launch before it has ended
--                           or { times = , swap = , launches = { ... } }: these launches in turn, so often
--                workspaces  a list of workspace(...)
--                clear      names of outputs that must be zero when the first launch begins
--                needs      conditions on the pointers: aligned, noalias
--                requires   { backend = "cuda", cc = 80, arch_specific = true, grid_order = true, grid_progress = true }
--   defaults   a list of complete configurations { variant = "tile", TILE = 32 }. A parameter left out has its own default. An untuned
--              look-up takes the first whose constraints hold, so the last must be valid for every problem on every device
--   metrics    { NAME = EXPR }: numbers of your own, over parameters, axes, types, time and energy; { EXPR, minimize = true } if less is better
--   objective  what the best is by: "time", "energy", "edp" or the name of a metric
--   peers      calls of libraries that do the same work, for `cutune bench`: { library = "cublas", call = "gemm", mode = "tf32",
--              when = EXPR, a = "b", b = "a", c = "c", m = EXPR, ... }; section 12 of the guide has them all
--
-- EXPRESSIONS are strings in Lua's syntax, or plain numbers: and or not, comparisons, + - * / // % ^ and the bit operators;
-- ceildiv(a,b) min max abs floor sizeof(T) log2 ispow2 alignup(a,b); parameters, axes, types (as words: T == 'f32') and device.backend
-- .cc .warp .l2 .multiprocessors .memory .max_threads .max_shared. Overflow, division by zero and mixed types are errors.

-- The op itself. Everything else is checked when cutune reads the table.
function op(t)
    if type(t) ~= "table" then
        error("op { ... } wants a table, not a " .. type(t), 2)
    end
    return t
end

-- Checks the last argument of a function, a table of options. An unknown option is an error, so typos are noticed.
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

-- Axes of a problem. options.max: the most that the op takes, a number or an expression over axes and types. options.default: what it is
-- where nobody says, a number or an expression over the axes before it; axes with one come last.
local function axis(kind, known)
    return function(name, options)
        local o = checked(kind, options, known or "max default")
        return { kind = kind, name = name, max = o.max, default = o.default }
    end
end
size = axis("size")     -- a number of elements, at least 1
stride = axis("stride") -- elements from one row to the next
batch = axis("batch")   -- how many problems of these sizes, at least 1
flag = axis("flag", "default") -- 0 or 1

-- Buffers. The type is a type name of the op or a fixed type. Extents are in elements, outermost first, row-major. `fill` chooses the test
-- data of an input: "bits" (any pattern) or "numbers". The default is bits if the check is exact, else numbers. `partial = true` says that
-- the op leaves parts of an output alone. `check`: an output's own, in the op's place; `rtol`, `atol`: the same as check = { close = ... }.
-- `range = { lo, hi }`: an input's numbers are from lo to below hi, integers up to hi. `below = "n"`: integers from 0 to below n.
-- `peaks = { lo, hi }`: with fractions, an element of each line along the last extent is from lo to below hi, so that it dominates the line;
-- `peaks = { lo, hi, 1 }`: along the first extent. `sorted = true`: they ascend. `file = "shifts.npy"`: the contents of a file below the script's folder, NumPy's or (.bin, say) raw.
-- `init = true`: the op's init writes it.
local function buffer(kind, known)
    return function(name, element, extent, options)
        local t = { kind = kind, name = name, type = element, extent = extent }
        for option, value in pairs(checked(kind, options, known)) do
            t[option] = value
        end
        return t
    end
end
local data = "fill range peaks below sorted file init"
input = buffer("input", data .. " constant") -- `constant = "d_taps"`: its contents go into that __constant__ array of CUDA kernels
output = buffer("output", "fill partial check rtol atol file") -- the kernel writes all of it, unless it is partial, or cleared first (`clear`)
inout = buffer("inout", data .. " check rtol atol")         -- read and written; restored before each run, which is not timed

-- A number that follows from the problem: value("n") passes the axis n as 64 bits; value("scale", "2*n", "f32") any expression over axes and types.
function value(name, expression, dtype)
    return { kind = "value", name = name, value = expression or name, type = dtype }
end

-- A number that callers choose at each launch, of a type of the op's or a fixed one: scalar("alpha", "f32", 0.5). `tuned` is what it is
-- tuned with: a number, or an expression over axes and types. options.other: another one that kernels are checked with, likewise.
function scalar(name, dtype, tuned, options)
    return { kind = "scalar", name = name, type = dtype, value = tuned, other = checked("scalar", options, "other").other }
end

-- A buffer that belongs to the variant. options.clear: it is zeroed before each run, which is timed.
function workspace(name, element, count, options)
    return { name = name, type = element, count = count, clear = checked("workspace", options, "clear").clear }
end

-- In the args of a launch, in place of an argument or workspace: a tensor map of it (CUDA's CUtensorMap) or a texture object
-- (cudaTextureObject_t). Lists are outermost first. extent and stride: another view of the buffer than the argument's own.
--   tensor_map   box: elements of a copy. Optional: step, swizzle, interleave, l2 (bytes), nan
--   texture      all optional: channels (1, 2 or 4 elements a read), filter ("point", "linear"), address ("clamp", "border", "wrap", "mirror", or
--                a list), normalized, read ("element", "normalized_float"), array, layered
local function view(kind, known)
    return function(arg, options)
        local t = { kind = kind, arg = arg }
        for option, value in pairs(checked(kind, options, "extent stride " .. known)) do
            t[option] = value
        end
        return t
    end
end
tensor_map = view("tensor_map", "box step swizzle interleave l2 nan")
texture = view("texture", "channels filter address normalized read array layered")

-- Conditions on an argument's pointer: its address is a multiple of so many bytes; it overlaps no other argument.
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

-- A parameter from values and lists of values: param("TILE", 32, powers(8, 64)) has the default 32, then 8, 16 and 64. Values that
-- occur twice are left out.
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
