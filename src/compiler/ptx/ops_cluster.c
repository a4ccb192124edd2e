/* SPDX-License-Identifier: Apache-2.0 */
/* Thread-block clusters: their barrier, and addresses in the shared memory of another block.
 *
 * The shared memory of a cluster's blocks is one range (base/abi.h), shorter than 4 GiB. So a
 * `.shared::cluster` address of 32 bits is completed as one of the own block is; as it may point to
 * another block, the pointer is generic. */
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/ptx/ptx.h"

static const wpi_ptx_type word = {WP_PTX_BITS, 32, 1};

bool wpi_ptx_is_cluster_space(const wpi_ptx *t) {
    for (unsigned i = 1; i < t->s->part_count; i++)
        if (strcmp(t->s->parts[i], "shared::cluster") == 0) return true;
    return false;
}

LLVMValueRef wpi_ptx_cluster_pointer(wpi_ptx *t, LLVMValueRef value) {
    LLVMValueRef pointer = wpi_ptx_pointer_of(t, value);
    if (pointer) return pointer;
    value = wpi_ptx_resize(t, wpi_ptx_as_integer(t, value), false, t->c->i32);
    return wpi_ptx_call(t, "__wp_shared_at", t->c->ptr, &value, 1);
}

/* barrier.cluster.arrive, .wait: their order of memory accesses is stricter here. */
void wpi_ptx_cluster_barrier(wpi_ptx *t) {
    static const char *const orders[] = {"release", "acquire", "relaxed", NULL};
    const bool is_arrive = wpi_ptx_has(t, "arrive");
    if (!is_arrive && !wpi_ptx_has(t, "wait")) wpi_ptx_fail(t, NULL);
    (void)wpi_ptx_choice(t, orders);
    wpi_ptx_skip(t, "aligned");
    wpi_ptx_expect(t, 0, 0);
    if (t->status != WP_STATUS_OK) return;
    wpi_ptx_call(t,
                 is_arrive ? "llvm.nvvm.barrier.cluster.arrive" : "llvm.nvvm.barrier.cluster.wait",
                 t->c->none, NULL, 0);
}

/* The pointer that operand 1 means: an address of shared memory or (.u64 alone) a generic one. */
static LLVMValueRef operand_pointer(wpi_ptx *t, wpi_ptx_type type, bool is_shared) {
    LLVMValueRef value = wpi_ptx_read_raw(t, wpi_ptx_operand_at(t, 1));
    if (!value) value = wpi_ptx_read(t, 1, type);
    if (t->status != WP_STATUS_OK) return LLVMGetUndef(t->c->ptr);
    if (is_shared) return wpi_ptx_cluster_pointer(t, value);
    LLVMValueRef pointer = wpi_ptx_pointer_of(t, value);
    return pointer ? pointer : LLVMBuildIntToPtr(t->b, value, t->c->ptr, "");
}

/* mapa{.shared::cluster}.type d, a, rank */
static void emit_mapa(wpi_ptx *t) {
    const bool is_shared = wpi_ptx_has(t, "shared::cluster");
    const wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 3, 3);
    if (type.bits != 64 && !(type.bits == 32 && is_shared)) wpi_ptx_fail(t, NULL);
    LLVMValueRef args[2] = {operand_pointer(t, type, is_shared), wpi_ptx_read(t, 2, word)};
    if (t->status != WP_STATUS_OK) return;
    LLVMValueRef there = wpi_ptx_call(t, "llvm.nvvm.mapa", t->c->ptr, args, 2);
    if (type.bits == 64 && wpi_ptx_write_raw(t, wpi_ptx_operand_at(t, 0), there)) return;
    LLVMValueRef bits = LLVMBuildPtrToInt(t->b, there, t->c->i64, "");
    if (type.bits == 32) bits = LLVMBuildTrunc(t->b, bits, t->c->i32, "");
    wpi_ptx_write(t, 0, type, bits);
}

/* getctarank{.shared::cluster}.type d, a */
static void emit_rank(wpi_ptx *t) {
    const bool is_shared = wpi_ptx_has(t, "shared::cluster");
    const wpi_ptx_type type = wpi_ptx_type_take(t);
    wpi_ptx_expect(t, 2, 2);
    LLVMValueRef pointer = operand_pointer(t, type, is_shared);
    if (t->status != WP_STATUS_OK) return;
    wpi_ptx_write(t, 0, word, wpi_ptx_call(t, "llvm.nvvm.getctarank", t->c->i32, &pointer, 1));
}

LLVMValueRef wpi_ptx_special_predicate(wpi_ptx *t, const char *name) {
    if (strcmp(name, "%is_explicit_cluster") != 0) return NULL;
    return wpi_ptx_call(t, "llvm.nvvm.is_explicit_cluster", t->c->i1, NULL, 0);
}

const wpi_ptx_row wpi_ptx_cluster[] = {
    {"mapa", emit_mapa}, {"getctarank", emit_rank}, {NULL, NULL}};
