__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void sums_tree(__global T *sums, __constant T *x, int n, __local T *parts)
{
    int i = get_global_id(0), k = get_local_id(0);
    parts[k] = i < n ? x[i] : 0;
#pragma unroll UNROLL
    for (int half_of = 32; half_of > 0; half_of /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (k < half_of)
            parts[k] = add(parts[k], parts[k + half_of]);
    }
    if (k == 0)
        sums[get_group_id(0)] = parts[0];
}
