/* Kernels that the measuring worker runs besides the candidates: they fill inputs, check outputs and flush caches.
 *
 * They are compiled once for each element type T of an op, behind numbers.h. A complex type is handled as twice as many real elements.
 * Every check reports in result[0] how many elements are wrong, and in result[1] the complement of the lowest wrong index divided by 64.
 * The host clears both, and what check_close has besides. Digests follow them. The kernels stride over the grid, so any grid works for any length. */

/* splitmix64's finaliser over a counter, as in base/util.h: any element can be made again at any time, in any order. */
DEVICE uint64 mix(uint64 seed, uint64 place)
{
    uint64 z = seed + (place + 1) * 0x9e3779b97f4a7c15ul;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ul;
    z = (z ^ z >> 27) * 0x94d049bb133111ebul;
    return z ^ z >> 31;
}

#define MODE_BITS    0 /* any bits */
#define MODE_WHOLE   1 /* whole numbers -2..2: sums of their products do not round, in any order */
#define MODE_UNIFORM 2 /* floats: uniform in [-1, 1), with no more digits than the type has; integers: -100..100 */
#define MODE_POSITIVE 3 /* floats: uniform in [0, 1); integers: 0..100 */

/* What tolerances are computed in. */
#if T_is_float && T_bytes == 8
#define REAL double
#else
#define REAL float
#endif
#define MODE_WITHIN   4 /* uniform within bounds; of integers both bounds are there */
#define MODE_SORTED   5 /* the same, ascending; at most 2^32 elements */
#define MODE_ANY      6 /* any bits, but in one place of 32 a special number, which bits hardly ever are */

/* What bounds are passed as. Floats: the first, the step from one random whole number to the next, the last that the type has. Integers:
 * the first, and how many there are (0: 2^64). */
#if T_is_f64
#define AMOUNT double
#elif T_is_float
#define AMOUNT float
#else
#define AMOUNT uint64
#endif

#if T_is_float
/* One rounding, and the same on every device; what ascends stays so. */
DEVICE T_bits nth(uint64 k, AMOUNT first, AMOUNT step, AMOUNT last)
{
    AMOUNT v = fma((AMOUNT)k, step, first);
    union { T value; T_bits bits; } x;
    v = v < last ? v : last;
    x.value = T_to(v);
    return x.bits;
}

/* By random bits; those that begin with a 1 give the larger half. */
DEVICE T_bits within(uint64 h, AMOUNT first, AMOUNT step, AMOUNT last)
{
    return nth(h >> 40, first, step, last);
}

DEVICE T_bits bounded(uint64 seed, uint64 i, uint64 n, int32 mode, AMOUNT first, AMOUNT step, AMOUNT last)
{
    uint64 h = mix(seed, i);
    return mode == MODE_SORTED ? nth(i << 20 | h >> 44, first, step, last) : within(h, first, step, last);
}
#else
DEVICE T_bits within(uint64 h, uint64 first, uint64 count, uint64 last)
{
    return (T_bits)(first + (count == 0 ? h : count >> 32 ? h % count : (h >> 32) * count >> 32));
}

DEVICE T_bits bounded(uint64 seed, uint64 i, uint64 n, int32 mode, uint64 first, uint64 count, uint64 last)
{
    uint64 h = mix(seed, i), k, next;
    uint64 least = mode == MODE_WITHIN ? mix(~seed, n) % n : 0, greatest = mode == MODE_WITHIN ? (least + n / 2) % n : n - 1;
    if (count > 0 && (i == least || i == greatest)) // both ends, where kernels that use an index go wrong
        return (T_bits)(i == least ? first : first + count - 1);
    if (mode == MODE_WITHIN)
        return within(h, first, count, last);
    if (count >= n) { /* element i has a part of the numbers for itself */
        k = count / n * i + count % n * i / n;
        next = count / n * (i + 1) + count % n * (i + 1) / n;
        k += h % (next - k);
    } else { /* number k begins at a random place of the k-th part of the elements */
        k = i * count / n;
        if (k > 0 && i < (k * n + ((mix(~seed, k) >> 32) * n >> 32)) / count)
            k--;
    }
    return (T_bits)(first + k);
}
#endif

/* The k-th of eight: 0, 1, -1, the least, the greatest; of floats zeros, ones and infinities of both signs, the least and the greatest. */
DEVICE T_bits special(int32 k)
{
    const T_bits top = (T_bits)((T_bits)1 << (8 * T_bytes - 1));
#if T_is_float
    union { uint32 bits; float value; } infinity = { 0x7f800000u };
    union { T value; T_bits bits; } x;
    x.value = T_to(k < 2 ? 0.0f : k < 4 ? 1.0f : infinity.value);
    return (T_bits)(k == 6 ? 1 : k == 7 ? x.bits - 1 : k % 2 ? x.bits ^ top : x.bits);
#else
    k %= 5;
    return (T_bits)(k < 2 ? (T_bits)k : k == 2 ? ~(T_bits)0 : k == 3 ? top : top - 1);
#endif
}

DEVICE T_bits source(uint64 seed, int64 place, int64 n, int32 mode, AMOUNT first, AMOUNT step, AMOUNT last)
{
    uint64 h = mix(seed, (uint64)place), high = h >> 32;
    if (mode == MODE_BITS || (mode == MODE_ANY && high >> 27))
        return (T_bits)h;
    if (mode == MODE_ANY)
        return special((int32)(high >> 24));
    if (mode >= MODE_WITHIN)
        return bounded(seed, (uint64)place, (uint64)n, mode, first, step, last);
    union { T value; T_bits bits; } x;
#if T_is_f16 || T_is_bf16
    int32 k = mode == MODE_WHOLE ? ((int32)(high * 5 >> 32) - 2) * 128 : (int32)(high & 255u) - (mode == MODE_POSITIVE ? 0 : 128);
    x.value = T_to((float)k / (mode == MODE_POSITIVE ? 256.0f : 128.0f));
#elif T_is_float && T_bytes == 1 /* rounded, since so few digits have few values */
    x.value = T_to(mode == MODE_WHOLE      ? (float)((int32)(high * 5 >> 32) - 2)
                   : mode == MODE_POSITIVE ? (float)(high >> 8) / 16777216.0f
                                           : (float)((int32)(high >> 8) - 8388608) / 8388608.0f);
#elif T_is_float
    x.value = mode == MODE_WHOLE      ? (T)((int32)(high * 5 >> 32) - 2)
              : mode == MODE_POSITIVE ? (T)(int32)(high >> 8) / (T)16777216
                                      : (T)((int32)(high >> 8) - 8388608) / (T)8388608;
#else
    x.value = (T)(mode == MODE_WHOLE      ? (int32)(high * 5 >> 32) - 2
                  : mode == MODE_POSITIVE ? (int32)(high * 101 >> 32)
                                          : (int32)(high * 201 >> 32) - 100);
#endif
    return x.bits;
}

/* ---- peaks: few elements that dominate their line, so that a kernel which leaves one out shows. A line is `length` elements, `inner`
 * apart. It has one peak; of the first lines and the last ones near its ends, first at the very end, else anywhere. Fewer than eight lines
 * have one in each eighth: the first element, some between, and the last, which is the greatest. */
#define EDGES 32

DEVICE int32 peaks_of(int64 lines, int64 length)
{
    return lines < 8 && length >= 64 ? 8 : 1;
}

/* Where the k-th one is in its line. */
DEVICE int64 peak_in_line(uint64 seed, int64 line, int32 k, int64 lines, int64 length)
{
    uint64 h = mix(~seed, (uint64)(line * 8 + k));
    int64 edge = line < lines - 1 - line ? line : lines - 1 - line, near = edge / 2 % length, part = length / 8;
    if (peaks_of(lines, length) == 1)
        return edge >= EDGES ? (int64)(h % (uint64)length) : edge % 2 ? near : length - 1 - near;
    return k == 0 ? 0 : k == 7 ? length - 1 : part * k + (int64)(h % (uint64)part);
}

/* Its place among all elements. */
DEVICE int64 peak_place(uint64 seed, int64 line, int32 k, int64 lines, int64 length, int64 inner)
{
    return (line / inner * length + peak_in_line(seed, line, k, lines, length)) * inner + line % inner;
}

DEVICE bool is_peak(uint64 seed, int64 place, int64 lines, int64 length, int64 inner)
{
    int64 line = place / inner / length * inner + place % inner;
    bool any = false;
    for (int32 k = 0; k < peaks_of(lines, length); k++)
        any = any || peak_in_line(seed, line, k, lines, length) == place / inner % length;
    return any;
}

DEVICE T_bits peak(uint64 seed, int64 place, int32 k, int32 each, AMOUNT first, AMOUNT step, AMOUNT last)
{
    uint64 h = mix(~seed, ~(uint64)place), larger = (uint64)1 << 63;
    return within(each == 1 ? h : k == 7 ? h | larger : h & ~larger, first, step, last);
}

DEVICE void report(GLOBAL uint32 *result, int64 place)
{
    atomicAdd(&result[0], 1u);
    atomicMax(&result[1], ~(uint32)(place >> 6));
}

#define EACH(i, n) \
    for (int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x; i < (n); i += (int64)gridDim.x * blockDim.x)

KERNEL void fill_source(GLOBAL T_bits *out, int64 n, uint64 seed, int32 mode, AMOUNT first, AMOUNT step, AMOUNT last)
{
    EACH(i, n)
        out[i] = source(seed, i, n, mode, first, step, last);
}

KERNEL void fill_peaks(GLOBAL T_bits *out, int64 n, uint64 seed, int64 length, int64 inner, AMOUNT first, AMOUNT step, AMOUNT last)
{
    int64 lines = n / length;
    int32 each = peaks_of(lines, length);
    EACH(line, lines)
        for (int32 k = 0; k < each; k++) {
            int64 place = peak_place(seed, line, k, lines, length, inner);
            out[place] = peak(seed, place, k, each, first, step, last);
        }
}

/* length: of lines that have peaks, which are check_peaks' to look at; 0: there are none. */
KERNEL void check_source(GLOBAL uint32 *result, GLOBAL const T_bits *in, int64 n, uint64 seed, int32 mode, AMOUNT first,
                         AMOUNT step, AMOUNT last, int64 length, int64 inner)
{
    EACH(i, n)
        if (in[i] != source(seed, i, n, mode, first, step, last) && !(length > 0 && is_peak(seed, i, n / length, length, inner)))
            report(result, i);
}

KERNEL void check_peaks(GLOBAL uint32 *result, GLOBAL const T_bits *in, int64 n, uint64 seed, int64 length, int64 inner, AMOUNT first,
                        AMOUNT step, AMOUNT last)
{
    int64 lines = n / length;
    int32 each = peaks_of(lines, length);
    EACH(line, lines)
        for (int32 k = 0; k < each; k++) {
            int64 place = peak_place(seed, line, k, lines, length, inner);
            if (in[place] != peak(seed, place, k, each, first, step, last))
                report(result, place);
        }
}

KERNEL void check_equal(GLOBAL uint32 *result, GLOBAL const T_bits *got, GLOBAL const T_bits *want, int64 n)
{
    EACH(i, n)
        if (got[i] != want[i])
            report(result, i);
}

#define PARTIAL 1 /* parts may be left alone. Such a part holds any bits, so equal bits will do */
#define SAME    2 /* NaN where the reference has NaN, and the same infinity */

/* |got - want| <= atol + rtol * |want|, which NaN and infinity never are. In result[2]: the largest error by its bound, as a float's bits,
 * those of infinity if one of the two is no number. Reports only what is at least so far off as `least` says. */
KERNEL void check_close(GLOBAL uint32 *result, GLOBAL const T *got, GLOBAL const T *want, int64 n, REAL rtol, REAL atol, int32 how,
                        uint32 least)
{
#if T_is_float
    EACH(i, n) {
        if ((how & PARTIAL) && ((GLOBAL const T_bits *)got)[i] == ((GLOBAL const T_bits *)want)[i])
            continue;
        REAL g = T_get(got, i), w = T_get(want, i), d = g > w ? g - w : w - g, limit = atol + rtol * (w < 0 ? -w : w);
        if ((w - w == 0 && d <= limit) || ((how & SAME) && (g == w || (g != g && w != w))))
            continue;
        union { float f; uint32 u; } x;
        x.f = (float)(d / limit);
        if (!(w - w == 0 && limit > 0 && x.u < 0x7f800000u))
            x.u = 0x7f800000u;
        atomicMax(&result[2], x.u);
        if (x.u >= least)
            report(result, i);
    }
#endif
}

/* The guard zones around a buffer: `zone` bytes before it and after it. The buffer may end at any byte. */
KERNEL void check_guards(GLOBAL uint32 *result, GLOBAL const uint8 *p, int64 zone, int64 bytes, int32 value)
{
    const int64 behind = zone + bytes, words = zone / 16, head = -behind & 15; /* bytes, to the first whole word behind */
    const uint32 want = (uint32)(uint8)value * 0x01010101u;
    EACH(i, 2 * words - 1 + 16) {
        int64 k = i - (2 * words - 1); /* what no whole word behind covers: 16 bytes in all */
        if (k >= 0) {
            if (p[k < head ? behind + k : behind + zone - 16 + k] != (uint8)value)
                report(result, i);
        } else {
            uint4 v = *(GLOBAL const uint4 *)(p + (i < words ? 16 * i : behind + head + 16 * (i - words)));
            if (v.x != want || v.y != want || v.z != want || v.w != want)
                report(result, i);
        }
    }
}

/* Counts elements that hold one poison in a and the other in b: the kernel that ran over both left them alone. */
KERNEL void check_unwritten(GLOBAL uint32 *result, GLOBAL const T_bits *a, GLOBAL const T_bits *b, int64 n, int32 in_a, int32 in_b)
{
    T_bits poison_a = 0, poison_b = 0;
    for (int k = 0; k < T_bytes; k++) {
        poison_a = (T_bits)(poison_a | (T_bits)in_a << 8 * k);
        poison_b = (T_bits)(poison_b | (T_bits)in_b << 8 * k);
    }
    EACH(i, n)
        if (a[i] == poison_a && b[i] == poison_b)
            report(result, i);
}

#define DIGEST_THREADS 256
#define DIGEST_STEP    0xa0761d6478bd642ful /* any odd number of many bits */

/* The sum of all 32-bit words, each times a 64-bit factor that depends on its index and the key. Different buffers have the same digest
 * with a probability of about 2^-30. Reads 16 bytes at a time. Adds to result[at] and result[at + 1]. */
KERNEL void digest(GLOBAL uint32 *result, GLOBAL const T_bits *p, int64 n, uint64 key, int32 at)
{
    __shared__ uint64 part[DIGEST_THREADS];
    GLOBAL const uint4 *words = (GLOBAL const uint4 *)p;
    int64 whole = n * T_bytes / 16;
    uint64 sum = 0;
    EACH(i, whole) {
        uint4 v = words[i];
        uint64 f = mix(key, (uint64)i);
        sum += v.x * f;
        f *= DIGEST_STEP;
        sum += v.y * f;
        f *= DIGEST_STEP;
        sum += v.z * f;
        f *= DIGEST_STEP;
        sum += v.w * f;
    }
    if (blockIdx.x == 0 && threadIdx.x == 0)
        for (int64 i = whole * 16 / T_bytes; i < n; i++) { /* the last 15 bytes at most */
            uint64 f = mix(~key, (uint64)i), v = (uint64)p[i];
            sum += (v & 0xfffffffful) * f + (v >> 32) * (f * DIGEST_STEP);
        }
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int32 n_left = DIGEST_THREADS / 2; n_left > 0; n_left /= 2) {
        if ((int32)threadIdx.x < n_left)
            part[threadIdx.x] += part[threadIdx.x + n_left];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        atomicAdd(&result[at], (uint32)part[0]);
        atomicAdd(&result[at + 1], (uint32)(part[0] >> 32));
    }
}

/* Reads a buffer larger than the cache: a flush that leaves no dirty lines for the next kernel to pay for. */
KERNEL void flush(GLOBAL uint32 *result, GLOBAL const uint4 *p, int64 n)
{
    uint32 sum = 0;
    EACH(i, n) {
        uint4 v = p[i];
        sum ^= v.x ^ v.y ^ v.z ^ v.w;
    }
    if (sum == 0x9e3779b9u) /* never, since the buffer holds zeros, but the compiler does not know that */
        result[0] = sum;
}
