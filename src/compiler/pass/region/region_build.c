/* SPDX-License-Identifier: Apache-2.0 */
/* One region as a function: i32 name.r<state>(ptr block, i32 first, i32 outer).
 *
 *   entry   arguments, block fields, slot addresses; whatever is the same for all threads
 *   round   uniform slots from the frame                             ◄──────────────────┐
 *   row     threads with the same tid.y and tid.z, maybe of one warp ◄────────┐
 *   head    one thread: index, slots from the frame                ◄───┐      │
 *     …     copies of the kernel's blocks reachable from the state     │      │
 *   stop j  slots to the frame, request, new state                     │      │
 *   latch   next thread of the row ────────────────────────────────────┘      │
 *   next    next row ─────────────────────────────────────────────────────────┘
 *   done    the common next state, or WP_STATE_MIXED; a free stop that leads to itself goes on ─┘
 *
 * The inner loop's accesses are independent (threads between two barriers may not race); metadata
 * states that, so that LLVM may vectorise it. */
#include <llvm-c/DebugInfo.h>
#include <llvm-c/IRReader.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/region/regions.h"

typedef struct region {
    wpi_region_plan *plan;
    wpi_compile *c;
    LLVMBuilderRef at;
    const uint32_t *begins; /* [begin_count]: the states in which threads begin */
    uint32_t begin_count;
    LLVMValueRef function, block;
    LLVMBasicBlockRef entry, round, row, head, latch, next, done;
    bool *is_cloned;  /* [plan->block_count] */
    bool *is_reached; /* [state_count]: a thread may stop there */
    wpi_map values, blocks;
    LLVMBasicBlockRef *end_blocks; /* [state_count + 1]; the last is EXIT; NULL: not reached */
    LLVMValueRef id[WP_ID_COUNT], shared, states, requests, words, lane_words, frame, threads64;
    LLVMValueRef *local;           /* [slot_count]: the region's own copy of a slot */
    LLVMValueRef *base;            /* [slot_count]: address of the slot of thread 0 */
    LLVMValueRef *initial;         /* [slot_count]: a uniform slot's value at the start */
    bool *is_touched, *is_written; /* [slot_count] */
    LLVMValueRef next_state;       /* in step: the threads' next state, if there are several */
    LLVMValueRef *votes;           /* [state_count]: whether a thread needs another round */
    bool is_mixed;                 /* threads may diverge */
    bool by_warps;                 /* the loop over threads is over those of one warp */
    /* By warps, of tid.x, the thread, the grid's thread: for the first of the loop, and its lane.
     */
    LLVMValueRef index_base[3], first_lane[3];
} region;

static LLVMValueRef field(region *r, size_t offset, LLVMTypeRef type) {
    LLVMValueRef address = wpi_lower_block_field(r->c, r->at, r->block, offset);
    return wpi_load_settled(r->at, type, address);
}

static LLVMValueRef element(region *r, LLVMValueRef base, LLVMValueRef index64,
                            uint32_t size_bytes) {
    LLVMValueRef offset = LLVMBuildMul(r->at, index64, wpi_const64(r->c, size_bytes), "");
    return LLVMBuildInBoundsGEP2(r->at, r->c->i8, base, &offset, 1, "");
}

static LLVMBasicBlockRef add_block(region *r, const char *name) {
    return LLVMAppendBasicBlockInContext(r->c->context, r->function, name);
}

static bool is_stop_block(LLVMBasicBlockRef block) {
    return wpi_lower_is_stop(LLVMGetFirstInstruction(block));
}

static uint32_t state_of(region *r, LLVMBasicBlockRef block) {
    return wpi_map_index(&r->plan->state_index, LLVMGetFirstInstruction(block));
}

/* The block of the kernel in which a state begins. */
static LLVMBasicBlockRef start_of(const region *r, uint32_t state) {
    LLVMValueRef stop = r->plan->kernel->stops[state].call;
    return stop ? LLVMGetInstructionParent(stop) : r->plan->blocks[0];
}

/* The first instruction to copy of a block: in a block with a stop, in which threads begin, the one
 * after the stop. */
static LLVMValueRef first_copied(LLVMBasicBlockRef block) {
    LLVMValueRef first = LLVMGetFirstInstruction(block);
    return is_stop_block(block) ? LLVMGetNextInstruction(first) : first;
}

static bool is_live_at_start(const region *r, const wpi_slot *slot) {
    for (uint32_t i = 0; i < r->begin_count; i++)
        if (slot->is_live[r->begins[i]]) return true;
    return false;
}

/* Threads in a state of a round have a known successor. Such a state is alone in its region. */
static LLVMBasicBlockRef only_way(region *r, LLVMBasicBlockRef block) {
    const wpi_stop_point *stop = &r->plan->kernel->stops[r->begins[0]];
    if (stop->op != WP_STOP_ROUND || block != start_of(r, r->begins[0])) return NULL;
    return LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), stop->is_last_round);
}

/* ---- what is reachable ---- */

static void find_reachable(region *r) {
    LLVMBasicBlockRef *stack = wpi_must_calloc(r->plan->block_count + 1, sizeof *stack);
    uint32_t depth = 0;
    for (uint32_t i = 0; i < r->begin_count; i++) {
        stack[depth] = start_of(r, r->begins[i]);
        r->is_cloned[wpi_map_index(&r->plan->block_index, stack[depth++])] = true;
    }
    while (depth) {
        LLVMBasicBlockRef from = stack[--depth], way = only_way(r, from);
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(from);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(terminator, s);
            uint32_t index = wpi_map_index(&r->plan->block_index, to);
            if (way && to != way) continue;
            if (is_stop_block(to)) r->is_reached[state_of(r, to)] = true;
            if (is_stop_block(to) || r->is_cloned[index]) continue;
            r->is_cloned[index] = true;
            stack[depth++] = to;
        }
    }
    wpi_free(stack);
}

/* ---- cloning ---- */

static bool is_dropped(LLVMValueRef instruction) {
    LLVMValueRef callee = wpi_called_function(instruction);
    if (!callee) return LLVMIsAAllocaInst(instruction) != NULL;
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    return strncmp(name, "llvm.lifetime.", 14) == 0 || strncmp(name, "llvm.dbg.", 9) == 0;
}

/* The value of a placeholder call; NULL: not a placeholder. */
static LLVMValueRef placeholder_value(region *r, LLVMValueRef instruction) {
    LLVMValueRef callee = wpi_called_function(instruction);
    if (!callee) return NULL;
    wpi_id id = wpi_lower_id_of(callee);
    if (id != WP_ID_COUNT) return r->id[id];
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    if (strcmp(name, WP_BLOCK_PLACEHOLDER) == 0) return r->block;
    if (strcmp(name, WP_SHARED_PLACEHOLDER) == 0) return r->shared;
    return NULL;
}

/* The copy of a value. A placeholder has the same value at all its calls. */
static LLVMValueRef mapped(region *r, LLVMValueRef value) {
    LLVMValueRef to = wpi_map_get(&r->values, value);
    if (!to && LLVMIsAInstruction(value)) to = placeholder_value(r, value);
    return to ? to : value;
}

static void clone_phi(region *r, LLVMValueRef phi) {
    LLVMValueRef copy = LLVMBuildPhi(r->at, LLVMTypeOf(phi), "");
    wpi_map_set(&r->values, phi, copy);
}

static LLVMBasicBlockRef place_of(region *r, LLVMBasicBlockRef block) {
    return is_stop_block(block) ? r->end_blocks[state_of(r, block)]
                                : wpi_map_get(&r->blocks, block);
}

static void clone_block(region *r, LLVMBasicBlockRef block) {
    LLVMPositionBuilderAtEnd(r->at, wpi_map_get(&r->blocks, block));
    for (LLVMValueRef i = first_copied(block); i; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef value = placeholder_value(r, i);
        LLVMBasicBlockRef way = LLVMIsATerminatorInst(i) ? only_way(r, block) : NULL;
        if (value) {
            wpi_map_set(&r->values, i, value);
        } else if (way) {
            LLVMBuildBr(r->at, place_of(r, way));
        } else if (LLVMIsAPHINode(i)) {
            clone_phi(r, i);
        } else if (LLVMIsAReturnInst(i)) {
            wpi_map_set(&r->values, i, LLVMBuildBr(r->at, r->end_blocks[r->plan->state_count]));
        } else if (!is_dropped(i)) {
            LLVMValueRef copy = LLVMInstructionClone(i);
            LLVMInsertIntoBuilder(r->at, copy);
            wpi_map_set(&r->values, i, copy);
        }
    }
}

static void connect_terminator(region *r, LLVMValueRef original, LLVMValueRef copy) {
    for (unsigned s = 0; s < LLVMGetNumSuccessors(original); s++)
        LLVMSetSuccessor(copy, s, place_of(r, LLVMGetSuccessor(original, s)));
}

/* Sets the operands of the copies, once all copies exist. */
static void connect_block(region *r, LLVMBasicBlockRef block) {
    for (LLVMValueRef i = first_copied(block); i; i = LLVMGetNextInstruction(i)) {
        LLVMValueRef copy = wpi_map_get(&r->values, i);
        if (!copy || is_dropped(i) || LLVMIsAReturnInst(i) || placeholder_value(r, i)) continue;
        if (LLVMIsAPHINode(i)) {
            for (unsigned n = 0; n < LLVMCountIncoming(i); n++) {
                LLVMBasicBlockRef from = LLVMGetIncomingBlock(i, n);
                uint32_t index = wpi_map_index(&r->plan->block_index, from);
                if (index == UINT32_MAX || !r->is_cloned[index]) continue;
                LLVMBasicBlockRef way = only_way(r, from);
                if (way && way != block) continue;
                LLVMValueRef value = mapped(r, LLVMGetIncomingValue(i, n));
                LLVMBasicBlockRef copy_from = wpi_map_get(&r->blocks, from);
                LLVMAddIncoming(copy, &value, &copy_from, 1);
            }
            continue;
        }
        bool is_terminator = LLVMIsATerminatorInst(i) != NULL;
        for (int o = 0; o < LLVMGetNumOperands(i); o++) {
            LLVMValueRef operand = LLVMGetOperand(i, (unsigned)o);
            if (is_terminator && LLVMValueIsBasicBlock(operand)) continue;
            LLVMSetOperand(copy, (unsigned)o, mapped(r, operand));
        }
        if (is_terminator) connect_terminator(r, i, copy);
    }
}

/* ---- the frame of the function ---- */

static bool is_in_step(const wpi_region_plan *plan, uint32_t state) {
    return wpi_region_stop_is_in_step(&plan->uniform, plan->step, plan->kernel->stops[state].call);
}

/* Whether threads begin together and reach only stops that all threads reach, so that all have the
 * same next state. */
static bool moves_together(region *r) {
    const wpi_region_plan *plan = r->plan;
    for (uint32_t i = 0; i < r->begin_count; i++)
        if (r->begins[i] && !is_in_step(plan, r->begins[i])) return false;
    for (uint32_t s = 1; s < plan->state_count; s++)
        if (r->is_reached[s] && !is_in_step(plan, s)) return false;
    return true;
}

/* Whether a thread of this region reaches the round of state `s`. */
static bool is_round(region *r, uint32_t s) {
    const wpi_stop_point *stop = &r->plan->kernel->stops[s];
    return stop->op == WP_STOP_ROUND && !stop->is_last_round && r->is_reached[s];
}

static void build_entry(region *r) {
    wpi_compile *c = r->c;
    LLVMPositionBuilderAtEnd(r->at, r->entry);
    LLVMValueRef kernel = r->plan->kernel->function;
    unsigned params = LLVMCountParams(kernel);
    LLVMValueRef *args = wpi_must_calloc(params + 1, sizeof *args);
    wpi_kernel_load_args(c, r->at, kernel, r->block, args);
    for (unsigned p = 0; p < params; p++)
        wpi_map_set(&r->values, LLVMGetParam(kernel, p), args[p]);
    wpi_free(args);
    static const struct {
        wpi_id first;
        size_t offset;
    } triples[] = {{WP_ID_NTID_X, offsetof(wp_cpu_block, block_dim)},
                   {WP_ID_CTAID_X, offsetof(wp_cpu_block, block_idx)},
                   {WP_ID_NCTAID_X, offsetof(wp_cpu_block, grid_dim)}};
    for (size_t t = 0; t < 3; t++)
        for (uint32_t d = 0; d < 3; d++)
            r->id[triples[t].first + d] = field(r, triples[t].offset + 4 * d, c->i32);
    r->shared = field(r, offsetof(wp_cpu_block, shared), c->ptr);
    r->states = field(r, offsetof(wp_cpu_block, states), c->ptr);
    r->requests = field(r, offsetof(wp_cpu_block, requests), c->ptr);
    r->words = field(r, offsetof(wp_cpu_block, words), c->ptr);
    r->lane_words = field(r, offsetof(wp_cpu_block, lane_words), c->ptr);
    r->frame = field(r, offsetof(wp_cpu_block, frame), c->ptr);
    LLVMValueRef threads = field(r, offsetof(wp_cpu_block, thread_count), c->i32);
    r->threads64 = LLVMBuildZExt(r->at, threads, c->i64, "");
    for (uint32_t s = 0; s < r->plan->slot_count; s++) {
        const wpi_slot *slot = &r->plan->slots[s];
        if (!r->is_touched[s]) continue;
        bool in_frame = r->plan->state_count > 1;
        if (in_frame && slot->is_uniform && r->plan->is_whole) {
            LLVMValueRef offset = wpi_const64(c, slot->offset_bytes);
            r->base[s] =
                LLVMBuildInBoundsGEP2(r->at, c->i8, LLVMGetParam(r->function, 3), &offset, 1, "");
        } else if (in_frame) {
            r->base[s] = element(r, r->frame, r->threads64, slot->offset_bytes);
        }
        if (!slot->is_array || !in_frame) {
            r->local[s] = LLVMBuildAlloca(r->at, slot->type, "");
            if (slot->is_array && LLVMGetAlignment(slot->memory))
                LLVMSetAlignment(r->local[s], LLVMGetAlignment(slot->memory));
            wpi_map_set(&r->values, slot->memory, r->local[s]);
        }
    }
    if (moves_together(r)) r->next_state = LLVMBuildAlloca(r->at, r->c->i32, "next");
    for (uint32_t s = 1; s < r->plan->state_count; s++)
        if (is_round(r, s)) r->votes[s] = LLVMBuildAlloca(r->at, c->i32, "vote");
    LLVMBuildBr(r->at, r->round);

    LLVMPositionBuilderAtEnd(r->at, r->round);
    for (uint32_t s = 0; s < r->plan->slot_count; s++) {
        const wpi_slot *slot = &r->plan->slots[s];
        if (r->is_touched[s] && slot->is_uniform && is_live_at_start(r, slot))
            r->initial[s] = LLVMBuildLoad2(r->at, slot->type, r->base[s], "");
    }
    for (uint32_t s = 1; s < r->plan->state_count; s++)
        if (r->votes[s]) LLVMBuildStore(r->at, wpi_const32(c, 0), r->votes[s]);
    LLVMBuildBr(r->at, r->row);
}

static bool is_opaque_call(LLVMValueRef instruction) {
    if (!LLVMIsACallInst(instruction)) return false;
    LLVMValueRef callee = wpi_called_function(instruction);
    if (!callee) return true;
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    if (LLVMIsDeclaration(callee)) return strncmp(name, "wp_rt_", 6) == 0;
    return wpi_identity_is_needed(callee);
}

static bool asks_for_identity(region *r) {
    for (uint32_t b = 0; b < r->plan->block_count; b++) {
        if (!r->is_cloned[b]) continue;
        LLVMBasicBlockRef block = r->plan->blocks[b];
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            if (!wpi_lower_is_stop(i) && is_opaque_call(i)) return true;
    }
    return false;
}

static LLVMValueRef store_field(region *r, size_t offset, LLVMValueRef value) {
    return LLVMBuildStore(r->at, value, wpi_lower_block_field(r->c, r->at, r->block, offset));
}

static wpi_word_places word_places(region *r, LLVMValueRef thread64) {
    return (wpi_word_places){.word = element(r, r->words, thread64, sizeof(uint32_t)),
                             .lane = element(r, r->lane_words, thread64, sizeof(uint32_t))};
}

/* The result of the stop at which the thread begins. */
static LLVMValueRef answer(region *r, uint32_t state, LLVMValueRef thread64) {
    const wpi_stop_point *stop = &r->plan->kernel->stops[state];
    if (stop->op == WP_STOP_ROUND) return wpi_const64(r->c, !stop->is_last_round);
    if (stop->is_alike)
        return wpi_region_take_word(r->c, r->at, stop, r->id[WP_ID_THREAD],
                                    word_places(r, thread64));
    LLVMValueRef request = element(r, r->requests, thread64, sizeof(wp_cpu_request));
    LLVMValueRef offset = wpi_const64(r->c, offsetof(wp_cpu_request, result));
    LLVMValueRef address = LLVMBuildInBoundsGEP2(r->at, r->c->i8, request, &offset, 1, "");
    return LLVMBuildLoad2(r->at, r->c->i64, address, "");
}

/* Starts a thread in the state: loads its slots from the frame, then runs the copied code. */
static void build_start(region *r, uint32_t state, LLVMValueRef thread64) {
    for (uint32_t s = 0; s < r->plan->slot_count; s++) {
        const wpi_slot *slot = &r->plan->slots[s];
        if (!r->is_touched[s] || r->initial[s] || slot->is_array || !slot->is_live[state]) continue;
        LLVMValueRef address = element(r, r->base[s], thread64, slot->size_bytes);
        LLVMBuildStore(r->at, LLVMBuildLoad2(r->at, slot->type, address, ""), r->local[s]);
    }
    LLVMValueRef stop = r->plan->kernel->stops[state].call;
    if (stop && LLVMGetFirstUse(stop)) wpi_map_set(&r->values, stop, answer(r, state, thread64));
    LLVMBuildBr(r->at, wpi_map_get(&r->blocks, start_of(r, state)));
}

/* Several states: the function's last parameter selects one. */
static void build_starts(region *r, LLVMValueRef thread64) {
    LLVMBasicBlockRef *start = wpi_must_calloc(r->begin_count, sizeof *start);
    for (uint32_t i = 0; i < r->begin_count; i++) {
        start[i] = add_block(r, "start");
        LLVMMoveBasicBlockBefore(start[i], r->latch);
    }
    LLVMValueRef way =
        LLVMBuildSwitch(r->at, LLVMGetParam(r->function, 3), start[0], r->begin_count - 1);
    for (uint32_t i = 1; i < r->begin_count; i++)
        LLVMAddCase(way, wpi_const32(r->c, r->begins[i]), start[i]);
    for (uint32_t i = 0; i < r->begin_count; i++) {
        LLVMPositionBuilderAtEnd(r->at, start[i]);
        build_start(r, r->begins[i], thread64);
    }
    wpi_free(start);
}

static LLVMValueRef least(region *r, LLVMValueRef a, LLVMValueRef b) {
    LLVMValueRef is_less = LLVMBuildICmp(r->at, LLVMIntULT, a, b, "");
    return LLVMBuildSelect(r->at, is_less, a, b, "");
}

/* Ends the loop over threads at the end of a warp, by each index. */
static LLVMValueRef end_with_warp(region *r, LLVMValueRef count, LLVMValueRef x0,
                                  LLVMValueRef row_first) {
    LLVMValueRef before = LLVMBuildMul(r->at, r->id[WP_ID_CTAID_X], r->id[WP_ID_NTID_X], "");
    LLVMValueRef index[3] = {x0, row_first, LLVMBuildAdd(r->at, before, x0, "")};
    LLVMValueRef lanes = wpi_const32(r->c, WP_WARP_LANES);
    for (uint32_t n = 0; n < 3; n++) {
        LLVMValueRef lane = LLVMBuildAnd(r->at, index[n], wpi_const32(r->c, WP_WARP_LANES - 1), "");
        count = least(r, count, LLVMBuildSub(r->at, lanes, lane, ""));
        r->index_base[n] = LLVMBuildSub(r->at, index[n], lane, "");
        r->first_lane[n] = lane;
    }
    return count;
}

/* Lanes and warps in the copied code, from those of the loop's first thread. */
static void split_lanes(region *r) {
    LLVMValueRef lane[3];
    LLVMPositionBuilderBefore(r->at, LLVMGetNextInstruction(r->id[WP_ID_THREAD]));
    for (uint32_t n = 0; n < 3; n++)
        lane[n] = LLVMBuildNUWAdd(r->at, r->first_lane[n], LLVMGetFirstInstruction(r->head), "");
    const wpi_lane_ids ids = {r->id[WP_ID_CTAID_X], r->id[WP_ID_NTID_X], r->index_base[2], lane[2]};
    wpi_region_split_lanes(r->c, r->id[WP_ID_TID_X], r->index_base[0], lane[0], &ids);
    wpi_region_split_lanes(r->c, r->id[WP_ID_THREAD], r->index_base[1], lane[1], NULL);
}

/* Whether addresses of the copied code follow from lanes or warps. */
static bool works_by_warps(region *r) {
    for (uint32_t b = 0; b < r->plan->block_count; b++) {
        if (!r->is_cloned[b]) continue;
        LLVMBasicBlockRef block = r->plan->blocks[b];
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = wpi_called_function(i);
            wpi_id id = callee ? wpi_lower_id_of(callee) : WP_ID_COUNT;
            if ((id == WP_ID_TID_X || id == WP_ID_THREAD) &&
                wpi_region_has_lanes(r->c, i, id == WP_ID_TID_X))
                return true;
        }
    }
    return false;
}

static void build_loops(region *r) {
    wpi_compile *c = r->c;
    LLVMBuilderRef at = r->at;
    LLVMValueRef first = LLVMGetParam(r->function, 1), outer = LLVMGetParam(r->function, 2);

    LLVMValueRef nx = r->id[WP_ID_NTID_X], ny = r->id[WP_ID_NTID_Y], zero = wpi_const32(c, 0);
    LLVMValueRef first_x = zero, first_y = zero, first_z = zero;
    if (!r->plan->is_whole) { /* Divisions once; rows then follow each other. */
        LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(r->entry));
        LLVMValueRef rows = LLVMBuildUDiv(at, first, nx, "");
        first_x = LLVMBuildURem(at, first, nx, "");
        first_y = LLVMBuildURem(at, rows, ny, "");
        first_z = LLVMBuildUDiv(at, rows, ny, "");
    }

    LLVMPositionBuilderAtEnd(at, r->row);
    LLVMValueRef row_first = LLVMBuildPhi(at, c->i32, "");
    LLVMValueRef x0 = LLVMBuildPhi(at, c->i32, "x0");
    LLVMValueRef y = r->id[WP_ID_TID_Y] = LLVMBuildPhi(at, c->i32, "tid.y");
    LLVMValueRef z = r->id[WP_ID_TID_Z] = LLVMBuildPhi(at, c->i32, "tid.z");
    LLVMValueRef count = nx;
    r->by_warps = works_by_warps(r);
    if (!r->plan->is_whole || r->by_warps) {
        LLVMValueRef in_row = LLVMBuildSub(at, nx, x0, ""),
                     left = LLVMBuildSub(at, outer, row_first, "");
        count = least(r, in_row, left);
    }
    if (r->by_warps) count = end_with_warp(r, count, x0, row_first);
    LLVMBuildBr(at, r->head);

    LLVMPositionBuilderAtEnd(at, r->head);
    LLVMValueRef i = LLVMBuildPhi(at, c->i32, "i");
    r->id[WP_ID_TID_X] = LLVMBuildNUWAdd(at, x0, i, "tid.x");
    r->id[WP_ID_THREAD] = LLVMBuildNUWAdd(at, row_first, i, "thread");
    LLVMValueRef thread64 = LLVMBuildZExt(at, r->id[WP_ID_THREAD], c->i64, "");
    if (asks_for_identity(r)) {
        store_field(r, offsetof(wp_cpu_block, thread), r->id[WP_ID_THREAD]);
        for (uint32_t d = 0; d < 3; d++)
            store_field(r, offsetof(wp_cpu_block, tid) + 4 * d, r->id[WP_ID_TID_X + d]);
    }
    for (uint32_t s = 0; s < r->plan->slot_count; s++) {
        const wpi_slot *slot = &r->plan->slots[s];
        if (!r->is_touched[s]) continue;
        if (r->initial[s]) {
            LLVMBuildStore(at, r->initial[s], r->local[s]);
        } else if (slot->is_array && r->base[s]) {
            wpi_map_set(&r->values, slot->memory,
                        element(r, r->base[s], thread64, slot->size_bytes));
        }
    }
    if (r->begin_count == 1)
        build_start(r, r->begins[0], thread64);
    else
        build_starts(r, thread64);

    LLVMPositionBuilderAtEnd(at, r->latch);
    LLVMValueRef i_next = LLVMBuildNUWAdd(at, i, wpi_const32(c, 1), "");
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntULT, i_next, count, ""), r->head, r->next);

    LLVMPositionBuilderAtEnd(at, r->next);
    LLVMValueRef row_next = LLVMBuildNUWAdd(at, row_first, count, "");
    LLVMValueRef x_next = zero, step = wpi_const32(c, 1);
    if (r->by_warps) {
        x_next = LLVMBuildNUWAdd(at, x0, count, "");
        LLVMValueRef is_end = LLVMBuildICmp(at, LLVMIntEQ, x_next, nx, "");
        x_next = LLVMBuildSelect(at, is_end, zero, x_next, "");
        step = LLVMBuildZExt(at, is_end, c->i32, "");
    }
    LLVMValueRef y_next = LLVMBuildNUWAdd(at, y, step, "");
    LLVMValueRef wraps = LLVMBuildICmp(at, LLVMIntEQ, y_next, ny, "");
    LLVMValueRef z_next = LLVMBuildNUWAdd(at, z, LLVMBuildZExt(at, wraps, c->i32, ""), "");
    y_next = LLVMBuildSelect(at, wraps, zero, y_next, "");
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntULT, row_next, outer, ""), r->row, r->done);

    LLVMBasicBlockRef into_row[] = {r->round, r->next};
    LLVMAddIncoming(row_first, (LLVMValueRef[]){first, row_next}, into_row, 2);
    LLVMAddIncoming(x0, (LLVMValueRef[]){first_x, x_next}, into_row, 2);
    LLVMAddIncoming(y, (LLVMValueRef[]){first_y, y_next}, into_row, 2);
    LLVMAddIncoming(z, (LLVMValueRef[]){first_z, z_next}, into_row, 2);
    LLVMAddIncoming(i, (LLVMValueRef[]){wpi_const32(c, 0), i_next},
                    (LLVMBasicBlockRef[]){r->row, r->latch}, 2);
}

/* ---- leaving ---- */

static void store_request(region *r, LLVMValueRef stop, LLVMValueRef thread64) {
    LLVMValueRef request = element(r, r->requests, thread64, sizeof(wp_cpu_request));
    static const struct {
        unsigned operand;
        size_t offset;
    } parts[] = {{0, offsetof(wp_cpu_request, op)},
                 {2, offsetof(wp_cpu_request, mask)},
                 {3, offsetof(wp_cpu_request, a)},
                 {4, offsetof(wp_cpu_request, b)}};
    for (size_t p = 0; p < 4; p++) {
        LLVMValueRef offset = wpi_const64(r->c, parts[p].offset);
        LLVMValueRef address = LLVMBuildInBoundsGEP2(r->at, r->c->i8, request, &offset, 1, "");
        LLVMBuildStore(r->at, mapped(r, LLVMGetOperand(stop, parts[p].operand)), address);
    }
}

/* The next state of a round's threads, from their vote. */
static LLVMValueRef state_by_vote(region *r, uint32_t state, LLVMValueRef vote) {
    LLVMValueRef wants = LLVMBuildICmp(r->at, LLVMIntNE, vote, wpi_const32(r->c, 0), "");
    return LLVMBuildSelect(r->at, wants, wpi_const32(r->c, state), wpi_const32(r->c, state + 1),
                           "");
}

/* Threads at a round continue together if any of them needs to. */
static LLVMValueRef cast_vote(region *r, const wpi_stop_point *stop, uint32_t state) {
    LLVMValueRef wish = mapped(r, LLVMGetOperand(stop->call, 4));
    wish = LLVMBuildTrunc(r->at, wish, r->c->i32, "");
    LLVMValueRef so_far = LLVMBuildLoad2(r->at, r->c->i32, r->votes[state], "");
    LLVMBuildStore(r->at, LLVMBuildOr(r->at, so_far, wish, ""), r->votes[state]);
    return state_by_vote(r, state, wish);
}

static void build_end_block(region *r, uint32_t state, LLVMValueRef value) {
    LLVMPositionBuilderAtEnd(r->at, r->end_blocks[state]);
    LLVMValueRef thread64 = LLVMBuildZExt(r->at, r->id[WP_ID_THREAD], r->c->i64, "");
    if (state < r->plan->state_count) {
        const wpi_stop_point *stop = &r->plan->kernel->stops[state];
        for (uint32_t s = 0; s < r->plan->slot_count; s++) {
            const wpi_slot *slot = &r->plan->slots[s];
            if (slot->is_array || slot->is_uniform || !slot->is_live[state] || !r->is_written[s])
                continue;
            LLVMValueRef address = element(r, r->base[s], thread64, slot->size_bytes);
            LLVMBuildStore(r->at, LLVMBuildLoad2(r->at, slot->type, r->local[s], ""), address);
        }
        if (stop->is_alike)
            wpi_region_give_word(r->c, r->at, stop, mapped(r, LLVMGetOperand(stop->call, 3)),
                                 mapped(r, LLVMGetOperand(stop->call, 4)),
                                 word_places(r, thread64));
        else if (!stop->is_plain)
            store_request(r, stop->call, thread64);
        if (r->next_state) LLVMBuildStore(r->at, value, r->next_state);
        if (r->votes[state]) value = cast_vote(r, stop, state);
    } else if (r->next_state) {
        LLVMBuildStore(r->at, value, r->next_state);
    }
    if (r->is_mixed) LLVMBuildStore(r->at, value, element(r, r->states, thread64, 4));
    LLVMBuildBr(r->at, r->latch);
}

/* Finds the slots that the copied blocks use and write; others are unchanged in the frame. */
static void find_touched(region *r) {
    for (uint32_t b = 0; b < r->plan->block_count; b++) {
        if (!r->is_cloned[b]) continue;
        LLVMBasicBlockRef block = r->plan->blocks[b];
        for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i))
            for (int o = 0; o < LLVMGetNumOperands(i); o++) {
                uint32_t s = wpi_map_index(&r->plan->slot_index, LLVMGetOperand(i, (unsigned)o));
                if (s == UINT32_MAX) continue;
                r->is_touched[s] = true;
                if (LLVMIsAStoreInst(i)) r->is_written[s] = true;
            }
    }
}

/* ---- vectorisation hints ---- */

static LLVMValueRef access_group(wpi_compile *c) {
    /* LLVM-C cannot create distinct nodes; the assembler can. */
    static const char text[] = "!wp.group = !{!0}\n!0 = distinct !{}\n";
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(text, sizeof text - 1, "group");
    LLVMModuleRef module = NULL;
    char *message = NULL;
    if (LLVMParseIRInContext(c->context, buffer, &module, &message)) {
        LLVMDisposeMessage(message);
        return NULL;
    }
    LLVMValueRef group;
    LLVMGetNamedMetadataOperands(module, "wp.group", &group);
    LLVMDisposeModule(module);
    return group;
}

static unsigned metadata_kind(wpi_compile *c, const char *name) {
    return LLVMGetMDKindIDInContext(c->context, name, (unsigned)strlen(name));
}

static bool is_independent_access(wpi_compile *c, LLVMValueRef instruction) {
    return (LLVMIsALoadInst(instruction) || LLVMIsAStoreInst(instruction)) &&
           !LLVMGetMetadata(instruction, metadata_kind(c, WP_ORDERED_METADATA));
}

/* Whether to interleave two vectors, which share uniform values and fit rows of 16 threads; by
 * default LLVM uses one, or up to four. Not if registers would run out. */
static bool is_small(const region *r) {
    enum { INSTRUCTIONS_MOST = 400 };
    uint32_t count = 0;
    for (LLVMBasicBlockRef b = r->head; b && b != r->next; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            count++;
    return count <= INSTRUCTIONS_MOST;
}

static LLVMMetadataRef interleaving(wpi_compile *c) {
    enum { VECTORS = 2 };
    LLVMMetadataRef parts[] = {LLVMMDStringInContext2(c->context, "llvm.loop.interleave.count", 26),
                               LLVMValueAsMetadata(wpi_const32(c, VECTORS))};
    return LLVMMDNodeInContext2(c->context, parts, 2);
}

static void mark_parallel(region *r) {
    wpi_compile *c = r->c;
    if (r->plan->state_count == 1 && r->plan->has_local_arrays) return;
    LLVMValueRef group = access_group(c);
    if (!group) return;
    unsigned group_kind = metadata_kind(c, "llvm.access.group");
    LLVMBasicBlockRef once[] = {r->entry, r->round, r->done};
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(r->function); b;
         b = LLVMGetNextBasicBlock(b)) {
        if (b == once[0] || b == once[1] || b == once[2]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (is_independent_access(c, i)) LLVMSetMetadata(i, group_kind, group);
    }
    LLVMMetadataRef word = LLVMMDStringInContext2(c->context, "llvm.loop.parallel_accesses", 27);
    LLVMMetadataRef accesses =
        LLVMMDNodeInContext2(c->context, (LLVMMetadataRef[]){word, LLVMValueAsMetadata(group)}, 2);
    /* A loop's node begins with a reference to itself. */
    LLVMMetadataRef self = LLVMTemporaryMDNode(c->context, NULL, 0);
    LLVMMetadataRef parts[] = {self, accesses, interleaving(c)};
    LLVMMetadataRef loop = LLVMMDNodeInContext2(c->context, parts, is_small(r) ? 3 : 2);
    LLVMMetadataReplaceAllUsesWith(self, loop);
    LLVMSetMetadata(LLVMGetBasicBlockTerminator(r->latch), metadata_kind(c, "llvm.loop"),
                    LLVMMetadataAsValue(c->context, loop));
}

/* ---- the whole ---- */

/* After the last thread: uniform slots and the common next state. */
static void build_done(region *r, uint32_t common) {
    LLVMPositionBuilderAtEnd(r->at, r->done);
    for (uint32_t s = 0; s < r->plan->slot_count; s++) {
        if (!r->plan->slots[s].is_uniform || !r->is_written[s]) continue;
        LLVMBuildStore(r->at, LLVMBuildLoad2(r->at, r->plan->slots[s].type, r->local[s], ""),
                       r->base[s]);
    }
    LLVMValueRef next = r->next_state ? LLVMBuildLoad2(r->at, r->c->i32, r->next_state, "")
                                      : wpi_const32(r->c, common);
    for (uint32_t s = 1; s < r->plan->state_count && !r->is_mixed; s++) {
        if (!r->votes[s]) continue;
        LLVMValueRef is_here = LLVMBuildICmp(r->at, LLVMIntEQ, next, wpi_const32(r->c, s), "");
        LLVMValueRef vote = LLVMBuildLoad2(r->at, r->c->i32, r->votes[s], "");
        next = LLVMBuildSelect(r->at, is_here, state_by_vote(r, s, vote), next, "");
    }
    const uint32_t state = r->begins[0]; /* free stops are alone in their regions */
    bool repeats =
        state && r->is_reached[state] && wpi_region_is_free(r->plan->kernel->stops[state].op);
    if (r->is_mixed || !repeats) {
        LLVMBuildRet(r->at, next);
        return;
    }
    LLVMBasicBlockRef leave = add_block(r, "leave");
    LLVMValueRef again = LLVMBuildICmp(r->at, LLVMIntEQ, next, wpi_const32(r->c, state), "");
    LLVMBuildCondBr(r->at, again, r->round, leave);
    LLVMPositionBuilderAtEnd(r->at, leave);
    LLVMBuildRet(r->at, next);
}

static bool is_used(LLVMBasicBlockRef block) {
    return block && LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
}

static uint32_t count_exits(region *r) {
    uint32_t exits = 0;
    for (uint32_t s = 0; s <= r->plan->state_count; s++)
        exits += is_used(r->end_blocks[s]);
    return exits;
}

static LLVMValueRef add_function(wpi_region_plan *plan, const char *name, LLVMTypeRef last) {
    wpi_compile *c = plan->c;
    LLVMTypeRef params[4] = {c->ptr, c->i32, c->i32, last};
    LLVMTypeRef type = LLVMFunctionType(c->i32, params, last ? 4 : 3, 0);
    LLVMValueRef function = LLVMAddFunction(c->module, name, type);
    LLVMSetLinkage(function, LLVMInternalLinkage);
    wpi_function_attribute(c, function, "nounwind");
    return function;
}

static void build(wpi_region_plan *plan, LLVMValueRef function, const uint32_t *begins,
                  uint32_t begin_count) {
    wpi_compile *c = plan->c;
    region r = {
        .plan = plan, .c = c, .function = function, .begins = begins, .begin_count = begin_count};
    r.block = LLVMGetParam(r.function, 0);
    r.at = LLVMCreateBuilderInContext(c->context);
    r.is_cloned = wpi_must_calloc(plan->block_count, sizeof *r.is_cloned);
    r.is_reached = wpi_must_calloc(plan->state_count + 1, sizeof *r.is_reached);
    r.local = wpi_must_calloc(plan->slot_count + 1, sizeof *r.local);
    r.initial = wpi_must_calloc(plan->slot_count + 1, sizeof *r.initial);
    r.base = wpi_must_calloc(plan->slot_count + 1, sizeof *r.base);
    r.is_touched = wpi_must_calloc(plan->slot_count + 1, sizeof *r.is_touched);
    r.is_written = wpi_must_calloc(plan->slot_count + 1, sizeof *r.is_written);
    r.end_blocks = wpi_must_calloc(plan->state_count + 1, sizeof *r.end_blocks);
    r.votes = wpi_must_calloc(plan->state_count + 1, sizeof *r.votes);
    r.entry = add_block(&r, "entry");
    r.round = add_block(&r, "round");
    r.row = add_block(&r, "row");
    r.head = add_block(&r, "head");
    find_reachable(&r);
    find_touched(&r);
    for (uint32_t b = 0; b < plan->block_count; b++)
        if (r.is_cloned[b]) wpi_map_set(&r.blocks, plan->blocks[b], add_block(&r, "body"));
    for (uint32_t s = 0; s <= plan->state_count; s++)
        if (s == plan->state_count || r.is_reached[s]) r.end_blocks[s] = add_block(&r, "stop");
    r.latch = add_block(&r, "latch");
    r.next = add_block(&r, "next");
    r.done = add_block(&r, "done");

    build_entry(&r);
    build_loops(&r);
    for (uint32_t b = 0; b < plan->block_count; b++)
        if (r.is_cloned[b]) clone_block(&r, plan->blocks[b]);
    for (uint32_t b = 0; b < plan->block_count; b++)
        if (r.is_cloned[b]) connect_block(&r, plan->blocks[b]);

    r.is_mixed = !r.next_state && count_exits(&r) != 1;
    uint32_t common = WP_STATE_MIXED;
    for (uint32_t s = 0; s <= plan->state_count; s++) {
        if (!r.end_blocks[s]) continue;
        if (!is_used(r.end_blocks[s])) {
            LLVMDeleteBasicBlock(r.end_blocks[s]);
            continue;
        }
        uint32_t value = s == plan->state_count ? WP_STATE_EXIT : s;
        if (!r.is_mixed) common = value;
        build_end_block(&r, s, wpi_const32(c, value));
    }
    build_done(&r, common);
    if (r.by_warps) split_lanes(&r);
    mark_parallel(&r);

    LLVMDisposeBuilder(r.at);
    wpi_map_deinit(&r.values);
    wpi_map_deinit(&r.blocks);
    wpi_free(r.is_cloned);
    wpi_free(r.is_reached);
    wpi_free(r.local);
    wpi_free(r.initial);
    wpi_free(r.base);
    wpi_free(r.is_touched);
    wpi_free(r.is_written);
    wpi_free(r.end_blocks);
    wpi_free(r.votes);
}

LLVMValueRef wpi_region_build(wpi_region_plan *plan, uint32_t state) {
    const bool is_part = plan->is_whole && plan->state_count > 1;
    char name[512];
    snprintf(name, sizeof name, "%.480s.r%u", plan->kernel->name, state);
    LLVMValueRef function = add_function(plan, name, is_part ? plan->c->ptr : NULL);
    build(plan, function, &state, 1);
    return function;
}

/* Builds r<state>, which only calls the function of all these states. */
static LLVMValueRef build_way_into(wpi_region_plan *plan, LLVMValueRef rest, uint32_t state) {
    wpi_compile *c = plan->c;
    char name[512];
    snprintf(name, sizeof name, "%.480s.r%u", plan->kernel->name, state);
    LLVMValueRef function = add_function(plan, name, NULL);
    LLVMPositionBuilderAtEnd(c->builder, LLVMAppendBasicBlockInContext(c->context, function, ""));
    LLVMValueRef args[] = {LLVMGetParam(function, 0), LLVMGetParam(function, 1),
                           LLVMGetParam(function, 2), wpi_const32(c, state)};
    LLVMValueRef next = LLVMBuildCall2(c->builder, wpi_function_type(rest), rest, args, 4, "");
    LLVMBuildRet(c->builder, next);
    return function;
}

void wpi_region_build_rest(wpi_region_plan *plan, const uint32_t *states, uint32_t count) {
    char name[512];
    snprintf(name, sizeof name, "%.480s.rest", plan->kernel->name);
    LLVMValueRef rest = add_function(plan, name, plan->c->i32);
    /* It must not be inlined, which would be one copy per state again. */
    wpi_function_attribute(plan->c, rest, "noinline");
    wpi_function_attribute(plan->c, rest, "noduplicate");
    build(plan, rest, states, count);
    for (uint32_t i = 0; i < count; i++)
        plan->kernel->regions[states[i]] = build_way_into(plan, rest, states[i]);
}
