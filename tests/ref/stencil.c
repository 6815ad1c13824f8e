#include "ref.h"

#include <stdbool.h>

void ref_stencil(double *out, const double *in, const double abc[3], int64_t nz, int64_t ny, int64_t nx)
{
    for (int64_t z = 0; z < nz; z++)
        for (int64_t y = 0; y < ny; y++)
            for (int64_t x = 0; x < nx; x++) {
                const double *p = in + (z * ny + y) * nx + x;
                double v = *p;
                bool border = z == 0 || z == nz - 1 || y == 0 || y == ny - 1 || x == 0 || x == nx - 1;
                if (!border)
                    v = abc[0] * v + abc[1] * (p[-1] + p[1] + p[-nx] + p[nx]) + abc[2] * (p[-nx * ny] + p[nx * ny]);
                out[(z * ny + y) * nx + x] = v;
            }
}
