/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Matrix instructions by the PTX manual: mma, wmma, ldmatrix, stmatrix, movmatrix.
 *
 * Fragments of mma lie as the manual's figures say. Those of wmma are "unspecified" there: here
 * lane l has the elements l * n, l * n + 1 … of the matrix, so that a program that relies on an
 * order fails. Sums are made in double precision in the order of K and rounded once.
 */
#include <math.h>

#include "floats.h"
#include "ops.h"

enum { FRAGMENT_MAX = 16 };

typedef enum number {
    F16,
    BF16,
    TF32,
    F32,
    F64,
    E4M3,
    E5M2,
    S8,
    U8,
    S4,
    U4,
    B1,
    S32,
    NUMBERS
} number;
static const struct {
    const char *name;
    unsigned bits;
} numbers[NUMBERS] = {{"f16", 16}, {"bf16", 16}, {"tf32", 32}, {"f32", 32}, {"f64", 64},
                      {"e4m3", 8}, {"e5m2", 8},  {"s8", 8},    {"u8", 8},   {"s4", 4},
                      {"u4", 4},   {"b1", 1},    {"s32", 32}};

typedef struct operand {
    number type;
    unsigned count; /* registers */
    int32_t rows[FRAGMENT_MAX];
} operand;

struct pm_matrix {
    unsigned m, n, k;
    operand a, b, c, d; /* of loads and stores, and of moves: d */
    bool is_saturated, is_and, is_wmma;
    bool is_a_column, is_b_row; /* of m8n8k4 */
    bool is_row_major, is_transposed;
    char part;      /* of wmma.load and store: 'a', 'b', 'c', 'd' */
    int32_t stride; /* a row, or PM_NONE */
};

#define EACH(lanes, l)                                                                             \
    for (uint32_t left_##l = (lanes), l = 0;                                                       \
         left_##l != 0 && (l = (uint32_t)__builtin_ctz(left_##l), true); left_##l &= left_##l - 1)

/* ---- elements ---- */

static unsigned per_register(number type) {
    return numbers[type].bits < 32 ? 32 / numbers[type].bits : 1;
}

static unsigned element_count(const operand *o) {
    return o->count * per_register(o->type);
}

static uint64_t get_bits(pm_warp *w, unsigned lane, const operand *o, unsigned i) {
    const unsigned bits = numbers[o->type].bits, each = per_register(o->type);
    const uint64_t value = pm_lane_row(w, lane, o->rows[i / each])[lane];
    if (bits >= 32) return bits == 32 ? (uint32_t)value : value;
    return value >> (i % each * bits) & ((1u << bits) - 1);
}

static void set_bits(pm_warp *w, unsigned lane, const operand *o, unsigned i, uint64_t value) {
    const unsigned bits = numbers[o->type].bits, each = per_register(o->type);
    uint64_t *at = pm_lane_row(w, lane, o->rows[i / each]) + lane;
    if (bits >= 32) {
        *at = value;
        return;
    }
    const unsigned shift = i % each * bits;
    const uint64_t mask = (((uint64_t)1 << bits) - 1) << shift;
    *at = (*at & ~mask & 0xffffffffu) | (value << shift & mask);
}

static double small_float(unsigned bits, unsigned mantissa_bits, int bias, bool has_infinity) {
    const unsigned exponent_bits = 7 - mantissa_bits, top = (1u << exponent_bits) - 1;
    const unsigned exponent = bits >> mantissa_bits & top;
    const unsigned mantissa = bits & ((1u << mantissa_bits) - 1);
    double value;
    if (has_infinity && exponent == top)
        value = mantissa != 0 ? (double)NAN : (double)INFINITY;
    else if (!has_infinity && (bits & 0x7f) == 0x7f)
        value = (double)NAN;
    else if (exponent == 0)
        value = ldexp((double)mantissa, 1 - bias - (int)mantissa_bits);
    else
        value = ldexp((double)(mantissa + (1u << mantissa_bits)),
                      (int)exponent - bias - (int)mantissa_bits);
    return (bits & 0x80) != 0 ? -value : value;
}

static double value_of(number type, uint64_t bits) {
    switch (type) {
    case F16: return pm_half_to_double((uint16_t)bits);
    case BF16: return pm_bfloat_to_double((uint16_t)bits);
    case TF32: return (double)pm_float(bits & 0xffffe000u); /* the low bits are not looked at */
    case F32: return (double)pm_float(bits);
    case F64: return pm_double(bits);
    case E4M3: return small_float((unsigned)bits, 3, 7, false);
    case E5M2: return small_float((unsigned)bits, 2, 15, true);
    case S8: return (double)(int8_t)bits;
    case S4: return (double)((int)bits < 8 ? (int)bits : (int)bits - 16);
    case S32: return (double)(int32_t)bits;
    default: return (double)bits;
    }
}

static uint64_t rounded(number type, double value) {
    if (type == F64) return pm_double_bits(value);
    if (type == F16) return isnan(value) ? 0x7fff : pm_double_to_half(value, PM_RN);
    return isnan(value) ? PM_NAN_32 : pm_float_bits((float)value);
}

/* ---- where elements are ---- */

typedef struct place {
    unsigned row, column;
} place;

/* mma.m8n8k4 of halves: figures of "Matrix Fragments for mma.m8n8k4 with .f16". */
static place quarter_a(const struct pm_matrix *x, unsigned lane, unsigned i) {
    if (!x->is_a_column) return (place){lane % 4 + (lane < 16 ? 0 : 4), i};
    return (place){i % 4 + (lane < 16 ? 0 : 4), lane % 4};
}
static place quarter_b(const struct pm_matrix *x, unsigned lane, unsigned i) {
    if (x->is_b_row) return (place){lane % 4, i + (lane < 16 ? 0 : 4)};
    return (place){i, lane % 4 + (lane < 16 ? 0 : 4)};
}
static place quarter_c(number type, unsigned lane, unsigned i) {
    if (type == F16) return (place){lane % 4 + (lane < 16 ? 0 : 4), i};
    return (place){(lane & 1) + (i & 2) + (lane < 16 ? 0 : 4), (i & 4) + (lane & 2) + (i & 1)};
}

/* The other shapes: groupID = lane / 4, threadID_in_group = lane % 4. */
static place place_a(const struct pm_matrix *x, unsigned lane, unsigned i) {
    const unsigned each = per_register(x->a.type), in_register = i % each, r = i / each;
    const unsigned first = lane % 4 * each + in_register;
    if (x->m == 8) return (place){lane / 4, first};
    return (place){r % 2 == 0 ? lane / 4 : lane / 4 + 8, first + r / 2 * 4 * each};
}
static place place_b(const struct pm_matrix *x, unsigned lane, unsigned i) {
    const unsigned each = per_register(x->b.type);
    return (place){lane % 4 * each + i % each + i / each * 4 * each, lane / 4};
}
static place place_c(unsigned lane, unsigned i) {
    return (place){i < 2 ? lane / 4 : lane / 4 + 8, lane % 4 * 2 + (i & 1)};
}

static place in_order(const operand *o, unsigned lane, unsigned i, unsigned rows,
                      unsigned columns) {
    const unsigned index = (lane * element_count(o) + i) % (rows * columns);
    return (place){index / columns, index % columns};
}

/* ---- products ---- */

typedef struct product {
    double a[32][256], b[256][32], c[32][32], d[32][32];
} product;

static void multiply(const struct pm_matrix *x, product *p) {
    for (unsigned i = 0; i < x->m; i++)
        for (unsigned j = 0; j < x->n; j++) {
            double sum = p->c[i][j];
            for (unsigned k = 0; k < x->k; k++) {
                const double a = p->a[i][k], b = p->b[k][j];
                if (x->a.type == B1)
                    sum += (x->is_and ? a != 0 && b != 0 : a != b) ? 1 : 0;
                else
                    sum = fma(a, b, sum); /* of 16 bits and less the product is exact anyway */
            }
            p->d[i][j] = sum;
        }
}

static uint64_t result_bits(const struct pm_matrix *x, double value) {
    if (x->d.type != S32) return rounded(x->d.type, value);
    if (x->is_saturated)
        value = value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
    return (uint32_t)(int64_t)value; /* the sums are far below 2^53 */
}

static bool is_quarters(const struct pm_matrix *x) {
    return !x->is_wmma && x->k == 4 && x->a.type == F16;
}

/* The product of the lanes of `lanes`; places of elements by `x`. */
static void multiply_lanes(pm_warp *w, const struct pm_matrix *x, uint32_t lanes) {
    product *p = calloc(1, sizeof *p);
    if (p == NULL) abort();
    const bool is_quarter = is_quarters(x);
    EACH(lanes, l) {
        const struct pm_matrix *own = w->insn_of[l]->u.matrix;
        for (unsigned i = 0; i < element_count(&own->a); i++) {
            const place at = x->is_wmma   ? in_order(&own->a, l, i, x->m, x->k)
                             : is_quarter ? quarter_a(x, l, i)
                                          : place_a(x, l, i);
            p->a[at.row][at.column] = value_of(x->a.type, get_bits(w, l, &own->a, i));
        }
        for (unsigned i = 0; i < element_count(&own->b); i++) {
            const place at = x->is_wmma   ? in_order(&own->b, l, i, x->k, x->n)
                             : is_quarter ? quarter_b(x, l, i)
                                          : place_b(x, l, i);
            p->b[at.row][at.column] = value_of(x->b.type, get_bits(w, l, &own->b, i));
        }
        for (unsigned i = 0; i < element_count(&own->c); i++) {
            const place at = x->is_wmma   ? in_order(&own->c, l, i, x->m, x->n)
                             : is_quarter ? quarter_c(x->c.type, l, i)
                                          : place_c(l, i);
            p->c[at.row][at.column] = value_of(x->c.type, get_bits(w, l, &own->c, i));
        }
    }
    multiply(x, p);
    EACH(lanes, l) {
        const struct pm_matrix *own = w->insn_of[l]->u.matrix;
        for (unsigned i = 0; i < element_count(&own->d); i++) {
            const place at = x->is_wmma   ? in_order(&own->d, l, i, x->m, x->n)
                             : is_quarter ? quarter_c(x->d.type, l, i)
                                          : place_c(l, i);
            set_bits(w, l, &own->d, i, result_bits(x, p->d[at.row][at.column]));
        }
    }
    free(p);
}

static void complete_mma(pm_warp *w, uint32_t lanes) {
    const struct pm_matrix *x = w->insn_of[__builtin_ctz(lanes)]->u.matrix;
    if (!is_quarters(x)) {
        multiply_lanes(w, x, lanes);
        return;
    }
    for (unsigned q = 0; q < 4; q++)
        if ((lanes & 0x000f000fu << 4 * q) != 0) multiply_lanes(w, x, lanes & 0x000f000fu << 4 * q);
}

/* ---- wmma: loads and stores ---- */

static void move_fragment(pm_warp *w, uint32_t lanes, bool is_store) {
    EACH(lanes, l) {
        const pm_insn *in = w->insn_of[l];
        const struct pm_matrix *x = in->u.matrix;
        const unsigned bits = numbers[x->d.type].bits;
        const unsigned rows = x->part == 'b' ? x->k : x->m, columns = x->part == 'a' ? x->k : x->n;
        const uint64_t base = pm_lane_row(w, l, in->a)[l] + (uint64_t)in->offset;
        const uint64_t stride = x->stride != PM_NONE ? (uint32_t)pm_lane_row(w, l, x->stride)[l]
                                : x->is_row_major    ? columns
                                                     : rows;
        for (unsigned i = 0; i < element_count(&x->d); i++) {
            const place at = in_order(&x->d, l, i, rows, columns);
            const uint64_t index =
                x->is_row_major ? at.row * stride + at.column : at.column * stride + at.row;
            const unsigned bytes = bits < 8 ? 1 : bits / 8;
            uint8_t *memory =
                pm_memory(w, in, l, (pm_space)in->space, base + index * bits / 8, bytes);
            if (memory == NULL) return;
            uint64_t value = 0;
            if (is_store) {
                value = get_bits(w, l, &x->d, i);
                memcpy(memory, &value, bytes);
            } else {
                memcpy(&value, memory, bytes);
                if (bits < 8) value = value >> (index * bits % 8) & ((1u << bits) - 1);
                set_bits(w, l, &x->d, i, value);
            }
        }
    }
}

static void complete_load(pm_warp *w, uint32_t lanes) {
    move_fragment(w, lanes, false);
}

static void complete_store(pm_warp *w, uint32_t lanes) {
    move_fragment(w, lanes, true);
}

/* ---- 8 by 8 matrices of 16 bits ---- */

/* Row r of matrix q begins where lane 8 q + r says. Element (i, j) belongs to lane 4 i + j / 2, or,
 * transposed, (j, i) does. */
static void move_matrices(pm_warp *w, uint32_t lanes, bool is_store) {
    const struct pm_matrix *x = w->insn_of[__builtin_ctz(lanes)]->u.matrix;
    for (unsigned q = 0; q < x->d.count; q++)
        for (unsigned i = 0; i < 8; i++) {
            const unsigned from = 8 * q + i;
            if ((lanes >> from & 1) == 0) continue;
            const pm_insn *in = w->insn_of[from];
            uint16_t *row = pm_memory(w, in, from, (pm_space)in->space,
                                      pm_lane_row(w, from, in->a)[from] + (uint64_t)in->offset, 16);
            if (row == NULL) return;
            for (unsigned j = 0; j < 8; j++) {
                const unsigned lane = x->is_transposed ? 4 * j + i / 2 : 4 * i + j / 2;
                const unsigned element = x->is_transposed ? i % 2 : j % 2;
                if ((lanes >> lane & 1) == 0) continue;
                const int32_t *at = &w->insn_of[lane]->u.matrix->d.rows[q];
                const operand one = {F16, 1, {*at}};
                if (is_store)
                    row[j] = (uint16_t)get_bits(w, lane, &one, element);
                else
                    set_bits(w, lane, &one, element, row[j]);
            }
        }
}

static void complete_ldmatrix(pm_warp *w, uint32_t lanes) {
    move_matrices(w, lanes, false);
}

static void complete_stmatrix(pm_warp *w, uint32_t lanes) {
    move_matrices(w, lanes, true);
}

static void complete_movmatrix(pm_warp *w, uint32_t lanes) {
    uint64_t elements[8][8] = {0};
    EACH(lanes, l) {
        for (unsigned i = 0; i < 2; i++)
            elements[l / 4][l % 4 * 2 + i] = get_bits(w, l, &w->insn_of[l]->u.matrix->a, i);
    }
    EACH(lanes, l) {
        for (unsigned i = 0; i < 2; i++)
            set_bits(w, l, &w->insn_of[l]->u.matrix->d, i, elements[l % 4 * 2 + i][l / 4]);
    }
}

#define SYNC(name)                                                                                 \
    static void name(pm_warp *w, const pm_insn *in) {                                              \
        pm_sync(w, in, complete_##name);                                                           \
    }
SYNC(mma)
SYNC(load)
SYNC(store)
SYNC(ldmatrix)
SYNC(stmatrix)
SYNC(movmatrix)

/* ---- from text ---- */

typedef struct words {
    char text[96];
    const char *items[16];
    unsigned count, at;
} words;

static void split(const char *name, words *out) {
    *out = (words){0};
    (void)snprintf(out->text, sizeof out->text, "%s", name);
    for (char *at = out->text; at != NULL && out->count < 16;) {
        out->items[out->count++] = at;
        at = strchr(at, '.');
        if (at != NULL) *at++ = '\0';
    }
}

static bool take(words *x, const char *word) {
    if (x->at == x->count || strcmp(x->items[x->at], word) != 0) return false;
    x->at++;
    return true;
}

static bool take_number(words *x, number *out) {
    for (unsigned i = 0; x->at < x->count && i < NUMBERS; i++)
        if (take(x, numbers[i].name)) {
            *out = (number)i;
            return true;
        }
    return false;
}

static bool take_shape(words *x, struct pm_matrix *out) {
    unsigned used = 0;
    if (x->at == x->count) return false;
    const char *text = x->items[x->at++];
    const int found = sscanf(text, "m%un%uk%u%n", &out->m, &out->n, &out->k, (int *)&used);
    return found == 3 && text[used] == '\0' && out->m <= 32 && out->n <= 32 && out->k <= 256;
}

static bool take_space(words *x, pm_insn *in) {
    in->space = PM_GENERIC;
    if (take(x, "global")) in->space = PM_GLOBAL;
    if (take(x, "shared") || take(x, "shared::cta")) in->space = PM_SHARED;
    return true;
}

static void take_registers(pm_parser *p, const pm_statement *s, unsigned index, operand *out,
                           bool is_destination) {
    if (index >= s->operand_count) pm_bad_operand(p, s);
    const pm_operand *o = &s->operands[index];
    const bool is_list = o->kind == PM_OPERAND_VECTOR;
    out->count = is_list ? o->item_count : 1;
    if (out->count == 0 || out->count > FRAGMENT_MAX) pm_bad_operand(p, s);
    const pm_type type = {numbers[out->type].bits == 64 || out->type == F32 ? PM_FLOAT : PM_BITS,
                          numbers[out->type].bits == 64 ? 8 : 4};
    for (unsigned i = 0; i < out->count; i++) {
        const pm_operand *item = is_list ? &o->items[i] : o;
        out->rows[i] = is_destination ? pm_destination(p, s, item) : pm_source(p, s, item, type);
    }
}

/* Elements that a lane must have: all of the matrix among 32 lanes, or wmma's repeated halves. */
static bool has_elements(const struct pm_matrix *x, const operand *o, unsigned rows,
                         unsigned columns, bool is_factor) {
    if (is_quarters(x)) return element_count(o) == (is_factor ? 4u : 8u);
    if (x->is_wmma && is_factor && o->type == F16) return element_count(o) == 16;
    return element_count(o) * PM_LANES == rows * columns;
}

static bool decode_mma(pm_parser *p, const pm_statement *s, words *name, struct pm_matrix *x,
                       pm_insn *in) {
    in->run = mma;
    bool has_bits = false;
    if (x->is_wmma && ((x->is_and = take(name, "and")) || take(name, "xor"))) {
        if (!take(name, "popc")) return false;
        has_bits = true;
    }
    if (!take(name, "sync") || !take(name, "aligned")) return false;
    if (!x->is_wmma && !take_shape(name, x)) return false;
    x->is_a_column = take(name, "col");
    if (!x->is_a_column && !take(name, "row")) return false;
    x->is_b_row = take(name, "row");
    if (!x->is_b_row && !take(name, "col")) return false;
    if (x->is_wmma && !take_shape(name, x)) return false;
    x->is_saturated = take(name, "satfinite");
    number types[4];
    unsigned count = 0;
    while (count < 4 && take_number(name, &types[count]))
        count++;
    if (count == 2) { /* wmma of halves: D and C */
        types[3] = types[1];
        types[1] = types[2] = F16;
    } else if (count != 4) {
        return false;
    }
    x->d.type = types[0];
    x->a.type = types[1];
    x->b.type = types[2];
    x->c.type = types[3];
    if (take(name, "satfinite")) x->is_saturated = true;
    (void)take(name, "rn");
    if (!x->is_wmma && ((x->is_and = take(name, "and")) || take(name, "xor"))) {
        if (!take(name, "popc")) return false;
        has_bits = true;
    }
    if (has_bits != (x->a.type == B1)) return false;
    if (name->at != name->count || s->operand_count != 4) return false;
    take_registers(p, s, 0, &x->d, true);
    take_registers(p, s, 1, &x->a, false);
    take_registers(p, s, 2, &x->b, false);
    take_registers(p, s, 3, &x->c, false);
    const bool is_column_row = !x->is_wmma && !is_quarters(x) && (x->is_a_column || x->is_b_row);
    return !is_column_row && has_elements(x, &x->a, x->m, x->k, true) &&
           has_elements(x, &x->b, x->k, x->n, true) && has_elements(x, &x->c, x->m, x->n, false) &&
           has_elements(x, &x->d, x->m, x->n, false);
}

static bool decode_wmma(pm_parser *p, const pm_statement *s, words *name, struct pm_matrix *x,
                        pm_insn *in) {
    x->is_wmma = true;
    if (take(name, "mma")) return decode_mma(p, s, name, x, in);
    const bool is_store = take(name, "store");
    if (!is_store && !take(name, "load")) return false;
    const char *part = name->at < name->count ? name->items[name->at++] : "";
    x->part = part[0];
    if (strchr(is_store ? "d" : "abc", x->part) == NULL || part[1] != '\0') return false;
    if (!take(name, "sync") || !take(name, "aligned")) return false;
    x->is_row_major = take(name, "row");
    if (!x->is_row_major && !take(name, "col")) return false;
    if (!take_shape(name, x) || !take_space(name, in) || !take_number(name, &x->d.type) ||
        name->at != name->count)
        return false;
    if (s->operand_count < 2 || s->operand_count > 3) return false;
    take_registers(p, s, is_store ? 1 : 0, &x->d, !is_store);
    pm_take_address(p, s, &s->operands[is_store ? 0 : 1], in);
    x->stride = PM_NONE;
    if (s->operand_count == 3)
        x->stride = pm_source(p, s, &s->operands[2], (pm_type){PM_UNSIGNED, 4});
    in->run = is_store ? store : load;
    return has_elements(x, &x->d, x->part == 'b' ? x->k : x->m, x->part == 'a' ? x->k : x->n,
                        x->part == 'a' || x->part == 'b');
}

static bool decode_rows(pm_parser *p, const pm_statement *s, words *name, struct pm_matrix *x,
                        pm_insn *in, bool is_store) {
    if (!take(name, "sync") || !take(name, "aligned") || !take(name, "m8n8")) return false;
    const unsigned count = take(name, "x1") ? 1 : take(name, "x2") ? 2 : take(name, "x4") ? 4 : 0;
    x->is_transposed = take(name, "trans");
    if (!take_space(name, in) || !take(name, "b16") || name->at != name->count) return false;
    if (in->space == PM_GLOBAL || s->operand_count != 2) return false;
    x->d.type = F16;
    take_registers(p, s, is_store ? 1 : 0, &x->d, !is_store);
    pm_take_address(p, s, &s->operands[is_store ? 0 : 1], in);
    in->run = is_store ? stmatrix : ldmatrix;
    return count != 0 && x->d.count == count;
}

static bool decode_movmatrix(pm_parser *p, const pm_statement *s, words *name, struct pm_matrix *x,
                             pm_insn *in) {
    const bool is_good = take(name, "sync") && take(name, "aligned") && take(name, "m8n8") &&
                         take(name, "trans") && take(name, "b16") && name->at == name->count;
    if (!is_good || s->operand_count != 2) return false;
    x->d.type = x->a.type = F16;
    take_registers(p, s, 0, &x->d, true);
    take_registers(p, s, 1, &x->a, false);
    in->run = movmatrix;
    return x->d.count == 1 && x->a.count == 1;
}

bool pm_decode_matrix(pm_parser *p, const pm_statement *s, pm_insn *in) {
    words name;
    split(s->name, &name);
    struct pm_matrix x = {0};
    *in = (pm_insn){.guard = -1, .count = 1};
    in->a = in->b = in->c = in->d2 = PM_NONE;
    bool is_known;
    if (take(&name, "mma"))
        is_known = decode_mma(p, s, &name, &x, in);
    else if (take(&name, "wmma"))
        is_known = decode_wmma(p, s, &name, &x, in);
    else if (take(&name, "ldmatrix"))
        is_known = decode_rows(p, s, &name, &x, in, false);
    else if (take(&name, "stmatrix"))
        is_known = decode_rows(p, s, &name, &x, in, true);
    else
        is_known = take(&name, "movmatrix") && decode_movmatrix(p, s, &name, &x, in);
    if (!is_known) return false;
    struct pm_matrix *kept = pm_module_alloc(p->module, sizeof *kept);
    *kept = x;
    in->u.matrix = kept;
    in->e = pm_constant_row(p, PM_FULL);
    return true;
}
