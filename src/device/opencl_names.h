/* What OpenCL C calls its own: a kernel cannot have such a name. */
#ifndef DEVICE_OPENCL_NAMES_H
#define DEVICE_OPENCL_NAMES_H

/* Functions of OpenCL C 1.2 with names that a kernel may well be given. */
static const char opencl_functions[] =
    "acos acosh acospi asin asinh asinpi atan atan2 atanh atanpi cbrt ceil copysign cos cosh cospi erf erfc exp exp2 exp10 expm1 "
    "fabs "
    "fdim floor fma fmax fmin fmod fract frexp hypot ilogb ldexp lgamma log log2 log10 log1p logb mad maxmag minmag modf nan "
    "nextafter "
    "pow pown powr remainder remquo rint rootn round rsqrt sin sincos sinh sinpi sqrt tan tanh tanpi tgamma trunc abs abs_diff "
    "add_sat "
    "hadd rhadd clamp clz mad_hi mad_sat max min mul_hi rotate sub_sat upsample popcount mad24 mul24 degrees mix radians step "
    "smoothstep sign cross dot distance length normalize fast_distance fast_length fast_normalize isequal isnotequal isgreater "
    "isless "
    "isfinite isinf isnan isnormal isordered isunordered signbit any all bitselect select shuffle shuffle2 printf prefetch barrier";

#endif
