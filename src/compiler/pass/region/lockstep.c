/* SPDX-License-Identifier: Apache-2.0 */
/* Forward progress and lockstep, made explicit as stops.
 *
 * Old warp-synchronous code relies on the lanes of a warp running in step: `volatile` shared memory
 * without __syncwarp. A step before each volatile shared access lets the scheduler keep the lanes
 * together. (Shared memory that is not volatile: warp_synchronous.c.)
 *
 * A loop that waits for another thread (a lock, a flag, a ticket) must let that thread run. A loop
 * waits if what decides that it goes on comes from a volatile or atomic access inside it; it yields
 * on the way back to its header, so that a lock taken at the first try costs nothing.
 *
 * Some of these loops try again without waiting for anybody: a compare-and-swap of a value made
 * from the old one has failed because somebody else's succeeded, and a place that is another one in
 * every round is not waited for. Their yields carry a note, for whoever asks whether a kernel waits
 * for other blocks. */
#include <string.h>

#include "base/fail.h"
#include "compiler/ir/edit.h"
#include "base/must.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/map.h"
#include "compiler/ir/same_code.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

#define SLICE_DEPTH_MAX 64

static LLVMValueRef accessed_pointer(LLVMValueRef instruction) {
    if (LLVMIsALoadInst(instruction)) return LLVMGetOperand(instruction, 0);
    if (LLVMIsAStoreInst(instruction)) return LLVMGetOperand(instruction, 1);
    return NULL;
}

static bool is_volatile_shared(LLVMValueRef instruction) {
    LLVMValueRef pointer = accessed_pointer(instruction);
    return pointer && LLVMGetVolatile(instruction) &&
           LLVMGetPointerAddressSpace(LLVMTypeOf(pointer)) == WP_SPACE_SHARED;
}

static void add_steps(wp_compile *c, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!is_volatile_shared(i)) continue;
            LLVMPositionBuilderBefore(c->builder, i);
            wpi_lower_stop(c, c->builder, WP_STOP_STEP, NULL, NULL, NULL);
        }
}

/* ---- loops that wait ---- */

/* Local memory, which other threads cannot reach: a delay loop over a volatile variable waits for
 * nobody. */
static bool is_own_memory(LLVMValueRef pointer) {
    for (int depth = 0; depth < SLICE_DEPTH_MAX; depth++) {
        if (LLVMIsAAllocaInst(pointer)) return true;
        if (!LLVMIsAGetElementPtrInst(pointer) && !LLVMIsAAddrSpaceCastInst(pointer)) return false;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return false;
}

static bool sees_other_threads(LLVMValueRef instruction) {
    if (LLVMIsAAtomicRMWInst(instruction) || LLVMIsAAtomicCmpXchgInst(instruction)) return true;
    return LLVMIsALoadInst(instruction) && !is_own_memory(LLVMGetOperand(instruction, 0)) &&
           (LLVMGetVolatile(instruction) ||
            LLVMGetOrdering(instruction) != LLVMAtomicOrderingNotAtomic);
}

typedef enum patience { GOES_ON = 0, TRIES, WAITS } patience;

static patience more_patient(patience a, patience b) {
    return a > b ? a : b;
}

static bool is_inside(const wp_loops *l, const wp_loop *loop, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    uint32_t block = wpi_map_index(&l->index, LLVMGetInstructionParent(value));
    return block != UINT32_MAX && loop->contains[block];
}

/* The same in every round, as far as one can see. */
static bool stays(const wp_loops *l, const wp_loop *loop, LLVMValueRef value, int depth) {
    if (!is_inside(l, loop, value)) return true;
    if (depth > SLICE_DEPTH_MAX || !wpi_is_pure_operation(value)) return false;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value); o++)
        if (!stays(l, loop, LLVMGetOperand(value, o), depth + 1)) return false;
    return true;
}

/* What a loop does that goes on because of this access. */
static patience patience_of(const wp_loops *l, const wp_loop *loop, LLVMValueRef access) {
    if (!stays(l, loop, LLVMGetOperand(access, 0), 0)) return TRIES;
    bool is_update =
        LLVMIsAAtomicCmpXchgInst(access) && !stays(l, loop, LLVMGetOperand(access, 2), 0);
    return is_update ? TRIES : WAITS;
}

/* Does `value` depend, inside the loop, on what other threads wrote? */
static patience depends_on_others(const wp_loops *l, const wp_loop *loop, LLVMValueRef value,
                                  wp_map *seen, int depth) {
    if (depth > SLICE_DEPTH_MAX || !is_inside(l, loop, value) || wpi_map_has(seen, value))
        return GOES_ON;
    wpi_map_set(seen, value, value);
    if (sees_other_threads(value)) return patience_of(l, loop, value);
    patience found = GOES_ON;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value) && found != WAITS; o++)
        found = more_patient(found,
                             depends_on_others(l, loop, LLVMGetOperand(value, o), seen, depth + 1));
    return found;
}

static patience patience_of_loop(const wp_loops *l, const wp_loop *loop) {
    wp_map seen = {0};
    patience found = GOES_ON;
    for (uint32_t b = 0; b < l->block_count && found != WAITS; b++) {
        if (!loop->contains[b]) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[b]);
        bool leaves = false;
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++)
            leaves |= !loop->contains[wpi_map_index(&l->index, LLVMGetSuccessor(terminator, s))];
        if (leaves)
            found = more_patient(
                found, depends_on_others(l, loop, LLVMGetOperand(terminator, 0), &seen, 0));
    }
    wpi_map_deinit(&seen);
    return found;
}

static void add_yields(wp_compile *c, LLVMValueRef function) {
    wp_loops l;
    wpi_loops_init(&l, function);
    patience *found = wp_must_calloc(l.loop_count + 1, sizeof *found);
    for (uint32_t i = 0; i < l.loop_count; i++) /* all, before edges change */
        found[i] = patience_of_loop(&l, &l.loops[i]);
    for (uint32_t i = 0; i < l.loop_count; i++) {
        const patience is = found[i];
        if (is == GOES_ON) continue;
        LLVMBasicBlockRef latch = l.blocks[l.loops[i].latch], header = l.blocks[l.loops[i].header];
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(latch);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            if (LLVMGetSuccessor(terminator, s) != header) continue;
            LLVMBasicBlockRef edge = wpi_edge_split(latch, s);
            LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(edge));
            LLVMValueRef stop = wpi_lower_stop(c, c->builder, WP_STOP_YIELD, NULL, NULL, NULL);
            if (is == TRIES) wpi_lower_note(c, stop, WP_TRIES_METADATA);
        }
    }
    wp_free(found);
    wpi_loops_deinit(&l);
}

wp_status wpi_pass_lockstep(wp_compile *c, wp_error *err) {
    (void)err;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        add_steps(c, f);
        add_yields(c, f);
    }
    return WP_STATUS_OK;
}
