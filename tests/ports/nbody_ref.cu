KERNEL void nbody_ref(float timeDelta, GLOBAL const float *oldBodyInfo, GLOBAL float *newBodyInfo, GLOBAL const float *oldVel,
                      GLOBAL float *newVel, float damping, float softeningSqr, int32 n)
{
    const int64 i = (int64)blockIdx.x * blockDim.x + threadIdx.x;
    double a[3] = { 0, 0, 0 };
    if (i >= n)
        return;
    for (int32 j = 0; j < n; j++) {
        double d[3], square = (double)softeningSqr;
        for (int k = 0; k < 3; k++) {
            d[k] = (double)oldBodyInfo[4 * (int64)j + k] - (double)oldBodyInfo[4 * i + k];
            square += d[k] * d[k];
        }
        const double inverse = 1.0 / sqrt(square), force = (double)oldBodyInfo[4 * (int64)j + 3] * inverse * inverse * inverse;
        for (int k = 0; k < 3; k++)
            a[k] += d[k] * force;
    }
    for (int k = 0; k < 3; k++) {
        const float v = (oldVel[4 * i + k] + (float)a[k] * timeDelta) * damping;
        newVel[4 * i + k] = v;
        newBodyInfo[4 * i + k] = oldBodyInfo[4 * i + k] + v * timeDelta;
    }
    newVel[4 * i + 3] = oldVel[4 * i + 3];
    newBodyInfo[4 * i + 3] = oldBodyInfo[4 * i + 3];
}
