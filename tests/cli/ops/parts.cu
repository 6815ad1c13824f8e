//null: time=$(PARTS == 4 and 100000 or 400000)
KERNEL void parts(GLOBAL T *out, GLOBAL const T *in, int64 n) { }
