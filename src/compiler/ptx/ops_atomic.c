/* SPDX-License-Identifier: Apache-2.0 */
/* atom and red. Scopes and spaces do not matter on one host; 16-bit floats, for which processors
 * have no atomics, are functions of the device library that loop over compare-and-swap. */
#include <stdio.h>
#include <string.h>

#include "compiler/ptx/ptx.h"

typedef enum operation { ADD, MIN, MAX, INC, DEC, AND, OR, XOR, EXCH, CAS } operation;

typedef struct atomic {
    operation operation;
    LLVMAtomicOrdering ordering;
    wpi_ptx_type type;
    unsigned elements;
} atomic;

static LLVMAtomicRMWBinOp rmw(wpi_ptx *t, const atomic *a) {
    bool is_float = wpi_ptx_is_float(a->type), is_signed = wpi_ptx_is_signed(a->type);
    if (is_float && a->operation != ADD) wpi_ptx_fail(t, NULL);
    switch (a->operation) {
    case ADD: return is_float ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd;
    case MIN: return is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin;
    case MAX: return is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax;
    case INC: return LLVMAtomicRMWBinOpUIncWrap;
    case DEC: return LLVMAtomicRMWBinOpUDecWrap;
    case AND: return LLVMAtomicRMWBinOpAnd;
    case OR: return LLVMAtomicRMWBinOpOr;
    case XOR: return LLVMAtomicRMWBinOpXor;
    default: return LLVMAtomicRMWBinOpXchg;
    }
}

/* __wp_ptx_atom_add_f16x2(pointer, value bits) gives the old bits */
static LLVMValueRef half_atomic(wpi_ptx *t, const atomic *a, LLVMValueRef pointer,
                                LLVMValueRef value) {
    static const char *const names[] = {"add", "min", "max"};
    if (a->operation > MAX) {
        wpi_ptx_fail(t, NULL);
        return value;
    }
    char name[48];
    snprintf(name, sizeof name, "__wp_ptx_atom_%s_%sf16%s", names[a->operation],
             a->type.kind == WP_PTX_BFLOAT ? "b" : "", a->type.lanes > 1 ? "x2" : "");
    return wpi_ptx_call(t, name, LLVMTypeOf(value), (LLVMValueRef[]){pointer, value}, 2);
}

/* One element: the old value, as bits where the type is a 16-bit float. */
static LLVMValueRef build(wpi_ptx *t, const atomic *a, LLVMValueRef pointer,
                          const wpi_ptx_operand *b, const wpi_ptx_operand *c,
                          wpi_ptx_type *result) {
    bool is_half = wpi_ptx_is_float(a->type) && a->type.bits == 16;
    *result = is_half ? wpi_ptx_type_of(WP_PTX_BITS, 16 * a->type.lanes) : a->type;
    LLVMValueRef value = wpi_ptx_read_operand(t, b, *result);
    if (t->status != WP_STATUS_OK) return value;
    if (is_half) return half_atomic(t, a, pointer, value);
    LLVMValueRef old;
    if (a->operation == CAS) {
        bool is_acquire = a->ordering == LLVMAtomicOrderingAcquire ||
                          a->ordering == LLVMAtomicOrderingAcquireRelease;
        LLVMValueRef desired = wpi_ptx_read_operand(t, c, *result);
        LLVMValueRef pair = LLVMBuildAtomicCmpXchg(
            t->b, pointer, value, desired, a->ordering,
            is_acquire ? LLVMAtomicOrderingAcquire : LLVMAtomicOrderingMonotonic, 0);
        old = LLVMBuildExtractValue(t->b, pair, 0, "");
    } else {
        LLVMAtomicRMWBinOp how = rmw(t, a);
        if (t->status != WP_STATUS_OK) return value;
        old = LLVMBuildAtomicRMW(t->b, how, pointer, value, a->ordering, 0);
    }
    return old;
}

static void emit(wpi_ptx *t, bool is_red) {
    static const char *const sems[] = {"relaxed", "acquire", "release", "acq_rel", NULL};
    static const LLVMAtomicOrdering orderings[] = {
        LLVMAtomicOrderingMonotonic, LLVMAtomicOrderingAcquire, LLVMAtomicOrderingRelease,
        LLVMAtomicOrderingAcquireRelease};
    static const char *const scopes[] = {"cta", "cluster", "gpu", "sys", NULL};
    static const char *const spaces[] = {"global", "shared", "shared::cta", "shared::cluster",
                                         NULL};
    static const char *const operations[] = {"add", "min", "max",  "inc", "dec", "and",
                                             "or",  "xor", "exch", "cas", NULL};
    int sem = wpi_ptx_choice(t, sems);
    (void)wpi_ptx_choice(t, scopes);
    (void)wpi_ptx_choice(t, spaces);
    int what = wpi_ptx_choice(t, operations);
    wpi_ptx_skip(t, "noftz");
    wpi_ptx_take_policy(t);
    atomic a = {.operation = (operation)what,
                .ordering = sem < 0 ? LLVMAtomicOrderingMonotonic : orderings[sem]};
    a.elements = wpi_ptx_has(t, "v2") ? 2 : wpi_ptx_has(t, "v4") ? 4 : wpi_ptx_has(t, "v8") ? 8 : 1;
    a.type = wpi_ptx_type_take(t);
    unsigned at = is_red ? 0 : 1, count = at + (what == CAS ? 3 : 2);
    wpi_ptx_expect(t, count, count);
    bool is_short =
        a.type.bits * a.type.lanes < 32 && !wpi_ptx_is_float(a.type) && a.operation != CAS;
    if (what < 0 || (is_red && what >= EXCH) || a.type.bits > 64 || is_short ||
        (a.elements > 1 && (what > MAX || !wpi_ptx_is_float(a.type)))) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    LLVMValueRef base = wpi_ptx_address(t, at);
    const wpi_ptx_operand *to = wpi_ptx_operand_at(t, 0), *from = wpi_ptx_operand_at(t, at + 1);
    if (a.elements > 1 &&
        (from->kind != WP_PTX_OPERAND_LIST || from->count != a.elements ||
         (!is_red && (to->kind != WP_PTX_OPERAND_LIST || to->count != a.elements)))) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    unsigned bytes = a.type.bits * a.type.lanes / 8;
    LLVMValueRef old[8];
    wpi_ptx_type result = a.type;
    for (unsigned i = 0; i < a.elements; i++) {
        LLVMValueRef offset = wpi_const64(t->c, (uint64_t)i * bytes);
        LLVMValueRef pointer = i == 0 ? base : LLVMBuildGEP2(t->b, t->c->i8, base, &offset, 1, "");
        const wpi_ptx_operand *b = a.elements > 1 ? &t->s->pool[from->first + i] : from;
        old[i] =
            build(t, &a, pointer, b, what == CAS ? wpi_ptx_operand_at(t, at + 2) : NULL, &result);
    }
    for (unsigned i = 0; i < a.elements && !is_red; i++)
        wpi_ptx_write_operand(t, a.elements > 1 ? &t->s->pool[to->first + i] : to, result, old[i]);
}

static void emit_atom(wpi_ptx *t) {
    emit(t, false);
}
static void emit_red(wpi_ptx *t) {
    emit(t, true);
}

const wpi_ptx_row wpi_ptx_atomic[] = {
    {"atom", emit_atom},
    {"red", emit_red},
    {NULL, NULL},
};
