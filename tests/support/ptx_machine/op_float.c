/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Arithmetic on .f32 and .f64. Directed rounding is the processor's own. The approximate functions
 * are the C library's: nearer to the truth than a GPU's, so what a program makes of a GPU's errors
 * cannot be seen here. Compiled so that nothing is moved over a change of the rounding mode.
 */
#include <math.h>

#include "floats.h"
#include "ops.h"

/* ---- .f32: .ftz flushes what goes in and out, .sat puts the result into [0, 1] ---- */

static float flush(float v) {
    return fabsf(v) < 0x1p-126f ? copysignf(0, v) : v;
}

static uint64_t finish(const pm_insn *in, float v) {
    if (in->is_sat) v = v > 0 ? (v < 1 ? v : 1) : 0; /* also of NaN */
    if (in->is_ftz) v = flush(v);
    return isnan(v) ? PM_NAN_32 : pm_float_bits(v);
}

#define F32_LOOP(in_of, out_of, expression)                                                        \
    PM_FOR_LANES(w, {                                                                              \
        const float a = in_of(pm_float(ra[l])), b = in_of(pm_float(rb[l])),                        \
                    c = in_of(pm_float(rc[l]));                                                    \
        (void)b;                                                                                   \
        (void)c;                                                                                   \
        const float v = expression;                                                                \
        d[l] = out_of;                                                                             \
    })
#define AS_IT_IS(v) (v)
#define F32(name, expression)                                                                      \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        const uint64_t *ra = pm_row(w, in->a), *rb = pm_row(w, in->b), *rc = pm_row(w, in->c);     \
        if (in->is_ftz || in->is_sat) {                                                            \
            if (in->is_ftz)                                                                        \
                F32_LOOP(flush, finish(in, v), expression);                                        \
            else                                                                                   \
                F32_LOOP(AS_IT_IS, finish(in, v), expression);                                     \
        } else {                                                                                   \
            F32_LOOP(AS_IT_IS, v == v ? pm_float_bits(v) : PM_NAN_32, expression);                 \
        }                                                                                          \
    }

F32(add_f32, a + b)
F32(sub_f32, a - b)
F32(mul_f32, a *b)
F32(fma_f32, fmaf(a, b, c))
F32(div_f32, a / b)
F32(rcp_f32, 1 / a)
F32(sqrt_f32, sqrtf(a))
F32(rsqrt_f32, 1 / sqrtf(a))
F32(sin_f32, sinf(a))
F32(cos_f32, cosf(a))
F32(lg2_f32, log2f(a))
F32(ex2_f32, exp2f(a))
F32(tanh_f32, tanhf(a))

/* By way of 1/b, which is 0 for the largest b. */
static float divide_fast(float a, float b) {
    if (fabsf(b) > 0x1p126f && !isinf(b)) return isinf(a) || isnan(a) ? NAN : copysignf(0, a * b);
    return a / b;
}
F32(div_approx_f32, divide_fast(a, b))

/* The number, where one of them is none; -0 is below +0. */
static float lesser(float a, float b) {
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static float greater(float a, float b) {
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    return a > b || (a == b && !signbit(a)) ? a : b;
}
F32(min_f32, in->is_nan && (isnan(a) || isnan(b)) ? NAN : lesser(a, b))
F32(max_f32, in->is_nan && (isnan(a) || isnan(b)) ? NAN : greater(a, b))

/* ---- .f64 ---- */

#define F64(name, expression)                                                                      \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        const uint64_t *ra = pm_row(w, in->a), *rb = pm_row(w, in->b), *rc = pm_row(w, in->c);     \
        PM_FOR_LANES(w, {                                                                          \
            const double a = pm_double(ra[l]), b = pm_double(rb[l]), c = pm_double(rc[l]);         \
            (void)b;                                                                               \
            (void)c;                                                                               \
            d[l] = pm_double_bits(expression);                                                     \
        });                                                                                        \
    }
F64(add_f64, a + b)
F64(sub_f64, a - b)
F64(mul_f64, a *b)
F64(fma_f64, fma(a, b, c))
F64(div_f64, a / b)
F64(rcp_f64, 1 / a)
F64(sqrt_f64, sqrt(a))
F64(rsqrt_f64, 1 / sqrt(a))

static double lesser_64(double a, double b) {
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static double greater_64(double a, double b) {
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    return a > b || (a == b && !signbit(a)) ? a : b;
}
F64(min_f64, lesser_64(a, b))
F64(max_f64, greater_64(a, b))

/* ---- signs ---- */

#define SIGN_32 0x80000000u
#define SIGN_64 ((uint64_t)1 << 63)
#define BITS(name, expression)                                                                     \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        uint64_t *d = pm_row(w, in->d);                                                            \
        const uint64_t *ra = pm_row(w, in->a), *rb = pm_row(w, in->b);                             \
        PM_FOR_LANES(w, {                                                                          \
            const uint64_t a = ra[l], b = rb[l];                                                   \
            (void)b;                                                                               \
            d[l] = expression;                                                                     \
        });                                                                                        \
    }
/* What the sign is taken from or turned may be subnormal. */
static uint64_t flushed(const pm_insn *in, uint64_t bits) {
    return in->is_ftz ? pm_float_bits(flush(pm_float(bits))) : (uint32_t)bits;
}
BITS(neg_f32, flushed(in, a) ^ SIGN_32)
BITS(abs_f32, flushed(in, a) & ~(uint64_t)SIGN_32)
BITS(neg_f64, a ^ SIGN_64)
BITS(abs_f64, a & ~SIGN_64)
BITS(copysign_f32, (uint32_t)((b & ~(uint64_t)SIGN_32) | (a & SIGN_32)))
BITS(copysign_f64, (b & ~SIGN_64) | (a & SIGN_64))

/* ---- testp: what sort of number ---- */

static bool is_of_sort(int sort, double v, double least) {
    switch (sort) {
    case 0: return !isnan(v) && !isinf(v);
    case 1: return isinf(v);
    case 2: return !isnan(v);
    case 3: return isnan(v);
    case 4: return !isnan(v) && !isinf(v) && fabs(v) >= least;
    default: return v != 0 && fabs(v) < least;
    }
}
static void testp(pm_warp *w, const pm_insn *in) {
    const uint64_t *ra = pm_row(w, in->a);
    uint64_t *d = pm_row(w, in->d);
    const double least = in->type.bytes == 4 ? 0x1p-126 : 0x1p-1022;
    PM_FOR_LANES(w, {
        const bool is_it = is_of_sort(in->aux, pm_to_double(ra[l], in->type), least);
        *d = (*d & ~((uint64_t)1 << l)) | (uint64_t)is_it << l;
    });
}

/* ---- decoding: what must say how it rounds, and what may not ---- */

static void decode_rounding(pm_parser *p, const pm_statement *s, pm_insn *in, unsigned count,
                            bool is_needed) {
    if (s->operand_count != count + 1 || in->rounding > PM_RP ||
        (is_needed && in->rounding == PM_ROUND_NONE))
        pm_bad_operand(p, s);
    int32_t *sources[] = {&in->a, &in->b, &in->c};
    in->d = pm_destination(p, s, &s->operands[0]);
    for (unsigned i = 0; i < count; i++)
        *sources[i] = pm_source(p, s, &s->operands[i + 1], in->type);
    pm_set_rounding(in);
}
static void decode_sum(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode_rounding(p, s, in, 2, false);
}
static void decode_quotient(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode_rounding(p, s, in, 2, true);
}
static void decode_fused(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode_rounding(p, s, in, 3, true);
}
static void decode_root(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode_rounding(p, s, in, 1, true);
}

#define ROUND_32 (PM_MAY_ROUND | PM_MAY_FTZ | PM_MAY_SAT)
#define TESTP(name, number) {"testp." name ".*", "f32 f64", "ps", 0, testp, number, NULL}

const pm_op pm_float_ops[] = {
    {"add.f32", NULL, NULL, ROUND_32, add_f32, 0, decode_sum},
    {"sub.f32", NULL, NULL, ROUND_32, sub_f32, 0, decode_sum},
    {"mul.f32", NULL, NULL, ROUND_32, mul_f32, 0, decode_sum},
    {"fma.f32", NULL, NULL, ROUND_32, fma_f32, 0, decode_fused},
    {"mad.f32", NULL, NULL, ROUND_32, fma_f32, 0, decode_fused},
    {"div.f32", NULL, NULL, PM_MAY_ROUND | PM_MAY_FTZ, div_f32, 0, decode_quotient},
    {"rcp.f32", NULL, NULL, PM_MAY_ROUND | PM_MAY_FTZ, rcp_f32, 0, decode_root},
    {"sqrt.f32", NULL, NULL, PM_MAY_ROUND | PM_MAY_FTZ, sqrt_f32, 0, decode_root},
    {"add.f64", NULL, NULL, PM_MAY_ROUND, add_f64, 0, decode_sum},
    {"sub.f64", NULL, NULL, PM_MAY_ROUND, sub_f64, 0, decode_sum},
    {"mul.f64", NULL, NULL, PM_MAY_ROUND, mul_f64, 0, decode_sum},
    {"fma.f64", NULL, NULL, PM_MAY_ROUND, fma_f64, 0, decode_fused},
    {"mad.f64", NULL, NULL, PM_MAY_ROUND, fma_f64, 0, decode_fused},
    {"div.f64", NULL, NULL, PM_MAY_ROUND, div_f64, 0, decode_quotient},
    {"rcp.f64", NULL, NULL, PM_MAY_ROUND, rcp_f64, 0, decode_root},
    {"sqrt.f64", NULL, NULL, PM_MAY_ROUND, sqrt_f64, 0, decode_root},
    {"div.approx.f32", NULL, "dss", PM_MAY_FTZ, div_approx_f32, 0, NULL},
    {"div.full.f32", NULL, "dss", PM_MAY_FTZ, div_f32, 0, NULL},
    {"rcp.approx.f32", NULL, "ds", PM_MAY_FTZ, rcp_f32, 0, NULL},
    {"rcp.approx.ftz.f64", NULL, "ds", 0, rcp_f64, 0, NULL},
    {"sqrt.approx.f32", NULL, "ds", PM_MAY_FTZ, sqrt_f32, 0, NULL},
    {"rsqrt.approx.f32", NULL, "ds", PM_MAY_FTZ, rsqrt_f32, 0, NULL},
    {"rsqrt.approx.f64", NULL, "ds", 0, rsqrt_f64, 0, NULL},
    {"sin.approx.f32", NULL, "ds", PM_MAY_FTZ, sin_f32, 0, NULL},
    {"cos.approx.f32", NULL, "ds", PM_MAY_FTZ, cos_f32, 0, NULL},
    {"lg2.approx.f32", NULL, "ds", PM_MAY_FTZ, lg2_f32, 0, NULL},
    {"ex2.approx.f32", NULL, "ds", PM_MAY_FTZ, ex2_f32, 0, NULL},
    {"tanh.approx.f32", NULL, "ds", 0, tanh_f32, 0, NULL},
    {"min.f32", NULL, "dss", PM_MAY_FTZ | PM_MAY_NAN, min_f32, 0, NULL},
    {"max.f32", NULL, "dss", PM_MAY_FTZ | PM_MAY_NAN, max_f32, 0, NULL},
    {"min.f64", NULL, "dss", 0, min_f64, 0, NULL},
    {"max.f64", NULL, "dss", 0, max_f64, 0, NULL},
    {"neg.f32", NULL, "ds", PM_MAY_FTZ, neg_f32, 0, NULL},
    {"neg.f64", NULL, "ds", 0, neg_f64, 0, NULL},
    {"abs.f32", NULL, "ds", PM_MAY_FTZ, abs_f32, 0, NULL},
    {"abs.f64", NULL, "ds", 0, abs_f64, 0, NULL},
    {"copysign.f32", NULL, "dss", 0, copysign_f32, 0, NULL},
    {"copysign.f64", NULL, "dss", 0, copysign_f64, 0, NULL},
    TESTP("finite", 0),
    TESTP("infinite", 1),
    TESTP("number", 2),
    TESTP("notanumber", 3),
    TESTP("normal", 4),
    TESTP("subnormal", 5),
    {0},
};
