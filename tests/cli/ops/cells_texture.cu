struct place {
    int64 i;
    int col, row, slice, next_row, next_slice;
};

// Of this thread's element; false: it has none.
DEVICE bool find(place *p, int64 d, int64 m, int64 n)
{
    p->i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    p->col = (int)(p->i % n);
    p->row = (int)(p->i / n % m);
    p->slice = (int)(p->i / n / m);
    p->next_row = min(p->row + 1, (int)m - 1);
    p->next_slice = min(p->slice + 1, (int)d - 1);
    return p->i < d * m * n;
}

KERNEL void cells_fetch(float *out, cudaTextureObject_t x, int64 d, int64 m, int64 n)
{
    place p;
    if (!find(&p, d, m, n))
        return;
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        int s = k / 4 ? p.next_slice : p.slice, r = k / 2 % 2 ? p.next_row : p.row, c = min(p.col + k % 2, (int)n - 1);
        sum += tex1Dfetch<float>(x, (s * (int)m + r) * (int)n + c);
    }
    out[p.i] = 0.125f * sum;
}

// The nearest element; the last column again comes of the texture's clamp.
KERNEL void cells_rows(float *out, cudaTextureObject_t x, int64 d, int64 m, int64 n)
{
    place p;
    if (!find(&p, d, m, n))
        return;
    float sum = 0;
    for (int k = 0; k < 8; k++) {
        int s = k / 4 ? p.next_slice : p.slice, r = k / 2 % 2 ? p.next_row : p.row;
        sum += tex2D<float>(x, p.col + k % 2 + 0.5f, s * (int)m + r + 0.5f);
    }
    out[p.i] = 0.125f * sum;
}

// The mean of two columns in each of four rows, of which none is outside.
DEVICE float pairs(cudaTextureObject_t x, const place &p, int m)
{
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        int s = k / 2 ? p.next_slice : p.slice, r = k % 2 ? p.next_row : p.row;
        sum += tex2D<float>(x, p.col + 1.0f, s * m + r + 0.5f);
    }
    return 0.25f * sum;
}

KERNEL void cells_filter(float *out, cudaTextureObject_t x, int64 d, int64 m, int64 n)
{
    place p;
    if (find(&p, d, m, n))
        out[p.i] = pairs(x, p, (int)m);
}

KERNEL void cells_array(float *out, cudaTextureObject_t x, int64 d, int64 m, int64 n)
{
    place p;
    if (find(&p, d, m, n))
        out[p.i] = pairs(x, p, (int)m);
}

KERNEL void cells_volume(float *out, cudaTextureObject_t x, int64 d, int64 m, int64 n)
{
    place p;
    if (find(&p, d, m, n))
        out[p.i] = tex3D<float>(x, p.col + 1.0f, p.row + 1.0f, p.slice + 1.0f);
}

KERNEL void cells_layers(float *out, cudaTextureObject_t x, int64 d, int64 m, int64 n)
{
    place p;
    if (find(&p, d, m, n))
        out[p.i] = 0.5f * (tex2DLayered<float>(x, p.col + 1.0f, p.row + 1.0f, p.slice) +
                           tex2DLayered<float>(x, p.col + 1.0f, p.row + 1.0f, p.next_slice));
}
