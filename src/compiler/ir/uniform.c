/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/uniform.h"

#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/postdom.h"

bool wpi_uniform_is(const wpi_uniform *u, LLVMValueRef value) {
    return !LLVMIsAInstruction(value) || !wpi_map_has(&u->divergent, value);
}

bool wpi_uniform_is_partial(const wpi_uniform *u, LLVMBasicBlockRef block) {
    uint32_t index = wpi_map_index(&u->block_index, block);
    return index == UINT32_MAX || u->is_partial[index];
}

static bool mark(wpi_uniform *u, LLVMValueRef value) {
    if (wpi_map_has(&u->divergent, value)) return false;
    wpi_map_set(&u->divergent, value, value);
    return true;
}

/* Blocks reached from `from` before `join`: their bits in `reached` get `bit`. */
static void reach(const wpi_uniform *u, LLVMBasicBlockRef from, uint32_t join, uint8_t bit,
                  uint8_t *reached) {
    uint32_t *stack = wpi_must_calloc(u->block_count + 1, sizeof *stack), depth = 0;
    stack[depth++] = wpi_map_index(&u->block_index, from);
    reached[stack[0]] |= bit;
    while (depth) {
        uint32_t at = stack[--depth];
        if (at == join) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(u->blocks[at]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            uint32_t to = wpi_map_index(&u->block_index, LLVMGetSuccessor(terminator, s));
            if (reached[to] & bit) continue;
            reached[to] |= bit;
            stack[depth++] = to;
        }
    }
    wpi_free(stack);
}

/* Threads diverge at the end of block `b` and reconverge at `join`. Blocks in between are partial.
 * Phis are divergent in blocks that more than one side reaches. If the sides return to the branch,
 * threads diverge in different iterations of a loop: then every phi in between may be divergent. */
static bool spread_control(wpi_uniform *u, uint32_t b, uint32_t join) {
    uint8_t *reached = wpi_must_calloc(u->block_count + 1, sizeof *reached);
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(u->blocks[b]);
    unsigned sides = LLVMGetNumSuccessors(terminator);
    for (unsigned s = 0; s < sides; s++)
        reach(u, LLVMGetSuccessor(terminator, s), join, (uint8_t)(1u << (s < 7 ? s : 7)), reached);
    bool is_loop = reached[b] != 0, changed = false;
    for (uint32_t to = 0; to < u->block_count; to++) {
        if (!reached[to]) continue;
        if (to != join) {
            changed |= !u->is_partial[to];
            u->is_partial[to] = true;
        }
        bool is_one_side = (reached[to] & (reached[to] - 1)) == 0 && sides <= 7;
        if (to != join && is_one_side && !is_loop) continue;
        LLVMValueRef i = LLVMGetFirstInstruction(u->blocks[to]);
        for (; LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i))
            changed |= mark(u, i);
    }
    wpi_free(reached);
    return changed;
}

static bool spread_data(wpi_uniform *u, LLVMValueRef instruction,
                        wpi_value_origin (*origin)(LLVMValueRef)) {
    if (wpi_map_has(&u->divergent, instruction)) return false;
    wpi_value_origin from = origin(instruction);
    if (from == WP_ORIGIN_UNIFORM) return false;
    bool divergent = from == WP_ORIGIN_DIVERGENT;
    for (int o = 0; o < LLVMGetNumOperands(instruction) && !divergent; o++)
        divergent = !wpi_uniform_is(u, LLVMGetOperand(instruction, (unsigned)o));
    return divergent && mark(u, instruction);
}

void wpi_uniform_init(wpi_uniform *u, LLVMValueRef function,
                      wpi_value_origin (*origin)(LLVMValueRef instruction)) {
    memset(u, 0, sizeof *u);
    u->blocks = wpi_blocks_rpo(function, &u->block_count);
    for (uint32_t b = 0; b < u->block_count; b++)
        wpi_map_set_index(&u->block_index, u->blocks[b], b);
    u->is_partial = wpi_must_calloc(u->block_count + 1, sizeof *u->is_partial);
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
    wpi_free(join);
}

void wpi_uniform_deinit(wpi_uniform *u) {
    wpi_free(u->blocks);
    wpi_free(u->is_partial);
    wpi_map_deinit(&u->block_index);
    wpi_map_deinit(&u->divergent);
}
