/* SPDX-License-Identifier: Apache-2.0 */
/* Values that a thread carries from one region to the next.
 *
 * A value that is live at a stop is either recomputed or stored. If it is cheap to compute from
 * values that every region has (arguments, thread and block indices, addresses of local memory), it
 * is recomputed before each use in another block, so that addresses stay affine in the thread index
 * and loops over threads vectorise. Otherwise it gets a slot: stored after its definition, loaded
 * before its uses. Slots are allocas here; wpi_region_build turns them into registers inside a
 * region and frame memory between regions. */
#include <llvm-c/Target.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/live.h"
#include "compiler/ir/same_code.h"
#include "compiler/pass/region/regions.h"

#define RECOMPUTE_MAX 24 /* instructions; more: stored in the frame */

static bool is_tracked(LLVMValueRef instruction, void *state) {
    wpi_region_plan *plan = state;
    return LLVMTypeOf(instruction) != plan->c->none && !LLVMIsAAllocaInst(instruction) &&
           !wpi_lower_stands_for_value(instruction);
}

/* A stop reads its operands before the thread stops: in the predecessor. */
static LLVMBasicBlockRef use_block(LLVMValueRef user, void *state) {
    (void)state;
    if (!wpi_lower_is_stop(user)) return NULL;
    LLVMValueRef block = LLVMBasicBlockAsValue(LLVMGetInstructionParent(user));
    for (LLVMUseRef u = LLVMGetFirstUse(block); u; u = LLVMGetNextUse(u))
        if (LLVMIsATerminatorInst(LLVMGetUser(u))) return LLVMGetInstructionParent(LLVMGetUser(u));
    return NULL;
}

/* Instructions to compute `value` from values that every region has; > RECOMPUTE_MAX:
 * impossible. */
static uint32_t recompute_cost(LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return LLVMIsABasicBlock(value) ? RECOMPUTE_MAX + 1 : 0;
    if (wpi_lower_stands_for_value(value) || LLVMIsAAllocaInst(value)) return 0;
    if (!wpi_is_pure_operation(value) && !wpi_is_param_load(value)) return RECOMPUTE_MAX + 1;
    uint32_t cost = 1;
    for (int o = 0; o < LLVMGetNumOperands(value) && cost <= RECOMPUTE_MAX; o++)
        cost += recompute_cost(LLVMGetOperand(value, (unsigned)o));
    return cost;
}

static LLVMValueRef recompute(LLVMBuilderRef at, LLVMValueRef value, wpi_map *made) {
    /* Placeholders may be anywhere in the kernel; a copy is made where it is needed. */
    if (!LLVMIsAInstruction(value) || LLVMIsAAllocaInst(value)) return value;
    LLVMValueRef copy = wpi_map_get(made, value);
    if (copy) return copy;
    copy = LLVMInstructionClone(value);
    for (int o = 0; o < LLVMGetNumOperands(value); o++)
        LLVMSetOperand(copy, (unsigned)o, recompute(at, LLVMGetOperand(value, (unsigned)o), made));
    LLVMInsertIntoBuilder(at, copy);
    wpi_map_set(made, value, copy);
    return copy;
}

static LLVMValueRef replacement_at(wpi_compile *c, LLVMValueRef value, LLVMValueRef memory) {
    if (memory) return LLVMBuildLoad2(c->builder, LLVMTypeOf(value), memory, "");
    wpi_map made = {0};
    LLVMValueRef copy = recompute(c->builder, value, &made);
    wpi_map_deinit(&made);
    return copy;
}

/* The block in whose clone operand `index` of `user` is read. */
static LLVMBasicBlockRef place_of_use(LLVMValueRef user, unsigned index) {
    if (LLVMIsAPHINode(user)) return LLVMGetIncomingBlock(user, index);
    LLVMBasicBlockRef moved = use_block(user, NULL);
    return moved ? moved : LLVMGetInstructionParent(user);
}

/* Replaces uses outside the value's block by a load, or a copy of the computation. */
static void rewrite_uses(wpi_compile *c, LLVMValueRef value, LLVMValueRef memory) {
    LLVMBasicBlockRef home = LLVMGetInstructionParent(value);
    uint32_t count;
    LLVMValueRef *users = wpi_users(value, &count);
    for (uint32_t u = 0; u < count; u++) {
        if (LLVMIsAStoreInst(users[u]) && LLVMGetOperand(users[u], 1) == memory) continue;
        wpi_map by_block = {0};
        for (int o = wpi_operand_find(users[u], value, 0); o >= 0;
             o = wpi_operand_find(users[u], value, o + 1)) {
            LLVMBasicBlockRef place = place_of_use(users[u], (unsigned)o);
            if (place == home) continue;
            LLVMValueRef made = LLVMIsAPHINode(users[u]) ? wpi_map_get(&by_block, place) : NULL;
            if (!made) {
                if (place == LLVMGetInstructionParent(users[u]))
                    LLVMPositionBuilderBefore(c->builder, users[u]);
                else
                    LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(place));
                made = replacement_at(c, value, memory);
            }
            wpi_map_set(&by_block, place, made);
            LLVMSetOperand(users[u], (unsigned)o, made);
        }
        wpi_map_deinit(&by_block);
    }
    wpi_free(users);
}

static wpi_slot *add_slot(wpi_region_plan *plan, LLVMValueRef memory, LLVMTypeRef type,
                          bool is_array) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(plan->c->module);
    uint32_t alignment = LLVMABIAlignmentOfType(layout, type);
    if (is_array && LLVMGetAlignment(memory) > alignment) alignment = LLVMGetAlignment(memory);
    uint32_t size = (uint32_t)LLVMABISizeOfType(layout, type);
    size = (size + alignment - 1) / alignment * alignment;
    uint32_t *end = &plan->kernel->frame_bytes;
    *end = (*end + alignment - 1) / alignment * alignment;
    plan->slots = wpi_must_realloc(plan->slots, (plan->slot_count + 1) * sizeof *plan->slots);
    wpi_slot *slot = &plan->slots[plan->slot_count++];
    *slot = (wpi_slot){.memory = memory,
                       .type = type,
                       .offset_bytes = *end,
                       .size_bytes = size,
                       .is_array = is_array,
                       .is_live = wpi_must_calloc(plan->state_count, sizeof(bool))};
    *end += size;
    if (is_array && !wpi_lower_has_note(memory, WP_REGISTERS_METADATA))
        plan->kernel->local_bytes += size;
    return slot;
}

static void demote_value(wpi_region_plan *plan, const wpi_live *live, uint32_t index) {
    wpi_compile *c = plan->c;
    LLVMValueRef value = live->values[index];
    LLVMPositionBuilderBefore(
        c->builder, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(plan->kernel->function)));
    LLVMValueRef memory = LLVMBuildAlloca(c->builder, LLVMTypeOf(value), "slot");
    wpi_builder_after(c->builder, value);
    LLVMBuildStore(c->builder, value, memory);
    wpi_slot *slot = add_slot(plan, memory, LLVMTypeOf(value), false);
    slot->is_uniform = wpi_uniform_is(&plan->uniform, value);
    for (uint32_t s = 1; s < plan->state_count; s++) {
        LLVMValueRef stop = plan->kernel->stops[s].call;
        slot->is_live[s] = wpi_live_is_in(live, LLVMGetInstructionParent(stop), index);
        if (slot->is_live[s] && !wpi_region_stop_is_in_step(&plan->uniform, plan->step, stop))
            slot->is_uniform = false;
    }
    rewrite_uses(c, value, memory);
}

/* Bits of the values that are live at any stop. The caller frees them. */
static uint64_t *live_at_stops(const wpi_region_plan *plan, const wpi_live *live) {
    uint64_t *all = wpi_must_calloc(live->word_count, sizeof *all);
    for (uint32_t s = 1; s < plan->state_count; s++) {
        const uint64_t *in =
            wpi_live_in(live, LLVMGetInstructionParent(plan->kernel->stops[s].call));
        for (uint32_t w = 0; in && w < live->word_count; w++)
            all[w] |= in[w];
    }
    return all;
}

void wpi_region_demote(wpi_region_plan *plan) {
    LLVMValueRef function = plan->kernel->function;
    /* Finds the program's local memory first, so that slots do not count as such. */
    for (uint32_t b = 0; b < plan->block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(plan->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (!LLVMIsAAllocaInst(i)) continue;
            plan->has_local_arrays = true;
            LLVMTypeRef type = LLVMGetAllocatedType(i);
            uint64_t count = LLVMConstIntGetZExtValue(LLVMGetOperand(i, 0));
            if (count != 1) type = LLVMArrayType2(type, count);
            add_slot(plan, i, type, true);
        }
    if (plan->state_count == 1) return;

    wpi_live live;
    wpi_live_init(
        &live, function,
        &(wpi_live_ways){.is_tracked = is_tracked, .use_block = use_block, .state = plan});
    uint64_t *crossing = live_at_stops(plan, &live);
    for (uint32_t v = 0; v < live.value_count; v++) {
        if (!(crossing[v / 64] >> (v % 64) & 1)) continue;
        if (recompute_cost(live.values[v]) <= RECOMPUTE_MAX)
            rewrite_uses(plan->c, live.values[v], NULL);
        else
            demote_value(plan, &live, v);
    }
    wpi_free(crossing);
    wpi_live_deinit(&live);
}
