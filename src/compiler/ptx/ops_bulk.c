/* SPDX-License-Identifier: Apache-2.0 */
/* Bulk copies of one dimension: cp.async.bulk, cp.reduce.async.bulk. The thread copies at once,
 * then counts the bytes at the barrier in memory, so commits and waits of bulk groups do nothing.
 *
 *     global ──► shared::cluster     mbarrier; with .multicast::cluster to the blocks of a mask
 *     shared::cta ──► shared::cluster     mbarrier
 *     shared::cta ──► global     bulk group */
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/ptx/ptx.h"

static const wpi_ptx_type word = {WP_PTX_UNSIGNED, 32, 1};

#define BULK_ALIGN 16u /* PTX: of both addresses and of the size */

/* What a copy needs. */
typedef struct bulk {
    LLVMValueRef to, from, size, barrier; /* the barrier: NULL with a bulk group */
    LLVMValueRef mask;                    /* of blocks; NULL: no multicast */
    wpi_ptx_type type;                    /* of a reduction's elements */
    LLVMAtomicRMWBinOp operation;
    bool is_reduction;
} bulk;

/* A loop before the anchor: `index` counts from 0 to `outer`, 64 bits, at least once. The builder
 * and the anchor are in its body until end_loop. */
typedef struct loop {
    LLVMBasicBlockRef head, latch, join;
    LLVMValueRef index, outer, anchor;
} loop;

static loop begin_loop(wpi_ptx *t, LLVMValueRef outer) {
    loop l = {.outer = outer, .anchor = t->anchor};
    l.join = LLVMGetInstructionParent(t->anchor);
    LLVMBasicBlockRef front = wpi_block_split_before(t->anchor);
    l.head = LLVMInsertBasicBlockInContext(t->c->context, l.join, "bulk");
    l.latch = LLVMInsertBasicBlockInContext(t->c->context, l.join, "bulk.next");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(t->b, front);
    LLVMBuildBr(t->b, l.head);
    LLVMPositionBuilderAtEnd(t->b, l.head);
    l.index = LLVMBuildPhi(t->b, t->c->i64, "");
    LLVMValueRef zero = wpi_const64(t->c, 0);
    LLVMAddIncoming(l.index, &zero, &front, 1);
    LLVMBasicBlockRef body = LLVMInsertBasicBlockInContext(t->c->context, l.latch, "bulk.body");
    LLVMBuildBr(t->b, body);
    LLVMPositionBuilderAtEnd(t->b, body);
    t->anchor = LLVMBuildBr(t->b, l.latch);
    LLVMPositionBuilderBefore(t->b, t->anchor);
    return l;
}

static void end_loop(wpi_ptx *t, loop *l) {
    LLVMPositionBuilderAtEnd(t->b, l->latch);
    LLVMValueRef next = LLVMBuildAdd(t->b, l->index, wpi_const64(t->c, 1), "");
    LLVMAddIncoming(l->index, &next, &l->latch, 1);
    LLVMBuildCondBr(t->b, LLVMBuildICmp(t->b, LLVMIntULT, next, l->outer, ""), l->head, l->join);
    t->anchor = l->anchor;
    LLVMPositionBuilderBefore(t->b, t->anchor);
}

static void reduce(wpi_ptx *t, const bulk *b, LLVMValueRef to, LLVMValueRef size) {
    const unsigned bytes = b->type.bits / 8;
    loop l = begin_loop(t, LLVMBuildUDiv(t->b, size, wpi_const64(t->c, bytes), ""));
    LLVMTypeRef type = wpi_ptx_llvm(t, b->type);
    LLVMValueRef value =
        LLVMBuildLoad2(t->b, type, LLVMBuildGEP2(t->b, type, b->from, &l.index, 1, ""), "");
    LLVMSetAlignment(value, bytes);
    LLVMBuildAtomicRMW(t->b, b->operation, LLVMBuildGEP2(t->b, type, to, &l.index, 1, ""), value,
                       LLVMAtomicOrderingMonotonic, 0);
    end_loop(t, &l);
}

static void transfer(wpi_ptx *t, const bulk *b, LLVMValueRef to, LLVMValueRef barrier) {
    LLVMValueRef size = LLVMBuildZExt(t->b, b->size, t->c->i64, "");
    if (b->is_reduction)
        reduce(t, b, to, size);
    else
        LLVMBuildMemCpy(t->b, to, BULK_ALIGN, b->from, BULK_ALIGN, size);
    if (barrier) wpi_ptx_count_bytes(t, barrier, size);
}

LLVMValueRef wpi_ptx_mapped(wpi_ptx *t, LLVMValueRef pointer, LLVMValueRef rank) {
    LLVMValueRef args[2] = {pointer, rank};
    return wpi_ptx_call(t, "llvm.nvvm.mapa", t->c->ptr, args, 2);
}

void wpi_ptx_multicast(wpi_ptx *t, LLVMValueRef mask,
                       void (*copy)(wpi_ptx *t, LLVMValueRef rank, const void *arg),
                       const void *arg) {
    loop l = begin_loop(t, wpi_const64(t->c, WP_CLUSTER_BLOCKS_MAX));
    LLVMValueRef rank = LLVMBuildTrunc(t->b, l.index, t->c->i32, "");
    LLVMValueRef bit =
        LLVMBuildAnd(t->b, LLVMBuildLShr(t->b, mask, rank, ""), wpi_const32(t->c, 1), "");
    LLVMValueRef is_there = LLVMBuildICmp(t->b, LLVMIntNE, bit, wpi_const32(t->c, 0), "");
    /* the rest of the body is skipped for other blocks */
    LLVMBasicBlockRef body = LLVMGetInstructionParent(t->anchor);
    LLVMBasicBlockRef front = wpi_block_split_before(t->anchor);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(t->b, front);
    LLVMBuildCondBr(t->b, is_there, body, l.latch);
    LLVMPositionBuilderBefore(t->b, t->anchor);
    copy(t, rank, arg);
    end_loop(t, &l);
}

/* To the same places of a block in the mask. */
static void transfer_to(wpi_ptx *t, LLVMValueRef rank, const void *arg) {
    const bulk *b = arg;
    transfer(t, b, wpi_ptx_mapped(t, b->to, rank), wpi_ptx_mapped(t, b->barrier, rank));
}

/* The spaces in the order of the text: the destination's comes first. */
static bool take_spaces(wpi_ptx *t, wpi_ptx_place *to, wpi_ptx_place *from) {
    static const struct {
        const char *name;
        wpi_ptx_place place;
    } spaces[] = {{"global", WP_PTX_PLACE_GLOBAL},
                  {"shared", WP_PTX_PLACE_SHARED},
                  {"shared::cta", WP_PTX_PLACE_SHARED},
                  {"shared::cluster", WP_PTX_PLACE_CLUSTER}};
    unsigned count = 0;
    for (unsigned i = 1; i < t->s->part_count; i++) {
        for (size_t k = 0; k < sizeof spaces / sizeof *spaces; k++) {
            if (strcmp(t->s->parts[i], spaces[k].name) != 0) continue;
            t->s->taken |= 1u << i;
            *(count == 0 ? to : from) = spaces[k].place;
            count++;
        }
    }
    return count == 2;
}

static void take_operation(wpi_ptx *t, bulk *b) {
    static const char *const names[] = {"add", "min", "max", "inc", "dec",
                                        "and", "or",  "xor", NULL};
    const int what = wpi_ptx_choice(t, names);
    wpi_ptx_skip(t, "noftz");
    b->type = wpi_ptx_type_take(t);
    const bool is_float = wpi_ptx_is_float(b->type), is_signed = wpi_ptx_is_signed(b->type);
    if (what < 0 || b->type.lanes != 1 || (b->type.bits != 32 && b->type.bits != 64) ||
        (is_float && what != 0)) {
        wpi_ptx_fail(t, NULL);
        return;
    }
    const LLVMAtomicRMWBinOp operations[] = {
        is_float ? LLVMAtomicRMWBinOpFAdd : LLVMAtomicRMWBinOpAdd,
        is_signed ? LLVMAtomicRMWBinOpMin : LLVMAtomicRMWBinOpUMin,
        is_signed ? LLVMAtomicRMWBinOpMax : LLVMAtomicRMWBinOpUMax,
        LLVMAtomicRMWBinOpUIncWrap,
        LLVMAtomicRMWBinOpUDecWrap,
        LLVMAtomicRMWBinOpAnd,
        LLVMAtomicRMWBinOpOr,
        LLVMAtomicRMWBinOpXor};
    b->operation = operations[what];
}

/* cp{.reduce}.async.bulk, whose words "async" and "bulk" are taken. */
void wpi_ptx_bulk(wpi_ptx *t) {
    static const char *const groups[] = {"commit_group", "wait_group", NULL};
    if (wpi_ptx_choice(t, groups) >= 0) { /* copies are complete */
        wpi_ptx_skip(t, "read");
        return;
    }
    if (wpi_ptx_has(t, "tensor")) {
        wpi_ptx_tensor_copy(t);
        return;
    }
    if (wpi_ptx_has(t, "prefetch")) {
        t->s->taken = UINT32_MAX;
        return;
    }
    bulk b = {.is_reduction = wpi_ptx_has(t, "reduce")};
    wpi_ptx_place to, from;
    const bool has_spaces = take_spaces(t, &to, &from);
    const bool has_barrier = wpi_ptx_has(t, "mbarrier::complete_tx::bytes");
    const bool is_for_all = wpi_ptx_has(t, "multicast::cluster");
    const bool has_policy = wpi_ptx_has(t, "L2::cache_hint"); /* the last operand: a hint */
    if (!has_spaces || has_barrier == wpi_ptx_has(t, "bulk_group") || (is_for_all && !has_barrier))
        wpi_ptx_fail(t, NULL);
    if (b.is_reduction) take_operation(t, &b);
    const unsigned count = 3u + has_barrier + is_for_all;
    wpi_ptx_expect(t, count + has_policy, count + has_policy);
    if (t->status != WP_STATUS_OK) return;
    b.to = wpi_ptx_address_in(t, 0, to);
    b.from = wpi_ptx_address_in(t, 1, from);
    b.size = wpi_ptx_read(t, 2, word);
    if (has_barrier)
        b.barrier = wpi_ptx_address_in(
            t, 3, to == WP_PTX_PLACE_CLUSTER ? WP_PTX_PLACE_CLUSTER : WP_PTX_PLACE_SHARED);
    if (is_for_all)
        b.mask = LLVMBuildZExt(t->b, wpi_ptx_read(t, 4, wpi_ptx_type_of(WP_PTX_BITS, 16)),
                               t->c->i32, "");
    if (t->status != WP_STATUS_OK) return;
    if (is_for_all)
        wpi_ptx_multicast(t, b.mask, transfer_to, &b);
    else
        transfer(t, &b, b.to, b.barrier);
}

/* st.async{.weak}.shared::cluster.mbarrier::complete_tx::bytes{.vec}.type [a], value, [barrier] */
void wpi_ptx_store_async(wpi_ptx *t) {
    wpi_ptx_skip(t, "weak");
    wpi_ptx_skip(t, "shared::cluster");
    if (!wpi_ptx_has(t, "mbarrier::complete_tx::bytes")) wpi_ptx_fail(t, NULL);
    const unsigned elements = wpi_ptx_has(t, "v2") ? 2 : wpi_ptx_has(t, "v4") ? 4 : 1;
    wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    const wpi_ptx_operand *value = wpi_ptx_operand_at(t, 1);
    const bool is_list = value->kind == WP_PTX_OPERAND_LIST;
    if ((is_list ? value->count : 1) != elements || (type.bits != 32 && type.bits != 64))
        wpi_ptx_fail(t, NULL);
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef to = wpi_ptx_address_in(t, 0, WP_PTX_PLACE_CLUSTER);
    LLVMValueRef barrier = wpi_ptx_address_in(t, 2, WP_PTX_PLACE_CLUSTER);
    const wpi_ptx_type raw = wpi_ptx_type_of(WP_PTX_BITS, type.bits);
    for (unsigned i = 0; i < elements && t->status == WP_STATUS_OK; i++) {
        LLVMValueRef offset = wpi_const64(t->c, (uint64_t)i * type.bits / 8);
        LLVMValueRef bits =
            wpi_ptx_read_operand(t, is_list ? &t->s->pool[value->first + i] : value, raw);
        LLVMSetAlignment(
            LLVMBuildStore(t->b, bits, LLVMBuildGEP2(t->b, t->c->i8, to, &offset, 1, "")),
            type.bits / 8);
    }
    if (t->status == WP_STATUS_OK)
        wpi_ptx_count_bytes(t, barrier, wpi_const64(t->c, (uint64_t)elements * type.bits / 8));
}
