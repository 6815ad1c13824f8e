/* Makes the typed call of ops/odd.lua with a fake libcutune that records its arguments. Compiles as C and C++. */
#include "cutune_ops.h"

#include <stdio.h>
#include <string.h>

static const char *op, *types;
static int64_t size[16];
static void *stream, *buffer[16];
static int nsizes, nbuffers, lookup_fails;
static char at[5];
static float single;
static uint16_t half;
static int8_t byte;
static uint64_t wide;
static double twice;
static float acc;

int cutune_lookup(cutune_handle *h, const char *op_, const char *types_, const int64_t *sizes, int n, const cutune_kernel **out)
{
    if (h != (cutune_handle *)(void *)&at[4] || lookup_fails)
        return CUTUNE_ERR_NOTFOUND;
    op = op_;
    types = types_;
    nsizes = n;
    memcpy(size, sizes, (size_t)n * sizeof *sizes);
    *out = (const cutune_kernel *)(const void *)&at[0];
    return CUTUNE_OK;
}

int cutune_launch(const cutune_kernel *k, void *stream_, void *const *buffers, int n)
{
    if (k != (const cutune_kernel *)(const void *)&at[0])
        return CUTUNE_ERR_INVALID;
    stream = stream_;
    nbuffers = n;
    memcpy(buffer, buffers, (size_t)n * sizeof *buffers);
    memcpy(&single, buffers[3], sizeof single); /* by value, so what they point to is the call's own */
    memcpy(&half, buffers[5], sizeof half);
    memcpy(&acc, buffers[6], sizeof acc);
    memcpy(&byte, buffers[9], sizeof byte);
    memcpy(&wide, buffers[10], sizeof wide);
    memcpy(&twice, buffers[11], sizeof twice);
    return CUTUNE_ERR_DEVICE;
}

static int expect(int right, const char *what)
{
    if (!right)
        printf("not right: %s\n", what);
    return !right;
}

int main(void)
{
    cutune_handle *h = (cutune_handle *)(void *)&at[4];
    const char *input = &at[1];
    const float pair[] = { 1, 2 };
    const uint16_t type[] = { 0x3c00 };
    int rc = cutune_odd(h, &at[3], "T=f16,ACC=f32", &at[0], input, &at[2], 0.75f, input, 0x3c01, 2.5f, type, pair, -7, UINT64_MAX,
                        1e300, 1, 2, 3, 4, 0, 6, 7),
        bad = 0;
    bad += expect(rc == CUTUNE_ERR_DEVICE, "what the launch returned");
    bad += expect(strcmp(op, "odd") == 0 && strcmp(types, "T=f16,ACC=f32") == 0, "op and types");
    bad += expect(nsizes == 7 && size[0] == 1 && size[1] == 2 && size[2] == 3 && size[3] == 4 && size[4] == 0 && size[5] == 6 &&
                      size[6] == 7,
                  "sizes");
    bad += expect(nbuffers == 12 && buffer[0] == &at[0] && buffer[1] == &at[1] && buffer[2] == &at[2] && buffer[4] == &at[1],
                  "buffers");
    bad += expect(single > 0.74f && single < 0.76f && half == 0x3c01 && acc > 2.4f && acc < 2.6f && byte == -7 &&
                      wide == UINT64_MAX && twice > 0.9e300,
                  "scalars by value");
    bad += expect(buffer[7] == (const void *)type && buffer[8] == (const void *)pair, "scalars by address");
    bad += expect(stream == &at[3], "the stream");
    rc = cutune_odd(h, &at[3], "f16", &at[0], input, &at[2], 1, input, 1, 1, type, pair, 1, 1, 1, 5, 2, 3, 4, 0, 6);
    bad += expect(rc == CUTUNE_ERR_DEVICE && nsizes == 6 && size[0] == 5 && size[5] == 6, "a call without the size that has a default");
    lookup_fails = 1;
    stream = NULL;
    rc = cutune_odd(h, &at[3], "f16", &at[0], input, &at[2], 1, input, 1, 1, type, pair, 1, 1, 1, 1, 2, 3, 4, 0, 6, 0);
    bad += expect(rc == CUTUNE_ERR_NOTFOUND && !stream, "a look-up that fails");
    return bad != 0;
}
