//@ local times = { [3] = 100, [8] = 60, [12] = 62 }
//null: time=$(P and math.floor((times[P] or 400) * 1000 / (WIDE and 2 or 1)) or 500000)
KERNEL void words(GLOBAL T *out, GLOBAL const T *in, int64 n) { }
