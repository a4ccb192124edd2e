/* SPDX-License-Identifier: Apache-2.0 */
/** Arithmetic with explicit rounding, conversions and bit operations on NVIDIA GPUs: one
 * instruction each, which the CPU's devicelib has to compute. */
#include "device/cuda/nvptxlib/nvptxlib.h"

/* ---- rounding: rn nearest even, rz to zero, rd down (PTX: rm), ru up (PTX: rp) ---- */

#define ROUNDED(suffix, rm)                                                                        \
    double __nv_dadd_##suffix(double a, double b) {                                                \
        return __nvvm_add_##rm##_d(a, b);                                                          \
    }                                                                                              \
    double __nv_dsub_##suffix(double a, double b) {                                                \
        return __nvvm_add_##rm##_d(a, -b);                                                         \
    }                                                                                              \
    double __nv_dmul_##suffix(double a, double b) {                                                \
        return __nvvm_mul_##rm##_d(a, b);                                                          \
    }                                                                                              \
    double __nv_ddiv_##suffix(double a, double b) {                                                \
        return __nvvm_div_##rm##_d(a, b);                                                          \
    }                                                                                              \
    double __nv_drcp_##suffix(double a) {                                                          \
        return __nvvm_rcp_##rm##_d(a);                                                             \
    }                                                                                              \
    double __nv_dsqrt_##suffix(double a) {                                                         \
        return __nvvm_sqrt_##rm##_d(a);                                                            \
    }                                                                                              \
    double __nv_fma_##suffix(double a, double b, double c) {                                       \
        return __nvvm_fma_##rm##_d(a, b, c);                                                       \
    }                                                                                              \
    float __nv_fadd_##suffix(float a, float b) {                                                   \
        return __nvvm_add_##rm##_f(a, b);                                                          \
    }                                                                                              \
    float __nv_fsub_##suffix(float a, float b) {                                                   \
        return __nvvm_add_##rm##_f(a, -b);                                                         \
    }                                                                                              \
    float __nv_fmul_##suffix(float a, float b) {                                                   \
        return __nvvm_mul_##rm##_f(a, b);                                                          \
    }                                                                                              \
    float __nv_fdiv_##suffix(float a, float b) {                                                   \
        return __nvvm_div_##rm##_f(a, b);                                                          \
    }                                                                                              \
    float __nv_frcp_##suffix(float a) {                                                            \
        return __nvvm_rcp_##rm##_f(a);                                                             \
    }                                                                                              \
    float __nv_fsqrt_##suffix(float a) {                                                           \
        return __nvvm_sqrt_##rm##_f(a);                                                            \
    }                                                                                              \
    float __nv_fmaf_##suffix(float a, float b, float c) {                                          \
        return __nvvm_fma_##rm##_f(a, b, c);                                                       \
    }                                                                                              \
    float __nv_fmaf_ieee_##suffix(float a, float b, float c) {                                     \
        return __nvvm_fma_##rm##_f(a, b, c);                                                       \
    }                                                                                              \
    float __nv_double2float_##suffix(double a) {                                                   \
        return __nvvm_d2f_##rm(a);                                                                 \
    }

#define CONVERTED(suffix, rm)                                                                      \
    int __nv_float2int_##suffix(float a) {                                                         \
        return __nvvm_f2i_##rm(a);                                                                 \
    }                                                                                              \
    unsigned int __nv_float2uint_##suffix(float a) {                                               \
        return __nvvm_f2ui_##rm(a);                                                                \
    }                                                                                              \
    long long __nv_float2ll_##suffix(float a) {                                                    \
        return __nvvm_f2ll_##rm(a);                                                                \
    }                                                                                              \
    unsigned long long __nv_float2ull_##suffix(float a) {                                          \
        return __nvvm_f2ull_##rm(a);                                                               \
    }                                                                                              \
    int __nv_double2int_##suffix(double a) {                                                       \
        return __nvvm_d2i_##rm(a);                                                                 \
    }                                                                                              \
    unsigned int __nv_double2uint_##suffix(double a) {                                             \
        return __nvvm_d2ui_##rm(a);                                                                \
    }                                                                                              \
    long long __nv_double2ll_##suffix(double a) {                                                  \
        return __nvvm_d2ll_##rm(a);                                                                \
    }                                                                                              \
    unsigned long long __nv_double2ull_##suffix(double a) {                                        \
        return __nvvm_d2ull_##rm(a);                                                               \
    }                                                                                              \
    float __nv_int2float_##suffix(int a) {                                                         \
        return __nvvm_i2f_##rm(a);                                                                 \
    }                                                                                              \
    float __nv_uint2float_##suffix(unsigned int a) {                                               \
        return __nvvm_ui2f_##rm(a);                                                                \
    }                                                                                              \
    float __nv_ll2float_##suffix(long long a) {                                                    \
        return __nvvm_ll2f_##rm(a);                                                                \
    }                                                                                              \
    float __nv_ull2float_##suffix(unsigned long long a) {                                          \
        return __nvvm_ull2f_##rm(a);                                                               \
    }                                                                                              \
    double __nv_ll2double_##suffix(long long a) {                                                  \
        return __nvvm_ll2d_##rm(a);                                                                \
    }                                                                                              \
    double __nv_ull2double_##suffix(unsigned long long a) {                                        \
        return __nvvm_ull2d_##rm(a);                                                               \
    }

/* Towards zero by the instruction's name: LLVM takes the intrinsics for C's conversions, which are
 * undefined beyond the type, and from integers round to nearest. */
#define TO_ZERO(name, to, from, instruction, to_register, from_register)                           \
    to __nv_##name##_rz(from a) {                                                                  \
        to result;                                                                                 \
        __asm__(instruction " %0, %1;" : "=" to_register(result) : from_register(a));              \
        return result;                                                                             \
    }
ROUNDED(rn, rn)
ROUNDED(rz, rz)
ROUNDED(rd, rm)
ROUNDED(ru, rp)
CONVERTED(rn, rn)
CONVERTED(rd, rm)
CONVERTED(ru, rp)
TO_ZERO(float2int, int, float, "cvt.rzi.s32.f32", "r", "f")
TO_ZERO(float2uint, unsigned int, float, "cvt.rzi.u32.f32", "r", "f")
TO_ZERO(float2ll, long long, float, "cvt.rzi.s64.f32", "l", "f")
TO_ZERO(float2ull, unsigned long long, float, "cvt.rzi.u64.f32", "l", "f")
TO_ZERO(double2int, int, double, "cvt.rzi.s32.f64", "r", "d")
TO_ZERO(double2uint, unsigned int, double, "cvt.rzi.u32.f64", "r", "d")
TO_ZERO(double2ll, long long, double, "cvt.rzi.s64.f64", "l", "d")
TO_ZERO(double2ull, unsigned long long, double, "cvt.rzi.u64.f64", "l", "d")
TO_ZERO(int2float, float, int, "cvt.rz.f32.s32", "f", "r")
TO_ZERO(uint2float, float, unsigned int, "cvt.rz.f32.u32", "f", "r")
TO_ZERO(ll2float, float, long long, "cvt.rz.f32.s64", "f", "l")
TO_ZERO(ull2float, float, unsigned long long, "cvt.rz.f32.u64", "f", "l")
TO_ZERO(ll2double, double, long long, "cvt.rz.f64.s64", "d", "l")
TO_ZERO(ull2double, double, unsigned long long, "cvt.rz.f64.u64", "d", "l")

long long __nv_llrint(double a) {
    return __nvvm_d2ll_rn(a);
}
long long __nv_llrintf(float a) {
    return __nvvm_f2ll_rn(a);
}
long long __nv_llround(double a) {
    return __nvvm_d2ll_rn(__builtin_round(a));
}
long long __nv_llroundf(float a) {
    return __nvvm_f2ll_rn(__builtin_roundf(a));
}

/* ---- half precision ---- */

__extension__ typedef _Float16 half;
float __nv_half2float(unsigned short h) {
    half value;
    __builtin_memcpy(&value, &h, sizeof(value));
    return (float)value;
}
unsigned short __nv_float2half_rn(float a) {
    const half value = (half)a;
    unsigned short bits;
    __builtin_memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* ---- integers ---- */

int __nv_brev(int a) {
    return (int)__builtin_bitreverse32((unsigned int)a);
}
long long __nv_brevll(long long a) {
    return (long long)__builtin_bitreverse64((unsigned long long)a);
}
int __nv_byte_perm(int a, int b, int c) {
    return (int)__nvvm_prmt((unsigned int)a, (unsigned int)b, (unsigned int)c);
}

int __nv_mulhi(int a, int b) {
    return __nvvm_mulhi_i(a, b);
}
unsigned int __nv_umulhi(unsigned int a, unsigned int b) {
    return __nvvm_mulhi_ui(a, b);
}
long long __nv_mul64hi(long long a, long long b) {
    return __nvvm_mulhi_ll(a, b);
}
unsigned long long __nv_umul64hi(unsigned long long a, unsigned long long b) {
    return __nvvm_mulhi_ull(a, b);
}
int __nv_mul24(int a, int b) {
    return __nvvm_mul24_i(a, b);
}
unsigned int __nv_umul24(unsigned int a, unsigned int b) {
    return __nvvm_mul24_ui(a, b);
}

int __nv_sad(int a, int b, int c) {
    return (int)__nvvm_sad_i(a, b, c);
}
unsigned int __nv_usad(unsigned int a, unsigned int b, unsigned int c) {
    return __nvvm_sad_ui(a, b, c);
}
