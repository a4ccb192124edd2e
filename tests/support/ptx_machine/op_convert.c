/* SPDX-License-Identifier: Apache-2.0 */
/* cvt: every number as a whole or a real one, then as the type that is asked for. */
#include <math.h>

#include "floats.h"
#include "ops.h"

static bool is_real(pm_type t) {
    return t.kind == PM_FLOAT || t.kind == PM_BFLOAT;
}

/* ---- whole numbers ---- */

static uint64_t extend(uint64_t bits, pm_type t) {
    const unsigned unused = 64 - 8 * t.bytes;
    return t.kind == PM_SIGNED ? (uint64_t)((int64_t)(bits << unused) >> unused)
                               : bits << unused >> unused;
}

static int64_t least_of(pm_type t) {
    return t.kind == PM_SIGNED ? -1 - (int64_t)((((uint64_t)1 << (8 * t.bytes - 1)) - 1)) : 0;
}
static uint64_t largest_of(pm_type t) {
    const unsigned bits = 8 * t.bytes - (t.kind == PM_SIGNED ? 1 : 0);
    return ~(uint64_t)0 >> (64 - bits);
}

static uint64_t clamp(uint64_t value, bool is_signed, pm_type to) {
    const bool is_negative = is_signed && (int64_t)value < 0;
    if (is_negative) return (int64_t)value < least_of(to) ? (uint64_t)least_of(to) : value;
    return value > largest_of(to) ? largest_of(to) : value;
}

/* A register that is wider than the type gets the sign, too. */
static void whole_to_whole(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a);
    PM_FOR_LANES(w, {
        uint64_t v = extend(a[l], in->from);
        if (in->is_sat) v = clamp(v, in->from.kind == PM_SIGNED, in->type);
        d[l] = extend(v, in->type);
    });
}

/* ---- whole to real: rounded as the instruction says ---- */

static void whole_to_real(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a);
    const bool is_signed = in->from.kind == PM_SIGNED;
    PM_FOR_LANES(w, {
        const uint64_t v = extend(a[l], in->from);
        if (in->type.bytes == 8)
            d[l] = pm_double_bits(is_signed ? (double)(int64_t)v : (double)v);
        else
            d[l] = pm_float_bits(is_signed ? (float)(int64_t)v : (float)v);
    });
}

/* Numbers that double does not hold are beyond .f16; for .bf16 the lost bits are kept as one. */
static double as_double(uint64_t v, bool is_signed) {
    const bool is_negative = is_signed && (int64_t)v < 0;
    uint64_t magnitude = is_negative ? 0 - v : v;
    if (magnitude >> 53 != 0)
        magnitude = (magnitude >> 12 << 12) | (uint64_t)((magnitude & 0xfff) != 0) << 12;
    return is_negative ? -(double)magnitude : (double)magnitude;
}

static void whole_to_half(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a);
    PM_FOR_LANES(w, {
        const double v = as_double(extend(a[l], in->from), in->from.kind == PM_SIGNED);
        d[l] = in->type.kind == PM_BFLOAT ? pm_double_to_bfloat(v, in->rounding)
                                          : pm_double_to_half(v, in->rounding);
    });
}

/* ---- real to whole ---- */

static double round_whole(double v, unsigned rounding) {
    switch (rounding) {
    case PM_RNI: return nearbyint(v);
    case PM_RZI: return trunc(v);
    case PM_RMI: return floor(v);
    case PM_RPI: return ceil(v);
    default: return v;
    }
}

/* What is no number: 0, or the top bit where one side has 64 bits. */
static uint64_t whole_of(double v, pm_type from, pm_type to) {
    if (isnan(v)) {
        if (from.bytes != 8 && to.bytes != 8) return 0;
        return extend((uint64_t)1 << (8 * to.bytes - 1), to);
    }
    if (to.kind == PM_SIGNED) {
        if (v <= (double)least_of(to)) return (uint64_t)least_of(to);
        if (v >= ldexp(1, (int)(8 * to.bytes) - 1)) return largest_of(to);
        return (uint64_t)(int64_t)v;
    }
    if (v <= 0) return 0;
    return v >= ldexp(1, (int)(8 * to.bytes)) ? largest_of(to) : (uint64_t)v;
}

static void real_to_whole(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a);
    PM_FOR_LANES(w, {
        double v = pm_to_double(a[l], in->from);
        if (in->is_ftz) v = pm_flush(v);
        d[l] = whole_of(round_whole(v, in->rounding), in->from, in->type);
    });
}

/* ---- real to real ---- */

static uint64_t bits_as(double v, pm_type to, pm_rounding rounding) {
    if (to.kind == PM_BFLOAT) return pm_double_to_bfloat(v, rounding);
    if (to.bytes == 2) return pm_double_to_half(v, rounding);
    if (to.bytes == 8) return pm_double_bits(v);
    return isnan(v) ? PM_NAN_32 : pm_float_bits((float)v);
}

static void real_to_real(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a);
    PM_FOR_LANES(w, {
        double v = pm_to_double(a[l], in->from);
        if (in->is_ftz && in->from.bytes == 4) v = pm_flush(v);
        v = round_whole(v, in->rounding);
        if (in->is_sat) v = v > 0 ? (v < 1 ? v : 1) : 0;
        if (in->is_ftz && in->type.bytes == 4) v = pm_flush(v);
        d[l] = bits_as(v, in->type, in->rounding);
    });
}

/* cvt.rn.f16x2.f32 d, a, b: a goes up, b down. */
static void real_to_pair(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a), *b = pm_row(w, in->b);
    const pm_type half = {in->aux != 0 ? PM_BFLOAT : PM_FLOAT, 2};
    PM_FOR_LANES(w, {
        d[l] = bits_as((double)pm_float(a[l]), half, in->rounding) << 16 |
               bits_as((double)pm_float(b[l]), half, in->rounding);
    });
}

/* ---- decoding ---- */

static bool rounds_to_real(unsigned rounding) {
    return rounding >= PM_RN && rounding <= PM_RP;
}

static bool is_legal(const pm_insn *in) {
    const bool to_real = is_real(in->type), from_real = is_real(in->from);
    if (from_real && !to_real) return in->rounding >= PM_RNI;
    if (!from_real && to_real) return rounds_to_real(in->rounding);
    if (!to_real) return in->rounding == PM_ROUND_NONE && !in->is_ftz;
    if (in->type.bytes < in->from.bytes) return rounds_to_real(in->rounding);
    if (in->type.bytes == in->from.bytes) return !rounds_to_real(in->rounding);
    return in->rounding == PM_ROUND_NONE;
}

static void decode(pm_parser *p, const pm_statement *s, pm_insn *in) {
    if (s->operand_count != 2 || !is_legal(in)) pm_bad_operand(p, s);
    const bool to_real = is_real(in->type), from_real = is_real(in->from);
    if (from_real)
        in->run = to_real ? real_to_real : real_to_whole;
    else
        in->run = !to_real ? whole_to_whole : in->type.bytes == 2 ? whole_to_half : whole_to_real;
    in->d = pm_destination(p, s, &s->operands[0]);
    in->a = pm_source(p, s, &s->operands[1], in->from);
    if (in->type.bytes > 2) pm_set_rounding(in); /* halves are rounded by hand */
}

#define TYPES "u8 s8 u16 s16 u32 s32 u64 s64 f16 bf16 f32 f64"
const pm_op pm_convert_ops[] = {
    {"cvt.*.*", TYPES, NULL, PM_MAY_ROUND | PM_MAY_FTZ | PM_MAY_SAT, NULL, 0, decode},
    {"cvt.f16x2.f32", NULL, "dss", PM_MAY_ROUND, real_to_pair, 0, NULL},
    {"cvt.bf16x2.f32", NULL, "dss", PM_MAY_ROUND, real_to_pair, 1, NULL},
    {0},
};
