/* What cutune uses of the CUDA driver, NVRTC and NVML, declared here and loaded with dlopen: the build needs no toolkit, and one
 * binary starts on every machine. Functions stand under the names that the libraries export: cuda.h's macros move the plain names
 * to newer versions, which an older driver lacks. Nothing newer than CUDA 11.2 is required.
 *
 * tests/unit/test_device_abi.c holds all of it against cuda.h, nvrtc.h and nvml.h; it defines API_LISTS_ONLY to take names that clash with
 * theirs from there. */
#ifndef DEVICE_CUDA_API_H
#define DEVICE_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;
typedef struct CUarray_st *CUarray;
typedef unsigned long long CUtexObject;
typedef struct _nvrtcProgram *nvrtcProgram;
typedef struct nvmlDevice_st *nvmlDevice_t;

#define NVML_CONSTANTS(X)                                                                                                          \
    X(NVML_SUCCESS, 0)                                                                                                             \
    X(NVML_CLOCK_SM, 1)                                                                                                            \
    X(NVML_CLOCK_MEM, 2)

#define CUDA_CONSTANTS(X)                                                                                                          \
    X(CUDA_SUCCESS, 0)                                                                                                             \
    X(CUDA_ERROR_INVALID_VALUE, 1)                                                                                                 \
    X(CUDA_ERROR_OUT_OF_MEMORY, 2)                                                                                                 \
    X(CUDA_ERROR_STUB_LIBRARY, 34)                                                                                                 \
    X(CUDA_ERROR_NO_DEVICE, 100)                                                                                                   \
    X(CUDA_ERROR_INVALID_IMAGE, 200)                                                                                               \
    X(CUDA_ERROR_NO_BINARY_FOR_GPU, 209)                                                                                           \
    X(CUDA_ERROR_INVALID_PTX, 218)                                                                                                 \
    X(CUDA_ERROR_JIT_COMPILER_NOT_FOUND, 221)                                                                                      \
    X(CUDA_ERROR_UNSUPPORTED_PTX_VERSION, 222)                                                                                     \
    X(CUDA_ERROR_NOT_FOUND, 500)                                                                                                   \
    X(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, 701)                                                                                     \
    X(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1)                                                                                \
    X(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X, 2)                                                                                      \
    X(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X, 5)                                                                                       \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 8)                                                                          \
    X(CU_DEVICE_ATTRIBUTE_WARP_SIZE, 10)                                                                                           \
    X(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 16)                                                                                \
    X(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 38)                                                                                       \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 75)                                                                            \
    X(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 76)                                                                            \
    X(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 97)                                                                   \
    X(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 115)                                                                             \
    X(CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 0)                                                                                  \
    X(CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, 1)                                                                                      \
    X(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, 3)                                                                                       \
    X(CU_FUNC_ATTRIBUTE_NUM_REGS, 4)                                                                                               \
    X(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 8)                                                                          \
    X(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 14)                                                                     \
    X(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 2)                                                                                          \
    X(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)                                                                                    \
    X(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, 6)                                                                    \
    X(CU_JIT_ERROR_LOG_BUFFER, 5)                                                                                                  \
    X(CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, 6)                                                                                       \
    X(CU_STREAM_NON_BLOCKING, 1)                                                                                                   \
    X(CU_EVENT_DEFAULT, 0)                                                                                                         \
    X(CU_TENSOR_MAP_DATA_TYPE_UINT8, 0)                                                                                            \
    X(CU_TENSOR_MAP_DATA_TYPE_UINT16, 1)                                                                                           \
    X(CU_TENSOR_MAP_DATA_TYPE_UINT32, 2)                                                                                           \
    X(CU_TENSOR_MAP_DATA_TYPE_INT32, 3)                                                                                            \
    X(CU_TENSOR_MAP_DATA_TYPE_UINT64, 4)                                                                                           \
    X(CU_TENSOR_MAP_DATA_TYPE_INT64, 5)                                                                                            \
    X(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 6)                                                                                          \
    X(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 7)                                                                                          \
    X(CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8)                                                                                          \
    X(CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 9)                                                                                         \
    X(CU_TENSOR_MAP_INTERLEAVE_32B, 2)                                                                                             \
    X(CU_TENSOR_MAP_SWIZZLE_128B, 3)                                                                                               \
    X(CU_TENSOR_MAP_L2_PROMOTION_L2_256B, 3)                                                                                       \
    X(CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA, 1)                                                                        \
    X(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, 720)                                                                                \
    X(CU_AD_FORMAT_UNSIGNED_INT8, 1)                                                                                               \
    X(CU_AD_FORMAT_UNSIGNED_INT16, 2)                                                                                              \
    X(CU_AD_FORMAT_UNSIGNED_INT32, 3)                                                                                              \
    X(CU_AD_FORMAT_SIGNED_INT8, 8)                                                                                                 \
    X(CU_AD_FORMAT_SIGNED_INT16, 9)                                                                                                \
    X(CU_AD_FORMAT_SIGNED_INT32, 10)                                                                                               \
    X(CU_AD_FORMAT_HALF, 16)                                                                                                       \
    X(CU_AD_FORMAT_FLOAT, 32)                                                                                                      \
    X(CU_RESOURCE_TYPE_ARRAY, 0)                                                                                                   \
    X(CU_RESOURCE_TYPE_LINEAR, 2)                                                                                                  \
    X(CU_RESOURCE_TYPE_PITCH2D, 3)                                                                                                 \
    X(CU_TR_ADDRESS_MODE_WRAP, 0)                                                                                                  \
    X(CU_TR_ADDRESS_MODE_CLAMP, 1)                                                                                                 \
    X(CU_TR_ADDRESS_MODE_MIRROR, 2)                                                                                                \
    X(CU_TR_ADDRESS_MODE_BORDER, 3)                                                                                                \
    X(CU_TR_FILTER_MODE_LINEAR, 1)                                                                                                 \
    X(CU_TRSF_READ_AS_INTEGER, 1)                                                                                                  \
    X(CU_TRSF_NORMALIZED_COORDINATES, 2)                                                                                           \
    X(CUDA_ARRAY3D_LAYERED, 1)                                                                                                     \
    X(CU_MEMORYTYPE_DEVICE, 2)                                                                                                     \
    X(CU_MEMORYTYPE_ARRAY, 3)                                                                                                      \
    X(CU_STREAM_CAPTURE_MODE_RELAXED, 2)                                                                                           \
    X(CUDA_ERROR_INVALID_CLUSTER_SIZE, 912)                                                                                        \
    X(NVRTC_SUCCESS, 0)                                                                                                            \
    X(NVRTC_ERROR_OUT_OF_MEMORY, 1)                                                                                                \
    X(NVRTC_ERROR_INVALID_OPTION, 5)                                                                                               \
    X(NVRTC_ERROR_COMPILATION, 6)                                                                                                  \
    X(NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID, 10)

/* CUlaunchAttribute and CUlaunchConfig. */
struct cuda_launch_attribute {
    unsigned int id;
    char pad[4];
    union {
        char room[64];
        int flag;                /* cooperative, programmatic stream serialization */
        unsigned int cluster[3]; /* x, y, z */
    } value;
};

struct cuda_launch_config {
    unsigned int grid[3], block[3], shared;
    CUstream stream;
    struct cuda_launch_attribute *attributes;
    unsigned int nattributes;
};

/* CUtensorMap. */
struct cuda_tensor_map {
    _Alignas(128) uint64_t words[16];
};

/* CUDA_ARRAY3D_DESCRIPTOR. */
struct cuda_array_descriptor {
    size_t extent[3]; /* width, height, depth */
    unsigned int format, channels, flags;
};

/* CUDA_RESOURCE_DESC: of an array, or of a buffer, with width, height and pitch if it has rows, else with its bytes. */
struct cuda_resource {
    unsigned int type;
    union {
        int room[32];
        CUarray array;
        struct {
            CUdeviceptr at;
            unsigned int format, channels;
            size_t bytes_or_width, height, pitch;
        } buffer;
    } of;
    unsigned int flags;
};

/* CUDA_TEXTURE_DESC. */
struct cuda_texture_descriptor {
    unsigned int address[3], filter, flags, anisotropy, mipmap_filter;
    float mipmap[3], border[4];
    int reserved[12];
};

/* One end of CUDA_MEMCPY3D, and all of it. */
struct cuda_copy_end {
    size_t x, y, z, lod;
    unsigned int type;
    void *host;
    CUdeviceptr at;
    CUarray array;
    void *reserved;
    size_t pitch, height;
};

struct cuda_copy {
    struct cuda_copy_end from, to;
    size_t extent[3]; /* bytes, rows, slices */
};

#ifndef API_LISTS_ONLY
typedef struct cuda_array_descriptor CUDA_ARRAY3D_DESCRIPTOR;
typedef struct cuda_resource CUDA_RESOURCE_DESC;
typedef struct cuda_texture_descriptor CUDA_TEXTURE_DESC;
typedef struct CUDA_RESOURCE_VIEW_DESC_st CUDA_RESOURCE_VIEW_DESC;
typedef struct cuda_copy CUDA_MEMCPY3D;
typedef unsigned int CUstreamCaptureMode;
typedef struct cuda_tensor_map CUtensorMap;
typedef unsigned int CUtensorMapDataType;
typedef unsigned int CUtensorMapInterleave;
typedef unsigned int CUtensorMapSwizzle;
typedef unsigned int CUtensorMapL2promotion;
typedef unsigned int CUtensorMapFloatOOBfill;
typedef struct cuda_launch_config CUlaunchConfig;
typedef unsigned int CUresult; /* enumerations: as wide as an unsigned int */
typedef unsigned int CUdevice_attribute;
typedef unsigned int CUfunction_attribute;
typedef unsigned int CUjit_option;
typedef unsigned int nvrtcResult;
typedef unsigned int nvmlReturn_t;
typedef unsigned int nvmlClockType_t;
typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;
#define X(name, value) name = value,
enum { CUDA_CONSTANTS(X) NVML_CONSTANTS(X) };
#undef X
#endif

#define CUDA_FUNCTIONS(X)                                                                                                          \
    X(cuInit, (unsigned int flags))                                                                                                \
    X(cuDriverGetVersion, (int *version))                                                                                          \
    X(cuGetErrorName, (CUresult error, const char **text))                                                                         \
    X(cuGetErrorString, (CUresult error, const char **text))                                                                       \
    X(cuDeviceGetCount, (int *count))                                                                                              \
    X(cuDeviceGet, (CUdevice * device, int ordinal))                                                                               \
    X(cuDeviceGetName, (char *name, int size, CUdevice device))                                                                    \
    X(cuDeviceGetUuid, (CUuuid * uuid, CUdevice device))                                                                           \
    X(cuDeviceGetPCIBusId, (char *id, int size, CUdevice device))                                                                  \
    X(cuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))                                           \
    X(cuDeviceTotalMem_v2, (size_t * bytes, CUdevice device))                                                                      \
    X(cuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))                                                            \
    X(cuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active))                                             \
    X(cuDevicePrimaryCtxRelease_v2, (CUdevice device))                                                                             \
    X(cuCtxSetCurrent, (CUcontext context))                                                                                        \
    X(cuCtxGetCurrent, (CUcontext * context))                                                                                      \
    X(cuCtxPushCurrent_v2, (CUcontext context))                                                                                    \
    X(cuCtxPopCurrent_v2, (CUcontext * context))                                                                                   \
    X(cuCtxGetDevice, (CUdevice * device))                                                                                         \
    X(cuCtxSynchronize, (void))                                                                                                    \
    X(cuMemGetInfo_v2, (size_t * free, size_t * total))                                                                            \
    X(cuMemAlloc_v2, (CUdeviceptr * at, size_t bytes))                                                                             \
    X(cuMemFree_v2, (CUdeviceptr at))                                                                                              \
    X(cuMemAllocAsync, (CUdeviceptr * at, size_t bytes, CUstream stream))                                                          \
    X(cuMemFreeAsync, (CUdeviceptr at, CUstream stream))                                                                           \
    X(cuMemsetD8Async, (CUdeviceptr at, unsigned char value, size_t count, CUstream stream))                                       \
    X(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream))                                     \
    X(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream))                                     \
    X(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream))                                           \
    X(cuArray3DCreate_v2, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *what))                                                  \
    X(cuArrayDestroy, (CUarray array))                                                                                             \
    X(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *copy, CUstream stream))                                                            \
    X(cuTexObjectCreate,                                                                                                           \
      (CUtexObject * object, const CUDA_RESOURCE_DESC *of, const CUDA_TEXTURE_DESC *how, const CUDA_RESOURCE_VIEW_DESC *view))     \
    X(cuTexObjectDestroy, (CUtexObject object))                                                                                    \
    X(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode))                                                             \
    X(cuModuleLoadDataEx, (CUmodule * module, const void *image, unsigned int n, CUjit_option *options, void **values))            \
    X(cuModuleUnload, (CUmodule module))                                                                                           \
    X(cuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))                                             \
    X(cuModuleGetGlobal_v2, (CUdeviceptr * at, size_t * bytes, CUmodule module, const char *name))                                 \
    X(cuFuncGetAttribute, (int *value, CUfunction_attribute attribute, CUfunction function))                                       \
    X(cuFuncSetAttribute, (CUfunction function, CUfunction_attribute attribute, int value))                                        \
    X(cuLaunchKernel,                                                                                                              \
      (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z, unsigned int block_x,                   \
       unsigned int block_y, unsigned int block_z, unsigned int shared, CUstream stream, void **params, void **extra))             \
    X(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *blocks, CUfunction function, int threads, size_t shared))                 \
    X(cuStreamCreate, (CUstream * stream, unsigned int flags))                                                                     \
    X(cuStreamDestroy_v2, (CUstream stream))                                                                                       \
    X(cuStreamSynchronize, (CUstream stream))                                                                                      \
    X(cuEventCreate, (CUevent * event, unsigned int flags))                                                                        \
    X(cuEventDestroy_v2, (CUevent event))                                                                                          \
    X(cuEventRecord, (CUevent event, CUstream stream))                                                                             \
    X(cuEventElapsedTime, (float *ms, CUevent start, CUevent end))

/* Null if the driver is older: cuDeviceGetUuid_v2 (11.4) tells a MIG slice's own UUID, cuCtxGetId (12.0) tells a context from
 * another at the same address, cuFuncGetParamInfo (12.4) counts a kernel's parameters, cuFuncLoad (12.4) loads it before its first
 * launch, cuLaunchKernelEx and cuOccupancyMaxActiveClusters (11.8) know clusters, cuTensorMapEncodeTiled (12.0)
 * makes tensor maps. */
#define CUDA_OPTIONAL_FUNCTIONS(X)                                                                                                 \
    X(cuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))                                                                        \
    X(cuCtxGetId, (CUcontext context, unsigned long long *id))                                                                     \
    X(cuLaunchKernelEx, (const CUlaunchConfig *config, CUfunction function, void **params, void **extra))                          \
    X(cuTensorMapEncodeTiled,                                                                                                      \
      (CUtensorMap * map, CUtensorMapDataType type, uint32_t rank, void *at, const uint64_t *extents, const uint64_t *strides,     \
       const uint32_t *box, const uint32_t *steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,                   \
       CUtensorMapL2promotion l2, CUtensorMapFloatOOBfill fill))                                                                   \
    X(cuOccupancyMaxActiveClusters, (int *clusters, CUfunction function, const CUlaunchConfig *config))                            \
    X(cuFuncLoad, (CUfunction function))                                                                                           \
    X(cuFuncGetParamInfo, (CUfunction function, size_t index, size_t * offset, size_t * size))

#define NVRTC_FUNCTIONS(X)                                                                                                         \
    X(nvrtcResult, nvrtcVersion, (int *major, int *minor))                                                                         \
    X(nvrtcResult, nvrtcGetNumSupportedArchs, (int *n))                                                                            \
    X(nvrtcResult, nvrtcGetSupportedArchs, (int *archs))                                                                           \
    X(nvrtcResult, nvrtcCreateProgram,                                                                                             \
      (nvrtcProgram * program, const char *source, const char *name, int nheaders, const char *const *headers,                     \
       const char *const *includes))                                                                                               \
    X(nvrtcResult, nvrtcDestroyProgram, (nvrtcProgram * program))                                                                  \
    X(nvrtcResult, nvrtcAddNameExpression, (nvrtcProgram program, const char *name))                                               \
    X(nvrtcResult, nvrtcGetLoweredName, (nvrtcProgram program, const char *name, const char **lowered))                            \
    X(nvrtcResult, nvrtcCompileProgram, (nvrtcProgram program, int n, const char *const *options))                                 \
    X(nvrtcResult, nvrtcGetProgramLogSize, (nvrtcProgram program, size_t * bytes))                                                 \
    X(nvrtcResult, nvrtcGetProgramLog, (nvrtcProgram program, char *log))                                                          \
    X(nvrtcResult, nvrtcGetPTXSize, (nvrtcProgram program, size_t * bytes))                                                        \
    X(nvrtcResult, nvrtcGetPTX, (nvrtcProgram program, char *ptx))                                                                 \
    X(nvrtcResult, nvrtcGetCUBINSize, (nvrtcProgram program, size_t * bytes))                                                      \
    X(nvrtcResult, nvrtcGetCUBIN, (nvrtcProgram program, char *cubin))                                                             \
    X(const char *, nvrtcGetErrorString, (nvrtcResult result))

#define NVML_FUNCTIONS(X)                                                                                                          \
    X(nvmlReturn_t, nvmlInit_v2, (void))                                                                                           \
    X(nvmlReturn_t, nvmlDeviceGetHandleByPciBusId_v2, (const char *id, nvmlDevice_t *device))                                      \
    X(nvmlReturn_t, nvmlDeviceGetClockInfo, (nvmlDevice_t device, nvmlClockType_t type, unsigned int *mhz))                        \
    X(nvmlReturn_t, nvmlDeviceGetHandleByUUID, (const char *uuid, nvmlDevice_t *device))                                           \
    X(nvmlReturn_t, nvmlDeviceGetTotalEnergyConsumption, (nvmlDevice_t device, unsigned long long *millijoules))                   \
    X(nvmlReturn_t, nvmlDeviceGetCurrentClocksThrottleReasons, (nvmlDevice_t device, unsigned long long *reasons))                 \
    X(const char *, nvmlErrorString, (nvmlReturn_t result))

struct cuda_api {
#define X(name, parameters) CUresult(*name) parameters;
    CUDA_FUNCTIONS(X)
    CUDA_OPTIONAL_FUNCTIONS(X)
#undef X
    int version; /* of the driver's CUDA: 13000 is 13.0 */
};

struct nvrtc_api {
#define X(type, name, parameters) type(*name) parameters;
    NVRTC_FUNCTIONS(X)
#undef X
    int major, minor;
};

/* The management library, for clocks, throttling and energy: null if it is missing. So may be all after the third. */
struct nvml_api {
#define X(type, name, parameters) type(*name) parameters;
    NVML_FUNCTIONS(X)
#undef X
};

/* Loaded and initialised at the first call, then the same for the life of the process; from any thread. Null with ERR_UNSUPPORTED
 * and a line that says what is missing, and which places were tried. */
const struct cuda_api *cuda_api(struct err *err);
const struct nvrtc_api *nvrtc_api(struct err *err);

#endif
