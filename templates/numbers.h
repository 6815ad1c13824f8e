// Narrow types as numbers, for both dialects: f16, bf16, f8e4m3, f8e5m2 to float and back. What T_get, T_put, T_from, T_to and T_acc of
// an op's types mean, which call these, is written down in docs/op-authors.md.
//
// Back means to the nearest, ties to even. Too large a number becomes infinity in f16 and bf16, and the largest number in f8. NaN stays
// NaN; which of them is up to the device.
#ifndef NUMBERS_H
#define NUMBERS_H

#if !defined(BACKEND_CUDA) && !defined(BACKEND_OPENCL)
#error numbers.h is for the dialect: a source in a language of its own has the headers of that
#endif

// Not DEVICE: what is static and not used gets a warning.
#ifdef BACKEND_CUDA
#define NUMBERS_INLINE __device__ __forceinline__
#define number_bits(v) __float_as_uint(v)
#define number_of_bits(u) __uint_as_float(u)
#define NUMBERS_SM(at_least) (__CUDA_ARCH__ >= at_least)
#else
#define NUMBERS_INLINE static inline
#define number_bits(v) as_uint(v)
#define number_of_bits(u) as_float(u)
#define NUMBERS_SM(at_least) 0
#endif

// The bits of |v|, the bits of a float, in a type with `cut` fewer bits after the point and exponents that are `less` lower. Below
// `normal`, the type's smallest normal number, adding 2^23 times its smallest one rounds to that.
NUMBERS_INLINE uint32 number_narrow(uint32 v, uint32 cut, uint32 less, float normal, float smallest)
{
    uint32 small = number_bits(number_of_bits(v) + smallest * 8388608.0f) - number_bits(smallest * 8388608.0f);
    return v < number_bits(normal) ? small : ((v + (1u << (cut - 1)) - 1 + (v >> cut & 1u)) >> cut) - (less << (23 - cut));
}

NUMBERS_INLINE float f16_from(uint16 x)
{
#ifdef BACKEND_CUDA
    float v;
    asm("cvt.f32.f16 %0, %1;" : "=f"(v) : "h"(x));
    return v;
#elif defined(cl_khr_fp16)
    return convert_float(as_half(x));
#else // vload_half is a slow function on some devices
    uint32 size = x & 0x7fffu, normal = (size << 13) + ((size < 0x7c00u ? 112u : 224u) << 23);
    uint32 small = number_bits((float)(int32)size * 5.9604644775390625e-8f);
    return number_of_bits((size < 0x400u ? small : normal) | (uint32)(x & 0x8000u) << 16);
#endif
}

NUMBERS_INLINE uint16 f16_to(float v)
{
#ifdef BACKEND_CUDA
    uint16 x;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(x) : "f"(v));
    return x;
#elif defined(cl_khr_fp16)
    return as_ushort(convert_half_rte(v));
#else
    uint32 u = number_bits(v), size = u & 0x7fffffffu, x = number_narrow(size, 13, 112, 6.103515625e-5f, 5.9604644775390625e-8f);
    x = size >= number_bits(65520.0f) ? 0x7c00u : x;
    x = size > 0x7f800000u ? 0x7e00u : x;
    return (uint16)((u >> 16 & 0x8000u) | x);
#endif
}

NUMBERS_INLINE float bf16_from(uint16 x)
{
    return number_of_bits((uint32)x << 16);
}

NUMBERS_INLINE uint16 bf16_to(float v)
{
#if NUMBERS_SM(800)
    uint16 x;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(x) : "f"(v));
    return x;
#else
    uint32 u = number_bits(v);
    return (uint16)((u & 0x7fffffffu) > 0x7f800000u ? u >> 16 | 0x40u : (u + 0x7fffu + (u >> 16 & 1u)) >> 16);
#endif
}

// As f16 its exponent is 8 too low.
NUMBERS_INLINE float f8e4m3_from(uint8 x)
{
    uint32 size = x & 0x7fu;
    float v = f16_from((uint16)((x & 0x80u) << 8 | size << 7)) * 256.0f;
    return size == 0x7fu ? number_of_bits(0x7fc00000u) : v;
}

NUMBERS_INLINE uint8 f8e4m3_to(float v)
{
#if NUMBERS_SM(890)
    uint16 x;
    asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(x) : "f"(0.0f), "f"(v));
    return (uint8)x;
#else
    uint32 u = number_bits(v), size = u & 0x7fffffffu, x = number_narrow(size, 20, 120, 0.015625f, 0.001953125f);
    x = size > number_bits(448.0f) ? 0x7eu : x;
    x = size > 0x7f800000u ? 0x7fu : x;
    return (uint8)((u >> 24 & 0x80u) | x);
#endif
}

// The upper half of an f16.
NUMBERS_INLINE float f8e5m2_from(uint8 x)
{
    return f16_from((uint16)((uint32)x << 8));
}

NUMBERS_INLINE uint8 f8e5m2_to(float v)
{
#if NUMBERS_SM(890)
    uint16 x;
    asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(x) : "f"(0.0f), "f"(v));
    return (uint8)x;
#else
    uint32 u = number_bits(v), size = u & 0x7fffffffu, x = number_narrow(size, 21, 112, 6.103515625e-5f, 1.52587890625e-5f);
    x = size > number_bits(57344.0f) ? 0x7bu : x;
    x = size > 0x7f800000u ? 0x7fu : x;
    return (uint8)((u >> 24 & 0x80u) | x);
#endif
}

// For arguments of a fixed type, such as "f16".
#define f16_get(p, i)       f16_from((p)[i])
#define f16_put(p, i, v)    ((p)[i] = f16_to(v))
#define bf16_get(p, i)      bf16_from((p)[i])
#define bf16_put(p, i, v)   ((p)[i] = bf16_to(v))
#define f8e4m3_get(p, i)    f8e4m3_from((p)[i])
#define f8e4m3_put(p, i, v) ((p)[i] = f8e4m3_to(v))
#define f8e5m2_get(p, i)    f8e5m2_from((p)[i])
#define f8e5m2_put(p, i, v) ((p)[i] = f8e5m2_to(v))
#endif
