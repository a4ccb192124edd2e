/* SPDX-License-Identifier: Apache-2.0 */
/* Which loops are copied, and at which headers threads leave monitoring. Lanes of a warp that leave
 * in different turns run the cached copy one after the other, so a turn counts what its code has,
 * not what a lane executed, and inner loops whose number of turns may differ are left only after
 * many turns: loops over the bytes of a word end before, loops over the row of a matrix do not. */
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/postdom.h"
#include "compiler/ir/uniform.h"
#include "compiler/passes.h"
#include "compiler/rewrite/cache.h"

enum { INNER_TURNS = 8 }; /* of an inner loop that is not left */

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

/* ---- where monitoring is left ---- */

static wpi_value_origin origin_of(LLVMValueRef i) {
    static const char *const uniform[] = {"ntid.", "ctaid.", "nctaid.", "warpsize", "gridid"};
    static const char registers[] = "llvm.nvvm.read.ptx.sreg.";
    if (LLVMIsALoadInst(i) || LLVMIsAAllocaInst(i) || LLVMIsAAtomicRMWInst(i) ||
        LLVMIsAAtomicCmpXchgInst(i))
        return WP_ORIGIN_DIVERGENT;
    if (!LLVMIsACallInst(i)) return WP_ORIGIN_OPERANDS;
    LLVMValueRef callee = wpi_called_function(i);
    if (!callee) return WP_ORIGIN_DIVERGENT;
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    if (strncmp(name, registers, sizeof registers - 1) == 0) {
        for (size_t u = 0; u < sizeof uniform / sizeof *uniform; u++)
            if (strncmp(name + sizeof registers - 1, uniform[u], strlen(uniform[u])) == 0)
                return WP_ORIGIN_UNIFORM;
        return WP_ORIGIN_DIVERGENT;
    }
    return strncmp(name, "llvm.nvvm.", 10) != 0 && strncmp(name, "llvm.", 5) == 0
               ? WP_ORIGIN_OPERANDS
               : WP_ORIGIN_DIVERGENT;
}

static bool is_equal_for_all(const wpi_cache_loops *l, const wpi_cache_loop *loop,
                             const wpi_uniform *u) {
    for (uint32_t b = 0; b < l->found.block_count; b++) {
        if (!loop->contains[b]) continue;
        LLVMValueRef end = LLVMGetBasicBlockTerminator(l->found.blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(end); s++) {
            const uint32_t to = wpi_map_index(&l->found.index, LLVMGetSuccessor(end, s));
            if (!loop->contains[to] && !wpi_uniform_is(u, LLVMGetOperand(end, 0))) return false;
        }
    }
    return true;
}

static uint32_t innermost(const wpi_cache_loops *l, uint32_t block) {
    uint32_t found = UINT32_MAX;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->loops[i].contains[block] &&
            (found == UINT32_MAX || size_of(l, &l->loops[i]) < size_of(l, &l->loops[found])))
            found = i;
    return found;
}

static uint32_t accesses_in(LLVMBasicBlockRef block) {
    uint32_t count = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
        count += wpi_cache_noted(i).act == WPI_CACHE_ACCESS;
    return count;
}

/* Adds the accesses of each block to its loop, and to the loop around it that is left. */
static void count_turns(wpi_cache_loops *l) {
    for (uint32_t b = 0; b < l->found.block_count; b++) {
        uint32_t count = accesses_in(l->found.blocks[b]), loop = innermost(l, b);
        if (count == 0 || loop == UINT32_MAX) continue;
        if (!l->loops[loop].is_left) l->loops[loop].accesses += count;
        while (!l->loops[loop].is_left) {
            if (count < WPI_CACHE_THRESHOLD) count *= INNER_TURNS;
            loop = l->loops[loop].parent;
        }
        l->loops[loop].accesses += count;
    }
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

/* A loop that waits for what another thread writes is no work to speed up, and the CPU's devices
 * have to recognise it. By loop: whether the outermost loop around it waits, or one in that. */
static bool *find_waits(const wpi_cache_loops *l) {
    bool *waits = wpi_must_calloc(l->count + 1, sizeof *waits);
    if (l->found.loop_count == 0) return waits;
    uint32_t *postdom = wpi_postdominators(l->found.blocks, l->found.block_count, &l->found.index);
    for (uint32_t f = 0; f < l->found.loop_count; f++) {
        if (!wpi_lockstep_waits(&l->found, f, postdom)) continue;
        for (uint32_t i = 0; i < l->count; i++)
            if (l->loops[i].header == l->found.blocks[l->found.loops[f].header])
                waits[outermost(l, i)] = true;
    }
    for (uint32_t i = 0; i < l->count; i++)
        waits[i] = waits[outermost(l, i)];
    wpi_free(postdom);
    return waits;
}

void wpi_cache_choose_loops(wpi_cache *k, wpi_cache_loops *l) {
    wpi_uniform u;
    wpi_uniform_init(&u, k->body, origin_of);
    bool *meets = wpi_must_calloc(l->count + 1, sizeof *meets);
    for (uint32_t i = 0; i < l->count; i++) {
        meets[i] = has_meetings(l, &l->loops[outermost(l, i)]);
        l->loops[i].is_left = l->loops[i].parent == UINT32_MAX ||
                              (!meets[i] && is_equal_for_all(l, &l->loops[i], &u));
    }
    wpi_uniform_deinit(&u);
    count_turns(l);
    bool *waits = find_waits(l);
    bool *has_accesses = wpi_must_calloc(l->count + 1, sizeof *has_accesses);
    for (uint32_t i = 0; i < l->count; i++)
        if (l->loops[i].accesses != 0 && !waits[i]) has_accesses[outermost(l, i)] = true;
    k->nests = wpi_must_calloc(l->count + 1, sizeof *k->nests);
    k->exits = wpi_must_calloc(l->count + 1, sizeof *k->exits);
    for (uint32_t i = 0; i < l->count; i++) {
        k->has_waits |= waits[i];
        if (has_accesses[i]) k->nests[k->nest_count++] = l->loops[i].header;
        if (l->loops[i].accesses != 0 && !waits[i] && (l->loops[i].is_left || !meets[i]))
            k->exits[k->exit_count++] =
                (wpi_cache_exit){l->loops[i].header, l->loops[i].accesses, !l->loops[i].is_left};
    }
    wpi_free(waits);
    wpi_free(meets);
    wpi_free(has_accesses);
    k->facts.loops = k->nest_count;
}
