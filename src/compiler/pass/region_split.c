/* SPDX-License-Identifier: Apache-2.0 */
#include <llvm-c/Target.h>
#include <string.h>

#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/regions.h"

static bool is_zero(LLVMValueRef value) {
    return LLVMIsConstant(value) && LLVMIsNull(value);
}

static bool is_plain_barrier(LLVMValueRef stop) {
    return wpi_lower_stop_op(stop) == WP_STOP_BARRIER && is_zero(LLVMGetOperand(stop, 2)) &&
           is_zero(LLVMGetOperand(stop, 3));
}

bool wpi_region_is_free(uint32_t op) {
    return op == WP_STOP_ROUND || op == WP_STOP_CUT;
}

static bool writes_no_request(uint32_t op) {
    return op == WP_STOP_STEP || op == WP_STOP_YIELD || wpi_region_is_free(op);
}

static void add_flags(wp_kernel_ir *kernel, uint32_t op) {
    uint32_t kind = WP_STOP_KIND(op);
    if (kind == WP_STOP_GRID) kernel->flags |= WP_CPU_KERNEL_GRID_SYNC;
    if (kind == WP_STOP_YIELD) kernel->flags |= WP_CPU_KERNEL_SPINS;
    if (kind >= WP_STOP_WARP_SYNC && kind <= WP_STOP_STEP) kernel->flags |= WP_CPU_KERNEL_WARP;
}

/* Where values begin to differ between the threads of a block, and where they are one again. */
static wp_origin origin_of(LLVMValueRef i) {
    if (LLVMIsALoadInst(i))
        return LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 0))) == WP_SPACE_CONSTANT
                   ? WP_ORIGIN_OPERANDS
                   : WP_ORIGIN_DIVERGENT;
    if (LLVMIsAAllocaInst(i) || LLVMIsAAtomicRMWInst(i) || LLVMIsAAtomicCmpXchgInst(i))
        return WP_ORIGIN_DIVERGENT;
    if (!LLVMIsACallInst(i)) return WP_ORIGIN_OPERANDS;
    LLVMValueRef callee = wpi_called_function(i);
    if (!callee) return WP_ORIGIN_DIVERGENT;
    if (wpi_lower_is_stop(i)) {
        uint32_t op = wpi_lower_stop_op(i);
        bool is_block_wide = op >= WP_STOP_BARRIER && op <= WP_STOP_BARRIER_OR;
        return is_block_wide || op == WP_STOP_ROUND ? WP_ORIGIN_UNIFORM : WP_ORIGIN_DIVERGENT;
    }
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    wp_id id = wpi_lower_id_of(callee);
    if (id != WP_ID_COUNT) return id <= WP_ID_THREAD ? WP_ORIGIN_DIVERGENT : WP_ORIGIN_OPERANDS;
    bool is_ours = strncmp(name, "llvm.", 5) == 0 || strncmp(name, "wp.", 3) == 0;
    return is_ours ? WP_ORIGIN_OPERANDS : WP_ORIGIN_DIVERGENT;
}

void wpi_region_uniform_init(wp_uniform *u, LLVMValueRef kernel) {
    wpi_uniform_init(u, kernel, origin_of);
}

bool wpi_region_stop_is_in_step(const wp_uniform *u, LLVMValueRef stop) {
    uint32_t op = wpi_lower_stop_op(stop);
    bool is_barrier = op >= WP_STOP_BARRIER && op <= WP_STOP_BARRIER_OR;
    if (!is_barrier && !wpi_region_is_free(op)) return false;
    if (is_barrier && (!is_zero(LLVMGetOperand(stop, 2)) || !is_zero(LLVMGetOperand(stop, 3))))
        return false;
    return !wpi_uniform_is_partial(u, LLVMGetInstructionParent(stop));
}

/* Between free stops, the local memory of all threads is alive, where one thread's was before. */
#define LOCAL_MOST_BYTES 256u

bool wpi_region_may_be_cut(wp_compile *c, const wp_uniform *u) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    uint64_t local_bytes = 0;
    for (uint32_t b = 0; b < u->block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(u->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (wpi_lower_is_stop(i) && !wpi_region_stop_is_in_step(u, i)) return false;
            if (!LLVMIsAAllocaInst(i)) continue;
            if (!LLVMIsAConstantInt(LLVMGetOperand(i, 0))) return false;
            local_bytes += LLVMABISizeOfType(layout, LLVMGetAllocatedType(i)) *
                           LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0));
        }
    return local_bytes <= LOCAL_MOST_BYTES;
}

static bool stays_in_step(const wp_region_plan *plan) {
    for (uint32_t s = 1; s < plan->state_count; s++)
        if (!wpi_region_stop_is_in_step(&plan->uniform, plan->kernel->stops[s].call)) return false;
    return true;
}

void wpi_region_split(wp_region_plan *plan) {
    LLVMValueRef function = plan->kernel->function;
    uint32_t count, stops = 0;
    LLVMBasicBlockRef *order = wpi_blocks_rpo(function, &count);
    for (uint32_t b = 0; b < count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(order[b]); i; i = LLVMGetNextInstruction(i))
            stops += !wpi_lower_is_stop(i) ? 0 : wpi_lower_stop_op(i) == WP_STOP_ROUND ? 2 : 1;
    wp_stop_point *points = wp_calloc(stops + 1, sizeof *points);
    uint32_t state = 1;
    for (uint32_t b = 0; b < count; b++) {
        LLVMValueRef next;
        for (LLVMValueRef i = LLVMGetFirstInstruction(order[b]); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!wpi_lower_is_stop(i)) continue;
            uint32_t op = wpi_lower_stop_op(i);
            bool is_plain = is_plain_barrier(i) || writes_no_request(op);
            points[state++] = (wp_stop_point){.call = i, .op = op, .is_plain = is_plain};
            if (op == WP_STOP_ROUND)
                points[state++] =
                    (wp_stop_point){.call = i, .op = op, .is_plain = true, .is_last_round = true};
            add_flags(plan->kernel, op);
            wpi_block_split_before(i);
        }
    }
    wp_free(order);
    plan->kernel->stops = points;
    plan->kernel->region_count = plan->state_count = stops + 1;
    plan->blocks = wpi_blocks_rpo(function, &plan->block_count);
    wpi_region_uniform_init(&plan->uniform, function);
    plan->is_lockstep = stays_in_step(plan);
}

void wpi_region_plan_deinit(wp_region_plan *plan) {
    for (uint32_t s = 0; s < plan->slot_count; s++)
        wp_free(plan->slots[s].is_live);
    wp_free(plan->slots);
    wp_free(plan->blocks);
    wpi_uniform_deinit(&plan->uniform);
}
