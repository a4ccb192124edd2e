/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps LLVM 19's loop vectoriser from code on which it does not end. A conditional instruction
 * that it cannot vectorise, such as a store of 16 bits, or by one thread, it does lane by lane, and
 * moves what only that instruction needs next to it. To do so it follows the operands of operands
 * without noting which ones it has seen: once for every way there. A value that is used twice by
 * each of 40 steps has 2^40 ways.
 *
 *     ways(value) = 1 + sum of ways(operand)        phis of loops: none
 *
 * Loops with too many ways to one such instruction are not vectorised. */
#include "base/must.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/thread_loop.h"
#include "compiler/passes.h"

/* A way takes about 10 ns: ten milliseconds. */
#define WAYS_MOST (UINT64_C(1) << 20)

static uint64_t ways_to(const wpi_map *ways, LLVMValueRef instruction) {
    uint64_t sum = 1;
    const int count = LLVMGetNumOperands(instruction);
    for (int i = 0; i < count; i++) {
        LLVMValueRef operand = LLVMGetOperand(instruction, (unsigned)i);
        if (LLVMIsAInstruction(operand)) sum += (uint64_t)(uintptr_t)wpi_map_get(ways, operand);
    }
    return sum < WAYS_MOST ? sum : WAYS_MOST;
}

/* Whether neighbouring threads access neighbouring elements, in some loop over threads. */
static bool is_row(const wpi_loops *loops, uint32_t block, LLVMValueRef address) {
    if (!LLVMIsAGetElementPtrInst(address)) return false;
    const unsigned last = (unsigned)LLVMGetNumOperands(address) - 1;
    for (uint32_t l = 0; l < loops->loop_count; l++) {
        wpi_thread_loop t;
        if (loops->loops[l].contains[block] && wpi_thread_loop_match(loops, &loops->loops[l], &t) &&
            !wpi_thread_loop_has(&t, LLVMGetOperand(address, 0)) &&
            wpi_thread_loop_is_linear(&t, LLVMGetOperand(address, last)))
            return true;
    }
    return false;
}

/* What the processor has no masked vector instruction for. */
static bool is_done_by_lane(const wpi_compile *c, const wpi_loops *loops, uint32_t block,
                            LLVMValueRef instruction) {
    switch (LLVMGetInstructionOpcode(instruction)) {
    case LLVMUDiv:
    case LLVMSDiv:
    case LLVMURem:
    case LLVMSRem: return true;
    case LLVMLoad: return !is_row(loops, block, LLVMGetOperand(instruction, 0));
    case LLVMStore: {
        LLVMTypeRef type = LLVMTypeOf(LLVMGetOperand(instruction, 0));
        const LLVMTypeKind kind = LLVMGetTypeKind(type);
        return c->isa == WP_CPU_ISA_BASELINE || kind == LLVMHalfTypeKind ||
               kind == LLVMBFloatTypeKind ||
               (kind == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) < 32) ||
               !is_row(loops, block, LLVMGetOperand(instruction, 1));
    }
    default: return false;
    }
}

static bool is_header(const wpi_loops *loops, uint32_t block) {
    for (uint32_t l = 0; l < loops->loop_count; l++)
        if (loops->loops[l].header == block) return true;
    return false;
}

static void mark_loops(wpi_compile *c, wpi_loops *loops, bool *is_marked, uint32_t block) {
    for (uint32_t l = 0; l < loops->loop_count; l++) {
        const wpi_loop *loop = &loops->loops[l];
        if (is_marked[l] || !loop->contains[block]) continue;
        if (wpi_loops_dominates(loops, block, loop->latch)) continue; /* not conditional */
        wpi_loop_hint(c, loops->blocks[loop->latch], "llvm.loop.disable_nonforced");
        is_marked[l] = true;
    }
}

static void look_at(wpi_compile *c, LLVMValueRef function) {
    wpi_loops loops = {0};
    wpi_map ways = {0};
    wpi_loops_init(&loops, function);
    bool *is_marked = wpi_must_calloc(loops.loop_count + 1, sizeof *is_marked);
    for (uint32_t b = 0; b < loops.block_count && loops.loop_count > 0; b++) {
        const bool cuts = is_header(&loops, b);
        for (LLVMValueRef i = LLVMGetFirstInstruction(loops.blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (cuts && LLVMIsAPHINode(i)) continue;
            const uint64_t count = ways_to(&ways, i);
            wpi_map_set(&ways, i, (void *)(uintptr_t)count);
            if (count == WAYS_MOST && is_done_by_lane(c, &loops, b, i))
                mark_loops(c, &loops, is_marked, b);
        }
    }
    wpi_free(is_marked);
    wpi_map_deinit(&ways);
    wpi_loops_deinit(&loops);
}

wp_status wpi_pass_deep_values(wpi_compile *c, wp_error *err) {
    (void)err;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) look_at(c, f);
    return WP_STATUS_OK;
}
