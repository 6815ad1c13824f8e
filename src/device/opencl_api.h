/* What cutune uses of OpenCL 1.2, declared here and loaded with dlopen: the build needs no OpenCL headers, and one binary starts on
 * every machine. tests/unit/test_device_abi.c holds all of it against CL/cl.h; it defines API_LISTS_ONLY to take names that clash
 * with its own from there. */
#ifndef DEVICE_OPENCL_API_H
#define DEVICE_OPENCL_API_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

#define OPENCL_ERRORS(X)                                                                                                           \
    X(CL_COMPILER_NOT_AVAILABLE, -3, "compiler not available")                                                                     \
    X(CL_MEM_OBJECT_ALLOCATION_FAILURE, -4, "memory allocation failed")                                                            \
    X(CL_OUT_OF_RESOURCES, -5, "out of resources")                                                                                 \
    X(CL_OUT_OF_HOST_MEMORY, -6, "out of host memory")                                                                             \
    X(CL_INVALID_BUILD_OPTIONS, -43, "invalid build options")                                                                      \
    X(CL_BUILD_PROGRAM_FAILURE, -11, "build failed")                                                                               \
    X(CL_INVALID_COMMAND_QUEUE, -36, "invalid command queue")                                                                      \
    X(CL_INVALID_MEM_OBJECT, -38, "invalid memory object")                                                                         \
    X(CL_INVALID_BINARY, -42, "invalid binary")                                                                                    \
    X(CL_INVALID_KERNEL_NAME, -46, "invalid kernel name")                                                                          \
    X(CL_INVALID_KERNEL, -48, "invalid kernel")                                                                                    \
    X(CL_INVALID_ARG_INDEX, -49, "invalid argument index")                                                                         \
    X(CL_INVALID_ARG_VALUE, -50, "invalid argument value")                                                                         \
    X(CL_INVALID_ARG_SIZE, -51, "invalid argument size")                                                                           \
    X(CL_INVALID_KERNEL_ARGS, -52, "invalid kernel arguments")                                                                     \
    X(CL_INVALID_WORK_GROUP_SIZE, -54, "invalid work-group size")                                                                  \
    X(CL_INVALID_WORK_ITEM_SIZE, -55, "invalid work-item size")                                                                    \
    X(CL_INVALID_BUFFER_SIZE, -61, "invalid buffer size")                                                                          \
    X(CL_INVALID_GLOBAL_WORK_SIZE, -63, "invalid global work size")

#define OPENCL_CONSTANTS(X)                                                                                                        \
    X(CL_SUCCESS, 0)                                                                                                               \
    X(CL_TRUE, 1)                                                                                                                  \
    X(CL_PLATFORM_NAME, 0x0902)                                                                                                    \
    X(CL_DEVICE_TYPE_CPU, 2)                                                                                                       \
    X(CL_DEVICE_TYPE_GPU, 4)                                                                                                       \
    X(CL_DEVICE_TYPE_ACCELERATOR, 8)                                                                                               \
    X(CL_DEVICE_TYPE, 0x1000)                                                                                                      \
    X(CL_DEVICE_MAX_COMPUTE_UNITS, 0x1002)                                                                                         \
    X(CL_DEVICE_MAX_WORK_GROUP_SIZE, 0x1004)                                                                                       \
    X(CL_DEVICE_MAX_WORK_ITEM_SIZES, 0x1005)                                                                                       \
    X(CL_DEVICE_MAX_MEM_ALLOC_SIZE, 0x1010)                                                                                        \
    X(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, 0x101E)                                                                                     \
    X(CL_DEVICE_GLOBAL_MEM_SIZE, 0x101F)                                                                                           \
    X(CL_DEVICE_LOCAL_MEM_SIZE, 0x1023)                                                                                            \
    X(CL_DEVICE_DOUBLE_FP_CONFIG, 0x1032)                                                                                          \
    X(CL_DEVICE_NAME, 0x102B)                                                                                                      \
    X(CL_DEVICE_PLATFORM, 0x1031)                                                                                                  \
    X(CL_DRIVER_VERSION, 0x102D)                                                                                                   \
    X(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 1)                                                                                   \
    X(CL_QUEUE_PROFILING_ENABLE, 2)                                                                                                \
    X(CL_QUEUE_CONTEXT, 0x1090)                                                                                                    \
    X(CL_QUEUE_DEVICE, 0x1091)                                                                                                     \
    X(CL_QUEUE_PROPERTIES, 0x1093)                                                                                                 \
    X(CL_MEM_READ_WRITE, 1)                                                                                                        \
    X(CL_MEM_ALLOC_HOST_PTR, 16)                                                                                                   \
    X(CL_MEM_OFFSET, 0x1108)                                                                                                       \
    X(CL_BUFFER_CREATE_TYPE_REGION, 0x1220)                                                                                        \
    X(CL_PROGRAM_BINARY_SIZES, 0x1165)                                                                                             \
    X(CL_PROGRAM_BINARIES, 0x1166)                                                                                                 \
    X(CL_PROGRAM_BUILD_LOG, 0x1183)                                                                                                \
    X(CL_KERNEL_NUM_ARGS, 0x1191)                                                                                                  \
    X(CL_KERNEL_ARG_ADDRESS_QUALIFIER, 0x1196)                                                                                     \
    X(CL_KERNEL_ARG_TYPE_NAME, 0x1198)                                                                                             \
    X(CL_KERNEL_ARG_NAME, 0x119A)                                                                                                  \
    X(CL_KERNEL_ARG_ADDRESS_GLOBAL, 0x119B)                                                                                        \
    X(CL_KERNEL_ARG_ADDRESS_LOCAL, 0x119C)                                                                                         \
    X(CL_KERNEL_ARG_ADDRESS_CONSTANT, 0x119D)                                                                                      \
    X(CL_KERNEL_ARG_ADDRESS_PRIVATE, 0x119E)                                                                                       \
    X(CL_KERNEL_WORK_GROUP_SIZE, 0x11B0)                                                                                           \
    X(CL_KERNEL_LOCAL_MEM_SIZE, 0x11B2)                                                                                            \
    X(CL_KERNEL_PRIVATE_MEM_SIZE, 0x11B4)                                                                                          \
    X(CL_PROFILING_COMMAND_START, 0x1282)                                                                                          \
    X(CL_PROFILING_COMMAND_END, 0x1283)

/* Of extensions: their header (cl_ext.h) may be missing. */
enum { CL_EXT_DEVICE_WARP_SIZE_NV = 0x4003, CL_EXT_DEVICE_WAVEFRONT_WIDTH_AMD = 0x4043, CL_EXT_DEVICE_UUID_KHR = 0x106A };

#ifndef API_LISTS_ONLY
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef struct _cl_buffer_region {
    size_t origin, size;
} cl_buffer_region;
#define X(name, value)           name = value,
#define ERROR(name, value, text) name = value,
enum { OPENCL_CONSTANTS(X) OPENCL_ERRORS(ERROR) };
#undef ERROR
#undef X
#endif

#define OPENCL_FUNCTIONS(X)                                                                                                        \
    X(cl_int, clGetPlatformIDs, (cl_uint room, cl_platform_id * out, cl_uint * n))                                                 \
    X(cl_int, clGetPlatformInfo, (cl_platform_id platform, cl_uint what, size_t room, void *out, size_t *size))                    \
    X(cl_int, clGetDeviceIDs, (cl_platform_id platform, cl_ulong type, cl_uint room, cl_device_id * out, cl_uint * n))             \
    X(cl_int, clGetDeviceInfo, (cl_device_id device, cl_uint what, size_t room, void *out, size_t *size))                          \
    X(cl_context, clCreateContext,                                                                                                 \
      (const intptr_t *properties, cl_uint n, const cl_device_id *devices,                                                         \
       void (*notify)(const char *, const void *, size_t, void *), void *arg, cl_int *error))                                      \
    X(cl_int, clReleaseContext, (cl_context context))                                                                              \
    X(cl_command_queue, clCreateCommandQueue, (cl_context context, cl_device_id device, cl_ulong properties, cl_int * error))      \
    X(cl_int, clRetainCommandQueue, (cl_command_queue queue))                                                                      \
    X(cl_int, clReleaseCommandQueue, (cl_command_queue queue))                                                                     \
    X(cl_int, clGetCommandQueueInfo, (cl_command_queue queue, cl_uint what, size_t room, void *out, size_t *size))                 \
    X(cl_int, clFinish, (cl_command_queue queue))                                                                                  \
    X(cl_mem, clCreateBuffer, (cl_context context, cl_ulong flags, size_t bytes, void *host, cl_int *error))                       \
    X(cl_mem, clCreateSubBuffer, (cl_mem of, cl_ulong flags, cl_uint type, const void *region, cl_int *error))                     \
    X(cl_int, clReleaseMemObject, (cl_mem memory))                                                                                 \
    X(cl_int, clGetMemObjectInfo, (cl_mem memory, cl_uint what, size_t room, void *out, size_t *size))                             \
    X(cl_int, clEnqueueFillBuffer,                                                                                                 \
      (cl_command_queue queue, cl_mem memory, const void *pattern, size_t pattern_bytes, size_t offset, size_t bytes, cl_uint n,   \
       const cl_event *after, cl_event *event))                                                                                    \
    X(cl_int, clEnqueueCopyBuffer,                                                                                                 \
      (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset, size_t to_offset, size_t bytes, cl_uint n,              \
       const cl_event *after, cl_event *event))                                                                                    \
    X(cl_int, clEnqueueWriteBuffer,                                                                                                \
      (cl_command_queue queue, cl_mem to, cl_uint blocks, size_t offset, size_t bytes, const void *from, cl_uint n,                \
       const cl_event *after, cl_event *event))                                                                                    \
    X(cl_int, clEnqueueReadBuffer,                                                                                                 \
      (cl_command_queue queue, cl_mem from, cl_uint blocks, size_t offset, size_t bytes, void *to, cl_uint n,                      \
       const cl_event *after, cl_event *event))                                                                                    \
    X(cl_program, clCreateProgramWithSource,                                                                                       \
      (cl_context context, cl_uint n, const char **texts, const size_t *lengths, cl_int *error))                                   \
    X(cl_program, clCreateProgramWithBinary,                                                                                       \
      (cl_context context, cl_uint n, const cl_device_id *devices, const size_t *lengths, const unsigned char **binaries,          \
       cl_int *status, cl_int *error))                                                                                             \
    X(cl_int, clBuildProgram,                                                                                                      \
      (cl_program program, cl_uint n, const cl_device_id *devices, const char *options, void (*notify)(cl_program, void *),        \
       void *arg))                                                                                                                 \
    X(cl_int, clGetProgramInfo, (cl_program program, cl_uint what, size_t room, void *out, size_t *size))                          \
    X(cl_int, clGetProgramBuildInfo,                                                                                               \
      (cl_program program, cl_device_id device, cl_uint what, size_t room, void *out, size_t *size))                               \
    X(cl_int, clReleaseProgram, (cl_program program))                                                                              \
    X(cl_kernel, clCreateKernel, (cl_program program, const char *name, cl_int *error))                                            \
    X(cl_int, clReleaseKernel, (cl_kernel kernel))                                                                                 \
    X(cl_int, clSetKernelArg, (cl_kernel kernel, cl_uint i, size_t bytes, const void *value))                                      \
    X(cl_int, clGetKernelInfo, (cl_kernel kernel, cl_uint what, size_t room, void *out, size_t *size))                             \
    X(cl_int, clGetKernelArgInfo, (cl_kernel kernel, cl_uint i, cl_uint what, size_t room, void *out, size_t *size))               \
    X(cl_int, clGetKernelWorkGroupInfo,                                                                                            \
      (cl_kernel kernel, cl_device_id device, cl_uint what, size_t room, void *out, size_t *size))                                 \
    X(cl_int, clEnqueueMarkerWithWaitList, (cl_command_queue queue, cl_uint n, const cl_event *after, cl_event *event))            \
    X(cl_int, clEnqueueNDRangeKernel,                                                                                              \
      (cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset, const size_t *global, const size_t *local,    \
       cl_uint n, const cl_event *after, cl_event *event))                                                                         \
    X(cl_int, clGetEventProfilingInfo, (cl_event event, cl_uint what, size_t room, void *out, size_t *size))                       \
    X(cl_int, clReleaseEvent, (cl_event event))

/* Functions of OpenCL C 1.2 with names that a kernel may well be given. */
#define OPENCL_C_FUNCTIONS                                                                                                         \
    "acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi cbrt ceil copysign cos cosh cospi erf erfc exp exp2 exp10 expm1 " \
    "fabs fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma log log2 log10 log1p logb mad maxmag minmag modf "    \
    "nan nextafter pow pown powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc "  \
    "abs abs_diff add_sat hadd rhadd clamp clz mad_hi mad_sat max min mul_hi rotate sub_sat upsample popcount mad24 mul24 "        \
    "degrees mix radians step smoothstep sign cross dot distance length normalize fast_distance fast_length fast_normalize "       \
    "isequal isnotequal isgreater isless isfinite isinf isnan isnormal isordered isunordered signbit any all bitselect select "    \
    "shuffle shuffle2 printf prefetch barrier"

/* The functions, for as long as the process lives, once opencl_load has succeeded. */
extern struct opencl_api {
#define X(type, name, parameters) type(*name) parameters;
    OPENCL_FUNCTIONS(X)
#undef X
} libopencl;

/* Loads them at the first call; from any thread. ERR_UNSUPPORTED with a line that says what is missing, or that the process is a fork of
 * one that has loaded them. */
int opencl_load(struct err *err);

#endif
