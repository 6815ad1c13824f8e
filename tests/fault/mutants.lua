-- mutants.lua SEED COUNT FOLDER [BACKEND]: writes ops with their templates. In random order, half of their kernels are correct and half
-- are wrong on purpose. FOLDER/truth says which: one line per kernel, "OP KERNEL LABEL CLASS", with the labels of mutants/faults.lua.
-- BACKEND is opencl or cuda; only CUDA has kernels that keep state from launch to launch. The same arguments give the same files.
local here = arg[0]:match("^(.*)/[^/]*$") or "."
local parts, faults, bases = dofile(here .. "/mutants/parts.lua"), dofile(here .. "/mutants/faults.lua"), {}
for _, file in ipairs { "moves", "sums", "tables", "close" } do
    for name, base in pairs(assert(loadfile(here .. "/mutants/" .. file .. ".lua"))(parts)) do
        bases[name] = base
    end
end
local seed, count, folder, backend = math.tointeger(tonumber(arg[1])), math.tointeger(tonumber(arg[2])), arg[3], arg[4] or "opencl"
assert(seed and count and folder and (backend == "opencl" or backend == "cuda"), "mutants.lua SEED COUNT FOLDER [opencl|cuda]")
math.randomseed(seed, 0)

local pick = setmetatable({ range = math.random }, {
    __call = function(_, list)
        return list[math.random(#list)]
    end,
})
local function shuffle(list)
    for i = #list, 2, -1 do
        local j = math.random(i)
        list[i], list[j] = list[j], list[i]
    end
    return list
end
local function keys(t)
    local out = {}
    for k in pairs(t) do
        out[#out + 1] = k
    end
    table.sort(out)
    return out
end

-- Texts.
local function write(name, text)
    local file = assert(io.open(folder .. "/" .. name, "w"))
    assert(file:write(text))
    assert(file:close())
end
local function quoted(list)
    local out = {}
    for i, name in ipairs(list) do
        out[i] = ("%q"):format(name)
    end
    return "{ " .. table.concat(out, ", ") .. " }"
end
local function expression(e)
    return type(e) == "string" and e:sub(1, 1) ~= "{" and ("%q"):format(e) or tostring(e)
end

local ctypes = { u32 = "uint32", f32 = "float", i32 = "int32" }
local function declaration(base, k, name)
    if base.scalars and base.scalars[name] then
        return ctypes[base.scalars[name][1]] .. " " .. name
    end
    if base.outputs[name] then
        return "GLOBAL T *" .. name
    elseif base.inputs[name] then
        return "GLOBAL const " .. (ctypes[base.inputs[name][3]] or "T") .. " *" .. name
    end
    for _, ws in ipairs(k.ws or {}) do
        if ws[1] == name then
            return "GLOBAL " .. ws[3] .. " *" .. name
        end
    end
    return "int64 " .. name
end

local prologue = [[
#define GID   ((int64)blockIdx.x * blockDim.x + threadIdx.x)
#define GSIZE ((int64)gridDim.x * blockDim.x)
#ifdef BACKEND_CUDA
#define FENCE __threadfence()
#else
#define FENCE mem_fence(CLK_GLOBAL_MEM_FENCE)
#endif
]]
local function store_macro(base, k)
    local text = ("#define OUT %s\n#define STORE(place, value) do { const int64 p = (place); const T v = (value); "):format(base.inout or "out")
    if k.first then
        text = text .. k.first .. "; "
    end
    local store = k.instead or ("OUT[p] = %s"):format(k.value or "v")
    if k.when then
        store = ("if (%s) { %s; }"):format(k.when, store)
    end
    return text .. store .. "; " .. (k.also and k.also .. "; " or "") .. "} while (0)\n"
end

local function template(base, k)
    local out = { prologue, k.helpers or "", store_macro(base, k) }
    for i, kernel in ipairs(k.kernels) do
        local params = {}
        for j, name in ipairs(kernel.args) do
            params[j] = declaration(base, k, name)
        end
        out[#out + 1] = ("KERNEL void %s(%s)\n{\n%s%s}\n"):format(kernel.name .. (kernel.misspelt and "_" or ""), table.concat(params, ", "),
            i == k.final and k.entry or "", kernel.text)
    end
    return table.concat(out, "\n")
end

local function variant(base, k, name, file)
    local out = { ("        {\n            name = %q, template = %q,\n"):format(name, file) }
    if k.ws then
        out[#out + 1] = "            workspaces = {"
        for _, ws in ipairs(k.ws) do
            out[#out + 1] = (" workspace(%q, %q, %s%s),"):format(ws[1], ws[2], expression(ws[4]), ws.clear and ", { clear = true }" or "")
        end
        out[#out + 1] = " },\n"
    end
    if k.clear then
        out[#out + 1] = '            clear = { "out" },\n'
    end
    out[#out + 1] = "            launch = {\n"
    for _, kernel in ipairs(k.kernels) do
        out[#out + 1] = ("                { kernel = %q, args = %s, grid = %s, block = %s },\n"):format(kernel.name, quoted(kernel.args),
            expression(kernel.grid), expression(kernel.block))
    end
    out[#out + 1] = "            },\n        },\n"
    return table.concat(out)
end

local function op_text(name, base, variants, default)
    local axes, args, shape = {}, {}, {}
    for i, axis in ipairs(base.axes) do
        axes[i] = ("size %q"):format(axis)
        shape[i] = ("%s = %d"):format(axis, base.shape[axis])
    end
    for i, arg_name in ipairs(base.args) do
        local input = base.inputs[arg_name]
        local scalar = base.scalars and base.scalars[arg_name]
        args[i] = scalar and ("scalar(%q, %q, %s, %s)"):format(arg_name, table.unpack(scalar))
            or input and ("input(%q, %q, %s)"):format(arg_name, input[3] or "T", input[1])
            or base.outputs[arg_name] and ("%s(%q, %q, %s)"):format(base.inout and "inout" or "output", arg_name, "T", base.outputs[arg_name])
            or ("value %q"):format(arg_name)
    end
    return ([[
return op {
    name = %q,
    problem = { %s },
    types = { T = { %q } },
    args = { %s },
    work = { bytes = %q },
    shapes = { { %s } },
    reference = { template = %q, launch = { kernel = %q, block = 64, grid = %q } },
    check = %s,
    variants = {
%s    },
    defaults = { { variant = %q } },
}
]]):format(name, table.concat(axes, ", "), base.dtype, table.concat(args, ", "), base.bytes, table.concat(shape, ", "), name .. "_ref.cu",
        name .. "_ref", base.reference_total or ("ceildiv(%s, 64)"):format(base.total), base.check, variants, default)
end

local function reference_text(name, base)
    local params = {}
    for i, arg_name in ipairs(base.args) do
        params[i] = declaration(base, {}, arg_name)
    end
    return ("%sKERNEL void %s_ref(%s)\n{\n%s}\n"):format(prologue, name, table.concat(params, ", "), base.reference)
end

-- A right kernel: some form of the base, every third with an oddity.
local function right_form(base, must_store)
    local k
    repeat
        k = base.forms[pick(keys(base.forms))].make(pick)
    until not must_store or k.final
    return k
end
local function make_right(base, for_default)
    local k
    repeat
        k = right_form(base)
    until not (for_default and k.small)
    local odd = k.final and math.random(3) == 1
    if odd then
        pick(faults.odd)(k, base, pick)
    end
    return { k = k, label = "right", class = odd and "odd" or "plain" }
end

-- Wrong ones: each fault once, in random order, before any comes again; as many of the general ones as of those of a form.
local general, special = {}, {}
-- A processor runs a block's threads in turns, and few blocks at a time: there these two may come out right.
local on_gpu = backend == "cuda" and "wrong" or "free"
local labels = { race = "free", ["shared garbage"] = "free", ["flags not cleared"] = on_gpu, ["missing barrier"] = on_gpu }
for _, base_name in ipairs(keys(bases)) do
    for _, form in ipairs(keys(bases[base_name].forms)) do
        local f = bases[base_name].forms[form]
        for _, name in ipairs(keys(f.faults)) do
            special[#special + 1] = { base = base_name, make = f.make, name = name, class = f.faults[name], label = labels[f.faults[name]] or "wrong" }
        end
    end
end
for _, f in ipairs(faults.all) do
    if not f.backend or f.backend == backend then
        general[#general + 1] = f
    end
end
local turn, dear = 0, { hang = 0 }
local lists = { { of = general, at = 0 }, { of = special, at = 0 } }
local function next_of(list)
    if list.at % #list.of == 0 then
        shuffle(list.of)
        list.at = 0
    end
    list.at = list.at + 1
    return list.of[list.at]
end
local function allowed(f, base_name)
    return (not f.bases or f.bases[base_name]) and not (f.not_bases and f.not_bases[base_name])
end
local function make_wrong()
    turn = turn + 1
    local f = next_of(lists[turn % 2 + 1])
    if f.make then
        return f.base, { k = f.make(pick, f.name), label = f.label, class = f.class .. ": " .. f.name }
    end
    if f.dear == "hang" then -- each costs a deadline
        if dear.hang >= math.max(1, count // 100) then
            return make_wrong()
        end
        dear.hang = dear.hang + 1
    end
    local base_name
    repeat
        base_name = pick(keys(bases))
    until allowed(f, base_name)
    local k = right_form(bases[base_name], true)
    f.put(k, bases[base_name], pick)
    return base_name, { k = k, label = f.label, class = f.class }
end

local made = {}
for _, name in ipairs(keys(bases)) do
    made[name] = { make_right(bases[name], true) }
end
local names = keys(bases)
for i = #names + 1, count do
    if i > count - count // 2 then
        local name, m = make_wrong()
        table.insert(made[name], m)
    else
        local name = names[i % #names + 1]
        table.insert(made[name], make_right(bases[name]))
    end
end

local truth, n = {}, 0
for _, name in ipairs(names) do
    local base, variants, default = bases[name], {}, nil
    local op_name = "mutants_" .. name
    for _, m in ipairs(shuffle(made[name])) do
        n = n + 1
        local id = ("k%03d"):format(n)
        write(("%s_%s.cu"):format(op_name, id), template(base, m.k))
        variants[#variants + 1] = variant(base, m.k, id, ("%s_%s.cu"):format(op_name, id))
        default = default or m.label == "right" and not m.k.small and id
        truth[#truth + 1] = ("%s %s %s %s"):format(op_name, id, m.label, m.class)
    end
    write(op_name .. ".lua", op_text(op_name, base, table.concat(variants), default))
    write(op_name .. "_ref.cu", reference_text(op_name, base))
end
write("truth", table.concat(truth, "\n") .. "\n")
