/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/regions.h"

static bool is_plain_barrier(LLVMValueRef stop)
{
    LLVMValueRef mask = LLVMGetOperand(stop, 2), id = LLVMGetOperand(stop, 3);
    return wpi_lower_stop_op(stop) == WP_STOP_BARRIER && LLVMIsConstant(mask) && LLVMIsNull(mask) &&
           LLVMIsConstant(id) && LLVMIsNull(id);
}

static bool writes_no_request(uint32_t op)
{
    return op == WP_STOP_STEP || op == WP_STOP_YIELD;
}

static void add_flags(wp_kernel_ir *kernel, uint32_t op)
{
    uint32_t kind = WP_STOP_KIND(op);
    if (kind == WP_STOP_GRID) kernel->flags |= WP_CPU_KERNEL_GRID_SYNC;
    if (kind == WP_STOP_YIELD) kernel->flags |= WP_CPU_KERNEL_SPINS;
    if (kind >= WP_STOP_WARP_SYNC && kind <= WP_STOP_STEP) kernel->flags |= WP_CPU_KERNEL_WARP;
}

void wpi_region_split(wp_region_plan *plan)
{
    LLVMValueRef function = plan->kernel->function;
    uint32_t count, stops = 0;
    LLVMBasicBlockRef *order = wpi_blocks_rpo(function, &count);
    for (uint32_t b = 0; b < count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(order[b]); i; i = LLVMGetNextInstruction(i))
            stops += wpi_lower_is_stop(i);
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
            add_flags(plan->kernel, op);
            wpi_block_split_before(i);
        }
    }
    wp_free(order);
    plan->kernel->stops = points;
    plan->kernel->region_count = plan->state_count = stops + 1;
    plan->blocks = wpi_blocks_rpo(function, &plan->block_count);
}

void wpi_region_plan_deinit(wp_region_plan *plan)
{
    for (uint32_t s = 0; s < plan->slot_count; s++) wp_free(plan->slots[s].is_live);
    wp_free(plan->slots);
    wp_free(plan->blocks);
}
