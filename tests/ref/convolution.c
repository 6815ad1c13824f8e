#include "ref.h"

void ref_convolution(double *out, const double *in, const double *filter, int64_t h, int64_t w, int64_t fh, int64_t fw)
{
    for (int64_t y = 0; y < h; y++)
        for (int64_t x = 0; x < w; x++) {
            double sum = 0;
            for (int64_t i = 0; i < fh; i++)
                for (int64_t j = 0; j < fw; j++)
                    sum += in[(y + i) * (w + fw - 1) + x + j] * filter[i * fw + j];
            out[y * w + x] = sum;
        }
}
