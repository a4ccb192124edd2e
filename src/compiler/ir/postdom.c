/* SPDX-License-Identifier: Apache-2.0 */
/* Dominators of the reversed graph, with one virtual end after all blocks that leave the function:
 * Cooper, Harvey and Kennedy's iteration over a reverse post order of that graph. */
#include "compiler/ir/postdom.h"

#include <stdbool.h>

#include "base/must.h"

typedef struct graph {
    uint32_t count;         /* blocks; the virtual end is node `count` */
    uint32_t *start, *from; /* reversed edges: predecessors of each block */
    uint32_t *number;       /* node → position in reverse post order, UINT32_MAX: not reached */
    uint32_t *order;        /* position → node */
    uint32_t order_count;
} graph;

/* Whether a block leaves the function. One that ends the kernel, as a trap does, is no exit at
 * which threads could reconverge. */
static bool leaves(LLVMBasicBlockRef block) {
    return LLVMIsAReturnInst(LLVMGetBasicBlockTerminator(block)) != NULL;
}

static void build_predecessors(graph *g, const LLVMBasicBlockRef *blocks, const wpi_map *index) {
    g->start = wpi_must_calloc(g->count + 2, sizeof *g->start);
    for (int round = 0; round < 2; round++) {
        for (uint32_t b = 0; b < g->count; b++) {
            LLVMValueRef terminator = LLVMGetBasicBlockTerminator(blocks[b]);
            for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
                uint32_t to = wpi_map_index(index, LLVMGetSuccessor(terminator, s));
                if (round == 0)
                    g->start[to + 2]++;
                else
                    g->from[g->start[to + 1]++] = b;
            }
        }
        if (round == 1) break;
        for (uint32_t b = 2; b < g->count + 2; b++)
            g->start[b] += g->start[b - 1];
        g->from = wpi_must_calloc(g->start[g->count + 1] + 1, sizeof *g->from);
    }
}

/* Depth-first search over reversed edges from the end; positions are in reverse post order. */
static void number_nodes(graph *g, const LLVMBasicBlockRef *blocks) {
    uint32_t *stack = wpi_must_calloc(g->count + 1, sizeof *stack),
             *next = wpi_must_calloc(g->count + 1, sizeof *next);
    uint32_t *done = wpi_must_calloc(g->count + 1, sizeof *done), done_count = 0;
    bool *seen = wpi_must_calloc(g->count + 1, sizeof *seen);
    for (uint32_t b = 0; b < g->count; b++) {
        if (!leaves(blocks[b]) || seen[b]) continue;
        uint32_t depth = 0;
        stack[depth] = b;
        next[depth++] = g->start[b];
        seen[b] = true;
        while (depth) {
            uint32_t node = stack[depth - 1];
            if (next[depth - 1] == g->start[node + 1]) {
                done[done_count++] = node;
                depth--;
                continue;
            }
            uint32_t to = g->from[next[depth - 1]++];
            if (seen[to]) continue;
            seen[to] = true;
            stack[depth] = to;
            next[depth++] = g->start[to];
        }
    }
    g->number = wpi_must_calloc(g->count + 1, sizeof *g->number);
    g->order = wpi_must_calloc(g->count + 1, sizeof *g->order);
    for (uint32_t n = 0; n <= g->count; n++)
        g->number[n] = UINT32_MAX;
    g->order[0] = g->count;
    g->number[g->count] = 0;
    for (uint32_t i = 0; i < done_count; i++) {
        uint32_t node = done[done_count - 1 - i];
        g->order[i + 1] = node;
        g->number[node] = i + 1;
    }
    g->order_count = done_count + 1;
    wpi_free(stack);
    wpi_free(next);
    wpi_free(done);
    wpi_free(seen);
}

uint32_t *wpi_postdominators(const LLVMBasicBlockRef *blocks, uint32_t count,
                             const wpi_map *index) {
    graph g = {.count = count};
    build_predecessors(&g, blocks, index);
    number_nodes(&g, blocks);
    uint32_t *dominator = wpi_must_calloc(count + 1, sizeof *dominator); /* in positions */
    for (uint32_t i = 1; i <= count; i++)
        dominator[i] = UINT32_MAX;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < g.order_count; i++) {
            LLVMBasicBlockRef block = blocks[g.order[i]];
            LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
            uint32_t best = leaves(block) ? 0 : UINT32_MAX;
            for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
                uint32_t at = g.number[wpi_map_index(index, LLVMGetSuccessor(terminator, s))];
                if (at == UINT32_MAX || (at != 0 && dominator[at] == UINT32_MAX)) continue;
                if (best == UINT32_MAX) {
                    best = at;
                    continue;
                }
                uint32_t other = at;
                while (best != other) {
                    while (best > other)
                        best = dominator[best];
                    while (other > best)
                        other = dominator[other];
                }
            }
            if (best != dominator[i]) {
                dominator[i] = best;
                changed = true;
            }
        }
    }
    uint32_t *result = wpi_must_calloc(count + 1, sizeof *result);
    for (uint32_t b = 0; b < count; b++) {
        uint32_t at = g.number[b];
        result[b] =
            at == UINT32_MAX || dominator[at] == UINT32_MAX ? count : g.order[dominator[at]];
    }
    wpi_free(g.start);
    wpi_free(g.from);
    wpi_free(g.number);
    wpi_free(g.order);
    wpi_free(dominator);
    return result;
}
