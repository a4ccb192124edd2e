/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix instructions: mma, wmma, ldmatrix, stmatrix, movmatrix.
 *
 * The operands of a lane are stored to memory of its own, and `__wp_matrix` performs the operation
 * for the warp (base/matrix_abi.h). Loads and stores of matrices are accesses of each lane, so that
 * checks and traces see them:
 *
 *     ldmatrix      the rows' addresses are exchanged, each lane loads its word; .trans exchanges
 *                   the words then
 *     wmma.load     PTX leaves the layout of wmma's fragments open: here it is mma's
 */
#include <stdlib.h>
#include <string.h>

#include "base/matrix_abi.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/ptx/ptx.h"

static const wpi_ptx_type word = {WP_PTX_BITS, 32, 1}, wide = {WP_PTX_BITS, 64, 1};

/* ---- the lane's registers in memory ---- */

/* One array serves all matrix operations of a function. */
static LLVMValueRef memory_of(wpi_ptx *t) {
    if (t->matrix_words) return t->matrix_words;
    LLVMPositionBuilderBefore(t->b, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(t->function)));
    t->matrix_words =
        LLVMBuildAlloca(t->b, LLVMArrayType2(t->c->i32, WP_MATRIX_WORDS_MAX), "matrix");
    LLVMSetAlignment(t->matrix_words, 8);
    wpi_lower_note(t->c, t->matrix_words, WP_REGISTERS_METADATA);
    LLVMPositionBuilderBefore(t->b, t->anchor);
    return t->matrix_words;
}

static LLVMValueRef at_word(wpi_ptx *t, unsigned index) {
    LLVMValueRef memory = memory_of(t), offset = wpi_const64(t->c, (uint64_t)index * 4);
    return LLVMBuildGEP2(t->b, t->c->i8, memory, &offset, 1, "");
}

static void keep(wpi_ptx *t, unsigned index, LLVMValueRef value) {
    LLVMSetAlignment(LLVMBuildStore(t->b, value, at_word(t, index)), 4);
}

static LLVMValueRef kept(wpi_ptx *t, unsigned index, LLVMTypeRef type) {
    LLVMValueRef value = LLVMBuildLoad2(t->b, type, at_word(t, index), "");
    LLVMSetAlignment(value, 4);
    return value;
}

static void perform(wpi_ptx *t, const wp_matrix_shape *shape) {
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef args[2] = {memory_of(t), wpi_const64(t->c, wpi_matrix_pack(shape))};
    wpi_ptx_call(t, "__wp_matrix", t->c->none, args, 2);
}

/* ---- operands ---- */

static bool is_wide(uint32_t type) {
    return type == WP_MATRIX_F64;
}

static unsigned width_of(uint32_t type) {
    return is_wide(type) ? 2 : 1;
}

/* Fails unless operand `index` has as many registers as `words` fill. */
static void expect_words(wpi_ptx *t, unsigned index, uint32_t type, uint32_t words) {
    if (wpi_ptx_length(t, index) * width_of(type) != words)
        wpi_ptx_fail(t, "an operand has another number of registers than its shape and type need");
}

static void keep_operand(wpi_ptx *t, unsigned index, uint32_t type, unsigned first) {
    for (unsigned i = 0; i < wpi_ptx_length(t, index) && t->status == WP_STATUS_OK; i++)
        keep(t, first + i * width_of(type),
             wpi_ptx_read_operand(t, wpi_ptx_item_at(t, index, i), is_wide(type) ? wide : word));
}

static void write_result(wpi_ptx *t, unsigned index, uint32_t type, unsigned first) {
    for (unsigned i = 0; i < wpi_ptx_length(t, index) && t->status == WP_STATUS_OK; i++)
        wpi_ptx_write_operand(
            t, wpi_ptx_item_at(t, index, i), is_wide(type) ? wide : word,
            kept(t, first + i * width_of(type), is_wide(type) ? t->c->i64 : t->c->i32));
}

/* ---- modifiers ---- */

static const char *const type_names[WP_MATRIX_TYPE_COUNT] = {
    "f16", "bf16", "tf32", "f32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1", "s32"};

/* The leftmost type not taken yet; COUNT if there is none. */
static uint32_t type_take(wpi_ptx *t) {
    for (unsigned i = 1; i < t->s->part_count; i++) {
        if (t->s->taken & 1u << i) continue;
        for (uint32_t type = 0; type < WP_MATRIX_TYPE_COUNT; type++)
            if (strcmp(t->s->parts[i], type_names[type]) == 0) {
                t->s->taken |= 1u << i;
                return type;
            }
    }
    return WP_MATRIX_TYPE_COUNT;
}

/* m16n8k16 */
static bool shape_take(wpi_ptx *t, wp_matrix_shape *s) {
    for (unsigned i = 1; i < t->s->part_count; i++) {
        const char *part = t->s->parts[i];
        if (part[0] != 'm' || part[1] < '0' || part[1] > '9') continue;
        char *end;
        s->m = (uint32_t)strtoul(part + 1, &end, 10);
        if (*end != 'n') return false;
        s->n = (uint32_t)strtoul(end + 1, &end, 10);
        s->k = *end == 'k' ? (uint32_t)strtoul(end + 1, &end, 10) : 0;
        t->s->taken |= 1u << i;
        return *end == '\0';
    }
    return false;
}

static void take_sync(wpi_ptx *t) {
    bool is_sync = wpi_ptx_has(t, "sync");
    if (!is_sync || !wpi_ptx_has(t, "aligned")) wpi_ptx_fail(t, NULL);
}

/* ---- the products that exist ---- */

typedef struct product_row {
    uint8_t m, n;
    uint16_t depths[3];
    uint8_t a;     /* and b; of integers, of either sign */
    bool has_half; /* C and D may be halves */
} product_row;

static const product_row mma_rows[] = {
    {16, 8, {8, 16}, WP_MATRIX_F16, true},     {16, 8, {8, 16}, WP_MATRIX_BF16, false},
    {16, 8, {4, 8}, WP_MATRIX_TF32, false},    {16, 8, {32}, WP_MATRIX_E4M3, true},
    {16, 8, {16, 32}, WP_MATRIX_S8, false},    {8, 8, {16}, WP_MATRIX_S8, false},
    {16, 8, {32, 64}, WP_MATRIX_S4, false},    {8, 8, {32}, WP_MATRIX_S4, false},
    {16, 8, {128, 256}, WP_MATRIX_B1, false},  {8, 8, {128}, WP_MATRIX_B1, false},
    {16, 8, {4, 8, 16}, WP_MATRIX_F64, false}, {8, 8, {4}, WP_MATRIX_F64, false},
};

/* mma.sp: half of A is stored. */
static const product_row sparse_rows[] = {
    {16, 8, {16, 32}, WP_MATRIX_F16, true},  {16, 8, {16, 32}, WP_MATRIX_BF16, false},
    {16, 8, {8, 16}, WP_MATRIX_TF32, false}, {16, 8, {64}, WP_MATRIX_E4M3, true},
    {16, 8, {32, 64}, WP_MATRIX_S8, false},  {16, 8, {64, 128}, WP_MATRIX_S4, false},
};

static const product_row wmma_rows[] = {
    {16, 16, {16}, WP_MATRIX_F16, true},  {32, 8, {16}, WP_MATRIX_F16, true},
    {8, 32, {16}, WP_MATRIX_F16, true},   {16, 16, {16}, WP_MATRIX_BF16, false},
    {32, 8, {16}, WP_MATRIX_BF16, false}, {8, 32, {16}, WP_MATRIX_BF16, false},
    {16, 16, {8}, WP_MATRIX_TF32, false}, {16, 16, {16}, WP_MATRIX_S8, false},
    {32, 8, {16}, WP_MATRIX_S8, false},   {8, 32, {16}, WP_MATRIX_S8, false},
    {8, 8, {32}, WP_MATRIX_S4, false},    {8, 8, {128}, WP_MATRIX_B1, false},
    {8, 8, {4}, WP_MATRIX_F64, false},
};

/* Types of one row: signed for unsigned, E4M3 for E5M2. */
static uint32_t family_of(uint32_t type) {
    switch (type) {
    case WP_MATRIX_E5M2: return WP_MATRIX_E4M3;
    case WP_MATRIX_U8: return WP_MATRIX_S8;
    case WP_MATRIX_U4: return WP_MATRIX_S4;
    default: return type;
    }
}

static const product_row *row_of(const product_row *rows, size_t count, const wp_matrix_shape *s,
                                 uint32_t type) {
    for (size_t i = 0; i < count; i++) {
        if (rows[i].m != s->m || rows[i].n != s->n || rows[i].a != family_of(type)) continue;
        for (int d = 0; d < 3; d++)
            if (rows[i].depths[d] == s->k && s->k != 0) return &rows[i];
    }
    return NULL;
}

#define COUNT_OF(rows) (sizeof(rows) / sizeof *(rows))

static bool is_result_type(const product_row *row, uint32_t type) {
    switch (row->a) {
    case WP_MATRIX_F64: return type == WP_MATRIX_F64;
    case WP_MATRIX_S8:
    case WP_MATRIX_S4:
    case WP_MATRIX_B1: return type == WP_MATRIX_S32;
    default: return type == WP_MATRIX_F32 || (row->has_half && type == WP_MATRIX_F16);
    }
}

/* Words of a lane's fragment of A or B: wmma's of halves have each element twice or more often. */
static uint32_t operand_words(const wp_matrix_shape *s, bool is_wmma, bool is_a) {
    if (is_wmma && s->a == WP_MATRIX_F16) return 8;
    return wpi_matrix_words(is_a ? s->a : s->b, is_a ? s->m : s->k, is_a ? s->k : s->n);
}

/* The selector: lanes of a group of four whose word of operand 4 counts. */
static void take_selector(wpi_ptx *t, wp_matrix_shape *s) {
    const uint32_t bits = wpi_matrix_bits(s->a);
    const uint32_t row_bits = bits == 32 ? 2 * s->k : bits == 4 ? s->k / 2 : s->k;
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, 5);
    if (o->kind == WP_PTX_OPERAND_INTEGER && o->value < 64 / row_bits)
        s->count = (uint32_t)o->value;
    else
        wpi_ptx_fail(t,
                     "the selector of a sparse product is no constant, or too large for its shape");
}

static void multiply(wpi_ptx *t, wp_matrix_shape *s) {
    const uint32_t c_words = wpi_matrix_words(s->c, s->m, s->n);
    const uint32_t d_words = wpi_matrix_words(s->d, s->m, s->n), first = s->a_words + s->b_words;
    const bool is_sparse = s->op == WP_MATRIX_SPARSE;
    wpi_ptx_expect(t, is_sparse ? 6 : 4, is_sparse ? 6 : 4);
    expect_words(t, 0, s->d, d_words);
    expect_words(t, 1, s->a, s->a_words);
    expect_words(t, 2, s->b, s->b_words);
    expect_words(t, 3, s->c, c_words);
    if (t->status != WP_STATUS_OK) return;
    keep_operand(t, 1, s->a, 0);
    keep_operand(t, 2, s->b, s->a_words);
    keep_operand(t, 3, s->c, first);
    if (is_sparse) {
        take_selector(t, s);
        keep(t, first + c_words, wpi_ptx_read(t, 4, word));
    }
    perform(t, s);
    write_result(t, 0, s->d, first + c_words + is_sparse);
}

static void take_options(wpi_ptx *t, wp_matrix_shape *s) {
    if (wpi_ptx_has(t, "satfinite")) s->flags |= WP_MATRIX_SATURATE;
    wpi_ptx_skip(t, "rn");
    bool is_and = wpi_ptx_has(t, "and"), is_xor = wpi_ptx_has(t, "xor");
    bool has_count = wpi_ptx_has(t, "popc");
    if (is_and) s->flags |= WP_MATRIX_AND;
    if ((is_and || is_xor) != has_count || has_count != (s->a == WP_MATRIX_B1))
        wpi_ptx_fail(t, NULL);
}

static void emit_mma(wpi_ptx *t) {
    take_sync(t);
    wp_matrix_shape s = {.op = WP_MATRIX_PRODUCT};
    bool has_shape = shape_take(t, &s);
    bool is_quarters = has_shape && s.m == 8 && s.n == 8 && s.k == 4;
    const bool is_sparse = wpi_ptx_has(t, "sp") || wpi_ptx_has(t, "sp::ordered_metadata");
    if (is_sparse) s.op = WP_MATRIX_SPARSE;
    wpi_ptx_skip(t, "kind::f8f6f4");
    s.d = type_take(t);
    s.a = type_take(t);
    s.b = type_take(t);
    s.c = type_take(t);
    is_quarters = is_quarters && s.a == WP_MATRIX_F16;
    if (is_quarters) { /* .row and .col of A, then of B */
        s.op = WP_MATRIX_QUARTERS;
        bool has_row = wpi_ptx_has(t, "row"), has_column = wpi_ptx_has(t, "col");
        bool is_both = has_row && has_column, is_first_row = true;
        for (unsigned i = t->s->part_count; i-- > 1;) {
            if (strcmp(t->s->parts[i], "row") == 0) is_first_row = true;
            if (strcmp(t->s->parts[i], "col") == 0) is_first_row = false;
        }
        if (!is_both && !wpi_ptx_has(t, has_row ? "row" : "col")) wpi_ptx_fail(t, NULL);
        if (!is_first_row) s.flags |= WP_MATRIX_A_COLUMNS;
        if (is_both ? !is_first_row : has_row) s.flags |= WP_MATRIX_B_ROWS;
        bool is_good = s.b == WP_MATRIX_F16 && (s.c == WP_MATRIX_F16 || s.c == WP_MATRIX_F32) &&
                       (s.d == WP_MATRIX_F16 || s.d == WP_MATRIX_F32);
        uint32_t c_words = s.c == WP_MATRIX_F16 ? 4 : 8, d_words = s.d == WP_MATRIX_F16 ? 4 : 8;
        if (!is_good) wpi_ptx_fail(t, NULL);
        wpi_ptx_expect(t, 4, 4);
        expect_words(t, 0, s.d, d_words);
        expect_words(t, 1, s.a, 2);
        expect_words(t, 2, s.b, 2);
        expect_words(t, 3, s.c, c_words);
        if (t->status != WP_STATUS_OK) return;
        keep_operand(t, 1, s.a, 0);
        keep_operand(t, 2, s.b, 2);
        keep_operand(t, 3, s.c, 4);
        perform(t, &s);
        write_result(t, 0, s.d, 4 + c_words);
        return;
    }
    bool is_row_column = wpi_ptx_has(t, "row");
    is_row_column &= wpi_ptx_has(t, "col");
    const product_row *row = is_sparse ? row_of(sparse_rows, COUNT_OF(sparse_rows), &s, s.a)
                                       : row_of(mma_rows, COUNT_OF(mma_rows), &s, s.a);
    if (!has_shape || !row || !is_row_column || family_of(s.b) != family_of(s.a) ||
        !is_result_type(row, s.c) || !is_result_type(row, s.d)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    take_options(t, &s);
    s.a_words = operand_words(&s, false, true) / (is_sparse ? 2 : 1);
    s.b_words = operand_words(&s, false, false);
    multiply(t, &s);
}

/* ---- matrices of rows of 16 bytes: ldmatrix, stmatrix, movmatrix ---- */

static LLVMValueRef lane_id(wpi_ptx *t) {
    return wpi_ptx_special(t, "%laneid");
}

static LLVMValueRef lane_bits(wpi_ptx *t, unsigned shift, unsigned mask) {
    LLVMValueRef shifted = LLVMBuildLShr(t->b, lane_id(t), wpi_const32(t->c, shift), "");
    return LLVMBuildAnd(t->b, shifted, wpi_const32(t->c, mask), "");
}

static unsigned count_take(wpi_ptx *t) {
    return wpi_ptx_has(t, "x1") ? 1 : wpi_ptx_has(t, "x2") ? 2 : wpi_ptx_has(t, "x4") ? 4 : 0;
}

/* The address of this lane's word of matrix `w`, once the rows are exchanged. */
static LLVMValueRef row_word(wpi_ptx *t, unsigned w) {
    LLVMTypeRef shared = LLVMPointerTypeInContext(t->c->context, 3);
    LLVMValueRef row = LLVMBuildIntToPtr(t->b, kept(t, 2 + 2 * w, t->c->i64), t->c->ptr, "");
    row = LLVMBuildAddrSpaceCast(t->b, row, shared, "");
    LLVMValueRef offset = LLVMBuildShl(t->b, lane_bits(t, 0, 3), wpi_const32(t->c, 2), "");
    offset = LLVMBuildZExt(t->b, offset, t->c->i64, "");
    return LLVMBuildGEP2(t->b, t->c->i8, row, &offset, 1, "");
}

static void exchange_rows(wpi_ptx *t, unsigned index, unsigned count) {
    LLVMValueRef pointer = wpi_ptx_address(t, index);
    if (t->status != WP_STATUS_OK) return;
    keep(t, 0, LLVMBuildPtrToInt(t->b, pointer, t->c->i64, ""));
    perform(t, &(wp_matrix_shape){.op = WP_MATRIX_ROWS, .count = count});
}

/* Replaces `words` by those of the transposed matrices. */
static void transpose(wpi_ptx *t, LLVMValueRef *words, unsigned count) {
    for (unsigned w = 0; w < count; w++)
        keep(t, w, words[w]);
    perform(t, &(wp_matrix_shape){.op = WP_MATRIX_TRANSPOSE, .count = count});
    for (unsigned w = 0; w < count; w++)
        words[w] = kept(t, count + w, t->c->i32);
}

/* Takes what ldmatrix and stmatrix have in common; 0 if that is not understood. */
static unsigned take_matrices(wpi_ptx *t, unsigned list, bool *is_transposed) {
    take_sync(t);
    wp_matrix_shape s = {0};
    unsigned count = shape_take(t, &s) && s.m == 8 && s.n == 8 && s.k == 0 ? count_take(t) : 0;
    *is_transposed = wpi_ptx_has(t, "trans");
    wpi_ptx_skip(t, "shared");
    wpi_ptx_skip(t, "shared::cta");
    wpi_ptx_expect(t, 2, 2);
    if (count == 0 || !wpi_ptx_has(t, "b16") || wpi_ptx_length(t, list) != count) {
        wpi_ptx_fail(t, NULL);
        return 0;
    }
    return count;
}

static void emit_ldmatrix(wpi_ptx *t) {
    bool is_transposed;
    unsigned count = take_matrices(t, 0, &is_transposed);
    exchange_rows(t, 1, count);
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef words[4];
    for (unsigned w = 0; w < count; w++) {
        words[w] = LLVMBuildLoad2(t->b, t->c->i32, row_word(t, w), "");
        LLVMSetAlignment(words[w], 4);
    }
    if (is_transposed) transpose(t, words, count);
    for (unsigned w = 0; w < count; w++)
        wpi_ptx_write_operand(t, wpi_ptx_item_at(t, 0, w), word, words[w]);
}

static void emit_stmatrix(wpi_ptx *t) {
    bool is_transposed;
    unsigned count = take_matrices(t, 1, &is_transposed);
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef words[4];
    for (unsigned w = 0; w < count; w++)
        words[w] = wpi_ptx_read_operand(t, wpi_ptx_item_at(t, 1, w), word);
    if (is_transposed) transpose(t, words, count);
    exchange_rows(t, 0, count);
    if (t->status != WP_STATUS_OK) return;
    for (unsigned w = 0; w < count; w++)
        LLVMSetAlignment(LLVMBuildStore(t->b, words[w], row_word(t, w)), 4);
}

static void emit_movmatrix(wpi_ptx *t) {
    take_sync(t);
    wp_matrix_shape s = {0};
    bool is_good = shape_take(t, &s) && s.m == 8 && s.n == 8 && s.k == 0;
    is_good &= wpi_ptx_has(t, "trans");
    is_good &= wpi_ptx_has(t, "b16");
    wpi_ptx_expect(t, 2, 2);
    if (!is_good) wpi_ptx_fail(t, NULL);
    LLVMValueRef value = wpi_ptx_read(t, 1, word);
    if (t->status != WP_STATUS_OK) return;
    transpose(t, &value, 1);
    wpi_ptx_write(t, 0, word, value);
}

/* ---- wmma ---- */

/* A part of a matrix in memory: where its element (row, column) is. */
typedef struct matrix {
    LLVMValueRef base, stride; /* stride: i64, in elements */
    uint32_t type;
    bool is_row_major;
    LLVMValueRef row, column; /* of this lane's first element, i64 */
} matrix;

static LLVMValueRef add64(wpi_ptx *t, LLVMValueRef value, uint64_t number) {
    return number ? LLVMBuildAdd(t->b, value, wpi_const64(t->c, number), "") : value;
}

/* The address of the element that lies (row, column) behind the lane's first. */
static LLVMValueRef element_address(wpi_ptx *t, const matrix *x, uint32_t row, uint32_t column) {
    LLVMValueRef r = add64(t, x->row, row), c = add64(t, x->column, column);
    LLVMValueRef index = LLVMBuildMul(t->b, x->is_row_major ? r : c, x->stride, "");
    index = LLVMBuildAdd(t->b, index, x->is_row_major ? c : r, "");
    uint32_t bits = wpi_matrix_bits(x->type);
    index = bits >= 8 ? LLVMBuildMul(t->b, index, wpi_const64(t->c, bits / 8), "")
                      : LLVMBuildLShr(t->b, index, wpi_const64(t->c, bits == 4 ? 1 : 3), "");
    return LLVMBuildGEP2(t->b, t->c->i8, x->base, &index, 1, "");
}

static LLVMTypeRef element_type(wpi_ptx *t, uint32_t type) {
    return LLVMIntTypeInContext(t->c->context, wpi_matrix_bits(type));
}

/* A register: `each` elements from (row, column) on, along the row or, of B, down the column. */
static LLVMValueRef load_register(wpi_ptx *t, const matrix *x, uint32_t row, uint32_t column,
                                  bool is_down, uint32_t each) {
    uint32_t bits = wpi_matrix_bits(x->type);
    bool is_packed = each > 1 && is_down != x->is_row_major; /* neighbours in memory */
    LLVMTypeRef type = bits == 64 ? t->c->i64 : t->c->i32;
    if (is_packed || each == 1) {
        LLVMValueRef value = LLVMBuildLoad2(t->b, type, element_address(t, x, row, column), "");
        LLVMSetAlignment(value, bits == 64 ? 8 : 4);
        return value;
    }
    LLVMValueRef packed = wpi_const32(t->c, 0);
    for (uint32_t i = 0; i < each; i++) {
        LLVMValueRef at =
            element_address(t, x, row + (is_down ? i : 0), column + (is_down ? 0 : i));
        LLVMValueRef value = LLVMBuildLoad2(t->b, element_type(t, x->type), at, "");
        LLVMSetAlignment(value, bits / 8);
        value = LLVMBuildZExt(t->b, value, t->c->i32, "");
        value = LLVMBuildShl(t->b, value, wpi_const32(t->c, i * bits), "");
        packed = LLVMBuildOr(t->b, packed, value, "");
    }
    return packed;
}

static void store_register(wpi_ptx *t, const matrix *x, uint32_t row, uint32_t column,
                           uint32_t each, LLVMValueRef value) {
    uint32_t bits = wpi_matrix_bits(x->type);
    bool is_whole = each == 1 || x->is_row_major;
    for (uint32_t i = 0; i < (is_whole ? 1 : each); i++) {
        LLVMValueRef part = value;
        if (!is_whole) {
            part = LLVMBuildLShr(t->b, value, wpi_const32(t->c, i * bits), "");
            part = LLVMBuildTrunc(t->b, part, element_type(t, x->type), "");
        }
        LLVMValueRef store = LLVMBuildStore(t->b, part, element_address(t, x, row, column + i));
        LLVMSetAlignment(store, bits == 64 ? 8 : is_whole ? 4 : bits / 8);
    }
}

typedef enum fragment { FRAGMENT_A, FRAGMENT_B, FRAGMENT_C } fragment;

/* The place of register `r` of a lane, from the lane's own first element on. */
static void register_place(const wp_matrix_shape *s, fragment which, uint32_t each, uint32_t r,
                           uint32_t *row, uint32_t *column) {
    uint32_t tile_rows = s->m < 16 ? s->m : 16, groups = tile_rows / 8;
    if (which == FRAGMENT_C) {
        uint32_t i = r * each, in_all = tile_rows / 4, in_tile = i % in_all, across = s->n / 8;
        *row = i / in_all / across * tile_rows + in_tile / 2 * 8;
        *column = i / in_all % across * 8 + in_tile % 2;
    } else if (which == FRAGMENT_A) {
        uint32_t registers = groups * s->k / (4 * each), in_tile = r % registers;
        *row = r / registers * tile_rows + in_tile % groups * 8;
        *column = in_tile / groups * 4 * each;
    } else {
        uint32_t registers = s->k / (4 * each);
        *row = r % registers * 4 * each;
        *column = r / registers * 8;
    }
}

/* Takes [address]{, stride} and the modifiers around it. `index`: of the address. */
static matrix take_matrix(wpi_ptx *t, const wp_matrix_shape *s, fragment which, uint32_t type,
                          unsigned index, unsigned stride_index) {
    matrix x = {.type = type, .is_row_major = wpi_ptx_has(t, "row")};
    if (!x.is_row_major && !wpi_ptx_has(t, "col")) wpi_ptx_fail(t, NULL);
    wpi_ptx_skip(t, "global");
    wpi_ptx_skip(t, "shared");
    wpi_ptx_skip(t, "shared::cta");
    bool has_stride = t->s->operand_count > stride_index;
    uint32_t rows = which == FRAGMENT_B ? s->k : s->m, columns = which == FRAGMENT_A ? s->k : s->n;
    x.base = wpi_ptx_address(t, index);
    x.stride = has_stride ? LLVMBuildZExt(t->b, wpi_ptx_read(t, stride_index, word), t->c->i64, "")
                          : wpi_const64(t->c, x.is_row_major ? columns : rows);
    uint32_t bits = wpi_matrix_bits(type), each = bits < 32 ? 32 / bits : 1;
    uint32_t step = which == FRAGMENT_C ? 2 : each;
    LLVMValueRef group = LLVMBuildZExt(t->b, lane_bits(t, 2, 7), t->c->i64, "");
    LLVMValueRef within = LLVMBuildZExt(t->b, lane_bits(t, 0, 3), t->c->i64, "");
    within = LLVMBuildMul(t->b, within, wpi_const64(t->c, step), "");
    x.row = which == FRAGMENT_B ? within : group;
    x.column = which == FRAGMENT_B ? group : within;
    bool is_forced = bits < 8 && x.is_row_major != (which == FRAGMENT_A);
    if (is_forced && which != FRAGMENT_C) wpi_ptx_fail(t, NULL);
    return x;
}

/* The lanes of a warp wait for each other. */
static void meet(wpi_ptx *t) {
    wpi_lower_stop(t->c, t->b, WP_STOP_STEP, NULL, NULL, NULL);
}

static void load_fragment(wpi_ptx *t, wp_matrix_shape *s, fragment which) {
    uint32_t type = type_take(t);
    s->a = s->b = s->c = type;
    const product_row *row =
        which == FRAGMENT_C ? NULL : row_of(wmma_rows, COUNT_OF(wmma_rows), s, type);
    bool is_good = which == FRAGMENT_C ? type == WP_MATRIX_F16 || type == WP_MATRIX_F32 ||
                                             type == WP_MATRIX_F64 || type == WP_MATRIX_S32
                                       : row != NULL;
    wpi_ptx_expect(t, 2, 3);
    if (!is_good) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    meet(t);
    matrix x = take_matrix(t, s, which, type, 1, 2);
    uint32_t own = which == FRAGMENT_C ? wpi_matrix_words(type, s->m, s->n)
                                       : wpi_matrix_words(type, which == FRAGMENT_A ? s->m : s->k,
                                                          which == FRAGMENT_A ? s->k : s->n);
    uint32_t all = which == FRAGMENT_C ? own : operand_words(s, true, which == FRAGMENT_A);
    uint32_t bits = wpi_matrix_bits(type), each = bits < 32 ? 32 / bits : 1;
    expect_words(t, 0, type, all);
    own /= width_of(type);
    LLVMValueRef values[16];
    for (uint32_t r = 0; r < own && r < 16 && t->status == WP_STATUS_OK; r++) {
        uint32_t at_row, at_column;
        register_place(s, which, each, r, &at_row, &at_column);
        values[r] = load_register(t, &x, at_row, at_column, which == FRAGMENT_B, each);
    }
    for (uint32_t r = 0; r < wpi_ptx_length(t, 0) && t->status == WP_STATUS_OK; r++)
        wpi_ptx_write_operand(t, wpi_ptx_item_at(t, 0, r), is_wide(type) ? wide : word,
                              values[r % own]);
}

static void store_fragment(wpi_ptx *t, wp_matrix_shape *s) {
    uint32_t type = type_take(t);
    bool is_good = type == WP_MATRIX_F16 || type == WP_MATRIX_F32 || type == WP_MATRIX_F64 ||
                   type == WP_MATRIX_S32;
    wpi_ptx_expect(t, 2, 3);
    if (!is_good) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    meet(t);
    matrix x = take_matrix(t, s, FRAGMENT_C, type, 0, 2);
    expect_words(t, 1, type, wpi_matrix_words(type, s->m, s->n));
    uint32_t each = type == WP_MATRIX_F16 ? 2 : 1;
    for (uint32_t r = 0; r < wpi_ptx_length(t, 1) && t->status == WP_STATUS_OK; r++) {
        uint32_t at_row, at_column;
        register_place(s, FRAGMENT_C, each, r, &at_row, &at_column);
        LLVMValueRef value =
            wpi_ptx_read_operand(t, wpi_ptx_item_at(t, 1, r), is_wide(type) ? wide : word);
        store_register(t, &x, at_row, at_column, each, value);
    }
    meet(t);
}

static void multiply_fragments(wpi_ptx *t, wp_matrix_shape *s) {
    for (int i = 0; i < 2; i++) /* the layouts mattered to the loads only */
        if (!wpi_ptx_has(t, "row") && !wpi_ptx_has(t, "col")) wpi_ptx_fail(t, NULL);
    s->d = type_take(t);
    s->a = type_take(t);
    s->b = type_take(t);
    s->c = type_take(t);
    if (s->b == WP_MATRIX_TYPE_COUNT) { /* .dtype.ctype: of halves */
        s->c = s->a;
        s->a = s->b = WP_MATRIX_F16;
    }
    const product_row *row = row_of(wmma_rows, COUNT_OF(wmma_rows), s, s->a);
    if (!row || s->b != s->a || !is_result_type(row, s->c) || !is_result_type(row, s->d)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    take_options(t, s);
    s->a_words = operand_words(s, true, true);
    s->b_words = operand_words(s, true, false);
    multiply(t, s);
}

static void emit_wmma(wpi_ptx *t) {
    static const char *const names[] = {"load", "store", "mma", NULL};
    static const char *const parts[] = {"a", "b", "c", "d", NULL};
    int what = wpi_ptx_choice(t, names);
    int part = what == 0 || what == 1 ? wpi_ptx_choice(t, parts) : 0;
    take_sync(t);
    wp_matrix_shape s = {.op = WP_MATRIX_PRODUCT};
    bool is_good = shape_take(t, &s) && what >= 0 && (what == 1) == (part == 3) && part >= 0;
    bool is_shape = false;
    for (size_t i = 0; i < COUNT_OF(wmma_rows); i++)
        is_shape |= wmma_rows[i].m == s.m && wmma_rows[i].n == s.n && wmma_rows[i].depths[0] == s.k;
    if (!is_good || !is_shape) wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    if (what == 0)
        load_fragment(t, &s, (fragment)part);
    else if (what == 1)
        store_fragment(t, &s);
    else
        multiply_fragments(t, &s);
}

const wpi_ptx_row wpi_ptx_tensor[] = {
    {"mma", emit_mma},           {"wmma", emit_wmma},           {"ldmatrix", emit_ldmatrix},
    {"stmatrix", emit_stmatrix}, {"movmatrix", emit_movmatrix}, {NULL, NULL},
};
