-- Block sums of a filtered vector, in CUDA C++ as it is: templates as entries, the toolkit's headers, CUB, cooperative groups, an array
-- in constant memory, options, two files.
local grid = "ceildiv(n, 256)"
return op {
    name = "native_sums",
    problem = { size "n" },
    types = { T = { "f16", "f32" } },
    args = {
        output("sums", "f32", { grid }), input("x", "T", { "n + 2" }, { range = { 0, 1 } }),
        input("taps", "f32", { 3 }, { constant = "filter::taps", range = { 0, 1 } }), value("n", "n", "i32"),
    },
    work = { bytes = "n * sizeof(T)" },
    shapes = { { n = 1 << 24 }, { n = 1001 } },
    reference = {
        template = { "native_filter.cuh", "native_ref.cu" },
        language = "cuda",
        launch = { kernel = "sums_of_256<T>", block = 32, grid = "ceildiv(n, 32 * 256)" },
    },
    check = { close = { rtol = 1e-4 } },
    variants = {
        {
            name = "cub",
            template = { "native_filter.cuh", "native_cub.cu" },
            language = "cuda",
            options = { "--use_fast_math", "-maxrregcount=$(REGS)", "-std=c++20" },
            params = { { "BS", 256, 64, 128 }, { "REGS", 32, 64 }, { "RAKING", true, false } },
            launch = { kernel = "sums_by_cub<T, BS>", block = "BS", grid = grid },
        },
        {
            name = "groups",
            template = { "native_filter.cuh", "native_groups.cu" },
            language = "cuda",
            params = { { "TILE", 32, 8, 16 } },
            launch = { kernel = "sums_by_groups", block = 256, grid = grid },
        },
    },
    defaults = { { variant = "cub" } },
}
