-- A copy by few blocks, that go over the rows several times where there are many. What the second time does wrong does not show for as many
-- rows as blocks. What is right is slow.
return op {
    name = "trips",
    problem = { size "m", size "n" },
    types = { T = { "f32" } },
    args = { output("out", "T", { "m", "n" }), input("x", "T", { "m", "n" }), value "m", value "n" },
    shapes = { { m = 60, n = 33 } },
    reference = { template = "trips_ref.cu", launch = { kernel = "copy", block = 64, grid = "min(ceildiv(m * n, 64), 65535)" } },
    check = "exact",
    variants = {
        {
            name = "rows",
            template = "trips.cu",
            params = { { "FAULT", "none", "row" } },
            launch = { kernel = "trips", block = 32, grid = 64 },
        },
    },
    defaults = { { variant = "rows", FAULT = "none" } },
}
