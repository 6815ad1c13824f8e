/* Compares the declarations of CUDA, NVRTC and OpenCL in src/device with the real headers, if there are any. Most checks are made by the
 * compiler, so a difference fails the build of this test. */

#if __has_include(<cuda.h>) && __has_include(<nvrtc.h>)
#define HAVE_CUDA                   1
#define __CUDA_API_VERSION_INTERNAL /* no macros: each name is that of the ABI */
#include <cuda.h>
#include <nvrtc.h>
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
#undef X
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
        cmocka_unit_test(opencl_matches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
