/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps LLVM 19's loop vectoriser from code on which it does not end. What it cannot vectorise,
 * such as a store under a condition that the processor has no mask for, it does lane by lane, and
 * moves what only that instruction needs next to it. To do so it follows the operands of operands
 * without noting which ones it has seen: once for every way there. A value that is used twice by
 * each of 40 steps has 2^40 ways.
 *
 *     ways(value) = 1 + sum of ways(operand)        phis of loops, loads: none
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

/* Whether an access has the address base + i * size in a loop over threads. */
static bool is_adjacent(const wpi_thread_loop *t, LLVMValueRef pointer, uint64_t size_bytes) {
    if (!LLVMIsAGetElementPtrInst(pointer) || LLVMGetNumOperands(pointer) != 2 ||
        wpi_thread_loop_has(t, LLVMGetOperand(pointer, 0)))
        return false;
    LLVMTypeRef element = LLVMGetGEPSourceElementType(pointer);
    LLVMTypeKind kind = LLVMGetTypeKind(element);
    LLVMValueRef index = LLVMGetOperand(pointer, 1);
    uint64_t unit = kind == LLVMFloatTypeKind     ? 4
                    : kind == LLVMDoubleTypeKind  ? 8
                    : kind == LLVMIntegerTypeKind ? LLVMGetIntTypeWidth(element) / 8
                                                  : 0;
    if (unit == 1 && LLVMIsAInstruction(index) && LLVMGetInstructionOpcode(index) == LLVMMul &&
        LLVMIsAConstantInt(LLVMGetOperand(index, 1))) {
        unit = LLVMConstIntGetZExtValue(LLVMGetOperand(index, 1));
        index = LLVMGetOperand(index, 0);
    }
    return unit == size_bytes && wpi_thread_loop_is_linear(t, index);
}

/* Bytes of what the processor reads and writes under a mask; 0: it cannot. */
static uint64_t masked_bytes(const wpi_compile *c, LLVMTypeRef type) {
    if (c->isa == WP_CPU_ISA_BASELINE) return 0;
    switch (LLVMGetTypeKind(type)) {
    case LLVMFloatTypeKind: return 4;
    case LLVMDoubleTypeKind:
    case LLVMPointerTypeKind: return 8;
    case LLVMIntegerTypeKind: {
        const unsigned bits = LLVMGetIntTypeWidth(type);
        return bits == 32 || bits == 64 ? bits / 8 : 0;
    }
    default: return 0;
    }
}

/* Whether an instruction under a condition is done lane by lane. */
static bool is_done_by_lane(const wpi_compile *c, const wpi_loops *loops, uint32_t block,
                            LLVMValueRef instruction) {
    const bool is_store = LLVMIsAStoreInst(instruction) != NULL;
    if (!is_store && !LLVMIsALoadInst(instruction)) {
        const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
        return opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem || opcode == LLVMSRem;
    }
    LLVMTypeRef type = LLVMTypeOf(is_store ? LLVMGetOperand(instruction, 0) : instruction);
    const uint64_t bytes = masked_bytes(c, type);
    wpi_thread_loop t;
    for (uint32_t l = 0; bytes != 0 && l < loops->loop_count; l++)
        if (loops->loops[l].contains[block] && wpi_thread_loop_match(loops, &loops->loops[l], &t) &&
            is_adjacent(&t, LLVMGetOperand(instruction, is_store ? 1 : 0), bytes))
            return false;
    return true;
}

/* Whether some iterations of a loop leave out the block. */
static bool is_conditional(const wpi_loops *loops, uint32_t block) {
    for (uint32_t l = 0; l < loops->loop_count; l++)
        if (loops->loops[l].contains[block] &&
            !wpi_loops_dominates(loops, block, loops->loops[l].latch))
            return true;
    return false;
}

static bool is_header(const wpi_loops *loops, uint32_t block) {
    for (uint32_t l = 0; l < loops->loop_count; l++)
        if (loops->loops[l].header == block) return true;
    return false;
}

static void mark_loops(wpi_compile *c, wpi_loops *loops, bool *is_marked, uint32_t block) {
    for (uint32_t l = 0; l < loops->loop_count; l++) {
        if (is_marked[l] || !loops->loops[l].contains[block]) continue;
        wpi_loop_hint(c, loops->blocks[loops->loops[l].latch], "llvm.loop.disable_nonforced");
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
            const uint64_t here = LLVMIsALoadInst(i) ? 1 : count; /* it follows no loads */
            wpi_map_set(&ways, i, (void *)(uintptr_t)here);
            if (count == WAYS_MOST && is_conditional(&loops, b) && is_done_by_lane(c, &loops, b, i))
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
