/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/uniform.h"

#include <string.h>

#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/postdom.h"

bool wpi_uniform_is(const wp_uniform *u, LLVMValueRef value) {
    return !LLVMIsAInstruction(value) || !wpi_map_has(&u->divergent, value);
}

bool wpi_uniform_is_partial(const wp_uniform *u, LLVMBasicBlockRef block) {
    uint32_t index = wpi_map_index(&u->block_index, block);
    return index == UINT32_MAX || u->is_partial[index];
}

static bool mark(wp_uniform *u, LLVMValueRef value) {
    if (wpi_map_has(&u->divergent, value)) return false;
    wpi_map_set(&u->divergent, value, value);
    return true;
}

/* Threads part at the end of block `b` and meet at `join`: phis from here to there see both. */
static bool spread_control(wp_uniform *u, uint32_t b, uint32_t join) {
    bool *seen = wp_calloc(u->block_count + 1, sizeof *seen), changed = false;
    uint32_t *stack = wp_calloc(u->block_count + 1, sizeof *stack), depth = 0;
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(u->blocks[b]);
    seen[b] = false;
    stack[depth++] = b;
    bool is_first = true;
    while (depth) {
        uint32_t at = stack[--depth];
        if (!is_first) {
            changed |= !u->is_partial[at];
            u->is_partial[at] = true;
            terminator = LLVMGetBasicBlockTerminator(u->blocks[at]);
        }
        is_first = false;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            uint32_t to = wpi_map_index(&u->block_index, LLVMGetSuccessor(terminator, s));
            if (seen[to]) continue;
            seen[to] = true;
            LLVMValueRef i = LLVMGetFirstInstruction(u->blocks[to]);
            for (; LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
                changed |= mark(u, i);
            if (to != join) stack[depth++] = to;
        }
    }
    wp_free(seen);
    wp_free(stack);
    return changed;
}

static bool spread_data(wp_uniform *u, LLVMValueRef instruction,
                        wp_origin (*origin)(LLVMValueRef)) {
    if (wpi_map_has(&u->divergent, instruction)) return false;
    wp_origin from = origin(instruction);
    if (from == WP_ORIGIN_UNIFORM) return false;
    bool divergent = from == WP_ORIGIN_DIVERGENT;
    for (int o = 0; o < LLVMGetNumOperands(instruction) && !divergent; o++)
        divergent = !wpi_uniform_is(u, LLVMGetOperand(instruction, (unsigned)o));
    return divergent && mark(u, instruction);
}

void wpi_uniform_init(wp_uniform *u, LLVMValueRef function,
                      wp_origin (*origin)(LLVMValueRef instruction)) {
    memset(u, 0, sizeof *u);
    u->blocks = wpi_blocks_rpo(function, &u->block_count);
    for (uint32_t b = 0; b < u->block_count; b++)
        wpi_map_set_index(&u->block_index, u->blocks[b], b);
    u->is_partial = wp_calloc(u->block_count + 1, sizeof *u->is_partial);
    uint32_t *join = wpi_postdominators(u->blocks, u->block_count, &u->block_index);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < u->block_count; b++) {
            for (LLVMValueRef i = LLVMGetFirstInstruction(u->blocks[b]); i;
                 i = LLVMGetNextInstruction(i))
                changed |= spread_data(u, i, origin);
            LLVMValueRef terminator = LLVMGetBasicBlockTerminator(u->blocks[b]);
            if (LLVMGetNumSuccessors(terminator) > 1 &&
                !wpi_uniform_is(u, LLVMGetOperand(terminator, 0)))
                changed |= spread_control(u, b, join[b]);
        }
    }
    wp_free(join);
}

void wpi_uniform_deinit(wp_uniform *u) {
    wp_free(u->blocks);
    wp_free(u->is_partial);
    wpi_map_deinit(&u->block_index);
    wpi_map_deinit(&u->divergent);
}
