/* SPDX-License-Identifier: Apache-2.0 */
/* Products of a warpgroup: wgmma.mma_async. Each of its four warps multiplies its 16 rows at once
 * (base/matrix_abi.h), so fences and commits do nothing. At wgmma.wait_group the four wait for each
 * other: behind it, one thread may say for all that their operands are not needed any more. */
#include <stdlib.h>
#include <string.h>

#include "base/abi.h"
#include "base/matrix_abi.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/ptx/ptx.h"

static const wpi_ptx_type word = {WP_PTX_BITS, 32, 1}, wide = {WP_PTX_BITS, 64, 1},
                          predicate = {WP_PTX_PREDICATE, 1, 1};

enum { WARP_ROWS = 16, GROUP_THREADS = 128, COLUMNS_MAX = 256 };

static LLVMValueRef at_word(wpi_ptx *t, unsigned index) {
    if (!t->group_words) {
        LLVMPositionBuilderBefore(t->b,
                                  LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(t->function)));
        t->group_words =
            LLVMBuildAlloca(t->b, LLVMArrayType2(t->c->i32, WP_MATRIX_GROUP_WORDS_MAX), "group");
        LLVMSetAlignment(t->group_words, 8);
        wpi_lower_note(t->c, t->group_words, WP_REGISTERS_METADATA);
        LLVMPositionBuilderBefore(t->b, t->anchor);
    }
    LLVMValueRef offset = wpi_const64(t->c, (uint64_t)index * 4);
    return LLVMBuildGEP2(t->b, t->c->i8, t->group_words, &offset, 1, "");
}

static void keep(wpi_ptx *t, unsigned index, LLVMValueRef value) {
    LLVMSetAlignment(LLVMBuildStore(t->b, value, at_word(t, index)), 4);
}

static LLVMValueRef kept(wpi_ptx *t, unsigned index) {
    LLVMValueRef value = LLVMBuildLoad2(t->b, t->c->i32, at_word(t, index), "");
    LLVMSetAlignment(value, 4);
    return value;
}

/* ---- modifiers ---- */

/* m64n128k16 */
static bool shape_take(wpi_ptx *t, wp_matrix_shape *s) {
    for (unsigned i = 1; i < t->s->part_count; i++) {
        const char *part = t->s->parts[i];
        if (strncmp(part, "m64n", 4) != 0) continue;
        char *end;
        s->m = WARP_ROWS;
        const unsigned long columns = strtoul(part + 4, &end, 10);
        if (columns == 0 || columns % 8 != 0 || columns > COLUMNS_MAX || *end != 'k') return false;
        s->n = (uint32_t)columns / 8;
        s->k = (uint32_t)strtoul(end + 1, &end, 10);
        t->s->taken |= 1u << i;
        return *end == '\0';
    }
    return false;
}

static const char *const names[] = {"f16",  "bf16", "tf32", "f32", "e4m3",
                                    "e5m2", "s8",   "u8",   "s32"};
static const uint8_t types[] = {WP_MATRIX_F16, WP_MATRIX_BF16, WP_MATRIX_TF32,
                                WP_MATRIX_F32, WP_MATRIX_E4M3, WP_MATRIX_E5M2,
                                WP_MATRIX_S8,  WP_MATRIX_U8,   WP_MATRIX_S32};

/* The leftmost type not taken yet. */
static uint32_t type_take(wpi_ptx *t) {
    for (unsigned i = 1; i < t->s->part_count; i++) {
        if (t->s->taken & 1u << i) continue;
        for (size_t n = 0; n < sizeof types; n++)
            if (strcmp(t->s->parts[i], names[n]) == 0) {
                t->s->taken |= 1u << i;
                return types[n];
            }
    }
    return WP_MATRIX_TYPE_COUNT;
}

static bool is_byte_float(uint32_t type) {
    return type == WP_MATRIX_E4M3 || type == WP_MATRIX_E5M2;
}

static bool is_byte(uint32_t type) {
    return type == WP_MATRIX_S8 || type == WP_MATRIX_U8;
}

static bool is_known(const wp_matrix_shape *s) {
    const bool is_single = s->d == WP_MATRIX_F32, is_half = s->d == WP_MATRIX_F16;
    switch (s->a) {
    case WP_MATRIX_F16: return s->b == s->a && s->k == 16 && (is_single || is_half);
    case WP_MATRIX_BF16: return s->b == s->a && s->k == 16 && is_single;
    case WP_MATRIX_TF32: return s->b == s->a && s->k == 8 && is_single;
    case WP_MATRIX_E4M3:
    case WP_MATRIX_E5M2: return is_byte_float(s->b) && s->k == 32 && (is_single || is_half);
    case WP_MATRIX_S8:
    case WP_MATRIX_U8:
        return is_byte(s->b) && s->k == 32 && s->d == WP_MATRIX_S32 && (s->n <= 3 || s->n % 2 == 0);
    default: return false;
    }
}

/* A number that the compiler must know. */
static int constant(wpi_ptx *t, unsigned index) {
    LLVMValueRef value = wpi_ptx_read(t, index, word);
    if (LLVMIsAConstantInt(value)) return (int)LLVMConstIntGetSExtValue(value);
    wpi_ptx_fail(t, "its scales and transpositions must be constants");
    return 0;
}

static bool is_minus(wpi_ptx *t, unsigned index) {
    const int scale = constant(t, index);
    if (scale != 1 && scale != -1) wpi_ptx_fail(t, "the scale of an operand is not 1 or -1");
    return scale == -1;
}

static bool is_transposed(wpi_ptx *t, unsigned index) {
    const int choice = constant(t, index);
    if (choice != 0 && choice != 1) wpi_ptx_fail(t, "a transposition is not 0 or 1");
    return choice == 1;
}

/* ---- the product ---- */

/* Behind the operands: scale-d{, scales of A and B{, transpositions}}. */
static void take_scales(wpi_ptx *t, wp_matrix_shape *s, bool is_a_shared) {
    const bool has_scales = !is_byte(s->a);
    const bool is_half = s->a == WP_MATRIX_F16 || s->a == WP_MATRIX_BF16;
    const unsigned count = 4u + (has_scales ? 2 : 0) + (is_half ? 1u + is_a_shared : 0);
    wpi_ptx_expect(t, count, count);
    if (t->status != WP_STATUS_OK || !has_scales) return;
    if (is_minus(t, 4)) s->count |= WP_MATRIX_GROUP_MINUS_A;
    if (is_minus(t, 5)) s->count |= WP_MATRIX_GROUP_MINUS_B;
    if (!is_half) return;
    if (is_a_shared && is_transposed(t, 6)) s->flags |= WP_MATRIX_A_COLUMNS;
    if (is_transposed(t, 6u + is_a_shared)) s->flags |= WP_MATRIX_B_ROWS;
}

static void keep_descriptor(wpi_ptx *t, unsigned index, unsigned first) {
    LLVMValueRef value = wpi_ptx_as_integer(t, wpi_ptx_read(t, index, wide));
    keep(t, first, value);
}

/* 1 where D is added: a predicate, or a constant. */
static LLVMValueRef scale_of_d(wpi_ptx *t) {
    LLVMValueRef value = wpi_ptx_read_raw(t, wpi_ptx_operand_at(t, 3));
    if (value) {
        value = wpi_ptx_as_integer(t, value);
        value = LLVMBuildICmp(t->b, LLVMIntNE, value, LLVMConstNull(LLVMTypeOf(value)), "");
    } else {
        value = wpi_ptx_read(t, 3, predicate);
    }
    return LLVMBuildZExt(t->b, value, t->c->i32, "");
}

static void multiply(wpi_ptx *t) {
    wp_matrix_shape s = {.op = WP_MATRIX_GROUP};
    const bool has_shape = shape_take(t, &s);
    s.c = s.d = type_take(t);
    s.a = type_take(t);
    s.b = type_take(t);
    if (is_byte(s.a) && wpi_ptx_has(t, "satfinite")) s.flags |= WP_MATRIX_SATURATE;
    if (!has_shape || !is_known(&s)) wpi_ptx_fail(t, NULL);
    const bool is_a_shared = wpi_ptx_operand_at(t, 1)->kind != WP_PTX_OPERAND_LIST;
    take_scales(t, &s, is_a_shared);
    if (t->status != WP_STATUS_OK) return;
    if (is_a_shared) s.count |= WP_MATRIX_GROUP_SHARED_A;
    s.a_words = is_a_shared ? 2 : 4;
    s.b_words = WP_MATRIX_GROUP_B_WORDS;
    const unsigned d_words = wpi_matrix_words(s.d, WARP_ROWS, s.n * 8);
    const unsigned first = s.a_words + s.b_words;
    if (wpi_ptx_length(t, 0) != d_words || (!is_a_shared && wpi_ptx_length(t, 1) != s.a_words)) {
        wpi_ptx_fail(t, "an operand has another number of registers than its shape and type need");
        return;
    }
    if (is_a_shared)
        keep_descriptor(t, 1, 0);
    else
        for (unsigned i = 0; i < s.a_words; i++)
            keep(t, i, wpi_ptx_read_operand(t, wpi_ptx_item_at(t, 1, i), word));
    keep_descriptor(t, 2, s.a_words);
    keep(t, s.a_words + 2, scale_of_d(t));
    for (unsigned i = 0; i < d_words && t->status == WP_STATUS_OK; i++)
        keep(t, first + i, wpi_ptx_read_operand(t, wpi_ptx_item_at(t, 0, i), word));
    if (t->status != WP_STATUS_OK) return;
    (void)at_word(t, 0);
    LLVMValueRef args[2] = {t->group_words, wpi_const64(t->c, wpi_matrix_pack(&s))};
    wpi_ptx_call(t, "__wp_matrix", t->c->none, args, 2);
    LLVMValueRef status = kept(t, s.a_words + 2);
    wpi_ptx_call(t, WP_PTX_TENSOR_PREFIX "check", t->c->none, &status, 1);
    for (unsigned i = 0; i < d_words && t->status == WP_STATUS_OK; i++)
        wpi_ptx_write_operand(t, wpi_ptx_item_at(t, 0, i), word, kept(t, first + i));
}

/* A barrier of the warpgroup, behind the numbers of the program's own. */
static void meet(wpi_ptx *t) {
    LLVMValueRef group =
        LLVMBuildLShr(t->b, wpi_ptx_special(t, "%warpid"), wpi_const32(t->c, 2), "");
    LLVMValueRef args[2] = {
        LLVMBuildAdd(t->b, group, wpi_const32(t->c, WP_BARRIER_FIRST_GROUP), ""),
        wpi_const32(t->c, GROUP_THREADS)};
    wpi_ptx_call(t, "llvm.nvvm.barrier.sync.cnt", t->c->none, args, 2);
}

static void emit_wgmma(wpi_ptx *t) {
    static const char *const others[] = {"fence", "commit_group", "wait_group", NULL};
    const bool is_sync = wpi_ptx_has(t, "sync");
    if (!is_sync || !wpi_ptx_has(t, "aligned")) wpi_ptx_fail(t, NULL);
    const int other = wpi_ptx_choice(t, others);
    if (other >= 0) {
        wpi_ptx_expect(t, other == 2, other == 2);
        if (other == 2 && t->status == WP_STATUS_OK) meet(t);
        return;
    }
    if (!wpi_ptx_has(t, "mma_async")) wpi_ptx_fail(t, NULL);
    multiply(t);
}

const wpi_ptx_row wpi_ptx_wgmma[] = {{"wgmma", emit_wgmma}, {NULL, NULL}};
