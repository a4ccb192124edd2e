/* SPDX-License-Identifier: Apache-2.0 */
/* Costs of functions that take several instructions, or one of a special class: the common path of
 * functions made for GPUs, without paths for subnormal, huge and invalid arguments. Estimated from
 * the instructions that such functions need, not measured. The device library (nvptxlib) is no
 * reference: libclc's functions compute all paths and select, at two to five times the cost. */
#include <string.h>

#include "compiler/pass/trace/trace_pass.h"

typedef struct row {
    const char *name; /* the first match applies */
    uint8_t integer, multiply, fp32, fp64, special, convert, control;
} row;

static const row rows[] = {
    /* operations: integer division by a reciprocal in floating point, corrected */
    {"udiv", 8, 4, 0, 0, 1, 2, 0},
    {"sdiv", 10, 4, 0, 0, 1, 2, 0},
    {"urem", 7, 4, 0, 0, 1, 2, 0}, /* the product of the quotient is part of the correction */
    {"srem", 9, 4, 0, 0, 1, 2, 0},
    {"udiv64", 28, 34, 0, 0, 1, 2, 3},
    {"sdiv64", 36, 34, 0, 0, 1, 2, 3},
    {"div_constant", 1, 1, 0, 0, 0, 0, 0},
    {"div64_constant", 4, 6, 0, 0, 0, 0, 0},
    {"fdiv", 0, 0, 7, 0, 1, 0, 1},
    {"fdiv_approx", 0, 0, 1, 0, 1, 0, 0},
    {"fdiv64", 4, 0, 1, 8, 1, 0, 1},
    {"frem", 12, 0, 14, 0, 1, 0, 4},
    /* nothing: other names for the same bits, notes for the compiler */
    {"__nv_double2hiint", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_double2loint", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_hiloint2double", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_fabs", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_fabsf", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_float_as_*", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_int_as_*", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_uint_as_*", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_double_as_*", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_longlong_as_*", 0, 0, 0, 0, 0, 0, 0},
    {"__nv_nan*", 0, 0, 0, 0, 0, 0, 0},
    {"llvm.fabs.*", 0, 0, 0, 0, 0, 0, 0},
    {"llvm.assume", 0, 0, 0, 0, 0, 0, 0},
    {"llvm.lifetime.*", 0, 0, 0, 0, 0, 0, 0},
    {"llvm.dbg.*", 0, 0, 0, 0, 0, 0, 0},
    {"llvm.experimental.noalias*", 0, 0, 0, 0, 0, 0, 0},
    {"llvm.invariant.*", 0, 0, 0, 0, 0, 0, 0},
    {"llvm.expect.*", 0, 0, 0, 0, 0, 0, 0},
    /* integers */
    {"__nv_abs", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_llabs", 3, 0, 0, 0, 0, 0, 0},
    {"__nv_max", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_min", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_umax", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_umin", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_llmax", 4, 0, 0, 0, 0, 0, 0},
    {"__nv_llmin", 4, 0, 0, 0, 0, 0, 0},
    {"__nv_ullmax", 4, 0, 0, 0, 0, 0, 0},
    {"__nv_ullmin", 4, 0, 0, 0, 0, 0, 0},
    {"llvm.smax.i64", 4, 0, 0, 0, 0, 0, 0},
    {"llvm.smax.*", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.smin.i64", 4, 0, 0, 0, 0, 0, 0},
    {"llvm.smin.*", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.umax.i64", 4, 0, 0, 0, 0, 0, 0},
    {"llvm.umax.*", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.umin.i64", 4, 0, 0, 0, 0, 0, 0},
    {"llvm.umin.*", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.abs.i64", 3, 0, 0, 0, 0, 0, 0},
    {"llvm.abs.*", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.fsh*.i64", 6, 0, 0, 0, 0, 0, 0},
    {"llvm.fsh*", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_mulhi", 0, 1, 0, 0, 0, 0, 0},
    {"__nv_umulhi", 0, 1, 0, 0, 0, 0, 0},
    {"__nv_mul64hi", 4, 8, 0, 0, 0, 0, 0},
    {"__nv_umul64hi", 4, 8, 0, 0, 0, 0, 0},
    {"__nv_mul24", 0, 1, 0, 0, 0, 0, 0},
    {"__nv_umul24", 0, 1, 0, 0, 0, 0, 0},
    {"__nv_sad", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_usad", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_byte_perm", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_hadd", 2, 0, 0, 0, 0, 0, 0},
    {"__nv_rhadd", 2, 0, 0, 0, 0, 0, 0},
    {"__nv_uhadd", 2, 0, 0, 0, 0, 0, 0},
    {"__nv_urhadd", 2, 0, 0, 0, 0, 0, 0},
    {"__nv_v*", 6, 0, 0, 0, 0, 0, 0},
    {"__nv_popc", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_popcll", 1, 0, 0, 0, 0, 2, 0},
    {"llvm.ctpop.i64", 1, 0, 0, 0, 0, 2, 0},
    {"llvm.ctpop.*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_clz", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_clzll", 3, 0, 0, 0, 0, 2, 0},
    {"llvm.ctlz.i64", 3, 0, 0, 0, 0, 2, 0},
    {"llvm.ctlz.*", 0, 0, 0, 0, 0, 1, 0},
    {"llvm.cttz.i64", 4, 0, 0, 0, 0, 2, 0},
    {"llvm.cttz.*", 1, 0, 0, 0, 0, 1, 0},
    {"__nv_ffs", 2, 0, 0, 0, 0, 1, 0},
    {"__nv_ffsll", 5, 0, 0, 0, 0, 2, 0},
    {"__nv_brev*", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.bitreverse.*", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.bswap.*", 1, 0, 0, 0, 0, 0, 0},
    /* one instruction in floating point */
    {"__nv_fmaf*", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_fmaxf", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_fminf", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_saturatef", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_finitef", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_isnanf", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_isinff", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_fadd_*", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_fsub_*", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_fmul_*", 0, 0, 1, 0, 0, 0, 0},
    {"llvm.fma.f32", 0, 0, 1, 0, 0, 0, 0},
    {"llvm.fmuladd.f32", 0, 0, 1, 0, 0, 0, 0},
    {"llvm.maxnum.f32", 0, 0, 1, 0, 0, 0, 0},
    {"llvm.minnum.f32", 0, 0, 1, 0, 0, 0, 0},
    {"llvm.maximum.f32", 0, 0, 1, 0, 0, 0, 0},
    {"llvm.minimum.f32", 0, 0, 1, 0, 0, 0, 0},
    {"__nv_copysignf", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_signbit*", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_copysign", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.copysign.*", 1, 0, 0, 0, 0, 0, 0},
    {"llvm.is.fpclass.*", 1, 0, 0, 0, 0, 0, 0},
    {"__nv_fma", 0, 0, 0, 1, 0, 0, 0},
    {"__nv_fma_*", 0, 0, 0, 1, 0, 0, 0},
    {"__nv_isnand", 0, 0, 0, 1, 0, 0, 0},
    {"__nv_isinfd", 0, 0, 0, 1, 0, 0, 0},
    {"__nv_isfinited", 0, 0, 0, 1, 0, 0, 0},
    {"__nv_dadd_*", 0, 0, 0, 1, 0, 0, 0},
    {"__nv_dsub_*", 0, 0, 0, 1, 0, 0, 0},
    {"__nv_dmul_*", 0, 0, 0, 1, 0, 0, 0},
    {"llvm.fma.f64", 0, 0, 0, 1, 0, 0, 0},
    {"llvm.fmuladd.f64", 0, 0, 0, 1, 0, 0, 0},
    {"__nv_fmax", 4, 0, 0, 1, 0, 0, 0},
    {"__nv_fmin", 4, 0, 0, 1, 0, 0, 0},
    {"llvm.maxnum.f64", 4, 0, 0, 1, 0, 0, 0},
    {"llvm.minnum.f64", 4, 0, 0, 1, 0, 0, 0},
    {"__nv_floor*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_ceil*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_trunc*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_rint*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_nearbyint*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_llrint*", 0, 0, 0, 0, 0, 1, 0},
    {"llvm.floor.*", 0, 0, 0, 0, 0, 1, 0},
    {"llvm.ceil.*", 0, 0, 0, 0, 0, 1, 0},
    {"llvm.trunc.*", 0, 0, 0, 0, 0, 1, 0},
    {"llvm.rint.*", 0, 0, 0, 0, 0, 1, 0},
    {"llvm.nearbyint.*", 0, 0, 0, 0, 0, 1, 0},
    {"llvm.roundeven.*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_double2*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_float2*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_int2*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_uint2*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_ll2*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_ull2*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_half2*", 0, 0, 0, 0, 0, 1, 0},
    {"llvm.fpto*", 0, 0, 0, 0, 0, 1, 0},
    {"__nv_roundf", 2, 0, 3, 0, 0, 1, 0},
    {"__nv_round", 4, 0, 0, 3, 0, 1, 0},
    {"__nv_llroundf", 2, 0, 3, 0, 0, 1, 0},
    {"__nv_llround", 4, 0, 0, 3, 0, 1, 0},
    {"__nv_fdimf", 1, 0, 2, 0, 0, 0, 0},
    {"__nv_fdim", 2, 0, 0, 2, 0, 0, 0},
    /* approximations in hardware */
    {"__nv_fast_sinf", 0, 0, 1, 0, 1, 0, 0},
    {"__nv_fast_cosf", 0, 0, 1, 0, 1, 0, 0},
    {"__nv_fast_tanf", 0, 0, 2, 0, 3, 0, 0},
    {"__nv_fast_sincosf", 0, 0, 2, 0, 2, 0, 0},
    {"__nv_fast_expf", 0, 0, 3, 0, 1, 0, 0},
    {"__nv_fast_exp10f", 0, 0, 3, 0, 1, 0, 0},
    {"__nv_fast_logf", 0, 0, 3, 0, 1, 0, 0},
    {"__nv_fast_log2f", 0, 0, 2, 0, 1, 0, 0},
    {"__nv_fast_log10f", 0, 0, 3, 0, 1, 0, 0},
    {"__nv_fast_powf", 0, 0, 4, 0, 2, 0, 0},
    {"__nv_fast_fdividef", 0, 0, 1, 0, 1, 0, 0},
    {"__nv_rsqrtf", 0, 0, 2, 0, 1, 0, 0},
    {"__nv_frsqrt_rn", 4, 0, 6, 0, 1, 0, 1},
    {"__nv_rcp64h", 0, 0, 0, 0, 1, 0, 0},
    {"__nv_sqrtf", 2, 0, 5, 0, 1, 0, 1},
    {"__nv_fsqrt_*", 2, 0, 5, 0, 1, 0, 1},
    {"llvm.sqrt.f32", 2, 0, 5, 0, 1, 0, 1},
    {"llvm.nvvm.sqrt.*", 2, 0, 5, 0, 1, 0, 1},
    {"__nv_sqrt", 4, 0, 0, 8, 1, 0, 1},
    {"__nv_dsqrt_*", 4, 0, 0, 8, 1, 0, 1},
    {"llvm.sqrt.f64", 4, 0, 0, 8, 1, 0, 1},
    {"__nv_frcp_*", 2, 0, 3, 0, 1, 0, 1},
    {"__nv_drcp_*", 4, 0, 0, 5, 1, 0, 1},
    {"__nv_fdiv_*", 0, 0, 7, 0, 1, 0, 1},
    {"__nv_ddiv_*", 4, 0, 1, 8, 1, 0, 1},
    {"__nv_rsqrt", 4, 0, 0, 6, 1, 0, 1},
    /* exponentials and logarithms */
    {"__nv_expf", 1, 0, 6, 0, 1, 0, 0},
    {"__nv_exp2f", 0, 0, 3, 0, 1, 0, 0},
    {"__nv_exp10f", 1, 0, 7, 0, 1, 0, 0},
    {"__nv_expm1f", 3, 0, 14, 0, 1, 0, 0},
    {"__nv_logf", 3, 0, 14, 0, 0, 1, 0},
    {"__nv_log2f", 3, 0, 14, 0, 0, 1, 0},
    {"__nv_log10f", 3, 0, 14, 0, 0, 1, 0},
    {"__nv_log1pf", 4, 0, 17, 0, 0, 1, 0},
    {"__nv_powf", 8, 0, 40, 0, 2, 2, 2},
    {"__nv_powif", 6, 0, 12, 0, 0, 0, 6},
    {"__nv_exp", 6, 0, 0, 16, 0, 0, 1},
    {"__nv_exp2", 6, 0, 0, 16, 0, 0, 1},
    {"__nv_exp10", 6, 0, 0, 16, 0, 0, 1},
    {"__nv_expm1", 8, 0, 0, 22, 0, 0, 1},
    {"__nv_log", 12, 0, 0, 26, 1, 1, 1},
    {"__nv_log2", 12, 0, 0, 26, 1, 1, 1},
    {"__nv_log10", 12, 0, 0, 26, 1, 1, 1},
    {"__nv_log1p", 12, 0, 0, 26, 1, 1, 1},
    {"__nv_pow", 20, 0, 0, 60, 1, 2, 3},
    {"__nv_powi", 6, 0, 0, 12, 0, 0, 6},
    /* trigonometry */
    {"__nv_sinf", 4, 0, 10, 0, 0, 2, 1},
    {"__nv_cosf", 4, 0, 10, 0, 0, 2, 1},
    {"__nv_sinpif", 4, 0, 10, 0, 0, 2, 1},
    {"__nv_cospif", 4, 0, 10, 0, 0, 2, 1},
    {"__nv_sincosf", 6, 0, 17, 0, 0, 2, 1},
    {"__nv_sincospif", 6, 0, 17, 0, 0, 2, 1},
    {"__nv_tanf", 4, 0, 14, 0, 1, 2, 1},
    {"__nv_sin", 6, 0, 0, 16, 0, 2, 1},
    {"__nv_cos", 6, 0, 0, 16, 0, 2, 1},
    {"__nv_sinpi", 6, 0, 0, 16, 0, 2, 1},
    {"__nv_cospi", 6, 0, 0, 16, 0, 2, 1},
    {"__nv_sincos", 8, 0, 0, 28, 0, 2, 1},
    {"__nv_sincospi", 8, 0, 0, 28, 0, 2, 1},
    {"__nv_tan", 8, 0, 0, 30, 1, 2, 1},
    {"__nv_asinf", 2, 0, 14, 0, 1, 0, 0},
    {"__nv_acosf", 3, 0, 14, 0, 1, 0, 0},
    {"__nv_atanf", 2, 0, 12, 0, 1, 0, 0},
    {"__nv_atan2f", 5, 0, 22, 0, 1, 0, 1},
    {"__nv_asin", 8, 0, 0, 30, 1, 0, 2},
    {"__nv_acos", 8, 0, 0, 30, 1, 0, 2},
    {"__nv_atan", 4, 0, 0, 30, 1, 0, 1},
    {"__nv_atan2", 10, 0, 0, 40, 1, 0, 2},
    /* hyperbolic functions, roots, others of a class */
    {"__nv_sinhf", 2, 0, 14, 0, 2, 0, 1},
    {"__nv_coshf", 2, 0, 14, 0, 2, 0, 1},
    {"__nv_tanhf", 1, 0, 9, 0, 2, 0, 1},
    {"__nv_cbrtf", 1, 0, 7, 0, 2, 0, 0},
    {"__nv_rcbrtf", 1, 0, 7, 0, 2, 0, 0},
    {"__nv_cbrt", 4, 0, 0, 14, 2, 1, 0},
    {"__nv_hypotf", 4, 0, 8, 0, 1, 0, 0},
    {"__nv_hypot", 8, 0, 0, 14, 1, 0, 0},
    {"__nv_erff", 2, 0, 14, 0, 1, 0, 0},
    {"__nv_fmodf", 12, 0, 14, 0, 1, 0, 4},
    {"__nv_fmod", 24, 0, 0, 14, 1, 0, 6},
    {"__nv_ldexpf", 4, 0, 2, 0, 0, 0, 0},
    {"__nv_scalbnf", 4, 0, 2, 0, 0, 0, 0},
    {"__nv_ldexp", 6, 0, 0, 2, 0, 0, 0},
    {"__nv_scalbn", 6, 0, 0, 2, 0, 0, 0},
    {"__nv_frexp*", 5, 0, 0, 0, 0, 0, 0},
    {"__nv_modff", 1, 0, 2, 0, 0, 1, 0},
    {"__nv_modf", 2, 0, 0, 2, 0, 1, 0},
    {"__nv_ilogb*", 4, 0, 0, 0, 0, 0, 0},
    {"__nv_logb*", 4, 0, 0, 0, 0, 1, 0},
};

static const row other_float = {NULL, 4, 0, 20, 0, 1, 0, 2};
static const row other_double = {NULL, 8, 0, 0, 30, 1, 0, 2};
static const row other_integer = {NULL, 2, 0, 0, 0, 0, 0, 0};

/* `*` stands for any characters; what follows the last one must end the name. */
static bool matches(const char *pattern, const char *name) {
    for (; *pattern && *pattern != '*'; pattern++, name++)
        if (*pattern != *name) return false;
    if (!*pattern) return !*name;
    for (; *name; name++)
        if (matches(pattern + 1, name)) return true;
    return matches(pattern + 1, name);
}

/* Finds a row; clang calls some functions by their C names: tanf for __nv_tanf. */
static const row *find(const char *name, LLVMTypeRef result) {
    static const char prefix[] = "__nv_";
    for (size_t r = 0; r < sizeof rows / sizeof *rows; r++) {
        const char *pattern = rows[r].name;
        if (matches(pattern, name)) return &rows[r];
        if (strncmp(pattern, prefix, sizeof prefix - 1) == 0 && name[0] != '_' &&
            strcmp(pattern + sizeof prefix - 1, name) == 0)
            return &rows[r];
    }
    switch (LLVMGetTypeKind(result)) {
    case LLVMDoubleTypeKind: return &other_double;
    case LLVMFloatTypeKind: return &other_float;
    default: return &other_integer;
    }
}

/* A conversion of a double or of a 64-bit integer. */
static bool is_wide(const char *name, LLVMTypeRef result) {
    static const char *const parts[] = {"double2", "2ll", "2ull", "_ll2", "_ull2", "llrint"};
    if (LLVMGetTypeKind(result) == LLVMDoubleTypeKind) return true;
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
        if (strstr(name, parts[p]) != NULL) return true;
    return false;
}

void wpi_trace_add_function(trace_cost *cost, const char *name, LLVMTypeRef result) {
    const row *found = find(name, result);
    const wp_trace_class conversion = is_wide(name, result) ? WP_TRACE_CONVERT64 : WP_TRACE_CONVERT;
    const struct {
        wp_trace_class class;
        uint8_t count;
    } parts[] = {{WP_TRACE_INT, found->integer},     {WP_TRACE_IMUL, found->multiply},
                 {WP_TRACE_FP32, found->fp32},       {WP_TRACE_FP64, found->fp64},
                 {WP_TRACE_SPECIAL, found->special}, {conversion, found->convert},
                 {WP_TRACE_CONTROL, found->control}};
    for (size_t p = 0; p < sizeof parts / sizeof *parts; p++) {
        cost->count[parts[p].class] = (uint16_t)(cost->count[parts[p].class] + parts[p].count);
        cost->chain[parts[p].class] = (uint16_t)(cost->chain[parts[p].class] + parts[p].count);
    }
}
