/* SPDX-License-Identifier: Apache-2.0 */
/* Orders the loads of a block that reads its part of an array in several rows: row after row.
 *
 *     i = blockIdx.x * 512 + threadIdx.x;  mine = x[i];  mine += x[i + 256];
 *
 * Thread by thread, accesses alternate between two close streams, which jump at the end of each
 * block: the processor's prefetcher follows neither, and a quarter of the memory bandwidth is used.
 * With a cut between the two loads all threads execute the first, then all the second: one stream
 * that continues from block to block. (A GPU also executes a warp's first load for all lanes.) */
#include <llvm-c/Target.h>
#include <stddef.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/pass/region/regions.h"
#include "compiler/passes.h"

enum {
    LOADS_MOST = 64,
    CUTS_MOST = 8,
    DEPTH_MOST = 10,
    APART_LEAST_BYTES = 256, /* nearer ones are in the same stream */
    APART_MOST_BYTES = 4096  /* more distant ones do not interfere */
};

/* constant + by_row * blockDim.x, in elements or bytes */
typedef struct extent {
    int64_t constant, by_row;
} extent;

typedef struct place {
    LLVMValueRef load, base, root;
    extent from_root; /* bytes */
    uint64_t element_bytes;
} place;

static bool is_id(LLVMValueRef value, wpi_id id) {
    LLVMValueRef callee = LLVMIsAInstruction(value) ? wpi_called_function(value) : NULL;
    return callee && wpi_lower_id_of(callee) == id;
}

static bool is_extension(LLVMValueRef value) {
    return LLVMIsAZExtInst(value) || LLVMIsASExtInst(value);
}

static bool is_sum(LLVMValueRef value) {
    if (!LLVMIsABinaryOperator(value)) return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    return opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(value));
}

/* Splits value into root + a uniform number of elements */
static LLVMValueRef root_of(LLVMValueRef value, extent *from_root) {
    for (int depth = 0; depth < DEPTH_MOST; depth++) {
        if (is_extension(value)) {
            value = LLVMGetOperand(value, 0);
            continue;
        }
        if (!is_sum(value)) return value;
        LLVMValueRef x = LLVMGetOperand(value, 0), y = LLVMGetOperand(value, 1);
        if (LLVMIsAConstantInt(y) || is_id(y, WP_ID_NTID_X)) {
            value = x;
        } else if (is_id(x, WP_ID_NTID_X)) {
            value = y;
            y = x;
        } else {
            return value;
        }
        if (LLVMIsAConstantInt(y))
            from_root->constant += LLVMConstIntGetSExtValue(y);
        else
            from_root->by_row++;
    }
    return value;
}

/* The growth of `value` from block to block, in elements; false: unknown. */
static bool block_step(LLVMValueRef value, extent *out, int depth) {
    *out = (extent){0, 0};
    if (!LLVMIsAInstruction(value)) return true;
    if (depth > DEPTH_MOST || LLVMIsAPHINode(value)) return false;
    if (is_extension(value)) return block_step(LLVMGetOperand(value, 0), out, depth + 1);
    if (wpi_called_function(value)) {
        out->constant = is_id(value, WP_ID_CTAID_X);
        return wpi_lower_id_of(wpi_called_function(value)) != WP_ID_COUNT;
    }
    if (!LLVMIsABinaryOperator(value)) return false;
    LLVMValueRef x = LLVMGetOperand(value, 0), y = LLVMGetOperand(value, 1);
    extent ex, ey;
    if (!block_step(x, &ex, depth + 1) || !block_step(y, &ey, depth + 1)) return false;
    bool x_moves = ex.constant || ex.by_row, y_moves = ey.constant || ey.by_row;
    if (!x_moves && !y_moves) return true;
    if (is_sum(value)) {
        *out = (extent){ex.constant + ey.constant, ex.by_row + ey.by_row};
        return true;
    }
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    int64_t factor = 0;
    if (y_moves || (opcode != LLVMMul && opcode != LLVMShl)) {
        if (opcode != LLVMMul || x_moves) return false;
        extent swap = ex;
        ex = ey;
        ey = swap;
        y = x;
    }
    if (opcode == LLVMMul && is_id(y, WP_ID_NTID_X) && !ex.by_row) {
        *out = (extent){0, ex.constant};
        return true;
    }
    if (opcode == LLVMMul && LLVMIsABinaryOperator(y) && !ex.by_row &&
        is_id(LLVMGetOperand(y, 0), WP_ID_NTID_X) && LLVMIsAConstantInt(LLVMGetOperand(y, 1))) {
        int64_t times = LLVMConstIntGetSExtValue(LLVMGetOperand(y, 1)); /* ntid.x * 2, << 1 */
        if (LLVMGetInstructionOpcode(y) == LLVMShl && times >= 0 && times < 16)
            times = (int64_t)1 << times;
        else if (LLVMGetInstructionOpcode(y) != LLVMMul)
            return false;
        *out = (extent){0, ex.constant * times};
        return true;
    }
    if (!LLVMIsAConstantInt(y)) return false;
    factor = LLVMConstIntGetSExtValue(y);
    if (opcode == LLVMShl) factor = factor >= 0 && factor < 31 ? (int64_t)1 << factor : 0;
    *out = (extent){ex.constant * factor, ex.by_row * factor};
    return factor != 0;
}

static bool is_place(wpi_compile *c, LLVMValueRef load, place *out) {
    if (!LLVMIsALoadInst(load) || LLVMGetVolatile(load)) return false;
    LLVMValueRef gep = LLVMGetOperand(load, 0);
    if (!LLVMIsAGetElementPtrInst(gep) || LLVMGetNumOperands(gep) != 2 ||
        LLVMGetPointerAddressSpace(LLVMTypeOf(gep)) == WP_SPACE_SHARED)
        return false;
    uint64_t bytes =
        LLVMABISizeOfType(LLVMGetModuleDataLayout(c->module), LLVMGetGEPSourceElementType(gep));
    *out = (place){.load = load, .element_bytes = bytes};
    out->root = root_of(LLVMGetOperand(gep, 1), &out->from_root);
    out->base = LLVMGetOperand(gep, 0);
    extent inner = {0, 0}; /* a constant offset may be a separate address */
    if (LLVMIsAGetElementPtrInst(out->base) && LLVMGetNumOperands(out->base) == 2 &&
        !LLVMIsAConstantInt(LLVMGetOperand(out->base, 1)) &&
        LLVMIsAConstantInt(LLVMGetOperand(gep, 1))) {
        LLVMValueRef outer = out->base;
        uint64_t outer_bytes = LLVMABISizeOfType(LLVMGetModuleDataLayout(c->module),
                                                 LLVMGetGEPSourceElementType(outer));
        int64_t offset = LLVMConstIntGetSExtValue(LLVMGetOperand(gep, 1)) * (int64_t)bytes;
        if (!outer_bytes || offset % (int64_t)outer_bytes) return false;
        out->root = root_of(LLVMGetOperand(outer, 1), &inner);
        inner.constant += offset / (int64_t)outer_bytes;
        out->from_root = inner;
        out->base = LLVMGetOperand(outer, 0);
        out->element_bytes = outer_bytes;
    }
    return LLVMIsAInstruction(out->root) != NULL;
}

static int64_t magnitude(int64_t value) {
    return value < 0 ? -value : value;
}

/* Whether two places are rows of one block's part of an array. */
static bool are_rows(const place *a, const place *b) {
    extent step;
    if (a->base != b->base || a->root != b->root || a->element_bytes != b->element_bytes ||
        !block_step(a->root, &step, 0))
        return false;
    extent apart = {magnitude(b->from_root.constant - a->from_root.constant),
                    magnitude(b->from_root.by_row - a->from_root.by_row)};
    if (apart.by_row) return !apart.constant && !step.constant && apart.by_row < step.by_row;
    int64_t bytes = apart.constant * (int64_t)a->element_bytes;
    return bytes >= APART_LEAST_BYTES && bytes <= APART_MOST_BYTES && !step.by_row &&
           apart.constant < step.constant;
}

/* The place of a cut: before the load, or before the guard around it, which all threads reach. */
static LLVMValueRef cut_before(const wpi_loops *l, const wpi_uniform *u, LLVMValueRef load) {
    uint32_t block = wpi_map_index(&l->index, LLVMGetInstructionParent(load));
    if (!wpi_uniform_is_partial(u, l->blocks[block])) return load;
    while (block && wpi_uniform_is_partial(u, l->blocks[block]))
        block = l->idom[block];
    return LLVMGetBasicBlockTerminator(l->blocks[block]);
}

/* Whether `earlier` is before the cut in the blocks' order. */
static bool comes_before(const wpi_loops *l, LLVMValueRef earlier, LLVMValueRef cut) {
    uint32_t from = wpi_map_index(&l->index, LLVMGetInstructionParent(earlier));
    uint32_t to = wpi_map_index(&l->index, LLVMGetInstructionParent(cut));
    if (from != to) return from < to;
    for (LLVMValueRef i = earlier; i; i = LLVMGetNextInstruction(i))
        if (i == cut) return true;
    return false;
}

static bool is_in_a_loop(const wpi_loops *l, LLVMValueRef instruction) {
    uint32_t block = wpi_map_index(&l->index, LLVMGetInstructionParent(instruction));
    for (uint32_t i = 0; i < l->loop_count; i++)
        if (l->loops[i].contains[block]) return true;
    return false;
}

static void part_rows(wpi_compile *c, LLVMValueRef kernel) {
    wpi_loops loops;
    wpi_uniform uniform;
    wpi_loops_init(&loops, kernel);
    wpi_region_uniform_init(&uniform, kernel);
    place places[LOADS_MOST];
    LLVMValueRef cuts[CUTS_MOST];
    uint32_t place_count = 0, cut_count = 0, first = 0; /* places[first]: the first since a cut */
    wpi_region_step step = wpi_region_step_for_cuts(c, &uniform);
    for (uint32_t b = 0; b < loops.block_count && step != WP_STEP_LOST; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(loops.blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (wpi_lower_is_stop(i)) first = place_count;
            if (place_count == LOADS_MOST || !is_place(c, i, &places[place_count]) ||
                is_in_a_loop(&loops, i))
                continue;
            LLVMValueRef cut = cut_before(&loops, &uniform, i);
            for (uint32_t p = first; p < place_count && cut_count < CUTS_MOST; p++) {
                if (!are_rows(&places[p], &places[place_count]) ||
                    !comes_before(&loops, places[p].load, cut))
                    continue;
                cuts[cut_count++] = cut;
                first = place_count;
            }
            place_count++;
        }
    for (uint32_t n = 0; n < cut_count; n++) {
        LLVMPositionBuilderBefore(c->builder, cuts[n]);
        uint32_t op = step == WP_STEP_KEPT ? WP_STOP_CUT : WP_STOP_BARRIER;
        wpi_lower_stop(c, c->builder, op, NULL, NULL, NULL);
    }
    wpi_uniform_deinit(&uniform);
    wpi_loops_deinit(&loops);
}

wp_status wpi_pass_row_order(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        part_rows(c, c->kernels[n].function);
    return WP_STATUS_OK;
}
