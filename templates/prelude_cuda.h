// The dialect of the kernel templates, for CUDA C++. It stands before every kernel that NVRTC compiles, and needs no header of the
// toolkit. What the names mean is written down in docs/op-authors.md; prelude_opencl.h says the same in OpenCL C.
#define BACKEND_CUDA 1

typedef signed char int8;
typedef unsigned char uint8;
typedef short int16;
typedef unsigned short uint16;
typedef int int32;
typedef unsigned int uint32;
typedef long long int64;
typedef unsigned long long uint64;

#define KERNEL extern "C" __global__
#define DEVICE static __device__ __forceinline__
#define GLOBAL // a pointer to device memory
#define SHARED // a pointer into shared memory

// Dynamic shared memory: the first stands after a kernel's last parameter, the second in its body.
#define DYNAMIC_SHARED_PARAM
#define DYNAMIC_SHARED(TYPE, NAME)                                                                                                  \
    extern __shared__ uint4 dynamic_shared_memory[];                                                                               \
    TYPE *NAME = reinterpret_cast<TYPE *>(dynamic_shared_memory)
