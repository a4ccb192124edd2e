/* SPDX-License-Identifier: Apache-2.0 */
/**
 * atom and red: read, change, write. Lanes follow one another, so only the process's own threads
 * can come between; the words are exchanged as those do it.
 */
#include "floats.h"
#include "ops.h"

typedef uint64_t (*change)(uint64_t old, uint64_t b, uint64_t c, pm_type type);

static int64_t as_signed(uint64_t v, pm_type t) {
    return t.bytes == 4 ? (int32_t)v : (int64_t)v;
}

static uint64_t add_one(uint64_t a, uint64_t b, pm_type t) {
    const pm_type half = {t.kind, 2};
    if (t.kind == PM_BFLOAT)
        return pm_double_to_bfloat(pm_to_double(a, half) + pm_to_double(b, half), PM_RN);
    return pm_double_to_half(pm_to_double(a, half) + pm_to_double(b, half), PM_RN);
}

static uint64_t add(uint64_t old, uint64_t b, uint64_t c, pm_type t) {
    (void)c;
    if (t.kind == PM_FLOAT && t.bytes == 4) {
        const float sum = pm_float(old) + pm_float(b);
        return sum == sum ? pm_float_bits(sum) : PM_NAN_32;
    }
    if (t.kind == PM_FLOAT && t.bytes == 8) return pm_double_bits(pm_double(old) + pm_double(b));
    return t.bytes == 2 ? add_one(old, b, t) : old + b;
}
/* In global memory floats that are subnormal count as zeroes, and become such. */
static uint64_t add_flushing(uint64_t old, uint64_t b, uint64_t c, pm_type t) {
    const uint64_t x = pm_float_bits((float)pm_flush((double)pm_float(old)));
    const uint64_t y = pm_float_bits((float)pm_flush((double)pm_float(b)));
    return pm_float_bits((float)pm_flush((double)pm_float(add(x, y, c, t))));
}
static uint64_t add_half_pair(uint64_t old, uint64_t b, uint64_t c, pm_type t) {
    (void)c;
    (void)t;
    const pm_type half = {PM_FLOAT, 2};
    return add_one(old >> 16 & 0xffff, b >> 16 & 0xffff, half) << 16 |
           add_one(old & 0xffff, b & 0xffff, half);
}
static uint64_t add_bfloat_pair(uint64_t old, uint64_t b, uint64_t c, pm_type t) {
    (void)c;
    (void)t;
    const pm_type half = {PM_BFLOAT, 2};
    return add_one(old >> 16 & 0xffff, b >> 16 & 0xffff, half) << 16 |
           add_one(old & 0xffff, b & 0xffff, half);
}

#define CHANGE(name, expression)                                                                   \
    static uint64_t name(uint64_t old, uint64_t b, uint64_t c, pm_type t) {                        \
        (void)old;                                                                                 \
        (void)c;                                                                                   \
        (void)t;                                                                                   \
        return expression;                                                                         \
    }
CHANGE(exch, b)
CHANGE(cas, old == b ? c : old)
CHANGE(and_bits, old &b)
CHANGE(or_bits, old | b)
CHANGE(xor_bits, old ^ b)
CHANGE(inc, old >= b ? 0 : old + 1)
CHANGE(dec, old == 0 || old > b ? b : old - 1)
CHANGE(min_unsigned, old < b ? old : b)
CHANGE(max_unsigned, old > b ? old : b)
CHANGE(min_signed, as_signed(old, t) < as_signed(b, t) ? old : b)
CHANGE(max_signed, as_signed(old, t) > as_signed(b, t) ? old : b)

#define EXCHANGE(T)                                                                                \
    {                                                                                              \
        T old = __atomic_load_n((T *)word, __ATOMIC_SEQ_CST);                                      \
        while (!__atomic_compare_exchange_n((T *)word, &old, (T)f(old, (T)b, (T)c, type), false,   \
                                            __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {                 \
        }                                                                                          \
        return old;                                                                                \
    }
static uint64_t exchange(void *word, change f, uint64_t b, uint64_t c, pm_type type) {
    if (type.bytes == 2) EXCHANGE(uint16_t)
    if (type.bytes == 4) EXCHANGE(uint32_t)
    EXCHANGE(uint64_t)
}

static const change changes[] = {add,          add_half_pair, add_bfloat_pair, exch,      cas,
                                 and_bits,     or_bits,       xor_bits,        inc,       dec,
                                 min_unsigned, max_unsigned,  min_signed,      max_signed};
enum {
    ADD,
    ADD_HALF_PAIR,
    ADD_BFLOAT_PAIR,
    EXCH,
    CAS,
    AND,
    OR,
    XOR,
    INC,
    DEC,
    MIN_UNSIGNED,
    MAX_UNSIGNED,
    MIN_SIGNED,
    MAX_SIGNED
};

static bool is_shared(const pm_warp *w, const void *word) {
    return (uintptr_t)word - (uintptr_t)w->block->shared < w->grid->shared_bytes;
}

static void run(pm_warp *w, const pm_insn *in) {
    const uint64_t *a = pm_row(w, in->a), *b = pm_row(w, in->b), *c = pm_row(w, in->c);
    uint64_t *d = in->d != PM_NONE ? pm_row(w, in->d) : NULL;
    w->budget -= PM_SPIN_COST;
    PM_EACH_LANE(w, l) {
        void *word =
            pm_memory(w, in, l, (pm_space)in->space, a[l] + (uint64_t)in->offset, in->type.bytes);
        if (word == NULL) return;
        if (PM_WINDOW_OF(a[l]) == PM_WINDOW_OF(PM_LOCAL_WINDOW)) {
            pm_fault(w, in, l, PM_ADDRESS_SPACE, "an atomic operation on local memory");
            return;
        }
        change f = changes[in->aux];
        if (f == add && in->type.kind == PM_FLOAT && in->type.bytes == 4 && !is_shared(w, word))
            f = add_flushing;
        const uint64_t old = exchange(word, f, b[l], c[l], in->type);
        if (d != NULL) d[l] = old;
    }
}

/* The count of values: 2 for cas. */
static void decode(pm_parser *p, const pm_statement *s, pm_insn *in) {
    const bool is_red = strncmp(s->name, "red", 3) == 0;
    const unsigned values = in->aux == CAS ? 2 : 1, first = is_red ? 0 : 1;
    if (s->operand_count != first + 1 + values ||
        (in->space != PM_GENERIC && in->space != PM_GLOBAL && in->space != PM_SHARED))
        pm_bad_operand(p, s);
    in->d = is_red ? PM_NONE : pm_destination(p, s, &s->operands[0]);
    pm_take_address(p, s, &s->operands[first], in);
    in->b = pm_source(p, s, &s->operands[first + 1], in->type);
    if (values == 2) in->c = pm_source(p, s, &s->operands[first + 2], in->type);
}

#define BOTH(name, types, number)                                                                  \
    {"atom." name, types, NULL, PM_MAY_ACCESS, run, number, decode}, {                             \
        "red." name, types, NULL, PM_MAY_ACCESS, run, number, decode                               \
    }
const pm_op pm_atomic_ops[] = {
    BOTH("add.*", "u32 s32 u64 f32 f64", ADD),
    BOTH("add.noftz.*", "f16 bf16", ADD),
    BOTH("add.noftz.f16x2", NULL, ADD_HALF_PAIR),
    BOTH("add.noftz.bf16x2", NULL, ADD_BFLOAT_PAIR),
    BOTH("and.*", "b32 b64", AND),
    BOTH("or.*", "b32 b64", OR),
    BOTH("xor.*", "b32 b64", XOR),
    BOTH("inc.u32", NULL, INC),
    BOTH("dec.u32", NULL, DEC),
    BOTH("min.*", "u32 u64", MIN_UNSIGNED),
    BOTH("max.*", "u32 u64", MAX_UNSIGNED),
    BOTH("min.*", "s32 s64", MIN_SIGNED),
    BOTH("max.*", "s32 s64", MAX_SIGNED),
    {"atom.exch.*", "b32 b64", NULL, PM_MAY_ACCESS, run, EXCH, decode},
    {"atom.cas.*", "b16 b32 b64", NULL, PM_MAY_ACCESS, run, CAS, decode},
    {0},
};
