/* Headers for NVRTC, by name: it comes with none of the host's, which published kernels include, though what kernels use of them is in the
 * compiler. A file of that name in the user's folders or the toolkit's goes before ours. Where CCCL defines the same, it is the same. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "device/cuda_part.h"

#define ONCE(name, text) "#ifndef CUTUNE_" name "\n#define CUTUNE_" name "\n" text "#endif\n"
#define D(name, value)   "#ifndef " name "\n#define " name " " value "\n#endif\n"

/* NVRTC 11 has nothing for these that is a constant. */
#define INFINITY_12 "__builtin_bit_cast(float,0x7f800000)"
#define NAN_12      "__builtin_bit_cast(float,0x7fffffff)"
#define INFINITY_11 "__int_as_float(0x7f800000)"
#define NAN_11      "__int_as_float(0x7fffffff)"
#define NUMBERS                                                                                                                    \
    "#if __CUDACC_VER_MAJOR__ >= 12\n" D("INFINITY", INFINITY_12) D("NAN", NAN_12) "#else\n" D("INFINITY", INFINITY_11)            \
        D("NAN", NAN_11) "#endif\n"

/* clang-format off */
#define U(name) "using ::" name ";"
static const char math_text[] = ONCE("MATH_H", NUMBERS
    D("HUGE_VALF", "INFINITY") D("HUGE_VAL", "((double)INFINITY)") D("M_E", "2.7182818284590452354")
    D("M_LOG2E", "1.4426950408889634074") D("M_LOG10E", "0.43429448190325182765") D("M_LN2", "0.69314718055994530942")
    D("M_LN10", "2.30258509299404568402") D("M_PI", "3.14159265358979323846") D("M_PI_2", "1.57079632679489661923")
    D("M_PI_4", "0.78539816339744830962") D("M_1_PI", "0.31830988618379067154") D("M_2_PI", "0.63661977236758134308")
    D("M_2_SQRTPI", "1.12837916709551257390") D("M_SQRT2", "1.41421356237309504880") D("M_SQRT1_2", "0.70710678118654752440")
    "namespace std {\n" /* here too, since the host's has them */
    U("abs") U("acos") U("acosh") U("asin") U("asinh") U("atan") U("atan2") U("atanh") U("cbrt") U("ceil") U("copysign") U("cos")
    U("cosh") U("erf") U("erfc") U("exp") U("exp2") U("expm1") U("fabs") U("fdim") U("floor") U("fma") U("fmax") U("fmin")
    U("fmod") U("frexp") U("hypot") U("ilogb") U("isfinite") U("isinf") U("isnan") U("ldexp") U("lgamma") U("llrint")
    U("llround") U("log") U("log10") U("log1p") U("log2") U("logb") U("lrint") U("lround") U("modf") U("nearbyint")
    U("nextafter") U("pow") U("remainder") U("rint") U("round") U("signbit") U("sin") U("sinh") U("sqrt") U("tan") U("tanh")
    U("tgamma") U("trunc") "\n}\n");
static const char cmath_text[] = "#include <math.h>\n";

static const char float_text[] = ONCE("FLOAT_H",
    D("FLT_RADIX", "2") D("FLT_MANT_DIG", "24") D("FLT_DIG", "6") D("FLT_MIN_EXP", "(-125)") D("FLT_MIN_10_EXP", "(-37)")
    D("FLT_MAX_EXP", "128") D("FLT_MAX_10_EXP", "38") D("FLT_MAX", "3.40282346638528859811704183484516925e+38F")
    D("FLT_MIN", "1.17549435082228750796873653722224568e-38F") D("FLT_EPSILON", "1.19209289550781250000000000000000000e-7F")
    D("FLT_TRUE_MIN", "1.40129846432481707092372958328991613e-45F") D("DBL_MANT_DIG", "53") D("DBL_DIG", "15")
    D("DBL_MIN_EXP", "(-1021)") D("DBL_MIN_10_EXP", "(-307)") D("DBL_MAX_EXP", "1024") D("DBL_MAX_10_EXP", "308")
    D("DBL_MAX", "1.79769313486231570814527423731704357e+308") D("DBL_MIN", "2.22507385850720138309023271733240406e-308")
    D("DBL_EPSILON", "2.22044604925031308084726333618164062e-16") D("DBL_TRUE_MIN", "4.94065645841246544176568792868221372e-324"));

static const char limits_text[] = ONCE("LIMITS_H",
    D("CHAR_BIT", "8") D("SCHAR_MIN", "(-128)") D("SCHAR_MAX", "127") D("UCHAR_MAX", "255") D("CHAR_MIN", "SCHAR_MIN")
    D("CHAR_MAX", "SCHAR_MAX") D("SHRT_MIN", "(-SHRT_MAX - 1)") D("SHRT_MAX", "0x7fff") D("USHRT_MAX", "0xffff")
    D("INT_MIN", "(-INT_MAX - 1)") D("INT_MAX", "0x7fffffff") D("UINT_MAX", "0xffffffff") D("LLONG_MIN", "(-LLONG_MAX - 1)")
    D("LLONG_MAX", "0x7fffffffffffffffLL") D("ULLONG_MAX", "0xffffffffffffffffUL") D("LONG_MIN", "(-LONG_MAX - 1)")
    "#ifdef __LP64__\n" D("LONG_MAX", "LLONG_MAX") D("ULONG_MAX", "ULLONG_MAX")
    "#else\n" D("LONG_MAX", "INT_MAX") D("ULONG_MAX", "UINT_MAX") "#endif\n");

#define INTS(bits, type, min, max, umax)                                                                                           \
    "typedef signed " type " int" bits "_t, int_least" bits "_t, int_fast" bits "_t;\n"                                            \
    "typedef unsigned " type " uint" bits "_t, uint_least" bits "_t, uint_fast" bits "_t;\n"                                       \
    D("INT" bits "_MIN", min) D("INT" bits "_MAX", max) D("UINT" bits "_MAX", umax)                                                \
    "#define INT" bits "_C(X) ((::int_least" bits "_t)(X))\n#define UINT" bits "_C(X) ((::uint_least" bits "_t)(X))\n"
static const char stdint_text[] = "#include <limits.h>\n" ONCE("STDINT_H",
    INTS("8", "char", "SCHAR_MIN", "SCHAR_MAX", "UCHAR_MAX") INTS("16", "short", "SHRT_MIN", "SHRT_MAX", "USHRT_MAX")
    INTS("32", "int", "INT_MIN", "INT_MAX", "UINT_MAX") INTS("64", "long long", "LLONG_MIN", "LLONG_MAX", "ULLONG_MAX")
    "typedef int64_t intptr_t, intmax_t;\ntypedef uint64_t uintptr_t, uintmax_t;\n"
    D("INTPTR_MIN", "INT64_MIN") D("INTPTR_MAX", "INT64_MAX") D("UINTPTR_MAX", "UINT64_MAX") D("INTMAX_MIN", "INT64_MIN")
    D("INTMAX_MAX", "INT64_MAX") D("UINTMAX_MAX", "UINT64_MAX") D("PTRDIFF_MIN", "INT64_MIN") D("PTRDIFF_MAX", "INT64_MAX")
    D("SIZE_MAX", "UINT64_MAX"));
static const char cstdint_text[] = "#include <stdint.h>\n" ONCE("CSTDINT", "namespace std {\n"
    U("int8_t") U("int16_t") U("int32_t") U("int64_t") U("uint8_t") U("uint16_t") U("uint32_t") U("uint64_t") U("intptr_t")
    U("uintptr_t") U("intmax_t") U("uintmax_t") "\n}\n");

/* size_t and ptrdiff_t, printf, assert, malloc, memcpy and the like are the compiler's own. */
static const char stddef_text[] = ONCE("STDDEF_H", D("NULL", "0")
    "#ifndef offsetof\n#define offsetof(type, member) __INTADDR__(&((type *)0)->member)\n#endif\n");
static const char cstddef_text[] = "#include <stddef.h>\n" ONCE("CSTDDEF",
    "namespace std {\n" U("size_t") U("ptrdiff_t") "typedef decltype(nullptr) nullptr_t;\n}\n");
static const char stdlib_text[] = "#include <stddef.h>\n";
static const char cstdlib_text[] = "#include <cstddef>\n" ONCE("CSTDLIB", "namespace std {\n" U("abs") U("malloc") U("free") "\n}\n");
static const char cstring_text[] = "#include <cstddef>\n" ONCE("CSTRING", "namespace std {\n" U("memcpy") U("memset") "\n}\n");
static const char cstdio_text[] = "#include <cstddef>\n" ONCE("CSTDIO", "namespace std {\n" U("printf") "\n}\n");
/* clang-format on */

/* What of CUB is for kernels. The toolkit's own cub.cuh has the calls of the host, too, which NVRTC refuses. */
#define CUB(file) "#if __has_include(<cub/" file ".cuh>)\n#include <cub/" file ".cuh>\n#endif\n"
static const char cub_text[] = CUB("block/block_adjacent_difference") CUB("block/block_discontinuity") CUB("block/block_exchange")
    CUB("block/block_histogram") CUB("block/block_load") CUB("block/block_merge_sort") CUB("block/block_radix_rank")
        CUB("block/block_radix_sort") CUB("block/block_reduce") CUB("block/block_run_length_decode") CUB("block/block_scan")
            CUB("block/block_shuffle") CUB("block/block_store") CUB("warp/warp_exchange") CUB("warp/warp_load")
                CUB("warp/warp_merge_sort") CUB("warp/warp_reduce") CUB("warp/warp_scan") CUB("warp/warp_store")
                    CUB("thread/thread_load") CUB("thread/thread_operators") CUB("thread/thread_reduce") CUB("thread/thread_scan")
                        CUB("thread/thread_search") CUB("thread/thread_store") CUB("grid/grid_even_share");

static const struct {
    const char *name, *text;
} headers[] = {
    { "math.h", math_text },     { "cmath", cmath_text },
    { "float.h", float_text },   { "cfloat", "#include <float.h>\n" },
    { "limits.h", limits_text }, { "climits", "#include <limits.h>\n" },
    { "stdint.h", stdint_text }, { "cstdint", cstdint_text },
    { "stddef.h", stddef_text }, { "cstddef", cstddef_text },
    { "stdlib.h", stdlib_text }, { "cstdlib", cstdlib_text },
    { "string.h", stdlib_text }, { "cstring", cstring_text },
    { "stdio.h", stdlib_text },  { "cstdio", cstdio_text },
    { "assert.h", "" },          { "cassert", "" },
    { "cub/cub.cuh", cub_text },
};
_Static_assert(sizeof headers / sizeof *headers == NVRTC_HEADERS, "room for all");

int nvrtc_numbers(const char *source, const char *options[2])
{
    static const char *const words[] = { "INFINITY", "NAN" };
    static const char *const ways[][2] = { { "-DINFINITY=" INFINITY_11, "-DINFINITY=" INFINITY_12 },
                                           { "-DNAN=" NAN_11, "-DNAN=" NAN_12 } };
    int n = 0;
    for (int i = 0; i < 2; i++) {
        char own[24];
        snprintf(own, sizeof own, "define %s", words[i]);
        if (strstr(source, words[i]) && !strstr(source, own))
            options[n++] = ways[i][libnvrtc.major >= 12];
    }
    return n;
}

static bool is_in(const char *folder, const char *name)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof path, "%s/%s", folder, name) < (int)sizeof path && !access(path, R_OK);
}

static bool is_there(const struct compile_job *job, const char *name)
{
    bool there = false;
    for (int i = 0; i < job->nheader_dirs && !there; i++)
        there = is_in(job->header_dirs[i], name);
    for (int i = 0; i < cuda_headers()->n && !there; i++)
        there = is_in(cuda_headers()->folders[i] + strlen("-I"), name);
    return there;
}

int nvrtc_headers(const struct compile_job *job, const char *names[NVRTC_HEADERS], const char *texts[NVRTC_HEADERS])
{
    int n = 0;
    for (size_t i = 0; i < NVRTC_HEADERS; i++) {
        const char *name = headers[i].name;
        if (headers[i].text == cub_text ? !strstr(job->source, name) : is_there(job, name))
            continue;
        names[n] = name;
        texts[n++] = headers[i].text;
    }
    return n;
}
