-- Faults that any kernel can have, inserted around its stores and before and after its launches; and oddities that are correct.
--
-- A fault is { class, label, bases or nil for all, put = function(k, base, pick) }. Labels:
--   wrong    must not end in ok or slower
--   late     wrong, but only from some later launch on; slower is accepted, since it may have stopped before that launch
--   free     the docs say that this is not checked: any outcome is accepted
--   refused  cannot run: must not end in ok or slower
-- CUDA has variables that live from launch to launch. In OpenCL C a kernel has only its buffers.

local F = {}
F.all = {}

local function fault(class, label, put, more)
    local f = { class = class, label = label, put = put }
    for k, v in pairs(more or {}) do
        f[k] = v
    end
    table.insert(F.all, f)
end

-- What surrounds STORE and ENTRY.
local function final(k)
    return k.kernels[k.final]
end
local function need(kernel, name)
    for _, have in ipairs(kernel.args) do
        if have == name then
            return
        end
    end
    table.insert(kernel.args, name)
end
local function workspace(k, name, dtype, ctype, count)
    k.ws = k.ws or {}
    table.insert(k.ws, { name, dtype, ctype, count })
    return name
end
local function place(base, pick)
    return base.places == 1 and 0 or pick.range(0, base.places - 1)
end
local function out_of(base)
    return base.inout or "out"
end
-- Another value than v of the base's type.
local function other(base)
    return base.elem == "float" and "v + 1" or "v ^ 1"
end
local function input(base, pick)
    local names = {}
    for name in pairs(base.inputs) do
        names[#names + 1] = name
    end
    table.sort(names)
    local name = pick(names)
    return name, pick.range(0, base.inputs[name][2] - 1), base.inputs[name][2]
end
local function damage(name, at)
    return ("((volatile GLOBAL uint32 *)%s)[%s] ^= 0x00400000u"):format(name, at)
end
local function after(k, name, args, text)
    table.insert(k.kernels, { name = name, args = args, text = text, grid = 1, block = 1 })
end
local function before(k, name, args, text)
    table.insert(k.kernels, 1, { name = name, args = args, text = text, grid = 1, block = 1 })
    k.final = k.final and k.final + 1
end

-- Not before a barrier: PoCL makes something else of a kernel that may end before one, even where all of its threads do.
local function returns_if(k, is)
    if final(k).text:find("__syncthreads", 1, true) then
        k.when = ("!(%s)"):format(is)
    else
        k.entry = ("    if (%s)\n        return;\n"):format(is)
    end
end

-- Values.
fault("one element", "wrong", function(k, base, pick)
    k.value = ("p == %d ? %s : v"):format(place(base, pick), other(base))
end)
fault("left unwritten", "wrong", function(k, base, pick)
    local at = place(base, pick)
    k.when = base.places == 1 and "0" or pick {
        ("p != %d"):format(at), ("p < %d || p >= %d"):format(at, at + 40), ("p %% 64 != %d"):format(pick.range(0, 60)),
        ("p < %d"):format(base.places - 1), "p > 0",
    }
end)
fault("writes nothing", "wrong", function(k)
    returns_if(k, "gridDim.x > 0")
end)
fault("reads output", "wrong", function(k, base)
    k.value = base.elem == "float" and "v + OUT[p]" or "v + OUT[p]"
end, { not_bases = { addto = true } })
fault("output times zero", "wrong", function(k)
    k.value = "v + 0.0f * OUT[p]" -- what is not a number stays so
end, { bases = { blur = true, total = true, mul = true, soften = true } })
fault("output if zero", "wrong", function(k, base)
    k.value = "OUT[p] == 0 ? " .. other(base) .. " : v"
end, { not_bases = { addto = true } })
fault("beyond tolerance", "wrong", function(k, base)
    k.value = ("v != floor(v) ? v + 8 * 5.96e-8f * (float)(%s) : v"):format(base.length)
end, { bases = { blur = true, total = true, addto = true, mul = true } })
fault("a thousandth", "wrong", function(k, base, pick)
    k.value = ("p == %d ? v * 1.001f : v"):format(place(base, pick))
end, { bases = { soften = true } })
fault("too few digits", "wrong", function(k)
    k.helpers = [[
DEVICE float cut(float v)
{
    union { float f; uint32 u; } x;
    x.f = v;
    x.u &= 0xfffff000u;
    return x.f;
}
]]
    k.value = "cut(v)"
end, { bases = { blur = true, addto = true, mul = true, soften = true } })
fault("rare value", "wrong", function(k, base, pick)
    if base.elem == "float" then
        k.helpers = "DEVICE uint32 bits_of(float v)\n{\n    union { float f; uint32 u; } x;\n    x.f = v;\n    return x.u;\n}\n"
    else
        k.helpers = "DEVICE uint32 bits_of(uint32 v)\n{\n    return v;\n}\n"
    end
    k.value = ("(bits_of(v) >> 3 & 63u) == %du ? %s : v"):format(pick.range(1, 62), other(base))
end, { bases = { flip = true, blur = true, chain = true, addto = true, mul = true, soften = true } })

-- What holds for the problem that is tuned only.
fault("size built in", "wrong", function(k, base, pick)
    local axis = pick(base.axes)
    for _, kernel in ipairs(k.kernels) do
        for _, name in ipairs(kernel.args) do
            if name == axis then
                kernel.text = ("    %s = %d;\n"):format(axis, base.shape[axis]) .. kernel.text
            end
        end
    end
end)
fault("right for one size", "wrong", function(k, base, pick)
    local axis = pick(base.axes)
    need(final(k), axis)
    k.value = ("p == 0 && %s != %d ? %s : v"):format(axis, base.shape[axis], other(base))
end)
fault("left unwritten for other sizes", "wrong", function(k, base, pick)
    local axis = pick(base.axes)
    need(final(k), axis)
    k.when = ("p != 0 || %s == %d"):format(axis, base.shape[axis])
end)
fault("guard zone of other sizes", "wrong", function(k, base, pick)
    for _, axis in ipairs(base.axes) do
        need(final(k), axis)
    end
    local product = table.concat(base.axes, " * ")
    k.also = ("if (p == 0 && %s != %d) ((GLOBAL uint32 *)OUT)[%s] = 77u"):format(base.axes[1], base.shape[base.axes[1]], product)
end, { bases = { flip = true, blur = true, addto = true, soften = true, turn = true } })

-- Places.
fault("guard zone", "wrong", function(k, base, pick)
    local far = pick { 1, 2, 7, 100, 5000, 16000 }
    local where = pick { ("%d"):format(-far), ("SIZE + %d"):format(far - 1) }
    k.also = ("if (p == %d) ((GLOBAL uint32 *)OUT)[%s] = 77u"):format(place(base, pick), (where:gsub("SIZE", tostring(base.places))))
end)
fault("guard zone of an input", "wrong", function(k, base, pick)
    local name, _, size = input(base, pick)
    need(final(k), name)
    k.also = ("if (p == %d) ((volatile GLOBAL uint32 *)%s)[%s] = 77u"):format(place(base, pick), name, pick { -1, -300, size, size + 1000 })
end)
fault("guard zone of a workspace", "wrong", function(k, base, pick)
    local size = pick.range(4, 300)
    need(final(k), workspace(k, "spare", "u32", "uint32", size))
    k.also = ("if (p == %d) ((volatile GLOBAL uint32 *)spare)[%s] = 77u"):format(place(base, pick), pick { -1, size, size + 9, -4000 })
end)
fault("far away", "wrong", function(k, base, pick)
    k.also = ("if (p == %d) OUT[p + %s] = 77"):format(place(base, pick), pick { "(1ll << 40)", "-(1ll << 40)" })
end, { dear = true })
fault("swapped buffers", "wrong", function(k, base, pick)
    local name, _, size = input(base, pick)
    need(final(k), name)
    k.instead = ("((GLOBAL uint32 *)%s)[p %% %d] = ((GLOBAL uint32 *)OUT)[p]"):format(name, size)
end)
fault("result into a workspace", "wrong", function(k, base)
    need(final(k), workspace(k, "spare", "u32", "uint32", base.places))
    k.instead = "((GLOBAL uint32 *)spare)[p] = (uint32)v"
end)

-- Inputs.
fault("changes its input", "wrong", function(k, base, pick)
    local name, at, size = input(base, pick)
    if pick { true, false } then
        need(final(k), name)
        k.also = ("if (p == %d) { %s; }"):format(place(base, pick), damage(name, at))
    else
        after(k, "spoil", { name }, "    " .. damage(name, at) .. ";\n")
    end
end)
fault("destroys its input", "wrong", function(k, base, pick)
    local name, _, size = input(base, pick)
    after(k, "destroy", { name }, ("    for (int q = 0; q < %d; q++)\n        ((volatile GLOBAL uint32 *)%s)[q] = 0x41414141u;\n"):format(size, name))
end)
fault("input changed and put back", "free", function(k, base, pick)
    local name, at = input(base, pick)
    before(k, "spoil", { name }, "    " .. damage(name, at) .. ";\n")
    after(k, "mend", { name }, "    " .. damage(name, at) .. ";\n")
end)

-- What an earlier launch left in a workspace. The mark is made when the work is done, and garbage is not the mark.
local function marked(k, pick)
    local size = pick { 1, 8, 1000, 70000 }
    local at = pick { 0, size - 1, size // 2 }
    local ws = workspace(k, "spare", "u32", "uint32", size)
    local magic = pick.range(0x10000000, 0x7fffffff)
    after(k, "mark_it", { ws }, ("    spare[%d] = 0x%xu;\n"):format(at, magic))
    return ws, ("spare[%d] == 0x%xu"):format(at, magic)
end
local function on_mark(class, put, more)
    fault(class, "wrong", function(k, base, pick)
        local ws, is = marked(k, pick)
        need(final(k), ws)
        put(k, base, pick, is)
    end, more)
end
on_mark("returns when marked", function(k, base, pick, is)
    returns_if(k, is)
end)
on_mark("wrong when marked", function(k, base, pick, is)
    k.value = ("p == %d && %s ? %s : v"):format(place(base, pick), is, other(base))
end)
on_mark("input changed when marked", function(k, base, pick, is)
    local name, at = input(base, pick)
    need(final(k), name)
    k.also = ("if (p == %d && %s) { %s; }"):format(place(base, pick), is, damage(name, at))
end)
on_mark("guard zone when marked", function(k, base, pick, is)
    k.also = ("if (p == %d && %s) ((volatile GLOBAL uint32 *)OUT)[%s] = 77u"):format(place(base, pick), is, pick { -1, base.places, base.places + 999 })
end)
on_mark("crashes when marked", function(k, base, pick, is)
    k.also = ("if (p == %d && %s) OUT[p + (1ll << 40)] = 77"):format(place(base, pick), is)
end, { dear = true })
on_mark("hangs when marked", function(k, base, pick, is)
    k.also = ("if (p == %d && %s) while (((volatile GLOBAL uint32 *)spare)[0] != 0x0badf00du);"):format(place(base, pick), is)
end, { dear = "hang" })
fault("result remembered", "wrong", function(k, base, pick)
    local ws, is = marked(k, pick)
    local memo = workspace(k, "memo", "u32", "uint32", base.places)
    need(final(k), ws)
    need(final(k), memo)
    k.value = ("(%s) ? ((GLOBAL %s *)memo)[p] : v"):format(is, base.elem)
    k.also = ("((GLOBAL %s *)memo)[p] = OUT[p]"):format(base.elem)
end)
fault("result remembered for a size", "wrong", function(k, base, pick)
    local ws = workspace(k, "spare", "u32", "uint32", 1)
    local memo = workspace(k, "memo", "u32", "uint32", base.places)
    local axis = base.axes[1]
    local magic = pick.range(0x10000000, 0x7fffffff)
    need(final(k), ws)
    need(final(k), memo)
    need(final(k), axis)
    after(k, "mark_it", { ws, axis }, ("    spare[0] = 0x%xu + (uint32)%s;\n"):format(magic, axis))
    k.value = ("(spare[0] == 0x%xu + (uint32)%s) ? ((GLOBAL %s *)memo)[p] : v"):format(magic, axis, base.elem)
    k.also = ("((GLOBAL %s *)memo)[p] = OUT[p]"):format(base.elem)
end)
fault("every second launch", "wrong", function(k, base, pick)
    local ws = workspace(k, "spare", "u32", "uint32", 1)
    need(final(k), ws)
    k.value = ("p == %d && (spare[0] & 1u) ? %s : v"):format(place(base, pick), other(base))
    after(k, "count_it", { ws }, "    spare[0]++;\n")
end)
fault("every eighth launch", "free", function(k, base, pick)
    local ws = workspace(k, "spare", "u32", "uint32", 1)
    need(final(k), ws)
    k.value = ("p == %d && (spare[0] & 7u) == 4u ? %s : v"):format(place(base, pick), other(base))
    after(k, "count_it", { ws }, "    spare[0]++;\n")
end)
fault("reads workspace", "wrong", function(k, base, pick)
    local size = pick.range(1, 99)
    need(final(k), workspace(k, "spare", "u32", "uint32", size))
    k.value = ("p == %d && (spare[%d] >> %d & 1u) ? %s : v"):format(place(base, pick), pick.range(0, size - 1), pick.range(0, 31), other(base))
end)
fault("workspace if zero", "wrong", function(k, base, pick)
    local size = pick.range(1, 99)
    need(final(k), workspace(k, "spare", "u32", "uint32", size))
    k.value = ("p == %d && spare[%d] == 0 ? %s : v"):format(place(base, pick), pick.range(0, size - 1), other(base))
end)

-- Ends that are none.
fault("never ends", "wrong", function(k, base, pick)
    k.also = ("if (p == %d) while (((volatile GLOBAL uint32 *)OUT)[p] != 0x0badf00du || gridDim.x > 0);"):format(place(base, pick))
end, { dear = "hang" })
fault("reads far away", "wrong", function(k, base, pick)
    k.value = ("p == %d ? ((volatile GLOBAL %s *)OUT)[p + (1ll << 40)] : v"):format(place(base, pick), base.elem)
end, { dear = true })
fault("does not compile", "refused", function(k)
    k.entry = "    this is no C at all;\n"
end)
fault("no such kernel", "refused", function(k)
    final(k).misspelt = true
end)
fault("too much shared memory", "refused", function(k)
    k.entry = "    __shared__ int hoard[64 << 20];\n    hoard[threadIdx.x * 1024] = (int)gridDim.x;\n    __syncthreads();\n    if (hoard[threadIdx.x * 1024] != (int)gridDim.x)\n        return;\n"
end)

-- CUDA: launches are counted where no poison reaches.
local function counted(class, label, put, more)
    more = more or {}
    more.backend = "cuda"
    fault(class, label, function(k, base, pick)
        k.helpers = "__device__ unsigned launches;\n"
        before(k, "tick", {}, "    launches++;\n")
        put(k, base, pick)
    end, more)
end
counted("skips after its first launches", "late", function(k, base, pick)
    returns_if(k, ("launches > %d"):format(pick.range(1, 10)))
end)
counted("wrong after its first launches", "late", function(k, base, pick)
    k.value = ("p == %d && launches > %d ? %s : v"):format(place(base, pick), pick.range(1, 10), other(base))
end)
counted("wrong in one launch", "late", function(k, base, pick)
    -- the first few may be of another problem, which may not have this place
    k.value = ("p == %d && launches == %d ? %s : v"):format(place(base, pick), pick.range(5, 9), other(base))
end)
counted("skips when timed", "late", function(k, base, pick)
    local from = pick { 3, 4, 5 }
    returns_if(k, ("launches >= %d && launches <= %d"):format(from, from + pick.range(7, 9)))
end)
counted("wrong when timed", "late", function(k, base, pick)
    local from = pick { 3, 4, 5 }
    k.value = ("p == %d && launches >= %d && launches <= %d ? %s : v"):format(place(base, pick), from, from + pick.range(7, 9), other(base))
end)
counted("input changed when timed", "late", function(k, base, pick)
    local name, at = input(base, pick)
    local from = pick { 3, 4, 5 }
    need(final(k), name)
    k.also = ("if (p == %d && launches >= %d && launches <= %d) { %s; }"):format(place(base, pick), from, from + pick { 0, 6, 8 }, damage(name, at))
end)
counted("guard zone when timed", "late", function(k, base, pick)
    k.also = ("if (p == %d && launches >= 3 && launches <= 11) ((volatile GLOBAL uint32 *)OUT)[%d] = 77u"):format(place(base, pick), pick { -1, base.places })
end)
counted("remembered outside its buffers", "late", function(k, base, pick)
    k.helpers = k.helpers .. ("__device__ %s memo[%d];\n"):format(base.elem, base.places)
    k.value = ("launches > %d ? memo[p] : v"):format(pick.range(1, 5)) -- later, only the play-off finds it
    k.also = "memo[p] = OUT[p]"
end)
counted("sums up over launches", "wrong", function(k, base, pick)
    k.helpers = k.helpers .. ("__device__ %s summed;\n"):format(base.elem)
    local at = place(base, pick)
    k.value = ("p == %d ? v + summed : v"):format(at)
    k.also = ("if (p == %d) summed += 1"):format(at)
end)
counted("crashes later", "late", function(k, base, pick)
    k.also = ("if (p == %d && launches > %d) OUT[p + (1ll << 40)] = 77"):format(place(base, pick), pick.range(1, 10))
end, { dear = true })
counted("hangs later", "late", function(k, base, pick)
    -- from then on: that one launch may be of another problem, which may not have this place
    k.also = ("if (p == %d && launches >= %d) while (((volatile unsigned *)&launches)[0]);"):format(place(base, pick), pick.range(2, 8))
end, { dear = "hang" })
fault("skips in quick succession", "late", function(k, base, pick)
    k.helpers = "__device__ unsigned long long last;\n__device__ int quick;\n"
    before(k, "tick", {}, ([[
    unsigned long long now;
    asm volatile("mov.u64 %%0, %%%%globaltimer;" : "=l"(now));
    quick = last && now - last < %dull;
    last = now;
]]):format(pick { 500000, 1000000, 5000000 }))
    returns_if(k, "quick")
end, { backend = "cuda" })
fault("by chance", "free", function(k, base, pick)
    k.value = ("p == %d && (clock64() >> 3 & 3) == 0 ? %s : v"):format(place(base, pick), other(base))
end, { backend = "cuda" })
fault("trap", "wrong", function(k, base, pick)
    k.also = ('if (p == %d) asm volatile("trap;")'):format(place(base, pick))
end, { backend = "cuda", dear = true })

-- Right all the same.
F.odd = {
    function(k, base) -- something else first
        k.first = ("((volatile GLOBAL %s *)OUT)[p] = 7"):format(base.elem)
    end,
    function(k, base) -- looks at what is there, and that changes nothing
        if base.elem ~= "float" then
            k.when = "OUT[p] != v"
        end
    end,
    function(k, base) -- a workspace that is filled and read in the same run
        local ws = workspace(k, "spare", "u32", "uint32", 300)
        before(k, "prepare", { ws }, "    for (int q = 0; q < 300; q++)\n        spare[q] = q;\n")
        need(final(k), ws)
        k.value = base.elem == "float" and "v + (float)(spare[7] - 7u)" or "v + spare[7] - 7"
    end,
    function(k, base, pick) -- a mark that nobody looks at
        local _, is = marked(k, pick)
        return is
    end,
    function(k) -- garbage that is read and has no effect
        need(final(k), workspace(k, "spare", "u32", "uint32", 3))
        k.when = "spare[1] != 5u || p >= 0"
    end,
    function(k, base, pick) -- counts its launches from garbage, and nothing follows from it
        local ws = workspace(k, "spare", "u32", "uint32", 2)
        after(k, "count_it", { ws }, "    spare[0]++;\n")
    end,
    function(k, base, pick) -- a workspace that is cleared, all of it used, up to both ends
        local ws = workspace(k, "spare", "u32", "uint32", 64)
        k.ws[#k.ws].clear = true
        before(k, "ends", { ws }, "    spare[0] += 3;\n    spare[63] += 4;\n")
        need(final(k), ws)
        k.value = base.elem == "float" and "v + (float)(spare[0] + spare[63] - 7u)" or "v + (spare[0] + spare[63] - 7u)"
    end,
    function(k, base, pick) -- slow
        local name = input(base, pick)
        need(final(k), name)
        k.first = ("for (int q = 0; q < 40; q++) ((volatile GLOBAL uint32 *)%s)[q %% 5 %% %d]"):format(name, base.inputs[name][2])
        k.is_odd = "slow"
    end,
}
return F
