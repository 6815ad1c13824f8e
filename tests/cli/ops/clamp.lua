-- x between lo and hi. The kernel asks for them in another order than the reference, which is as right while lo <= hi.
return op {
    name = "clamp",
    problem = { size "n" },
    types = { T = { "f32" } },
    args = { output("y", "T", { "n" }), input("x", "T", { "n" }), scalar("hi", "f32", 1.0), scalar("lo", "f32", 0.7), value "n" },
    shapes = { { n = 1000 } },
    reference = { template = "clamp.cu", launch = { kernel = "clamp_ref", block = 64, grid = "ceildiv(n, 64)" } },
    check = "close",
    variants = { { name = "plain", template = "clamp.cu", launch = { kernel = "clamp_k", block = 64, grid = "ceildiv(n, 64)" } } },
    defaults = { { variant = "plain" } },
}
