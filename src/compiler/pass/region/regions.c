/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels become loops over threads between stops (drawing in docs/rooms/compiler.md), or fibers,
 * if a function that was not inlined contains a stop. */
#include <llvm-c/Target.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/map.h"
#include "compiler/pass/region/regions.h"
#include "compiler/passes.h"

static bool contains_stop(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (wpi_lower_is_stop(i)) return true;
    return false;
}

static bool any_pointer_target_stops(wpi_compile *c, wpi_map *seen);

/* Whether `function` or its callees stop; calls through pointers may reach any function whose
 * address is taken. */
static bool stops_below(wpi_compile *c, LLVMValueRef function, wpi_map *seen) {
    if (wpi_map_has(seen, function)) return false;
    wpi_map_set(seen, function, function);
    if (contains_stop(function)) return true;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i) || LLVMIsAInlineAsm(LLVMGetCalledValue(i))) continue;
            LLVMValueRef callee = wpi_called_function(i);
            if (!callee && any_pointer_target_stops(c, seen)) return true;
            if (callee && !LLVMIsDeclaration(callee) && stops_below(c, callee, seen)) return true;
        }
    return false;
}

static bool any_pointer_target_stops(wpi_compile *c, wpi_map *seen) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && wpi_function_is_address_taken(f) && stops_below(c, f, seen))
            return true;
    return false;
}

static bool needs_fibers(wpi_compile *c, LLVMValueRef kernel) {
    wpi_map seen = {0};
    wpi_map_set(&seen, kernel, kernel);
    bool found = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b && !found;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i && !found;
             i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsACallInst(i)) continue;
            LLVMValueRef callee = wpi_called_function(i);
            if (!callee)
                found = any_pointer_target_stops(c, &seen);
            else if (!LLVMIsDeclaration(callee))
                found = stops_below(c, callee, &seen);
        }
    wpi_map_deinit(&seen);
    return found;
}

/* Every stop becomes a function. Beyond this many stops, and so many instructions in all of these
 * functions, compilation would take minutes, and fibers are used: one function, ten times as slow.
 */
#define STOPS_MOST 192u
#define INSTRUCTIONS_MOST 60000u

static bool is_too_large(LLVMValueRef kernel) {
    uint32_t count = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count += wpi_lower_is_stop(i);
    return count > STOPS_MOST &&
           wpi_region_instructions(kernel, INSTRUCTIONS_MOST) >= INSTRUCTIONS_MOST;
}

/* Local memory is in the frame, so its size must be constant. */
static wp_status check_local_memory(const wpi_kernel_ir *kernel, wp_error *err) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel->function); b;
         b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAAllocaInst(i) && !LLVMIsAConstantInt(LLVMGetOperand(i, 0)))
                return WP_FAIL(err, UNSUPPORTED,
                               "kernel %s: alloca() of a size that is not a compile-time constant; "
                               "use an array of "
                               "fixed size, or malloc()",
                               kernel->name);
    return WP_STATUS_OK;
}

/* Every region has a copy of the code reachable from its stop. After a yield in the loops of a
 * large kernel that is nearly all of it: beyond this many instructions, counted before regions are
 * built, all yields share one function. */
#define YIELDS_APART_MOST 6000u

static uint32_t count_instructions(const wpi_region_plan *plan) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < plan->block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(plan->blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            count++;
    return count;
}

/* Returns the states of yields that share a function, which the caller frees; 0: none. */
static uint32_t find_rest(const wpi_region_plan *plan, uint32_t **out) {
    uint32_t count = 0;
    *out = wpi_must_calloc(plan->state_count, sizeof **out);
    for (uint32_t s = 1; s < plan->state_count; s++)
        if (WP_STOP_KIND(plan->kernel->stops[s].op) == WP_STOP_YIELD) (*out)[count++] = s;
    const bool are_many =
        count > 1 && count * (uint64_t)count_instructions(plan) > YIELDS_APART_MOST;
    return are_many ? count : 0;
}

static void build_regions(wpi_compile *c, wpi_kernel_ir *kernel) {
    wpi_region_plan plan = {.c = c, .kernel = kernel};
    wpi_region_split(&plan);
    wpi_region_demote(&plan);
    wpi_region_plan_index(&plan);
    plan.is_whole = wpi_region_is_whole(&plan);
    if (plan.state_count == 1) kernel->frame_bytes = 0;
    kernel->regions = wpi_must_calloc(kernel->region_count, sizeof *kernel->regions);
    uint32_t *rest;
    const uint32_t rest_count = find_rest(&plan, &rest);
    if (rest_count) wpi_region_build_rest(&plan, rest, rest_count);
    wpi_free(rest);
    for (uint32_t s = 0; s < kernel->region_count; s++)
        if (!kernel->regions[s]) kernel->regions[s] = wpi_region_build(&plan, s);
    if (plan.is_whole && plan.state_count > 1) kernel->whole = wpi_region_build_whole(&plan);
    for (uint32_t s = 0; s < kernel->region_count; s++)
        kernel->stops[s].call = NULL;
    wpi_region_plan_deinit(&plan);
    wpi_function_drop_body(kernel->function);
}

static wp_status describe_kernels(wpi_compile *c, wp_error *err) {
    for (uint32_t k = 0; k < c->kernel_count; k++)
        WP_TRY(check_local_memory(&c->kernels[k], err));
    return WP_STATUS_OK;
}

static uint32_t local_bytes(wpi_compile *c, LLVMValueRef kernel) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    uint64_t bytes = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsAAllocaInst(i))
                bytes += LLVMABISizeOfType(layout, LLVMGetAllocatedType(i)) *
                         LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0));
    return (uint32_t)bytes;
}

static void build_fiber(wpi_compile *c, wpi_kernel_ir *kernel) {
    kernel->local_bytes = local_bytes(c, kernel->function);
    kernel->thread = wpi_fiber_build(c, kernel);
    kernel->flags |= WP_CPU_KERNEL_WARP | WP_CPU_KERNEL_SPINS | WP_CPU_KERNEL_GRID_SYNC;
}

static void finish_kernels(wpi_compile *c) {
    for (uint32_t k = 0; k < c->kernel_count; k++)
        if (!LLVMIsDeclaration(c->kernels[k].function))
            LLVMSetLinkage(c->kernels[k].function, LLVMInternalLinkage);
    wpi_identity_lower(c);
}

wp_status wpi_pass_regions(wpi_compile *c, wp_error *err) {
    WP_TRY(describe_kernels(c, err));
    bool *is_fiber = wpi_must_calloc(c->kernel_count + 1, sizeof *is_fiber);
    for (uint32_t k = 0; k < c->kernel_count; k++)
        is_fiber[k] =
            needs_fibers(c, c->kernels[k].function) || is_too_large(c->kernels[k].function);
    for (uint32_t k = 0; k < c->kernel_count; k++) {
        wpi_kernel_ir *kernel = &c->kernels[k];
        if (is_fiber[k]) {
            build_fiber(c, kernel);
        } else {
            (void)wpi_params_copy_written(c, kernel->function);
            build_regions(c, kernel);
        }
    }
    wpi_free(is_fiber);
    finish_kernels(c);
    return WP_STATUS_OK;
}

wp_status wpi_pass_fibers(wpi_compile *c, wp_error *err) {
    WP_TRY(describe_kernels(c, err));
    for (uint32_t k = 0; k < c->kernel_count; k++)
        build_fiber(c, &c->kernels[k]);
    finish_kernels(c);
    return WP_STATUS_OK;
}
