/* SPDX-License-Identifier: Apache-2.0 */
/* A block whose threads stay together, and stop only without requests, needs no scheduler: one
 * function runs all its states, and has warp operations performed on the way.
 *
 *     whole(block):  r0 ──► r1 ──► r2 ──► exit          r2's answer says which
 *                            └◄─────┘
 *
 * The regions are its parts, each called in one place, and are inlined (`merge`): common set-up is
 * done once, loops of the kernel are loops again, and a row of threads begins at thread 0. Uniform
 * values are variables of the function, not in the frame. */
#include <stdio.h>

#include "base/must.h"
#include "compiler/pass/region/regions.h"

#define UNIFORM_ALIGN 16u
/* For many more states LLVM takes minutes. */
#define STATES_MOST 64u

bool wpi_region_is_whole(const wpi_region_plan *plan) {
    /* Checked code reports the places of threads to the scheduler. */
    if (!wpi_compile_is_plain(plan->c) || plan->step != WP_STEP_KEPT ||
        plan->state_count > STATES_MOST)
        return false;
    for (uint32_t s = 1; s < plan->state_count; s++)
        if (!plan->kernel->stops[s].is_plain && !plan->kernel->stops[s].is_alike) return false;
    return true;
}

static LLVMValueRef add_function(wpi_region_plan *plan) {
    wpi_compile *c = plan->c;
    char name[512];
    snprintf(name, sizeof name, "%.480s.whole", plan->kernel->name);
    LLVMTypeRef params[3] = {c->ptr, c->i32, c->i32};
    LLVMValueRef whole = LLVMAddFunction(c->module, name, LLVMFunctionType(c->i32, params, 3, 0));
    LLVMSetLinkage(whole, LLVMInternalLinkage);
    wpi_function_attribute(c, whole, "nounwind");
    return whole;
}

static LLVMValueRef build_uniform(wpi_region_plan *plan) {
    LLVMTypeRef bytes = LLVMArrayType2(plan->c->i8, plan->kernel->frame_bytes);
    LLVMValueRef uniform = LLVMBuildAlloca(plan->c->builder, bytes, "uniform");
    LLVMSetAlignment(uniform, UNIFORM_ALIGN);
    return uniform;
}

/* Runs all threads, from thread 0 on, from a state to the next. */
static LLVMValueRef build_step(wpi_region_plan *plan, LLVMValueRef whole, LLVMValueRef region,
                               LLVMValueRef uniform) {
    wpi_compile *c = plan->c;
    LLVMValueRef args[] = {LLVMGetParam(whole, 0), wpi_const32(c, 0), LLVMGetParam(whole, 2),
                           uniform};
    wpi_function_attribute(c, region, "alwaysinline");
    return LLVMBuildCall2(c->builder, wpi_function_type(region), region, args, 4, "next");
}

LLVMValueRef wpi_region_build_whole(wpi_region_plan *plan) {
    wpi_compile *c = plan->c;
    LLVMBuilderRef at = c->builder;
    LLVMValueRef whole = add_function(plan);
    LLVMBasicBlockRef entry = LLVMAppendBasicBlockInContext(c->context, whole, "entry");
    LLVMBasicBlockRef *states = wpi_must_calloc(plan->state_count, sizeof *states);
    for (uint32_t s = 0; s < plan->state_count; s++)
        states[s] = LLVMAppendBasicBlockInContext(c->context, whole, "state");
    LLVMBasicBlockRef done = LLVMAppendBasicBlockInContext(c->context, whole, "done");

    LLVMPositionBuilderAtEnd(at, entry);
    LLVMValueRef uniform = build_uniform(plan);
    LLVMBuildBr(at, states[0]);
    for (uint32_t s = 0; s < plan->state_count; s++) {
        LLVMPositionBuilderAtEnd(at, states[s]);
        if (plan->kernel->stops[s].is_alike)
            wpi_region_perform(c, &plan->kernel->stops[s], LLVMGetParam(whole, 0));
        LLVMValueRef next = build_step(plan, whole, plan->kernel->regions[s], uniform);
        LLVMValueRef way = LLVMBuildSwitch(at, next, done, plan->state_count - 1);
        for (uint32_t to = 1; to < plan->state_count; to++)
            LLVMAddCase(way, wpi_const32(c, to), states[to]);
    }
    LLVMPositionBuilderAtEnd(at, done);
    LLVMBuildRet(at, wpi_const32(c, WP_STATE_EXIT));
    wpi_free(states);
    return whole;
}
