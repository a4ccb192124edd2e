/* SPDX-License-Identifier: Apache-2.0 */
/* Moves, choices, comparisons, predicates. */
#include <math.h>

#include "floats.h"
#include "ops.h"

/* ---- predicates: a word of bits in the row's first place ---- */

static void set_bits(pm_warp *w, int32_t row, uint32_t bits) {
    uint64_t *d = pm_row(w, row);
    *d = (uint32_t)((*d & ~(uint64_t)w->mask) | (bits & w->mask));
}

static uint32_t bits_of(const pm_warp *w, int32_t row) {
    return (uint32_t)*pm_row(w, row);
}

#define PREDICATE_OP(name, expression)                                                             \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        const uint32_t a = bits_of(w, in->a), b = bits_of(w, in->b);                               \
        (void)b;                                                                                   \
        set_bits(w, in->d, expression);                                                            \
    }
PREDICATE_OP(and_pred, a &b)
PREDICATE_OP(or_pred, a | b)
PREDICATE_OP(xor_pred, a ^ b)
PREDICATE_OP(not_pred, ~a)
PREDICATE_OP(mov_pred, a)

/* ---- comparisons ---- */

typedef enum comparison {
    EQ,
    NE,
    LT,
    LE,
    GT,
    GE,
    LO,
    LS,
    HI,
    HS,
    EQU,
    NEU,
    LTU,
    LEU,
    GTU,
    GEU,
    NUM,
    NAN_ /* one of them is no number */
} comparison;

#define COMPARE_LOOP(T, read_a, read_b, expression)                                                \
    PM_FOR_LANES(w, {                                                                              \
        const T a = read_a, b = read_b;                                                            \
        bits |= (uint32_t)(expression) << l;                                                       \
    });                                                                                            \
    break

#define COMPARE_INTEGERS(T)                                                                        \
    switch (how) {                                                                                 \
    case EQ: COMPARE_LOOP(T, (T)ra[l], (T)rb[l], a == b);                                          \
    case NE: COMPARE_LOOP(T, (T)ra[l], (T)rb[l], a != b);                                          \
    case LT:                                                                                       \
    case LO: COMPARE_LOOP(T, (T)ra[l], (T)rb[l], a < b);                                           \
    case LE:                                                                                       \
    case LS: COMPARE_LOOP(T, (T)ra[l], (T)rb[l], a <= b);                                          \
    case GT:                                                                                       \
    case HI: COMPARE_LOOP(T, (T)ra[l], (T)rb[l], a > b);                                           \
    default: COMPARE_LOOP(T, (T)ra[l], (T)rb[l], a >= b);                                          \
    }

static bool compare_reals(comparison how, double a, double b) {
    const bool is_unordered = isnan(a) || isnan(b);
    switch (how) {
    case EQ: return a == b;
    case NE: return !is_unordered && a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    case GE: return a >= b;
    case EQU: return is_unordered || a == b;
    case NEU: return a != b;
    case LTU: return !(a >= b);
    case LEU: return !(a > b);
    case GTU: return !(a <= b);
    case GEU: return !(a < b);
    case NUM: return !is_unordered;
    case NAN_: return is_unordered;
    default: abort();
    }
}

static uint32_t compare_integers(pm_warp *w, const pm_insn *in, comparison how) {
    const uint64_t *ra = pm_row(w, in->a), *rb = pm_row(w, in->b);
    const unsigned bytes = in->type.bytes;
    uint32_t bits = 0;
    if (in->type.kind == PM_SIGNED) {
        if (bytes == 2) {
            COMPARE_INTEGERS(int16_t)
        } else if (bytes == 4) {
            COMPARE_INTEGERS(int32_t)
        } else {
            COMPARE_INTEGERS(int64_t)
        }
    } else {
        if (bytes == 2) {
            COMPARE_INTEGERS(uint16_t)
        } else if (bytes == 4) {
            COMPARE_INTEGERS(uint32_t)
        } else {
            COMPARE_INTEGERS(uint64_t)
        }
    }
    return bits;
}

static uint32_t compare(pm_warp *w, const pm_insn *in, comparison how) {
    if (in->type.kind != PM_FLOAT && in->type.kind != PM_BFLOAT)
        return compare_integers(w, in, how);
    const uint64_t *ra = pm_row(w, in->a), *rb = pm_row(w, in->b);
    uint32_t bits = 0;
    PM_FOR_LANES(w, {
        double a = pm_to_double(ra[l], in->type), b = pm_to_double(rb[l], in->type);
        if (in->is_ftz) {
            a = pm_flush(a);
            b = pm_flush(b);
        }
        bits |= (uint32_t)compare_reals(how, a, b) << l;
    });
    return bits;
}

enum { COMPARISON = 31, COMBINE_SHIFT = 8 };

static uint32_t combine(uint32_t bits, uint32_t other, int how) {
    return how == 1 ? bits & other : how == 2 ? bits | other : bits ^ other;
}

/* setp.CMP{.BOOL}.type p{|q}, a, b{, {!}c}: p = (a CMP b) BOOL c, q = !(a CMP b) BOOL c. */
static void setp(pm_warp *w, const pm_insn *in) {
    uint32_t bits = compare(w, in, (comparison)(in->aux & COMPARISON)), negated = ~bits;
    if (in->aux >> COMBINE_SHIFT != 0) {
        const uint32_t other = bits_of(w, in->c) ^ (in->is_negated ? PM_FULL : 0);
        bits = combine(bits, other, in->aux >> COMBINE_SHIFT);
        negated = combine(negated, other, in->aux >> COMBINE_SHIFT);
    }
    set_bits(w, in->d, bits);
    if (in->d2 != PM_NONE) set_bits(w, in->d2, negated);
}

/* set.CMP{.BOOL}.dtype.stype: all ones or 1.0f. */
static void set(pm_warp *w, const pm_insn *in) {
    pm_insn compared = *in;
    compared.type = in->from;
    uint32_t bits = compare(w, &compared, (comparison)(in->aux & COMPARISON));
    if (in->aux >> COMBINE_SHIFT != 0)
        bits = combine(bits, bits_of(w, in->c) ^ (in->is_negated ? PM_FULL : 0),
                       in->aux >> COMBINE_SHIFT);
    uint64_t *d = pm_row(w, in->d);
    const uint64_t yes = in->type.kind == PM_FLOAT ? 0x3f800000u : 0xffffffffu;
    PM_FOR_LANES(w, { d[l] = (bits >> l & 1) != 0 ? yes : 0; });
}

static void decode_comparison(pm_parser *p, const pm_statement *s, pm_insn *in, bool is_set) {
    static const char *const names[] = {"eq",  "ne",  "lt",  "le",  "gt",  "ge",
                                        "lo",  "ls",  "hi",  "hs",  "equ", "neu",
                                        "ltu", "leu", "gtu", "geu", "num", "nan"};
    const char *how = s->name + (is_set ? 4 : 5);
    const int combination = in->aux;
    const pm_type type = is_set ? in->from : in->type;
    const bool is_float = type.kind == PM_FLOAT || type.kind == PM_BFLOAT;
    for (int i = 0; i < (int)(sizeof names / sizeof names[0]); i++)
        if (strncmp(how, names[i], strlen(names[i])) == 0 && how[strlen(names[i])] == '.')
            in->aux = i;
    const int cmp = in->aux;
    const bool is_allowed = is_float               ? cmp <= GE || cmp >= EQU
                            : type.kind == PM_BITS ? cmp <= NE
                            : cmp <= GE            ? true
                                                   : cmp <= HS && type.kind == PM_UNSIGNED;
    if (!is_allowed || s->operand_count != (combination != 0 ? 4u : 3u)) pm_bad_operand(p, s);
    in->aux |= combination << COMBINE_SHIFT;
    const pm_operand *to = &s->operands[0];
    in->d = pm_destination(p, s, to->kind == PM_OPERAND_PAIR ? &to->items[0] : to);
    if (to->kind == PM_OPERAND_PAIR) in->d2 = pm_destination(p, s, &to->items[1]);
    in->a = pm_source(p, s, &s->operands[1], type);
    in->b = pm_source(p, s, &s->operands[2], type);
    if (combination != 0) {
        pm_operand other = s->operands[3];
        in->is_negated = other.is_negated;
        other.is_negated = false;
        in->c = pm_source(p, s, &other, (pm_type){PM_PRED, 1});
    }
}
static void decode_setp(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode_comparison(p, s, in, false);
}
static void decode_set(pm_parser *p, const pm_statement *s, pm_insn *in) {
    decode_comparison(p, s, in, true);
}

/* ---- moves and choices ---- */

static uint64_t all_bits(unsigned bytes) {
    return bytes < 8 ? ((uint64_t)1 << (8 * bytes)) - 1 : ~(uint64_t)0;
}

static void mov(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a), kept = all_bits(in->type.bytes);
    PM_FOR_LANES(w, { d[l] = a[l] & kept; });
}

static void selp(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a), *b = pm_row(w, in->b), kept = all_bits(in->type.bytes);
    const uint32_t bits = bits_of(w, in->c) ^ (in->is_negated ? PM_FULL : 0);
    PM_FOR_LANES(w, { d[l] = ((bits >> l & 1) != 0 ? a[l] : b[l]) & kept; });
}

/* slct.type.{s32,f32}: a if c >= 0. */
static void slct(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const uint64_t *a = pm_row(w, in->a), *b = pm_row(w, in->b), *c = pm_row(w, in->c);
    const uint64_t kept = all_bits(in->type.bytes);
    PM_FOR_LANES(w, {
        const bool is_first =
            in->from.kind == PM_FLOAT ? pm_to_double(c[l], in->from) >= 0 : (int32_t)c[l] >= 0;
        d[l] = (is_first ? a[l] : b[l]) & kept;
    });
}

/* mov.b64 d, {a, b}: the first element is the lowest. */
static void pack(pm_warp *w, const pm_insn *in) {
    uint64_t *d = pm_row(w, in->d);
    const unsigned bytes = in->type.bytes / in->count;
    PM_FOR_LANES(w, {
        uint64_t value = 0;
        for (unsigned i = 0; i < in->count; i++)
            value |= (pm_row(w, in->vector[i])[l] & all_bits(bytes)) << (8 * bytes * i);
        d[l] = value;
    });
}

static void unpack(pm_warp *w, const pm_insn *in) {
    const uint64_t *a = pm_row(w, in->a);
    const unsigned bytes = in->type.bytes / in->count;
    PM_FOR_LANES(w, {
        const uint64_t value = a[l];
        for (unsigned i = 0; i < in->count; i++)
            pm_row(w, in->vector[i])[l] = value >> (8 * bytes * i) & all_bits(bytes);
    });
}

static void decode_mov(pm_parser *p, const pm_statement *s, pm_insn *in) {
    if (s->operand_count != 2) pm_bad_operand(p, s);
    const pm_operand *to = &s->operands[0], *from = &s->operands[1];
    const bool is_unpack = to->kind == PM_OPERAND_VECTOR, is_pack = from->kind == PM_OPERAND_VECTOR;
    if ((is_unpack || is_pack) && (is_unpack == is_pack || in->type.kind != PM_BITS ||
                                   in->type.bytes % (is_unpack ? to : from)->item_count != 0))
        pm_bad_operand(p, s);
    if (is_unpack) {
        in->run = unpack;
        in->a = pm_source(p, s, from, in->type);
        pm_take_vector(p, s, to, in, false);
    } else if (is_pack) {
        in->run = pack;
        in->d = pm_destination(p, s, to);
        pm_take_vector(p, s, from, in, true);
    } else {
        in->d = pm_destination(p, s, to);
        in->a = pm_source(p, s, from, in->type);
    }
}

#define INTEGERS "u16 s16 u32 s32 u64 s64"
#define ALL_TYPES "b16 b32 b64 " INTEGERS " f32 f64"
#define COMPARE(name)                                                                              \
    {"setp." name ".*",                                                                            \
     "b16 b32 b64 " INTEGERS " f16 bf16 f32 f64",                                                  \
     NULL,                                                                                         \
     PM_MAY_COMBINE | PM_MAY_FTZ,                                                                  \
     setp,                                                                                         \
     0,                                                                                            \
     decode_setp},                                                                                 \
    {                                                                                              \
        "set." name ".*.*", "b16 b32 b64 " INTEGERS " f16 bf16 f32 f64", NULL,                     \
            PM_MAY_COMBINE | PM_MAY_FTZ, set, 0, decode_set                                        \
    }

const pm_op pm_logic_ops[] = {
    {"mov.*", ALL_TYPES " b8 u8 s8 f16 bf16", NULL, 0, mov, 0, decode_mov},
    {"mov.pred", NULL, "ds", 0, mov_pred, 0, NULL},
    {"and.pred", NULL, "dss", 0, and_pred, 0, NULL},
    {"or.pred", NULL, "dss", 0, or_pred, 0, NULL},
    {"xor.pred", NULL, "dss", 0, xor_pred, 0, NULL},
    {"not.pred", NULL, "ds", 0, not_pred, 0, NULL},
    {"selp.*", ALL_TYPES, "dssq", 0, selp, 0, NULL},
    {"slct.*.*", ALL_TYPES, "dsss", PM_MAY_FTZ, slct, 0, NULL},
    COMPARE("eq"),
    COMPARE("ne"),
    COMPARE("lt"),
    COMPARE("le"),
    COMPARE("gt"),
    COMPARE("ge"),
    COMPARE("lo"),
    COMPARE("ls"),
    COMPARE("hi"),
    COMPARE("hs"),
    COMPARE("equ"),
    COMPARE("neu"),
    COMPARE("ltu"),
    COMPARE("leu"),
    COMPARE("gtu"),
    COMPARE("geu"),
    COMPARE("num"),
    COMPARE("nan"),
    {0},
};
