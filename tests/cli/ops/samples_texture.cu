struct pixel {
    int i, x, y, before, after, again;
    bool here;
};

DEVICE pixel find(const uint8 *img, int m, int n)
{
    pixel p;
    p.i = blockIdx.x * blockDim.x + threadIdx.x;
    p.x = p.i % n;
    p.y = p.i / n;
    p.here = p.i < m * n;
    p.before = p.here && p.x ? img[p.i - 1] : 0;
    p.after = p.here ? img[p.x + 1 < n ? p.i + 1 : p.i - p.x] : 0;
    p.again = p.here ? img[p.x + 1 < n ? p.i + 1 : p.i] : 0;
    return p;
}

#define SAMPLES(NAME, MEMBER, VALUE)                                                                                               \
    KERNEL void NAME(int32 *out, const uint8 *img, cudaTextureObject_t tex, int64 m, int64 n)                                      \
    {                                                                                                                              \
        pixel p = find(img, (int)m, (int)n);                                                                                       \
        if (!p.here)                                                                                                               \
            return;                                                                                                                \
        p.MEMBER = VALUE;                                                                                                          \
        out[p.i] = p.before + (p.after << 8) + (p.again << 16);                                                                    \
    }

// The element at an index of a texture of four.
DEVICE int part(uchar4 v, int k)
{
    return k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
}

SAMPLES(samples_border, before, tex2D<uint8>(tex, p.x - 0.5f, p.y + 0.5f))
SAMPLES(samples_border_array, before, tex2D<uint8>(tex, p.x - 0.5f, p.y + 0.5f))
SAMPLES(samples_wrap, after, tex2D<uint8>(tex, (p.x + 1.5f) / n, (p.y + 0.5f) / m))
SAMPLES(samples_wrap_array, after, tex2D<uint8>(tex, (p.x + 1.5f) / n, (p.y + 0.5f) / m))
SAMPLES(samples_mirror, again, tex2D<uint8>(tex, (p.x + 1.5f) / n, (p.y + 0.5f) / m))
SAMPLES(samples_words, again, part(tex1Dfetch<uchar4>(tex, (p.x + 1 < n ? p.i + 1 : p.i) / 4), (p.x + 1 < n ? p.i + 1 : p.i) % 4))
SAMPLES(samples_words_array, again, part(tex2D<uchar4>(tex, (p.x + 1 < n ? p.x + 1 : p.x) / 4 + 0.5f, p.y + 0.5f), (p.x + 1 < n ? p.x + 1 : p.x) % 4))
SAMPLES(samples_floats, again, __float2int_rn(255 * tex2D<float>(tex, p.x + 1.5f, p.y + 0.5f)))
SAMPLES(samples_table, again, tex1D<uint8>(tex, (p.x + 1 < n ? p.i + 1 : p.i) + 0.5f))
