/* Compares the declarations of CUDA, NVRTC, NVML, cuBLAS and OpenCL in src/device with the real headers, if there are any. Most checks are made by the
 * compiler, so a difference fails the build of this test. */

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#define HAVE_CUDA                   1
#define __CUDA_API_VERSION_INTERNAL /* no macros: each name is that of the ABI */
#include <cuda.h>
#include <nvrtc.h>
#if __has_include(<nvml.h>)
#define HAVE_NVML 1
#include <nvml.h>
#else
typedef unsigned int nvmlReturn_t, nvmlClockType_t;
#endif
#endif

#if __has_include(<CL/cl.h>)
#define HAVE_OPENCL              1
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <CL/cl_ext.h>
#endif

#define API_LISTS_ONLY

#if HAVE_CUDA
#include "device/cuda_api.h" /* its typedefs of handles repeat cuda.h's: C11 refuses them where they differ */

/* Their enumerations, our unsigned int; their struct, ours. */
_Static_assert(sizeof(CUresult) == sizeof(unsigned) && sizeof(CUdevice_attribute) == sizeof(unsigned), "width of enumerations");
_Static_assert(sizeof(CUfunction_attribute) == sizeof(unsigned) && sizeof(CUjit_option) == sizeof(unsigned),
               "width of enumerations");
_Static_assert(sizeof(nvrtcResult) == sizeof(unsigned), "width of enumerations");
_Static_assert(sizeof(CUuuid) == 16 && _Alignof(CUuuid) == 1 && sizeof((CUuuid){ { 0 } }.bytes) == 16, "CUuuid");

#define SAME(ours, member, theirs, other)                                                                                          \
    _Static_assert(offsetof(ours, member) == offsetof(theirs, other) &&                                                            \
                       sizeof(((ours *)0)->member) == sizeof(((theirs *)0)->other),                                                \
                   #theirs "." #other)
_Static_assert(sizeof(struct cuda_array_descriptor) == sizeof(CUDA_ARRAY3D_DESCRIPTOR), "CUDA_ARRAY3D_DESCRIPTOR");
SAME(struct cuda_array_descriptor, extent[0], CUDA_ARRAY3D_DESCRIPTOR, Width);
SAME(struct cuda_array_descriptor, extent[1], CUDA_ARRAY3D_DESCRIPTOR, Height);
SAME(struct cuda_array_descriptor, extent[2], CUDA_ARRAY3D_DESCRIPTOR, Depth);
SAME(struct cuda_array_descriptor, format, CUDA_ARRAY3D_DESCRIPTOR, Format);
SAME(struct cuda_array_descriptor, channels, CUDA_ARRAY3D_DESCRIPTOR, NumChannels);
SAME(struct cuda_array_descriptor, flags, CUDA_ARRAY3D_DESCRIPTOR, Flags);
_Static_assert(sizeof(struct cuda_resource) == sizeof(CUDA_RESOURCE_DESC), "CUDA_RESOURCE_DESC");
SAME(struct cuda_resource, type, CUDA_RESOURCE_DESC, resType);
SAME(struct cuda_resource, of.array, CUDA_RESOURCE_DESC, res.array.hArray);
SAME(struct cuda_resource, of.buffer.at, CUDA_RESOURCE_DESC, res.linear.devPtr);
SAME(struct cuda_resource, of.buffer.format, CUDA_RESOURCE_DESC, res.linear.format);
SAME(struct cuda_resource, of.buffer.channels, CUDA_RESOURCE_DESC, res.linear.numChannels);
SAME(struct cuda_resource, of.buffer.bytes_or_width, CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
SAME(struct cuda_resource, of.buffer.at, CUDA_RESOURCE_DESC, res.pitch2D.devPtr);
SAME(struct cuda_resource, of.buffer.format, CUDA_RESOURCE_DESC, res.pitch2D.format);
SAME(struct cuda_resource, of.buffer.channels, CUDA_RESOURCE_DESC, res.pitch2D.numChannels);
SAME(struct cuda_resource, of.buffer.bytes_or_width, CUDA_RESOURCE_DESC, res.pitch2D.width);
SAME(struct cuda_resource, of.buffer.height, CUDA_RESOURCE_DESC, res.pitch2D.height);
SAME(struct cuda_resource, of.buffer.pitch, CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
SAME(struct cuda_resource, flags, CUDA_RESOURCE_DESC, flags);
_Static_assert(sizeof(struct cuda_texture_descriptor) == sizeof(CUDA_TEXTURE_DESC), "CUDA_TEXTURE_DESC");
SAME(struct cuda_texture_descriptor, address, CUDA_TEXTURE_DESC, addressMode);
SAME(struct cuda_texture_descriptor, filter, CUDA_TEXTURE_DESC, filterMode);
SAME(struct cuda_texture_descriptor, flags, CUDA_TEXTURE_DESC, flags);
SAME(struct cuda_texture_descriptor, anisotropy, CUDA_TEXTURE_DESC, maxAnisotropy);
SAME(struct cuda_texture_descriptor, mipmap_filter, CUDA_TEXTURE_DESC, mipmapFilterMode);
SAME(struct cuda_texture_descriptor, mipmap[0], CUDA_TEXTURE_DESC, mipmapLevelBias);
SAME(struct cuda_texture_descriptor, border, CUDA_TEXTURE_DESC, borderColor);
SAME(struct cuda_texture_descriptor, reserved, CUDA_TEXTURE_DESC, reserved);
_Static_assert(sizeof(struct cuda_copy) == sizeof(CUDA_MEMCPY3D), "CUDA_MEMCPY3D");
#define ENDS(member, src, dst)                                                                                                     \
    SAME(struct cuda_copy, from.member, CUDA_MEMCPY3D, src);                                                                       \
    SAME(struct cuda_copy, to.member, CUDA_MEMCPY3D, dst)
ENDS(x, srcXInBytes, dstXInBytes);
ENDS(y, srcY, dstY);
ENDS(z, srcZ, dstZ);
ENDS(lod, srcLOD, dstLOD);
ENDS(type, srcMemoryType, dstMemoryType);
ENDS(host, srcHost, dstHost);
ENDS(at, srcDevice, dstDevice);
ENDS(array, srcArray, dstArray);
ENDS(reserved, reserved0, reserved1);
ENDS(pitch, srcPitch, dstPitch);
ENDS(height, srcHeight, dstHeight);
SAME(struct cuda_copy, extent[0], CUDA_MEMCPY3D, WidthInBytes);
SAME(struct cuda_copy, extent[1], CUDA_MEMCPY3D, Height);
SAME(struct cuda_copy, extent[2], CUDA_MEMCPY3D, Depth);

#if CUDA_VERSION >= 12000
_Static_assert(sizeof(struct cuda_launch_attribute) == sizeof(CUlaunchAttribute) &&
                   _Alignof(struct cuda_launch_attribute) <= _Alignof(CUlaunchAttribute) &&
                   offsetof(struct cuda_launch_attribute, value) == offsetof(CUlaunchAttribute, value) &&
                   sizeof((CUlaunchAttribute){ 0 }.value.cooperative) == sizeof(int) &&
                   sizeof((CUlaunchAttribute){ 0 }.value.programmaticStreamSerializationAllowed) == sizeof(int) &&
                   offsetof(CUlaunchAttributeValue, clusterDim.y) == sizeof(int) &&
                   offsetof(CUlaunchAttributeValue, clusterDim.z) == 2 * sizeof(int),
               "CUlaunchAttribute");
_Static_assert(sizeof(struct cuda_launch_config) == sizeof(CUlaunchConfig) &&
                   offsetof(struct cuda_launch_config, grid) == offsetof(CUlaunchConfig, gridDimX) &&
                   offsetof(struct cuda_launch_config, block) == offsetof(CUlaunchConfig, blockDimX) &&
                   offsetof(struct cuda_launch_config, shared) == offsetof(CUlaunchConfig, sharedMemBytes) &&
                   offsetof(struct cuda_launch_config, stream) == offsetof(CUlaunchConfig, hStream) &&
                   offsetof(struct cuda_launch_config, attributes) == offsetof(CUlaunchConfig, attrs) &&
                   offsetof(struct cuda_launch_config, nattributes) == offsetof(CUlaunchConfig, numAttrs),
               "CUlaunchConfig");
#endif

#if CUDA_VERSION >= 12000
_Static_assert(sizeof(struct cuda_tensor_map) == sizeof(CUtensorMap) && _Alignof(struct cuda_tensor_map) >= _Alignof(CUtensorMap),
               "CUtensorMap");
_Static_assert(sizeof(CUtensorMapDataType) == sizeof(unsigned) && sizeof(CUtensorMapSwizzle) == sizeof(unsigned), "width");
#endif

#define X(name, value) _Static_assert((long long)(name) == (value), #name);
CUDA_CONSTANTS(X)
#undef X

#define X(name, parameters) _Static_assert(__builtin_types_compatible_p(__typeof__(&name), CUresult(*) parameters), #name);
CUDA_FUNCTIONS(X)
#if CUDA_VERSION >= 12040
CUDA_OPTIONAL_FUNCTIONS(X)
#endif
#undef X

#define X(type, name, parameters) _Static_assert(__builtin_types_compatible_p(__typeof__(&name), type(*) parameters), #name);
NVRTC_FUNCTIONS(X)
#if HAVE_NVML
NVML_FUNCTIONS(X)
#endif
#undef X

#if HAVE_NVML
_Static_assert(sizeof(nvmlReturn_t) == sizeof(unsigned) && sizeof(nvmlClockType_t) == sizeof(unsigned), "width of enumerations");
#define X(name, value) _Static_assert((long long)(name) == (value), #name);
NVML_CONSTANTS(X)
#undef X
#endif
#endif

/* Of functions only the names: ours take addresses where theirs have types for them. */
#if HAVE_CUDA && __has_include(<cublas_v2.h>) && __has_include(<cublasLt.h>)
#define HAVE_CUBLAS 1
#include <cublasLt.h>
#include <cublas_v2.h>
#include "device/cuda_blas_api.h"
#define X(name, value) _Static_assert((long long)(name) == (value), #name);
CUBLAS_CONSTANTS(X)
#undef X
#define X(name, parameters) _Static_assert(sizeof(&name) == sizeof(void *), #name);
CUBLAS_FUNCTIONS(X)
CUBLASLT_FUNCTIONS(X)
#undef X
_Static_assert(sizeof(cublasStatus_t) == 4 && sizeof(cublasOperation_t) == 4 && sizeof(cudaDataType_t) == 4, "width of enumerations");
_Static_assert(sizeof(struct cublaslt_found) == sizeof(cublasLtMatmulHeuristicResult_t), "cublasLtMatmulHeuristicResult_t");
SAME(struct cublaslt_found, algorithm, cublasLtMatmulHeuristicResult_t, algo);
SAME(struct cublaslt_found, workspace, cublasLtMatmulHeuristicResult_t, workspaceSize);
SAME(struct cublaslt_found, state, cublasLtMatmulHeuristicResult_t, state);
#endif

#if HAVE_CUDA && __has_include(<cutensor.h>)
#include <cutensor.h>
#include "device/cuda_tensor_api.h"
#define X(name, value) _Static_assert((long long)(name) == (value), #name);
CUTENSOR_CONSTANTS(X)
#undef X
#define X(name, parameters) _Static_assert(sizeof(&name) == sizeof(void *), #name);
CUTENSOR_FUNCTIONS(X)
#undef X
_Static_assert(sizeof(cutensorStatus_t) == 4 && sizeof(cutensorOperator_t) == 4, "width of enumerations");
#endif

#if HAVE_OPENCL
#include "device/opencl_api.h"
#include "unit.h"

_Static_assert(sizeof(cl_int) == 4 && (cl_int)-1 < 0, "cl_int");
_Static_assert(sizeof(cl_uint) == 4 && (cl_uint)-1 > 0, "cl_uint");
_Static_assert(sizeof(cl_ulong) == 8 && (cl_ulong)-1 > 0, "cl_ulong");
_Static_assert(sizeof(cl_buffer_region) == 2 * sizeof(size_t) && offsetof(cl_buffer_region, size) == sizeof(size_t),
               "cl_buffer_region");

#define X(name, value, ...) _Static_assert((long long)(name) == (value), #name);
OPENCL_CONSTANTS(X)
OPENCL_ERRORS(X)
#undef X

#define X(type, name, parameters) _Static_assert(__builtin_types_compatible_p(__typeof__(&name), type(*) parameters), #name);
OPENCL_FUNCTIONS(X)
#undef X

#ifdef CL_DEVICE_WARP_SIZE_NV
_Static_assert((int)CL_EXT_DEVICE_WARP_SIZE_NV == CL_DEVICE_WARP_SIZE_NV, "CL_DEVICE_WARP_SIZE_NV");
#endif
#ifdef CL_DEVICE_WAVEFRONT_WIDTH_AMD
_Static_assert((int)CL_EXT_DEVICE_WAVEFRONT_WIDTH_AMD == CL_DEVICE_WAVEFRONT_WIDTH_AMD, "CL_DEVICE_WAVEFRONT_WIDTH_AMD");
#endif
#ifdef CL_DEVICE_UUID_KHR
_Static_assert((int)CL_EXT_DEVICE_UUID_KHR == CL_DEVICE_UUID_KHR, "CL_DEVICE_UUID_KHR");
#endif
#endif

/* These only show which headers the compiler saw. */
static void cuda_matches(void **state)
{
    (void)state;
#if HAVE_CUDA
    print_message("held against cuda.h of CUDA %d.%d\n", CUDA_VERSION / 1000, CUDA_VERSION % 1000 / 10);
#else
    print_message("cuda.h or nvrtc.h not found: nothing to hold the declarations against\n");
    skip();
#endif
}

static void nvml_matches(void **state)
{
    (void)state;
#if !HAVE_NVML
    print_message("nvml.h not found: nothing to hold the declarations against\n");
    skip();
#endif
}

static void cublas_matches(void **state)
{
    (void)state;
#if !HAVE_CUBLAS
    print_message("cublas_v2.h not found: nothing to hold the declarations against\n");
    skip();
#endif
}

static void opencl_matches(void **state)
{
    (void)state;
#if !HAVE_OPENCL
    print_message("CL/cl.h not found: nothing to hold the declarations against\n");
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuda_matches),
        cmocka_unit_test(nvml_matches),
        cmocka_unit_test(cublas_matches),
        cmocka_unit_test(opencl_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
