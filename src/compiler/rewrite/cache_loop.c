/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which nests of loops are rewritten, and which loops in them are copied: the innermost with
 * accesses.
 *
 *     outermost loop: shared by all modes of a thread
 *         innermost loop ─► monitored │ cached │ plain copy
 *
 * Lanes of a warp that leave monitoring in different turns of a nest, and then run another copy of
 * its rest, would run one after the other to the nest's end. So copies are small: lanes meet again
 * behind each, whatever copy they were in, and begin the next turn of the loops around it together.
 */
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/postdom.h"
#include "compiler/passes.h"
#include "compiler/rewrite/cache.h"

/* ---- loops by header ---- */

static wpi_cache_loop *loop_at(wpi_cache_loops *l, LLVMBasicBlockRef header) {
    for (uint32_t i = 0; i < l->count; i++)
        if (l->loops[i].header == header) return &l->loops[i];
    wpi_cache_loop *added = &l->loops[l->count++];
    *added = (wpi_cache_loop){.header = header,
                              .contains = wpi_must_calloc(l->found.block_count, sizeof(bool)),
                              .parent = UINT32_MAX};
    return added;
}

static uint32_t size_of(const wpi_cache_loops *l, const wpi_cache_loop *loop) {
    uint32_t blocks = 0;
    for (uint32_t b = 0; b < l->found.block_count; b++)
        blocks += loop->contains[b];
    return blocks;
}

static void find_parents(wpi_cache_loops *l) {
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t header = wpi_map_index(&l->found.index, l->loops[i].header);
        for (uint32_t o = 0; o < l->count; o++) {
            if (o == i || !l->loops[o].contains[header]) continue;
            const uint32_t parent = l->loops[i].parent;
            if (parent == UINT32_MAX || size_of(l, &l->loops[o]) < size_of(l, &l->loops[parent]))
                l->loops[i].parent = o;
        }
    }
}

void wpi_cache_loops_init(wpi_cache_loops *l, LLVMValueRef function) {
    *l = (wpi_cache_loops){0};
    wpi_loops_init(&l->found, function);
    l->loops = wpi_must_calloc(l->found.loop_count + 1, sizeof *l->loops);
    for (uint32_t i = 0; i < l->found.loop_count; i++) {
        const wpi_loop *loop = &l->found.loops[i];
        wpi_cache_loop *to = loop_at(l, l->found.blocks[loop->header]);
        for (uint32_t b = 0; b < l->found.block_count; b++)
            to->contains[b] |= loop->contains[b];
    }
    find_parents(l);
}

void wpi_cache_loops_deinit(wpi_cache_loops *l) {
    for (uint32_t i = 0; i < l->count; i++)
        wpi_free(l->loops[i].contains);
    wpi_free(l->loops);
    wpi_loops_deinit(&l->found);
}

/* ---- what becomes of them ---- */

static uint32_t accesses_in(LLVMBasicBlockRef block) {
    uint32_t count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        count += wpi_cache_noted(i).act == WPI_CACHE_ACCESS;
    return count;
}

static bool is_waiting(const wpi_cache_loops *l, uint32_t block) {
    for (uint32_t i = 0; i < l->count; i++)
        if (l->loops[i].waits && l->loops[i].contains[block]) return true;
    return false;
}

static void count_accesses(wpi_cache_loops *l) {
    for (uint32_t b = 0; b < l->found.block_count; b++) {
        const uint32_t count = is_waiting(l, b) ? 0 : accesses_in(l->found.blocks[b]);
        for (uint32_t i = 0; i < l->count && count != 0; i++)
            if (l->loops[i].contains[b]) l->loops[i].accesses += count;
    }
}

static bool is_inside(const wpi_cache_loops *l, uint32_t loop, uint32_t outer) {
    while (loop != UINT32_MAX && loop != outer)
        loop = l->loops[loop].parent;
    return loop == outer;
}

static uint32_t outermost(const wpi_cache_loops *l, uint32_t loop) {
    while (l->loops[loop].parent != UINT32_MAX)
        loop = l->loops[loop].parent;
    return loop;
}

static bool is_convergent(LLVMValueRef call) {
    const unsigned kind = LLVMGetEnumAttributeKindForName("convergent", 10);
    const LLVMAttributeIndex index = (LLVMAttributeIndex)LLVMAttributeFunctionIndex;
    LLVMValueRef callee = wpi_called_function(call);
    return LLVMGetCallSiteEnumAttribute(call, index, kind) != NULL ||
           (callee && LLVMGetEnumAttributeAtIndex(callee, index, kind) != NULL);
}

/* Warp functions and barriers: lanes that meet there must be in the same copy. */
static bool has_meetings(const wpi_cache_loops *l, const wpi_cache_loop *loop) {
    for (uint32_t b = 0; b < l->found.block_count; b++) {
        if (!loop->contains[b]) continue;
        LLVMValueRef i = LLVMGetFirstInstruction(l->found.blocks[b]);
        for (; i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && wpi_cache_noted(i).act == WPI_CACHE_FLUSH && is_convergent(i))
                return true;
    }
    return false;
}

/* What a pointer calls may read and write anything: lines would be flushed at each call. */
static bool has_indirect_calls(const wpi_cache_loops *l, const wpi_cache_loop *loop) {
    for (uint32_t b = 0; b < l->found.block_count; b++) {
        LLVMValueRef i = loop->contains[b] ? LLVMGetFirstInstruction(l->found.blocks[b]) : NULL;
        for (; i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && wpi_called_function(i) == NULL &&
                !LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
                return true;
    }
    return false;
}

/* WP_CACHE_OFF() of warpage/cache.h. */
static bool is_mark(LLVMValueRef i) {
    static const char text[] = "// warpage: cache off";
    if (!LLVMIsACallInst(i) || !LLVMIsAInlineAsm(LLVMGetCalledValue(i))) return false;
    size_t length = 0;
    const char *code = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(i), &length);
    return length == sizeof text - 1 && memcmp(code, text, length) == 0;
}

static bool has_mark(const wpi_cache_loops *l, const wpi_cache_loop *loop) {
    for (uint32_t b = 0; b < l->found.block_count; b++) {
        LLVMValueRef i = loop->contains[b] ? LLVMGetFirstInstruction(l->found.blocks[b]) : NULL;
        for (; i; i = LLVMGetNextInstruction(i))
            if (is_mark(i)) return true;
    }
    return false;
}

/* A loop that waits for what another thread writes is no work to speed up, and the CPU's devices
 * have to recognise it: it stays as it is, with the loops in it. */
static void find_waits(wpi_cache_loops *l) {
    if (l->found.loop_count == 0) return;
    uint32_t *postdom = wpi_postdominators(l->found.blocks, l->found.block_count, &l->found.index);
    for (uint32_t f = 0; f < l->found.loop_count; f++) {
        if (!wpi_lockstep_waits(&l->found, f, postdom)) continue;
        for (uint32_t i = 0; i < l->count; i++)
            l->loops[i].waits |= l->loops[i].header == l->found.blocks[l->found.loops[f].header];
    }
    for (uint32_t i = 0; i < l->count; i++)
        for (uint32_t o = l->loops[i].parent; o != UINT32_MAX; o = l->loops[o].parent)
            l->loops[i].waits |= l->loops[o].waits;
    wpi_free(postdom);
}

/* Copies of a loop around one that waits would be large for nothing: it waits more than it works.
 */
static bool has_waits(const wpi_cache_loops *l, uint32_t loop) {
    for (uint32_t i = 0; i < l->count; i++)
        if (l->loops[i].waits && is_inside(l, i, loop)) return true;
    return false;
}

/* By loop: whether its nest stays as it is. */
static bool *find_left_alone(wpi_cache *k, const wpi_cache_loops *l) {
    bool *alone = wpi_must_calloc(l->count + 1, sizeof *alone);
    for (uint32_t i = 0; i < l->count; i++) {
        const uint32_t nest = outermost(l, i);
        const bool is_indirect = has_indirect_calls(l, &l->loops[nest]);
        k->has_waits |= l->loops[i].waits;
        const bool is_marked = has_mark(l, &l->loops[nest]);
        k->has_indirect_calls |= is_indirect;
        k->has_marks |= is_marked;
        alone[i] = l->loops[nest].waits || is_indirect || is_marked;
    }
    return alone;
}

/* Has accesses, and no loop in it has. */
static bool is_innermost(const wpi_cache_loops *l, uint32_t loop) {
    if (l->loops[loop].accesses == 0) return false;
    for (uint32_t i = 0; i < l->count; i++)
        if (i != loop && l->loops[i].accesses != 0 && is_inside(l, i, loop)) return false;
    return true;
}

/* The loops inside a copied one go with it. */
static bool is_in_copied(const wpi_cache_loops *l, uint32_t loop, const bool *is_copied) {
    for (uint32_t i = l->loops[loop].parent; i != UINT32_MAX; i = l->loops[i].parent)
        if (is_copied[i]) return true;
    return false;
}

void wpi_cache_choose_loops(wpi_cache *k, wpi_cache_loops *l) {
    find_waits(l);
    count_accesses(l);
    bool *alone = find_left_alone(k, l),
         *is_copied = wpi_must_calloc(l->count + 1, sizeof *is_copied);
    k->nests = wpi_must_calloc(l->count + 1, sizeof *k->nests);
    k->choices = wpi_must_calloc(l->count + 1, sizeof *k->choices);
    for (uint32_t i = 0; i < l->count; i++) {
        is_copied[i] =
            !alone[i] && is_innermost(l, i) && !has_meetings(l, &l->loops[i]) && !has_waits(l, i);
        if (l->loops[i].parent == UINT32_MAX && l->loops[i].accesses != 0 && !alone[i])
            k->nests[k->nest_count++] = l->loops[i].header;
    }
    for (uint32_t i = 0; i < l->count; i++) {
        if (alone[i] || l->loops[outermost(l, i)].accesses == 0 || is_in_copied(l, i, is_copied))
            continue;
        const bool waits = l->loops[i].waits;
        if (waits && l->loops[l->loops[i].parent].waits) continue;
        k->choices[k->choice_count++] =
            (wpi_cache_choice){l->loops[i].header, l->loops[i].accesses, is_copied[i], waits};
    }
    wpi_free(alone);
    wpi_free(is_copied);
    k->facts.loops = k->nest_count;
}
