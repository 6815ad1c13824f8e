-- Each result depends on a few inputs.
local parts = ...
local fill, strips, strip_faults, with, barrier = parts.fill, parts.strips, parts.strip_faults, parts.with, parts.barrier
local bases = {}

-- flip: a transpose, equal to the bit.
bases.flip = {
    axes = { "m", "n" }, shape = { m = 133, n = 117 }, elem = "uint32", dtype = "u32", check = '"exact"', places = 133 * 117,
    args = { "out", "x", "m", "n" }, outputs = { out = '{ "n", "m" }' }, inputs = { x = { '{ "m", "n" }', 133 * 117 } },
    bytes = "2*m*n*sizeof(T)",
    reference = "    int64 i = GID;\n    if (i < m * n)\n        out[i % n * m + i / n] = x[i];\n", total = "m * n",
    forms = {
        flat = {
            faults = with(strip_faults, { swapped = "swapped indices", stride = "wrong stride", from = "wrong stride" }),
            make = function(pick, fault)
                local by_out, store, load = pick { true, false }, "r * m + c", "c * n + r"
                if fault == "swapped" then
                    store = "c * n + r"
                elseif fault == "stride" then
                    store = "r * n + c"
                elseif fault == "from" then
                    load = "c * m + r"
                end
                local split = by_out and "int64 r = i / m, c = i % m;" or "int64 c = i / n, r = i % n;"
                if fault == "long" then -- the last by either order is one past the end
                    split, store = "int64 r = i / m, c = i % m;", "i"
                end
                local body = fill("        @split@\n        STORE(@store@, x[@load@]);\n", { split = split, store = store, load = load })
                return { kernels = { strips(pick, fault, "m * n", body, { "out", "x", "m", "n" }, "flip_flat") }, final = 1 }
            end,
        },
        rows = {
            faults = { short = "bounds", long = "bounds", few_blocks = "too few blocks", swapped = "swapped indices" },
            make = function(pick, fault)
                local block = pick { 32, 64, 128, 256 }
                local bound = fault == "short" and "n - 1" or fault == "long" and "n + 1" or "n"
                local text = fill([[
    int64 c = blockIdx.x;
    for (int64 r = threadIdx.x; r < @bound@; r += @block@)
        STORE(@store@, x[c * n + r]);
]], { bound = bound, block = block, store = fault == "swapped" and "c * n + r" or "r * m + c" })
                local grid = fault == "few_blocks" and "max(1, m - 1)" or "m"
                return {
                    small = true, -- its grid does not take every problem
                    kernels = { { name = "flip_rows", args = { "out", "x", "m", "n" }, text = text, grid = grid, block = block } },
                    final = 1,
                }
            end,
        },
        tile = {
            faults = {
                edge = "bounds", edge_short = "bounds", swapped = "swapped indices", no_barrier = "race", late_writer = "missing barrier",
                few_blocks = "too few blocks", not_loaded = "shared garbage",
            },
            make = function(pick, fault)
                local tile = pick { 8, 16, 32 }
                local rows = pick { 4, 8 }
                if fault == "no_barrier" or fault == "late_writer" then
                    tile, rows = 32, 8
                end
                local sync, late = barrier(fault, "x", "tile")
                local text = fill([[
    __shared__ uint32 tile[@tile@][@tile@ + @pad@];
    int64 across = (n + @tile@ - 1) / @tile@, down = blockIdx.x / across * @tile@, left = blockIdx.x % across * @tile@;
@late@
    for (int k = threadIdx.y; k < @tile@; k += @rows@)
        if (down + k < m @missing@ && left + threadIdx.x < n)
            tile[k][threadIdx.x] = x[(down + k) * n + left + threadIdx.x];
    @sync@
    for (int k = threadIdx.y; k < @tile@; k += @rows@)
        if (@inside@)
            STORE((left + k) * m + down + threadIdx.x, @from@);
]], {
                    tile = tile, pad = pick { 0, 1 }, rows = rows, late = late, sync = sync,
                    missing = fault == "not_loaded" and "- 1" or "",
                    inside = fault == "edge" and "down + threadIdx.x < m"
                        or fault == "edge_short" and "left + k + 1 < n && down + threadIdx.x < m"
                        or "left + k < n && down + threadIdx.x < m",
                    from = fault == "swapped" and "tile[k][threadIdx.x]" or "tile[threadIdx.x][k]",
                })
                local grid = ("ceildiv(m, %d) * ceildiv(n, %d)"):format(tile, tile)
                if fault == "few_blocks" then
                    grid = ("max(1, %s - 1)"):format(grid)
                end
                return {
                    kernels = {
                        { name = "flip_tile", args = { "out", "x", "m", "n" }, text = text, grid = grid, block = ("{ %d, %d }"):format(tile, rows) },
                    },
                    final = 1,
                }
            end,
        },
    },
}

-- blur: five weights along a line, beyond whose ends there is nothing.
bases.blur = {
    axes = { "n" }, shape = { n = 20011 }, elem = "float", dtype = "f32", check = "{ sum = 5 }", places = 20011, length = "5",
    args = { "out", "w", "x", "n" }, outputs = { out = '{ "n" }' }, inputs = { w = { "{ 5 }", 5 }, x = { '{ "n" }', 20011 } },
    bytes = "2*n*sizeof(T)", total = "n",
    reference = [[
    int64 i = GID;
    if (i >= n)
        return;
    T sum = 0;
    for (int d = 0; d < 5; d++)
        if (i + d >= 2 && i + d - 2 < n)
            sum += w[d] * x[i + d - 2];
    out[i] = sum;
]],
    forms = {
        direct = {
            faults = with(strip_faults, {
                mirrored = "swapped indices", taps = "loop bounds", outside = "reads outside", clamped = "bounds", left_edge = "bounds",
            }),
            make = function(pick, fault)
                local body = fill([[
        T sum = 0;
        for (int d = 0; d < @taps@; d++)
            if (@inside@)
                sum += w[@weight@] * x[@place@];
        STORE(i, sum);
]], {
                    taps = fault == "taps" and 4 or 5,
                    inside = (fault == "outside" or fault == "clamped") and "1" or fault == "left_edge" and "i + d > 2 && i + d - 2 < n"
                        or "i + d >= 2 && i + d - 2 < n",
                    weight = fault == "mirrored" and "4 - d" or "d",
                    place = fault == "clamped" and "i + d < 2 ? 0 : i + d - 2 < n ? i + d - 2 : n - 1" or "i + d - 2",
                })
                return { kernels = { strips(pick, fault, "n", body, { "out", "w", "x", "n" }, "blur_direct") }, final = 1 }
            end,
        },
        strip = {
            faults = { halo = "bounds", halo_short = "bounds", no_barrier = "race", late_writer = "missing barrier", few_blocks = "too few blocks" },
            make = function(pick, fault)
                local block = pick { 64, 128, 256 }
                local sync, late = barrier(fault, "x", "line")
                local text = fill([[
    __shared__ T line[@block@ + 4];
    int64 from = (int64)blockIdx.x * @block@ - 2;
@late@
    for (int k = threadIdx.x; k < @block@ + 4; k += @block@)
        line[k] = from + k >= 0 && from + k < n @halo@ ? x[from + k] : 0;
    @sync@
    int64 i = (int64)blockIdx.x * @block@ + threadIdx.x;
    if (i < n) {
        T sum = 0;
        for (int d = 0; d < 5; d++)
            sum += w[d] * line[threadIdx.x + d];
        STORE(i, sum);
    }
]], {
                    block = block, sync = sync, late = late,
                    halo = fault == "halo" and "&& k < " .. block .. " + 2" or fault == "halo_short" and "&& k < " .. block .. " + 3" or "",
                })
                local grid = ("ceildiv(n, %d)"):format(block)
                if fault == "few_blocks" then
                    grid = ("max(1, %s - 1)"):format(grid)
                end
                return {
                    kernels = { { name = "blur_strip", args = { "out", "w", "x", "n" }, text = text, grid = grid, block = block } },
                    final = 1,
                }
            end,
        },
    },
}

-- addto: y += a * x, in place.
bases.addto = {
    axes = { "n" }, shape = { n = 20011 }, elem = "float", dtype = "f32", check = "{ sum = 2 }", places = 20011, length = "2",
    args = { "y", "a", "x", "n" }, inout = "y", outputs = { y = '{ "n" }' }, inputs = { a = { "{ 1 }", 1 }, x = { '{ "n" }', 20011 } },
    bytes = "3*n*sizeof(T)", total = "n",
    reference = "    int64 i = GID;\n    if (i < n)\n        y[i] = a[0] * x[i] + y[i];\n",
    forms = {
        strips = {
            faults = with(strip_faults, {
                no_y = "wrong buffer", no_a = "wrong buffer", exchanged = "wrong buffer", twice = "applied twice", shifted = "index",
            }),
            make = function(pick, fault)
                local value = fault == "no_y" and "a[0] * x[i]" or fault == "no_a" and "x[i] + y[i]" or fault == "exchanged" and "a[0] * y[i] + x[i]"
                    or fault == "twice" and "a[0] * x[i] + (a[0] * x[i] + y[i])" or fault == "shifted" and "a[0] * x[i > 0 ? i - 1 : 0] + y[i]"
                    or "a[0] * x[i] + y[i]"
                return { kernels = { strips(pick, fault, "n", "        STORE(i, " .. value .. ");\n", { "y", "a", "x", "n" }, "addto_strips") }, final = 1 }
            end,
        },
        held = { -- the product in a workspace, and a second launch that adds it
            faults = { short = "bounds", unwritten = "reads workspace", adds = "missing clear", again = "applied twice" },
            make = function(pick, fault)
                local k = {
                    kernels = {
                        strips(pick, fault == "short" and "short" or nil, "n", fault == "adds" and "        held[i] += a[0] * x[i];\n"
                            or fault == "unwritten" and "        if (i != " .. pick { 0, 777, 12345 } .. ")\n            held[i] = a[0] * x[i];\n"
                            or "        held[i] = a[0] * x[i];\n", { "a", "x", "n", "held" }, "addto_hold"),
                        strips(pick, nil, "n", "        STORE(i, held[i] + y[i]);\n", { "y", "held", "n" }, "addto_add"),
                    },
                    final = 2, ws = { { "held", "T", "float", "n" } },
                }
                if fault == "again" then
                    k.kernels[3] = strips(pick, nil, "n", "        y[i] = held[i] + y[i];\n", { "y", "held", "n" }, "addto_again")
                end
                return k
            end,
        },
    },
}

-- turn: alpha times the element `by` further on; the last is followed by the first.
bases.turn = {
    axes = { "n" }, shape = { n = 20011 }, elem = "float", dtype = "f32", check = "{ sum = 1 }", places = 20011, length = "1",
    args = { "out", "alpha", "x", "by", "n" }, outputs = { out = '{ "n" }' }, inputs = { x = { '{ "n" }', 20011 } },
    scalars = { alpha = { "f32", "0.5", "nil" }, by = { "i32", "3", "{ other = 17 }" } },
    bytes = "2*n*sizeof(T)", total = "n",
    reference = "    int64 i = GID;\n    if (i < n)\n        out[i] = alpha * x[(i + by) % n];\n",
    forms = {
        strips = {
            faults = with(strip_faults, { alpha = "scalar built in", by = "scalar built in", no_alpha = "scalar built in", least = "scalar built in" }),
            make = function(pick, fault)
                local body = fill("        STORE(i, @alpha@ * x[(i + @by@) % n]);\n", {
                    alpha = fault == "alpha" and "0.5f" or fault == "no_alpha" and "(alpha != 0 ? 0.5f : alpha)"
                        or fault == "least" and "max(alpha, 0.5f)" or "alpha",
                    by = fault == "by" and "3" or "by",
                })
                return { kernels = { strips(pick, fault, "n", body, { "out", "alpha", "x", "by", "n" }, "turn_strips") }, final = 1 }
            end,
        },
        held = { -- of a workspace
            faults = { alpha = "scalar built in", by = "scalar built in" },
            make = function(pick, fault)
                return {
                    kernels = {
                        strips(pick, nil, "n", ("        held[i] = %s * x[i];\n"):format(fault == "alpha" and "0.5f" or "alpha"),
                            { "alpha", "x", "n", "held" }, "turn_scale"),
                        strips(pick, nil, "n", ("        STORE(i, held[(i + %s) %% n]);\n"):format(fault == "by" and "3" or "by"),
                            { "out", "by", "n", "held" }, "turn_move"),
                    },
                    final = 2, ws = { { "held", "T", "float", "n" } },
                }
            end,
        },
    },
}

return bases
