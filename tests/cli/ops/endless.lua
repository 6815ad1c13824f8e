-- A space that takes too long to build: one constraint over all parameters, with a different sum for almost every choice of some of them.
local params, where = { { "BLOCK", 64 } }, {}
for i = 1, 8 do
    params[#params + 1] = { "P" .. i, table.unpack(range(1, 200)) }
    where[i] = "P" .. i .. " * " .. (1 << 3 * i) * 104729 + i
end

return op {
    name = "endless",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("out", "T", { "n" }), input("inp", "T", { "n" }), value("n") },
    work = { bytes = "2*n*sizeof(T)" },
    shapes = { { n = 1000 } },
    reference = { template = "copy_reference.cu", launch = { kernel = "copy_reference", grid = "ceildiv(n,256)", block = "256" } },
    check = "exact",
    variants = {
        {
            name = "plain",
            template = "copy_plain.cu",
            params = params,
            where = { "P1 + P8 > 1", "(" .. table.concat(where, " + ") .. ") % 1000003 ~= 0" },
            launch = { kernel = "copy", grid = "ceildiv(n,BLOCK)", block = "BLOCK" },
        },
    },
    defaults = { { variant = "plain" } },
}
