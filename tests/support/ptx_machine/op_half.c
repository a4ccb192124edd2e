/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic on .f16 and .bf16, one or two at a time. Double holds sums and products of them. */
#include <math.h>

#include "floats.h"
#include "ops.h"

typedef double (*formula)(double a, double b, double c);

static uint16_t round_to(const pm_insn *in, double v) {
    if (in->is_sat) v = v > 0 ? (v < 1 ? v : 1) : 0;
    return in->from.kind == PM_BFLOAT ? pm_double_to_bfloat(v, PM_RN) : pm_double_to_half(v, PM_RN);
}

static double flush(const pm_insn *in, double v) {
    return in->is_ftz && in->from.kind == PM_FLOAT && fabs(v) < 0x1p-14 ? copysign(0, v) : v;
}

static uint16_t apply(const pm_insn *in, formula f, uint64_t a, uint64_t b, uint64_t c) {
    const pm_type t = in->from;
    const double v = f(flush(in, pm_to_double(a, t)), flush(in, pm_to_double(b, t)),
                       flush(in, pm_to_double(c, t)));
    const uint16_t bits = round_to(in, v);
    return in->is_ftz && t.kind == PM_FLOAT && (bits & 0x7c00) == 0 ? bits & 0x8000 : bits;
}

static void run(pm_warp *w, const pm_insn *in, formula f) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a), *b = pm_row(w, in->b), *c = pm_row(w, in->c);
    const bool is_pair = in->aux != 0;
    PM_FOR_LANES(w, {
        uint64_t bits = apply(in, f, a[l] & 0xffff, b[l] & 0xffff, c[l] & 0xffff);
        if (is_pair)
            bits |= (uint64_t)apply(in, f, a[l] >> 16 & 0xffff, b[l] >> 16 & 0xffff,
                                    c[l] >> 16 & 0xffff)
                    << 16;
        d[l] = bits;
    });
}

/* The sum of p and c to 53 bits, the last of which is odd when something was lost: so that rounding
 * it once more is as rounding the sum itself. */
static double add_to_odd(double p, double c) {
    const double s = p + c, b = s - p, lost = (p - (s - b)) + (c - b);
    if (isnan(lost) || lost == 0 || (pm_double_bits(s) & 1) != 0) return s;
    return nextafter(s, lost > 0 ? INFINITY : -INFINITY);
}

static double sum(double a, double b, double c) {
    (void)c;
    return add_to_odd(a, b);
}
static double difference(double a, double b, double c) {
    (void)c;
    return add_to_odd(a, -b);
}
static double product(double a, double b, double c) {
    (void)c;
    return a * b;
}
static double fused(double a, double b, double c) {
    return add_to_odd(a * b, c);
}
static double lesser(double a, double b, double c) {
    (void)c;
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    return a < b || (a == b && signbit(a)) ? a : b;
}
static double greater(double a, double b, double c) {
    (void)c;
    if (isnan(a)) return b;
    if (isnan(b)) return a;
    return a > b || (a == b && !signbit(a)) ? a : b;
}
static double lesser_nan(double a, double b, double c) {
    return isnan(a) || isnan(b) ? NAN : lesser(a, b, c);
}
static double greater_nan(double a, double b, double c) {
    return isnan(a) || isnan(b) ? NAN : greater(a, b, c);
}
static double power_of_2(double a, double b, double c) {
    (void)b;
    (void)c;
    return exp2(a);
}
static double tangent(double a, double b, double c) {
    (void)b;
    (void)c;
    return tanh(a);
}

#define RUN(name, f)                                                                               \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        run(w, in, f);                                                                             \
    }
RUN(add, sum)
RUN(sub, difference)
RUN(mul, product)
RUN(fma_half, fused)
RUN(ex2, power_of_2)
RUN(tanh_half, tangent)
static void min_half(pm_warp *w, const pm_insn *in) {
    run(w, in, in->is_nan ? lesser_nan : lesser);
}
static void max_half(pm_warp *w, const pm_insn *in) {
    run(w, in, in->is_nan ? greater_nan : greater);
}
static void neg(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a), signs = in->aux != 0 ? 0x80008000u : 0x8000u;
    PM_FOR_LANES(w, { d[l] = (a[l] ^ signs) & (signs | (signs - 1)); });
}
static void abs_half(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a), signs = in->aux != 0 ? 0x80008000u : 0x8000u;
    PM_FOR_LANES(w, { d[l] = a[l] & ~signs & (signs | (signs - 1)); });
}

/* `from` is the type of one element. */
static void decode(pm_parser *p, const pm_statement *s, pm_insn *in) {
    const bool is_bfloat = strstr(s->name, ".bf16") != NULL;
    if (s->operand_count < 2 || s->operand_count > 4 || in->rounding > PM_RN) pm_bad_operand(p, s);
    in->from = (pm_type){is_bfloat ? PM_BFLOAT : PM_FLOAT, 2};
    in->aux = strstr(s->name, "16x2") != NULL;
    int32_t *sources[] = {&in->a, &in->b, &in->c};
    in->d = pm_destination(p, s, &s->operands[0]);
    for (unsigned i = 1; i < s->operand_count; i++)
        *sources[i - 1] = pm_source(p, s, &s->operands[i], in->type);
}

#define HALVES "f16 f16x2 bf16 bf16x2"
#define MAY (PM_MAY_ROUND | PM_MAY_FTZ | PM_MAY_SAT)
const pm_op pm_half_ops[] = {
    {"add.*", HALVES, NULL, MAY, add, 0, decode},
    {"sub.*", HALVES, NULL, MAY, sub, 0, decode},
    {"mul.*", HALVES, NULL, MAY, mul, 0, decode},
    {"fma.rn.*", HALVES, NULL, PM_MAY_FTZ | PM_MAY_SAT, fma_half, 0, decode},
    {"min.*", HALVES, NULL, PM_MAY_FTZ | PM_MAY_NAN, min_half, 0, decode},
    {"max.*", HALVES, NULL, PM_MAY_FTZ | PM_MAY_NAN, max_half, 0, decode},
    {"neg.*", HALVES, NULL, PM_MAY_FTZ, neg, 0, decode},
    {"abs.*", HALVES, NULL, PM_MAY_FTZ, abs_half, 0, decode},
    {"ex2.approx.*", "f16 f16x2", NULL, 0, ex2, 0, decode},
    {"ex2.approx.ftz.*", "bf16 bf16x2", NULL, 0, ex2, 0, decode},
    {"tanh.approx.*", HALVES, NULL, 0, tanh_half, 0, decode},
    {0},
};
