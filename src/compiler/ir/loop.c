/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/loop.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"

/* Predecessor lists as one array: those of block b are at [start[b], start[b + 1]). */
typedef struct predecessors {
    uint32_t *start, *block;
} predecessors;

static predecessors predecessors_of(const wpi_loops *l) {
    predecessors p = {wpi_must_calloc(l->block_count + 2, sizeof *p.start), NULL};
    for (int round = 0; round < 2; round++) {
        for (uint32_t b = 0; b < l->block_count; b++) {
            LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[b]);
            for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
                uint32_t to = wpi_map_index(&l->index, LLVMGetSuccessor(terminator, s));
                if (round == 0)
                    p.start[to + 2]++;
                else
                    p.block[p.start[to + 1]++] = b;
            }
        }
        if (round == 1) break;
        for (uint32_t b = 2; b < l->block_count + 2; b++)
            p.start[b] += p.start[b - 1];
        p.block = wpi_must_calloc(p.start[l->block_count + 1] + 1, sizeof *p.block);
    }
    return p;
}

static uint32_t intersect(const uint32_t *idom, uint32_t a, uint32_t b) {
    while (a != b) {
        while (a > b)
            a = idom[a];
        while (b > a)
            b = idom[b];
    }
    return a;
}

static void find_dominators(wpi_loops *l, const predecessors *p) {
    l->idom = wpi_must_calloc(l->block_count, sizeof *l->idom);
    for (uint32_t b = 1; b < l->block_count; b++)
        l->idom[b] = UINT32_MAX;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 1; b < l->block_count; b++) {
            uint32_t dominator = UINT32_MAX;
            for (uint32_t i = p->start[b]; i < p->start[b + 1]; i++) {
                uint32_t from = p->block[i];
                if (l->idom[from] == UINT32_MAX) continue;
                dominator = dominator == UINT32_MAX ? from : intersect(l->idom, dominator, from);
            }
            if (dominator != l->idom[b]) {
                l->idom[b] = dominator;
                changed = true;
            }
        }
    }
}

bool wpi_loops_dominates(const wpi_loops *l, uint32_t a, uint32_t b) {
    while (b > a)
        b = l->idom[b];
    return a == b;
}

static void add_loop(wpi_loops *l, const predecessors *p, uint32_t header, uint32_t latch) {
    l->loops = wpi_must_realloc(l->loops, (l->loop_count + 1) * sizeof *l->loops);
    wpi_loop *loop = &l->loops[l->loop_count++];
    *loop = (wpi_loop){header, latch, wpi_must_calloc(l->block_count, sizeof(bool))};
    uint32_t *stack = wpi_must_calloc(l->block_count + 1, sizeof *stack), depth = 0;
    loop->contains[header] = true;
    if (!loop->contains[latch]) stack[depth++] = latch;
    loop->contains[latch] = true;
    while (depth) {
        uint32_t b = stack[--depth];
        for (uint32_t i = p->start[b]; i < p->start[b + 1]; i++)
            if (!loop->contains[p->block[i]]) {
                loop->contains[p->block[i]] = true;
                stack[depth++] = p->block[i];
            }
    }
    wpi_free(stack);
}

void wpi_loops_init(wpi_loops *l, LLVMValueRef function) {
    memset(l, 0, sizeof *l);
    l->blocks = wpi_blocks_rpo(function, &l->block_count);
    for (uint32_t b = 0; b < l->block_count; b++)
        wpi_map_set_index(&l->index, l->blocks[b], b);
    predecessors p = predecessors_of(l);
    find_dominators(l, &p);
    for (uint32_t b = 0; b < l->block_count; b++)
        for (uint32_t i = p.start[b]; i < p.start[b + 1]; i++)
            if (wpi_loops_dominates(l, b, p.block[i])) add_loop(l, &p, b, p.block[i]);
    wpi_free(p.start);
    wpi_free(p.block);
}

void wpi_loops_deinit(wpi_loops *l) {
    for (uint32_t i = 0; i < l->loop_count; i++)
        wpi_free(l->loops[i].contains);
    wpi_free(l->loops);
    wpi_free(l->idom);
    wpi_free(l->blocks);
    wpi_map_deinit(&l->index);
}

LLVMBasicBlockRef wpi_edge_split(LLVMBasicBlockRef from, unsigned successor) {
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(from);
    LLVMBasicBlockRef to = LLVMGetSuccessor(terminator, successor);
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(LLVMBasicBlockAsValue(to)));
    LLVMBasicBlockRef middle = LLVMInsertBasicBlockInContext(context, to, "edge");
    LLVMBuilderRef builder = LLVMCreateBuilderInContext(context);
    LLVMPositionBuilderAtEnd(builder, middle);
    LLVMInstructionSetDebugLoc(LLVMBuildBr(builder, to), LLVMInstructionGetDebugLoc(terminator));
    /* LLVM-C cannot change the block of a phi's edge, so each phi is rebuilt. One edge moves;
     * others from the same block (a switch) stay. */
    LLVMValueRef next;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(to); LLVMIsAPHINode(phi); phi = next) {
        next = LLVMGetNextInstruction(phi);
        LLVMPositionBuilderBefore(builder, phi);
        LLVMValueRef made = LLVMBuildPhi(builder, LLVMTypeOf(phi), "");
        bool moved = false;
        for (unsigned i = 0; i < LLVMCountIncoming(phi); i++) {
            LLVMBasicBlockRef block = LLVMGetIncomingBlock(phi, i);
            LLVMValueRef value = LLVMGetIncomingValue(phi, i);
            if (value == phi) value = made;
            if (block == from && !moved) {
                block = middle;
                moved = true;
            }
            LLVMAddIncoming(made, &value, &block, 1);
        }
        LLVMReplaceAllUsesWith(phi, made);
        LLVMInstructionEraseFromParent(phi);
    }
    LLVMSetSuccessor(terminator, successor, middle);
    LLVMDisposeBuilder(builder);
    return middle;
}
