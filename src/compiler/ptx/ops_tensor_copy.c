/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of tensors (TMA): cp.async.bulk.tensor, cp.reduce.async.bulk.tensor, in tile mode.
 *
 *     global ──► shared::cluster     mbarrier; with .multicast::cluster to the blocks of a mask
 *     shared::cta ──► global         bulk group
 *
 * The thread copies at once, by functions of tensorlib that are linked behind lower_asm, then
 * counts the bytes at the barrier. */
#include <string.h>

#include "base/tensor_abi.h"
#include "compiler/ir/edit.h"
#include "compiler/ptx/ptx.h"

static const wpi_ptx_type word = {WP_PTX_BITS, 32, 1};

typedef struct tensor_copy {
    LLVMValueRef memory, map, barrier; /* memory: shared; barrier: NULL with a bulk group */
    LLVMValueRef coordinates[WP_TENSOR_RANK_MAX];
} tensor_copy;

static unsigned rank_take(wpi_ptx *t) {
    static const char *const ranks[] = {"1d", "2d", "3d", "4d", "5d", NULL};
    return (unsigned)(wpi_ptx_choice(t, ranks) + 1);
}

/* [map, {x, y}] */
static void read_map(wpi_ptx *t, unsigned index, unsigned rank, tensor_copy *copy) {
    const wpi_ptx_operand *o = wpi_ptx_operand_at(t, index);
    if (o->kind != WP_PTX_OPERAND_ADDRESS || o->count == 0) {
        wpi_ptx_fail(t, "it has no [map, {coordinates}]");
        return;
    }
    const wpi_ptx_operand *list = &t->s->pool[o->first];
    const bool is_list = list->kind == WP_PTX_OPERAND_LIST;
    if ((is_list ? list->count : 1) != rank) {
        wpi_ptx_fail(t, "the number of coordinates is not that of the dimensions");
        return;
    }
    copy->map = wpi_ptx_base_in(t, index, WP_PTX_PLACE_GLOBAL);
    for (unsigned i = 0; i < WP_TENSOR_RANK_MAX; i++)
        copy->coordinates[i] =
            i < rank ? wpi_ptx_read_operand(t, is_list ? &t->s->pool[list->first + i] : list, word)
                     : wpi_const32(t->c, 0);
}

static LLVMValueRef call(wpi_ptx *t, const char *name, LLVMTypeRef result, LLVMValueRef memory,
                         const tensor_copy *copy, LLVMValueRef last) {
    LLVMValueRef args[3 + WP_TENSOR_RANK_MAX] = {memory, copy->map};
    memcpy(args + 2, copy->coordinates, sizeof copy->coordinates);
    args[2 + WP_TENSOR_RANK_MAX] = last;
    return wpi_ptx_call(t, name, result, args, 2 + WP_TENSOR_RANK_MAX + (last != NULL));
}

static void load_to(wpi_ptx *t, const tensor_copy *copy, LLVMValueRef memory,
                    LLVMValueRef barrier) {
    LLVMValueRef bytes = call(t, WP_PTX_TENSOR_PREFIX "load", t->c->i32, memory, copy, NULL);
    wpi_ptx_count_bytes(t, barrier, LLVMBuildZExt(t->b, bytes, t->c->i64, ""));
}

static void load_to_block(wpi_ptx *t, LLVMValueRef rank, const void *arg) {
    const tensor_copy *copy = arg;
    load_to(t, copy, wpi_ptx_mapped(t, copy->memory, rank), wpi_ptx_mapped(t, copy->barrier, rank));
}

/* [to], [map, {x, y}], [barrier]{, mask}{, policy} */
static void load(wpi_ptx *t, unsigned rank) {
    const wpi_ptx_place to =
        wpi_ptx_has(t, "shared::cluster") ? WP_PTX_PLACE_CLUSTER : WP_PTX_PLACE_SHARED;
    if (to == WP_PTX_PLACE_SHARED && !wpi_ptx_has(t, "shared::cta")) wpi_ptx_fail(t, NULL);
    if (!wpi_ptx_has(t, "global")) wpi_ptx_fail(t, NULL);
    const bool is_for_all = wpi_ptx_has(t, "multicast::cluster");
    const bool has_policy = wpi_ptx_has(t, "L2::cache_hint");
    const unsigned count = 3u + is_for_all + has_policy;
    wpi_ptx_expect(t, count, count);
    if (t->status != WP_STATUS_OK) return;
    tensor_copy copy = {.memory = wpi_ptx_address_in(t, 0, to),
                        .barrier = wpi_ptx_address_in(t, 2, to)};
    read_map(t, 1, rank, &copy);
    LLVMValueRef mask = NULL;
    if (is_for_all)
        mask = LLVMBuildZExt(t->b, wpi_ptx_read(t, 3, wpi_ptx_type_of(WP_PTX_BITS, 16)), t->c->i32,
                             "");
    if (t->status != WP_STATUS_OK) return;
    if (is_for_all)
        wpi_ptx_multicast(t, mask, load_to_block, &copy);
    else
        load_to(t, &copy, copy.memory, copy.barrier);
}

/* [map, {x, y}], [from]{, policy} */
static void store(wpi_ptx *t, unsigned rank, bool is_reduction) {
    static const char *const operations[] = {"add", "min", "max", "inc", "dec",
                                             "and", "or",  "xor", NULL};
    const bool has_spaces = wpi_ptx_has(t, "global") && wpi_ptx_has(t, "shared::cta");
    const bool has_group = wpi_ptx_has(t, "bulk_group");
    const bool has_policy = wpi_ptx_has(t, "L2::cache_hint");
    const int operation = is_reduction ? wpi_ptx_choice(t, operations) : 0;
    if (!has_spaces || !has_group || operation < 0) wpi_ptx_fail(t, NULL);
    wpi_ptx_expect(t, 2u + has_policy, 2u + has_policy);
    if (t->status != WP_STATUS_OK) return;
    tensor_copy copy = {.memory = wpi_ptx_address_in(t, 1, WP_PTX_PLACE_SHARED)};
    read_map(t, 0, rank, &copy);
    if (t->status != WP_STATUS_OK) return;
    if (is_reduction)
        call(t, WP_PTX_TENSOR_PREFIX "reduce", t->c->none, copy.memory, &copy,
             wpi_const32(t->c, (uint32_t)operation));
    else
        call(t, WP_PTX_TENSOR_PREFIX "store", t->c->none, copy.memory, &copy, NULL);
}

void wpi_ptx_tensor_copy(wpi_ptx *t) {
    const unsigned rank = rank_take(t);
    wpi_ptx_skip(t, "tile");
    if (rank == 0) wpi_ptx_fail(t, "its number of dimensions is missing");
    if (wpi_ptx_has(t, "prefetch")) {
        if (!wpi_ptx_has(t, "L2") || !wpi_ptx_has(t, "global")) wpi_ptx_fail(t, NULL);
        wpi_ptx_skip(t, "L2::cache_hint");
        return;
    }
    if (wpi_ptx_has(t, "mbarrier::complete_tx::bytes"))
        load(t, rank);
    else
        store(t, rank, wpi_ptx_has(t, "reduce"));
}
