/* SPDX-License-Identifier: Apache-2.0 */
/* Cuts functions into blocks: straight code that ends where control may leave it, after each stop,
 * call and clock read, after the most accesses that a block can record, and, in step, after each
 * access. Blocks are numbered in reverse post order. A block with only a forward branch is omitted:
 * its successor is recorded in its place. */
#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/postdom.h"
#include "compiler/ir/source_variable.h"
#include "compiler/pass/trace/trace_pass.h"

static bool is_recorded(const tracer *t, LLVMValueRef i) {
    return wpi_trace_access(t, i).memory == TRACE_SITE;
}

/* Whether an instruction ends the block; counts the block's accesses. */
static bool ends_block(const tracer *t, LLVMValueRef i, uint32_t *accesses) {
    uint32_t most = t->is_in_step ? 1 : WP_TRACE_BLOCK_WORDS_MAX - 2; /* - block, barrier */
    if (is_recorded(t, i)) ++*accesses;
    return wpi_trace_is_end(i) || *accesses == most;
}

static bool is_jump(LLVMValueRef i) {
    return LLVMIsABranchInst(i) && !LLVMIsConditional(i);
}

static void split_block(const tracer *t, LLVMBasicBlockRef block) {
    uint32_t accesses = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!next || !ends_block(t, i, &accesses)) continue;
        accesses = 0;
        if (!is_jump(next)) wpi_block_split_before(next);
    }
}

/* Whether a block has only a branch, to a later block. */
static bool is_empty(const wpi_map *index, LLVMBasicBlockRef block) {
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (LLVMIsAPHINode(i))
        i = LLVMGetNextInstruction(i);
    return is_jump(i) && wpi_map_index(index, LLVMGetSuccessor(i, 0)) > wpi_map_index(index, block);
}

static trace_block *add_block(tracer *t, LLVMBasicBlockRef code) {
    t->blocks = wpi_trace_grow(t->blocks, t->block_count, sizeof *t->blocks);
    wpi_map_set_index(&t->block_of, code, t->block_count);
    trace_block *block = &t->blocks[t->block_count++];
    *block = (trace_block){.code = code};
    return block;
}

static void enter_instructions(tracer *t, trace_block *block) {
    uint32_t number = (uint32_t)(block - t->blocks);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block->code); i; i = LLVMGetNextInstruction(i)) {
        if (wpi_trace_is_end(i)) block->end = i;
        if (!is_recorded(t, i)) continue;
        block->accesses =
            wpi_trace_grow(block->accesses, block->access_count, sizeof *block->accesses);
        block->accesses[block->access_count++] = i;
        wpi_trace_add_site(t, i, number);
    }
}

static uint32_t first_line(LLVMBasicBlockRef block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        wpi_source_place_of place = wpi_source_place_of(i);
        if (place.line && !LLVMIsAPHINode(i)) return place.line;
    }
    return 0;
}

/* The first recorded block at or after a block. */
static uint32_t recorded_at(const tracer *t, LLVMBasicBlockRef block) {
    uint32_t number;
    while ((number = wpi_map_index(&t->block_of, block)) == UINT32_MAX)
        block = LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), 0);
    return number;
}

void wpi_trace_cut(tracer *t, uint32_t number) {
    LLVMValueRef function = t->functions[number];
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        split_block(t, b);
    uint32_t count, first = t->block_count;
    LLVMBasicBlockRef *order = wpi_blocks_rpo(function, &count);
    wpi_map index = {0};
    for (uint32_t b = 0; b < count; b++)
        wpi_map_set_index(&index, order[b], b);
    for (uint32_t b = 0; b < count; b++)
        if (!is_empty(&index, order[b])) enter_instructions(t, add_block(t, order[b]));
    uint32_t *meets = wpi_postdominators(order, count, &index);
    for (uint32_t b = first; b < t->block_count; b++) {
        uint32_t meet = meets[wpi_map_index(&index, t->blocks[b].code)];
        t->blocks[b].row.function = number;
        t->blocks[b].row.join = meet < count ? recorded_at(t, order[meet]) : WP_TRACE_NONE;
        t->blocks[b].row.access_count =
            t->blocks[b].access_count + wpi_trace_has_barrier_word(&t->blocks[b]);
        t->blocks[b].row.line = first_line(t->blocks[b].code);
    }
    wpi_free(meets);
    wpi_map_deinit(&index);
    wpi_free(order);
}
