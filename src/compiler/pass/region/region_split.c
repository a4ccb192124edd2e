/* SPDX-License-Identifier: Apache-2.0 */
#include <llvm-c/Target.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/region/regions.h"

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
    const uint32_t kind = WP_STOP_KIND(op);
    return kind == WP_STOP_STEP || kind == WP_STOP_YIELD || kind == WP_STOP_CLUSTER_ARRIVE ||
           kind == WP_STOP_CLUSTER_WAIT || wpi_region_is_free(op);
}

static void add_flags(wpi_kernel_ir *kernel, const wpi_stop_point *stop) {
    const uint32_t kind = WP_STOP_KIND(stop->op);
    if (stop->is_alike) kernel->flags |= WP_CPU_KERNEL_WORDS;
    if (kind == WP_STOP_GRID) kernel->flags |= WP_CPU_KERNEL_GRID_SYNC;
    if (kind == WP_STOP_YIELD) kernel->flags |= WP_CPU_KERNEL_SPINS;
    if (kind >= WP_STOP_WARP_SYNC && kind <= WP_STOP_STEP) kernel->flags |= WP_CPU_KERNEL_WARP;
}

/* Classifies instructions for uniformity: where values become divergent, and where uniform
 * again. */
static wpi_value_origin origin_of(LLVMValueRef i) {
    if (wpi_is_settled_load(i)) return WP_ORIGIN_OPERANDS;
    if (LLVMIsALoadInst(i))
        return LLVMGetPointerAddressSpace(LLVMTypeOf(LLVMGetOperand(i, 0))) == WP_SPACE_CONSTANT
                   ? WP_ORIGIN_OPERANDS
                   : WP_ORIGIN_DIVERGENT;
    if (LLVMIsAAllocaInst(i) || wpi_access_is_atomic(i)) return WP_ORIGIN_DIVERGENT;
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
    wpi_id id = wpi_lower_id_of(callee);
    if (id != WP_ID_COUNT) return id <= WP_ID_THREAD ? WP_ORIGIN_DIVERGENT : WP_ORIGIN_OPERANDS;
    bool is_ours = strncmp(name, "llvm.", 5) == 0 || strncmp(name, "wp.", 3) == 0;
    return is_ours ? WP_ORIGIN_OPERANDS : WP_ORIGIN_DIVERGENT;
}

void wpi_region_uniform_init(wpi_uniform *u, LLVMValueRef kernel) {
    wpi_uniform_init(u, kernel, origin_of);
}

static bool is_whole_barrier(LLVMValueRef stop) {
    uint32_t op = wpi_lower_stop_op(stop);
    return op >= WP_STOP_BARRIER && op <= WP_STOP_BARRIER_OR && is_zero(LLVMGetOperand(stop, 2)) &&
           is_zero(LLVMGetOperand(stop, 3));
}

/* Whether threads of a block that reach the stop together continue together. */
static bool keeps_step(LLVMValueRef stop) {
    uint32_t op = wpi_lower_stop_op(stop), kind = WP_STOP_KIND(op);
    if (kind >= WP_STOP_WARP_SYNC && kind <= WP_STOP_REDUX_XOR)
        return wpi_region_is_of_all_lanes(stop);
    return is_whole_barrier(stop) || wpi_region_is_free(op) || kind == WP_STOP_ACTIVE_MASK ||
           kind == WP_STOP_STEP;
}

/* Whether, after the stop, threads may wait for each other beyond the next barrier of the whole
 * block. */
static bool prevents_joining(LLVMValueRef stop) {
    uint32_t kind = WP_STOP_KIND(wpi_lower_stop_op(stop));
    if (kind >= WP_STOP_BARRIER && kind <= WP_STOP_BARRIER_ARRIVE) return !is_whole_barrier(stop);
    return kind == WP_STOP_YIELD || kind == WP_STOP_GRID || kind == WP_STOP_CLUSTER_ARRIVE ||
           kind == WP_STOP_CLUSTER_WAIT;
}

wpi_region_step wpi_region_step_of(const wpi_uniform *u) {
    wpi_region_step step = WP_STEP_KEPT;
    for (uint32_t b = 0; b < u->block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(u->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (!wpi_lower_is_stop(i)) continue;
            if (prevents_joining(i)) return WP_STEP_LOST;
            if (!keeps_step(i) || wpi_uniform_is_partial(u, u->blocks[b])) step = WP_STEP_JOINED;
        }
    return step;
}

bool wpi_region_stop_is_in_step(const wpi_uniform *u, wpi_region_step step, LLVMValueRef stop) {
    if (step == WP_STEP_LOST || wpi_uniform_is_partial(u, LLVMGetInstructionParent(stop)))
        return false;
    return step == WP_STEP_KEPT || is_whole_barrier(stop) ||
           wpi_region_is_free(wpi_lower_stop_op(stop));
}

/* Between free stops the local memory of all threads is live, not only that of one thread. */
#define LOCAL_MOST_BYTES 256u

wpi_region_step wpi_region_step_for_cuts(const wpi_compile *c, const wpi_uniform *u) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(c->module);
    uint64_t local_bytes = 0;
    for (uint32_t b = 0; b < u->block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(u->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsAAllocaInst(i)) continue;
            if (!LLVMIsAConstantInt(LLVMGetOperand(i, 0))) return WP_STEP_LOST;
            local_bytes += LLVMABISizeOfType(layout, LLVMGetAllocatedType(i)) *
                           LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0));
        }
    if (local_bytes > LOCAL_MOST_BYTES) return WP_STEP_LOST;
    wpi_region_step step = wpi_region_step_of(u);
    /* Checked code identifies barriers by their places in the program. */
    return step == WP_STEP_JOINED && !wpi_compile_is_plain(c) ? WP_STEP_LOST : step;
}

void wpi_region_join(wpi_compile *c, wpi_region_step step) {
    if (step == WP_STEP_JOINED) wpi_lower_stop(c, c->builder, WP_STOP_BARRIER, NULL, NULL, NULL);
}

void wpi_region_split(wpi_region_plan *plan) {
    LLVMValueRef function = plan->kernel->function;
    uint32_t count, stops = 0;
    LLVMBasicBlockRef *order = wpi_blocks_rpo(function, &count);
    for (uint32_t b = 0; b < count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(order[b]); i; i = LLVMGetNextInstruction(i))
            stops += !wpi_lower_is_stop(i) ? 0 : wpi_lower_stop_op(i) == WP_STOP_ROUND ? 2 : 1;
    wpi_stop_point *points = wpi_must_calloc(stops + 1, sizeof *points);
    uint32_t state = 1;
    for (uint32_t b = 0; b < count; b++) {
        LLVMValueRef next;
        for (LLVMValueRef i = LLVMGetFirstInstruction(order[b]); i; i = next) {
            next = LLVMGetNextInstruction(i);
            if (!wpi_lower_is_stop(i)) continue;
            uint32_t op = wpi_lower_stop_op(i);
            bool is_plain = is_plain_barrier(i) || writes_no_request(op);
            points[state] = (wpi_stop_point){.call = i, .op = op, .is_plain = is_plain};
            wpi_region_find_alike(&points[state]);
            add_flags(plan->kernel, &points[state++]);
            if (op == WP_STOP_ROUND)
                points[state++] =
                    (wpi_stop_point){.call = i, .op = op, .is_plain = true, .is_last_round = true};
            wpi_block_split_before(i);
        }
    }
    wpi_free(order);
    plan->kernel->stops = points;
    plan->kernel->region_count = plan->state_count = stops + 1;
    plan->blocks = wpi_blocks_rpo(function, &plan->block_count);
    wpi_region_uniform_init(&plan->uniform, function);
    plan->step = wpi_region_step_of(&plan->uniform);
}

void wpi_region_plan_index(wpi_region_plan *plan) {
    for (uint32_t b = 0; b < plan->block_count; b++)
        wpi_map_set_index(&plan->block_index, plan->blocks[b], b);
    for (uint32_t s = 0; s < plan->slot_count; s++)
        wpi_map_set_index(&plan->slot_index, plan->slots[s].memory, s);
    /* Of the two states of a round, the first. */
    for (uint32_t s = plan->state_count; s-- > 1;)
        wpi_map_set_index(&plan->state_index, plan->kernel->stops[s].call, s);
}

void wpi_region_plan_deinit(wpi_region_plan *plan) {
    wpi_map_deinit(&plan->block_index);
    wpi_map_deinit(&plan->slot_index);
    wpi_map_deinit(&plan->state_index);
    for (uint32_t s = 0; s < plan->slot_count; s++)
        wpi_free(plan->slots[s].is_live);
    wpi_free(plan->slots);
    wpi_free(plan->blocks);
    wpi_uniform_deinit(&plan->uniform);
}
