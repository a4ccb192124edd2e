/* SPDX-License-Identifier: Apache-2.0 */
/* Loads of constant memory that take turns: a warp's lanes may read several words of it, of which
 * the constant cache gives out one at a time. All others are instructions of class `constant`. */
#include "compiler/ir/uniform.h"
#include "compiler/pass/region/regions.h"
#include "compiler/pass/trace/trace_pass.h"

static bool is_candidate(const tracer *t, LLVMValueRef i) {
    if (!LLVMIsALoadInst(i)) return false;
    trace_access a = wpi_trace_access(t, i);
    return a.memory == TRACE_CONSTANT && a.base;
}

static bool has_candidate(const tracer *t, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is_candidate(t, i)) return true;
    return false;
}

static void find(tracer *t, const wpi_uniform *uniform, LLVMValueRef i) {
    if (is_candidate(t, i) && !wpi_uniform_is(uniform, LLVMGetOperand(i, 0)))
        wpi_map_set(&t->spread, i, i);
}

void wpi_trace_find_spread(tracer *t, LLVMValueRef function) {
    if (!wpi_compile_is_kernel(t->c, function) || !has_candidate(t, function)) return;
    wpi_uniform uniform;
    wpi_region_uniform_init(&uniform, function);
    for (uint32_t b = 0; b < uniform.block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(uniform.blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            find(t, &uniform, i);
    wpi_uniform_deinit(&uniform);
}
