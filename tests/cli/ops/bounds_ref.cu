/* Floats from 0.5 to below 3, which as bits are whole numbers in the same order. */
#if T_is_f64
#define LOW  0x3fe0000000000000ul
#define HIGH 0x4008000000000000ul
#elif T_is_f32
#define LOW  0x3f000000u
#define HIGH 0x40400000u
#elif T_is_f16
#define LOW  0x3800
#define HIGH 0x4200
#elif T_is_f8e4m3
#define LOW  0x30
#define HIGH 0x44
#elif T_is_f8e5m2
#define LOW  0x38
#define HIGH 0x42
#else
#define LOW  0x3f00
#define HIGH 0x4040
#endif
/* Ascending, negative floats too. */
DEVICE int64 order(T_bits v)
{
    const T_bits sign = (T_bits)((T_bits)1 << (8 * T_bytes - 1));
    return v & sign ? -(int64)(v ^ sign) : (int64)v;
}

KERNEL void bounds_ref(GLOBAL int32 *out, GLOBAL const T *x, GLOBAL const T *up, GLOBAL const T *any, GLOBAL const I *i,
                       GLOBAL const I *below, GLOBAL const I *rows, GLOBAL int64 *at, int64 n, int64 m)
{
    GLOBAL const T_bits *xb = (GLOBAL const T_bits *)x, *ub = (GLOBAL const T_bits *)up, *ab = (GLOBAL const T_bits *)any;
    int64 k = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    if (k >= n)
        return;
    bool first = k == 0;
    bool right = xb[k] >= LOW && xb[k] < HIGH && ub[k] >= LOW && ub[k] < HIGH && (first || ub[k - 1] <= ub[k]);
    right = right && (first || order(ab[k - 1]) <= order(ab[k])) && (!first || order(ab[k]) < 0) && (k < n - 1 || order(ab[k]) > 0);
    right = right && i[k] >= 5 && (int64)i[k] <= 5 + m && below[k] >= 0 && (int64)below[k] < m;
    right = right && rows[k] >= 0 && (int64)rows[k] < m && (first || rows[k - 1] <= rows[k]);
    right = right && at[k] == k;
    out[k] = right;
}
