/* SPDX-License-Identifier: Apache-2.0 */
/* How much code the regions of a kernel have together, before any is built. */
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/pass/region/regions.h"

/* A block of the kernel, as its stops cut it. */
typedef struct piece {
    uint32_t head; /* instructions before its first stop: all, if it has none */
    uint32_t tail; /* behind its last stop */
    uint32_t between;
    bool stops;
} piece;

static piece cut_block(LLVMBasicBlockRef block) {
    piece p = {0};
    uint32_t count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        count++;
        if (!wpi_lower_is_stop(i)) continue;
        *(p.stops ? &p.between : &p.head) += count;
        p.stops = true;
        count = 0;
    }
    *(p.stops ? &p.tail : &p.head) = count;
    return p;
}

typedef struct walk {
    LLVMBasicBlockRef *blocks, *stack;
    piece *pieces;
    wpi_map index;
    uint32_t *seen_by; /* the last walk that came through the block */
    uint32_t count;
} walk;

/* Instructions from the end of block `from` to the next stops on all ways. */
static uint64_t walk_on(walk *w, uint32_t from, uint32_t number) {
    uint64_t sum = 0;
    uint32_t height = 0;
    w->stack[height++] = w->blocks[from];
    while (height != 0) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(w->stack[--height]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            LLVMBasicBlockRef next = LLVMGetSuccessor(end, s);
            const uint32_t b = wpi_map_index(&w->index, next);
            if (w->seen_by[b] == number) continue;
            w->seen_by[b] = number;
            sum += w->pieces[b].head;
            if (!w->pieces[b].stops) w->stack[height++] = next;
        }
    }
    return sum;
}

uint64_t wpi_region_instructions(LLVMValueRef kernel, uint64_t enough) {
    walk w = {0};
    w.blocks = wpi_blocks_rpo(kernel, &w.count);
    w.stack = wpi_must_calloc(w.count + 1, sizeof(LLVMBasicBlockRef));
    w.pieces = wpi_must_calloc(w.count, sizeof *w.pieces);
    w.seen_by = wpi_must_calloc(w.count, sizeof *w.seen_by);
    for (uint32_t b = 0; b < w.count; b++) {
        wpi_map_set_index(&w.index, w.blocks[b], b);
        w.pieces[b] = cut_block(w.blocks[b]);
    }
    uint64_t sum = w.pieces[0].head;
    if (!w.pieces[0].stops) sum += walk_on(&w, 0, w.count + 1);
    for (uint32_t b = 0; b < w.count && sum < enough; b++)
        if (w.pieces[b].stops)
            sum += w.pieces[b].between + w.pieces[b].tail + walk_on(&w, b, b + 1);
    wpi_map_deinit(&w.index);
    wpi_free(w.blocks);
    wpi_free(w.stack);
    wpi_free(w.pieces);
    wpi_free(w.seen_by);
    return sum;
}
