// The dialect of the kernel templates, for OpenCL C 1.2: prelude_cuda.h says the same in CUDA C++. What the names mean is written
// down in docs/op-authors.md.
#define BACKEND_OPENCL 1

#ifdef cl_khr_fp64
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#endif
#ifdef cl_khr_int64_base_atomics
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
#endif

// Macros where OpenCL has the name for a vector: int8 is eight ints there.
#define int8 char
#define uint8 uchar
#define int16 short
#define uint16 ushort
typedef int int32;
typedef uint uint32;
typedef long int64;
typedef ulong uint64;

#define KERNEL __kernel
#define DEVICE static inline
#define GLOBAL __global // a pointer to device memory
#define SHARED __local // a pointer into shared memory
#define __shared__ __local
#define __restrict__ restrict
#define __launch_bounds__(threads) // one number: variadic macros are not OpenCL C
#define __ldg(p) (*(p))

// Dynamic shared memory: the first stands after a kernel's last parameter, the second in its body.
#define DYNAMIC_SHARED_PARAM , __local uint4 *dynamic_shared_memory
#define DYNAMIC_SHARED(TYPE, NAME) __local TYPE *NAME = (__local TYPE *)dynamic_shared_memory

#define threadIdx ((uint3)((uint)get_local_id(0), (uint)get_local_id(1), (uint)get_local_id(2)))
#define blockIdx ((uint3)((uint)get_group_id(0), (uint)get_group_id(1), (uint)get_group_id(2)))
#define blockDim ((uint3)((uint)get_local_size(0), (uint)get_local_size(1), (uint)get_local_size(2)))
#define gridDim ((uint3)((uint)get_num_groups(0), (uint)get_num_groups(1), (uint)get_num_groups(2)))
#define __syncthreads() barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

#define make_uchar2(x, y) ((uchar2)((x), (y)))
#define make_uchar4(x, y, z, w) ((uchar4)((x), (y), (z), (w)))
#define make_ushort2(x, y) ((ushort2)((x), (y)))
#define make_ushort4(x, y, z, w) ((ushort4)((x), (y), (z), (w)))
#define make_int2(x, y) ((int2)((x), (y)))
#define make_int4(x, y, z, w) ((int4)((x), (y), (z), (w)))
#define make_uint2(x, y) ((uint2)((x), (y)))
#define make_uint4(x, y, z, w) ((uint4)((x), (y), (z), (w)))
#define make_float2(x, y) ((float2)((x), (y)))
#define make_float4(x, y, z, w) ((float4)((x), (y), (z), (w)))
#define make_double2(x, y) ((double2)((x), (y)))

// Atomics on device memory. They return the old value, as CUDA's do.
#define OVERLOADED static inline __attribute__((overloadable))

OVERLOADED int32 atomicAdd(volatile __global int32 *p, int32 v)
{
    return atomic_add(p, v);
}
OVERLOADED uint32 atomicAdd(volatile __global uint32 *p, uint32 v)
{
    return atomic_add(p, v);
}
OVERLOADED int32 atomicMin(volatile __global int32 *p, int32 v)
{
    return atomic_min(p, v);
}
OVERLOADED uint32 atomicMin(volatile __global uint32 *p, uint32 v)
{
    return atomic_min(p, v);
}
OVERLOADED int32 atomicMax(volatile __global int32 *p, int32 v)
{
    return atomic_max(p, v);
}
OVERLOADED uint32 atomicMax(volatile __global uint32 *p, uint32 v)
{
    return atomic_max(p, v);
}

OVERLOADED float atomicAdd(volatile __global float *p, float v)
{
    volatile __global uint32 *bits = (volatile __global uint32 *)p;
    uint32 old = *bits, seen;
    while ((seen = atomic_cmpxchg(bits, old, as_uint(as_float(old) + v))) != old)
        old = seen;
    return as_float(old);
}

#ifdef cl_khr_int64_base_atomics
OVERLOADED uint64 atomicAdd(volatile __global uint64 *p, uint64 v)
{
    return atom_add(p, v);
}
#ifdef cl_khr_fp64
OVERLOADED double atomicAdd(volatile __global double *p, double v)
{
    volatile __global uint64 *bits = (volatile __global uint64 *)p;
    uint64 old = *bits, seen;
    while ((seen = atom_cmpxchg(bits, old, as_ulong(as_double(old) + v))) != old)
        old = seen;
    return as_double(old);
}
#endif
#endif
#undef OVERLOADED
