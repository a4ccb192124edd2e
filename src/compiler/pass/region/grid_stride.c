/* SPDX-License-Identifier: Apache-2.0 */
/* Grid-stride loops: all threads of a block execute one iteration, then all the next.
 *
 *     for (i = start + tid; i < n; i += stride) body
 *
 * On a GPU neighbouring threads access neighbouring elements at the same time. Run thread by
 * thread, the same loop accesses memory in steps of the whole grid, which caches and vector units
 * cannot use (with a stride that is a power of two, all accesses map to a few cache sets). So the
 * loop becomes one that all threads execute together, with a round, a stop that never waits,
 * between iterations:
 *
 *     before:  guard ──► loop: body; i += stride; i < n? ──► left ──► after
 *                └─────────────────► skipped ─────────────────────────┘
 *
 *     rounds:  guard ──► head: i = start + k; i < n? ──► body ──┐
 *                         ▲     └───────────────────► turn ◄────┘   k += stride; any left?
 *                         └─ yes ───────────────────────┴─ no ──► end ──► left or skipped
 *
 * k is uniform, so i stays affine in the thread index: `narrow` and LLVM's vectoriser see `for each
 * thread: if (start + tid + k < n) body`. Other values that the loop carries are stored in the
 * frame, as at a barrier. A copy of the old loop is kept, for blocks of few threads and for steps
 * smaller than a row of threads.
 *
 * Threads between two barriers are not ordered, so any order of iterations is valid. A round
 * happens only if some thread's loop would continue, and the step is not smaller than the distance
 * of any two threads' starts; so a thread that has left its loop repeats its last, failing test at
 * most once, with the same result. (Only indices that wrap around, in a loop that then continues,
 * would break that.) Only loops that all threads of a block reach together are changed, in kernels
 * whose threads stay in step. */
#include <string.h>

#include "base/must.h"
#include "compiler/ir/clone.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/same_code.h"
#include "compiler/pass/region/regions.h"
#include "compiler/passes.h"

enum {
    STEP_LEAST = 16,  /* a smaller constant step is a thread's own run of elements */
    ROW_LEAST = 8,    /* threads for which a round pays */
    CARRIED_MOST = 8, /* values stored in the frame per iteration; with more it does not pay */
    CHAIN_MOST = 8,
    DEPTH_MOST = 12
};

/* A value of the loop that is used in the next iteration or afterwards. */
typedef struct carried {
    LLVMValueRef phi;   /* of the header; NULL: used only afterwards */
    LLVMValueRef value; /* at the end of an iteration */
    LLVMValueRef at_head, at_turn;
    LLVMValueRef at_left; /* NULL: not used afterwards */
} carried;

typedef struct stride_loop {
    const wpi_loops *loops;
    const wpi_loop *loop;
    const wpi_uniform *uniform;
    LLVMBasicBlockRef guard_block, header, latch, before;
    LLVMBasicBlockRef chain[CHAIN_MOST]; /* from the guard to `before` */
    uint32_t chain_count;
    unsigned skip, leave; /* successors: the guard's past the loop, the latch's out of it */
    LLVMValueRef index, start, step, limit, guard;
    LLVMIntPredicate predicate; /* continues while index <predicate> limit */
    bool is_by_lane;            /* starts are less than a warp apart */
    carried carried[CARRIED_MOST];
    uint32_t carried_count;
} stride_loop;

/* ---- recognition ---- */

static bool is_in_loop(const stride_loop *k, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    uint32_t block = wpi_map_index(&k->loops->index, LLVMGetInstructionParent(value));
    return block != UINT32_MAX && k->loop->contains[block];
}

static bool is_in_chain(const stride_loop *k, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return false;
    for (uint32_t b = 0; b < k->chain_count; b++)
        if (LLVMGetInstructionParent(value) == k->chain[b]) return true;
    return false;
}

/* Whether a value is the same for the threads of a row (with one tid.y and tid.z). */
static bool is_same_in_row(const stride_loop *k, LLVMValueRef value, int depth) {
    if (wpi_uniform_is(k->uniform, value)) return true;
    if (depth > DEPTH_MOST || !LLVMIsAInstruction(value)) return false;
    if (wpi_lower_stands_for_value(value)) {
        wpi_id id = wpi_lower_id_of(wpi_called_function(value));
        return id == WP_ID_TID_Y || id == WP_ID_TID_Z;
    }
    if (!wpi_is_pure_operation(value)) return false;
    for (int o = 0; o < LLVMGetNumOperands(value); o++)
        if (!is_same_in_row(k, LLVMGetOperand(value, (unsigned)o), depth + 1)) return false;
    return true;
}

/* Whether a value is tid.x plus a value that is the same in a row. */
static bool follows_thread(const stride_loop *k, LLVMValueRef value, int depth) {
    if (depth > DEPTH_MOST || !LLVMIsAInstruction(value)) return false;
    if (wpi_lower_stands_for_value(value)) {
        wpi_id id = wpi_lower_id_of(wpi_called_function(value));
        return id == WP_ID_TID_X || id == WP_ID_THREAD;
    }
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (opcode == LLVMZExt || opcode == LLVMSExt || opcode == LLVMFreeze)
        return follows_thread(k, LLVMGetOperand(value, 0), depth + 1);
    bool is_sum = opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(value));
    if (!is_sum && opcode != LLVMSub) return false;
    LLVMValueRef x = LLVMGetOperand(value, 0), y = LLVMGetOperand(value, 1);
    if (is_same_in_row(k, y, depth + 1)) return follows_thread(k, x, depth + 1);
    return is_sum && is_same_in_row(k, x, depth + 1) && follows_thread(k, y, depth + 1);
}

/* Whether a value is the thread's lane plus a value that is the same for all threads: starts are
 * then less than a warp apart. */
static bool follows_lane(const stride_loop *k, LLVMValueRef value, int depth) {
    if (depth > DEPTH_MOST || !LLVMIsAInstruction(value)) return false;
    LLVMOpcode opcode = LLVMGetInstructionOpcode(value);
    if (opcode == LLVMZExt || opcode == LLVMSExt || opcode == LLVMFreeze)
        return follows_lane(k, LLVMGetOperand(value, 0), depth + 1);
    LLVMValueRef x = LLVMGetOperand(value, 0),
                 y = LLVMGetNumOperands(value) == 2 ? LLVMGetOperand(value, 1) : NULL;
    if (opcode == LLVMAnd)
        return LLVMIsAConstantInt(y) && LLVMConstIntGetZExtValue(y) == WP_WARP_LANES - 1 &&
               follows_thread(k, x, depth + 1);
    bool is_sum = opcode == LLVMAdd || (opcode == LLVMOr && LLVMGetIsDisjoint(value));
    if (!is_sum) return false;
    if (wpi_uniform_is(k->uniform, y)) return follows_lane(k, x, depth + 1);
    return wpi_uniform_is(k->uniform, x) && follows_lane(k, y, depth + 1);
}

static LLVMBasicBlockRef only_predecessor(const wpi_loops *l, LLVMBasicBlockRef block,
                                          const wpi_loop *outside_of) {
    LLVMBasicBlockRef found = NULL;
    for (uint32_t b = 0; b < l->block_count; b++) {
        if (outside_of && outside_of->contains[b]) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            if (LLVMGetSuccessor(terminator, s) != block) continue;
            if (found) return NULL;
            found = l->blocks[b];
        }
    }
    return found;
}

/* Whether the loop has one entry, one exit, at the latch, and no stop inside. */
static bool is_closed(const stride_loop *k) {
    const wpi_loops *l = k->loops;
    for (uint32_t i = 0; i < l->loop_count; i++)
        if (&l->loops[i] != k->loop && l->loops[i].header == k->loop->header) return false;
    for (uint32_t b = 0; b < l->block_count; b++) {
        if (!k->loop->contains[b]) continue;
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(l->blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++) {
            uint32_t to = wpi_map_index(&l->index, LLVMGetSuccessor(terminator, s));
            if (!k->loop->contains[to] && b != k->loop->latch) return false;
        }
        for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            if (wpi_lower_is_stop(i)) return false;
    }
    return true;
}

/* Whether `branch` goes to `enter` while index <predicate> limit. */
static bool is_same_test(const stride_loop *k, LLVMValueRef branch, unsigned enter,
                         LLVMValueRef index) {
    LLVMValueRef compare = LLVMGetCondition(branch);
    if (!LLVMIsAICmpInst(compare)) return false;
    LLVMIntPredicate predicate = LLVMGetICmpPredicate(compare);
    if (enter == 1) predicate = wpi_predicate_inverse(predicate);
    LLVMValueRef a = LLVMGetOperand(compare, 0), b = LLVMGetOperand(compare, 1);
    if (a == k->limit && b == index) return wpi_predicate_swapped(predicate) == k->predicate;
    return a == index && b == k->limit && predicate == k->predicate;
}

static bool is_less_or_greater(LLVMIntPredicate predicate) {
    return predicate != LLVMIntEQ && predicate != LLVMIntNE;
}

/* Matches the latch: a compare of index + step with a limit. */
static bool match_latch(stride_loop *k) {
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(k->latch);
    if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) return false;
    k->leave = LLVMGetSuccessor(branch, 0) == k->header ? 1 : 0;
    LLVMValueRef compare = LLVMGetCondition(branch);
    if (LLVMGetSuccessor(branch, k->leave) == k->header || !LLVMIsAICmpInst(compare)) return false;
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->header); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned back = LLVMGetIncomingBlock(phi, 0) == k->latch ? 0 : 1;
        LLVMValueRef next = LLVMGetIncomingValue(phi, back);
        int side = wpi_operand_find(compare, next, 0);
        if (side < 0 || !LLVMIsAInstruction(next) || LLVMGetInstructionOpcode(next) != LLVMAdd)
            continue;
        int own = wpi_operand_find(next, phi, 0);
        if (own < 0) continue;
        k->index = phi;
        k->start = LLVMGetIncomingValue(phi, 1 - back);
        k->step = LLVMGetOperand(next, (unsigned)(1 - own));
        k->limit = LLVMGetOperand(compare, (unsigned)(1 - side));
        k->predicate = LLVMGetICmpPredicate(compare);
        if (side == 1) k->predicate = wpi_predicate_swapped(k->predicate);
        if (k->leave == 0) k->predicate = wpi_predicate_inverse(k->predicate);
        return is_less_or_greater(k->predicate) && !is_in_loop(k, k->step) &&
               !is_in_loop(k, k->limit);
    }
    return false;
}

/* Finds the test that guards the loop, before the straight blocks in front of the header. */
static bool match_guard(stride_loop *k) {
    LLVMBasicBlockRef at = k->before = only_predecessor(k->loops, k->header, k->loop);
    LLVMBasicBlockRef enter = k->header;
    while (at) {
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(at);
        if (!LLVMIsABranchInst(branch)) return false;
        if (LLVMIsConditional(branch)) {
            k->guard_block = at;
            k->skip = LLVMGetSuccessor(branch, 0) == enter ? 1 : 0;
            k->guard = LLVMGetCondition(branch);
            return LLVMGetSuccessor(branch, k->skip) != enter &&
                   is_same_test(k, branch, 1 - k->skip, k->start);
        }
        if (k->chain_count == CHAIN_MOST) return false;
        k->chain[k->chain_count++] = enter = at;
        at = only_predecessor(k->loops, at, NULL);
    }
    return false;
}

/* Whether a value between the guard and the loop can be computed before the guard. */
static bool can_hoist(const stride_loop *k, LLVMValueRef value, int depth) {
    if (!is_in_chain(k, value)) return true;
    if (wpi_lower_stands_for_value(value)) return true;
    if (depth > DEPTH_MOST || !wpi_is_pure_operation(value) || wpi_is_division(value)) return false;
    for (int o = 0; o < LLVMGetNumOperands(value); o++)
        if (!can_hoist(k, LLVMGetOperand(value, (unsigned)o), depth + 1)) return false;
    return true;
}

static bool is_read_outside(const stride_loop *k, LLVMValueRef value) {
    if (!is_in_loop(k, value) && !is_in_chain(k, value)) return false;
    for (LLVMUseRef u = LLVMGetFirstUse(value); u; u = LLVMGetNextUse(u))
        if (!is_in_loop(k, LLVMGetUser(u)) && !is_in_chain(k, LLVMGetUser(u))) return true;
    return false;
}

static bool add_carried(stride_loop *k, LLVMValueRef phi, LLVMValueRef value) {
    if (k->carried_count == CARRIED_MOST) return false;
    k->carried[k->carried_count++] = (carried){.phi = phi, .value = value};
    return true;
}

static bool is_carried(const stride_loop *k, LLVMValueRef value) {
    for (uint32_t i = 0; i < k->carried_count; i++)
        if (k->carried[i].value == value) return true;
    return false;
}

static bool collect_carried(stride_loop *k) {
    for (LLVMValueRef phi = LLVMGetFirstInstruction(k->header); LLVMIsAPHINode(phi);
         phi = LLVMGetNextInstruction(phi)) {
        unsigned back = LLVMGetIncomingBlock(phi, 0) == k->latch ? 0 : 1;
        if (phi != k->index && !add_carried(k, phi, LLVMGetIncomingValue(phi, back))) return false;
    }
    for (uint32_t b = 0; b < k->loops->block_count; b++) {
        if (!k->loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(k->loops->blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            if (is_read_outside(k, i) && !is_carried(k, i) && !add_carried(k, NULL, i))
                return false;
    }
    return true;
}

static bool match(stride_loop *k) {
    k->header = k->loops->blocks[k->loop->header];
    k->latch = k->loops->blocks[k->loop->latch];
    if (!is_closed(k) || !match_latch(k) || !match_guard(k)) return false;
    if (wpi_uniform_is_partial(k->uniform, k->guard_block)) return false;
    if (!wpi_uniform_is(k->uniform, k->step) || !wpi_uniform_is(k->uniform, k->limit)) return false;
    if (LLVMIsAConstantInt(k->step) && LLVMConstIntGetSExtValue(k->step) < STEP_LEAST) return false;
    for (uint32_t b = 0; b < k->chain_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(k->chain[b]); i;
             i = LLVMGetNextInstruction(i))
            if (wpi_lower_is_stop(i) || (!can_hoist(k, i, 0) && is_read_outside(k, i)))
                return false;
    k->is_by_lane = follows_lane(k, k->start, 0);
    return can_hoist(k, k->step, 0) && can_hoist(k, k->start, 0) &&
           (k->is_by_lane || follows_thread(k, k->start, 0)) && collect_carried(k);
}

/* ---- the change ---- */

/* Whether the block is reached only by that edge. */
static bool is_own_block(const stride_loop *k, LLVMBasicBlockRef block) {
    return only_predecessor(k->loops, block, NULL) &&
           !LLVMIsAPHINode(LLVMGetFirstInstruction(block));
}

static LLVMBasicBlockRef successor(LLVMBasicBlockRef block, unsigned index) {
    return LLVMGetSuccessor(LLVMGetBasicBlockTerminator(block), index);
}

/* Splits the two edges past the loop. True if something changed. */
static bool split_ways(const stride_loop *k) {
    if (!is_own_block(k, successor(k->latch, k->leave)))
        wpi_edge_split(k->latch, k->leave);
    else if (!is_own_block(k, successor(k->guard_block, k->skip)))
        wpi_edge_split(k->guard_block, k->skip);
    else
        return false;
    return true;
}

static void hoist_chain(wpi_compile *c, const stride_loop *k) {
    for (uint32_t b = k->chain_count; b-- > 0;) {
        LLVMValueRef next;
        for (LLVMValueRef i = LLVMGetFirstInstruction(k->chain[b]); !LLVMIsATerminatorInst(i);
             i = next) {
            next = LLVMGetNextInstruction(i);
            if (LLVMIsAPHINode(i)) { /* of one edge */
                LLVMReplaceAllUsesWith(i, LLVMGetIncomingValue(i, 0));
                LLVMInstructionEraseFromParent(i);
            } else if (can_hoist(k, i, 0)) {
                LLVMInstructionRemoveFromParent(i);
                LLVMPositionBuilderBefore(c->builder, LLVMGetBasicBlockTerminator(k->guard_block));
                LLVMInsertIntoBuilder(c->builder, i);
            }
        }
    }
}

static void replace_use(LLVMValueRef user, LLVMValueRef from, LLVMValueRef to) {
    for (int o = wpi_operand_find(user, from, 0); o >= 0; o = wpi_operand_find(user, from, o + 1))
        LLVMSetOperand(user, (unsigned)o, to);
}

/* Makes uses after the loop read a phi at its end, to which the copy can add its value. */
static LLVMValueRef phi_at_left(wpi_compile *c, const stride_loop *k, LLVMValueRef value) {
    if (!is_read_outside(k, value)) return NULL;
    LLVMPositionBuilderBefore(c->builder, LLVMGetFirstInstruction(successor(k->latch, k->leave)));
    LLVMValueRef phi = LLVMBuildPhi(c->builder, LLVMTypeOf(value), "");
    uint32_t count;
    LLVMValueRef *users = wpi_users(value, &count);
    for (uint32_t u = 0; u < count; u++)
        if (!is_in_loop(k, users[u]) && !is_in_chain(k, users[u]))
            replace_use(users[u], value, phi);
    wpi_free(users);
    return phi;
}

/* Builds the test whether rounds are valid and pay: the step is at least as long as a row of
 * threads, or as a warp, threads are in one row if the start depends on more than tid.x, and there
 * are enough of them. */
static LLVMValueRef build_choice(wpi_compile *c, const stride_loop *k) {
    LLVMBuilderRef at = c->builder;
    LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(k->guard_block));
    LLVMTypeRef type = LLVMTypeOf(k->step);
    LLVMValueRef row = wpi_lower_id(c, at, WP_ID_NTID_X);
    LLVMValueRef others =
        LLVMBuildMul(at, wpi_lower_id(c, at, WP_ID_NTID_Y), wpi_lower_id(c, at, WP_ID_NTID_Z), "");
    LLVMValueRef is_row = LLVMBuildICmp(at, LLVMIntEQ, others, wpi_const32(c, 1), "");
    LLVMValueRef pays = LLVMBuildICmp(at, LLVMIntUGE, row, wpi_const32(c, ROW_LEAST), "");
    LLVMValueRef length = k->is_by_lane ? LLVMConstInt(type, WP_WARP_LANES, 0)
                                        : LLVMBuildIntCast2(at, row, type, 0, "");
    LLVMValueRef is_long = LLVMBuildICmp(at, LLVMIntUGE, k->step, length, "");
    return LLVMBuildAnd(at, LLVMBuildAnd(at, is_row, pays, ""), is_long, "");
}

/* Copies the original loop, after a block that repeats the guard's test. */
static LLVMBasicBlockRef build_plain(wpi_compile *c, const stride_loop *k, wpi_map *done) {
    LLVMBasicBlockRef place = successor(k->latch, k->leave);
    LLVMBasicBlockRef plain = LLVMInsertBasicBlockInContext(c->context, place, "plain");
    LLVMBasicBlockRef *blocks =
        wpi_must_calloc(k->loops->block_count + k->chain_count, sizeof *blocks);
    uint32_t count = 0;
    for (uint32_t b = k->chain_count; b-- > 0;)
        blocks[count++] = k->chain[b];
    for (uint32_t b = 0; b < k->loops->block_count; b++)
        if (k->loop->contains[b]) blocks[count++] = k->loops->blocks[b];
    wpi_map values = {0}, made = {0};
    wpi_map_set(&made, k->guard_block, plain);
    wpi_clone_blocks(blocks, count, place, &values, &made);
    wpi_free(blocks);

    LLVMPositionBuilderAtEnd(c->builder, plain);
    LLVMValueRef branch = LLVMInstructionClone(LLVMGetBasicBlockTerminator(k->guard_block));
    LLVMInsertIntoBuilder(c->builder, branch);
    LLVMBasicBlockRef enter = k->chain_count ? k->chain[k->chain_count - 1] : k->header;
    LLVMSetSuccessor(branch, 1 - k->skip, wpi_map_get(&made, enter));
    for (uint32_t i = 0; i < k->carried_count; i++) {
        const carried *v = &k->carried[i];
        LLVMValueRef value = wpi_map_get(&values, v->value);
        if (v->at_left)
            wpi_phi_add(v->at_left, value ? value : v->value, wpi_map_get(&made, k->latch));
    }
    wpi_map_set(done, wpi_map_get(&made, k->header), plain);
    wpi_map_deinit(&values);
    wpi_map_deinit(&made);
    return plain;
}

/* Leads all threads to `head`; those that pass the guard, through the chain. */
static void build_way_in(wpi_compile *c, const stride_loop *k, LLVMBasicBlockRef plain,
                         LLVMBasicBlockRef entered, LLVMBasicBlockRef head) {
    LLVMBuilderRef at = c->builder;
    LLVMValueRef choice = build_choice(c, k);
    LLVMBasicBlockRef begin = LLVMInsertBasicBlockInContext(c->context, entered, "begin");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(k->guard_block));
    LLVMPositionBuilderAtEnd(at, k->guard_block);
    LLVMBuildCondBr(at, choice, begin, plain);
    LLVMPositionBuilderAtEnd(at, begin);
    if (k->chain_count) {
        LLVMBasicBlockRef first = k->chain[k->chain_count - 1];
        LLVMBuildCondBr(at, k->guard, k->skip ? first : entered, k->skip ? entered : first);
        LLVMSetSuccessor(LLVMGetBasicBlockTerminator(k->before), 0, entered);
    } else {
        LLVMBuildBr(at, entered);
    }
    LLVMPositionBuilderAtEnd(at, entered);
    LLVMValueRef to_head = LLVMBuildBr(at, head);
    for (uint32_t b = 0; b < k->chain_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(k->chain[b]); i;
             i = LLVMGetNextInstruction(i)) {
            uint32_t count;
            LLVMValueRef *users = wpi_users(i, &count), phi = NULL;
            for (uint32_t u = 0; u < count; u++) {
                if (is_in_chain(k, users[u])) continue;
                if (!phi) {
                    LLVMValueRef first = LLVMGetFirstInstruction(entered);
                    LLVMPositionBuilderBefore(at, first ? first : to_head);
                    phi = LLVMBuildPhi(at, LLVMTypeOf(i), "");
                }
                replace_use(users[u], i, phi);
            }
            wpi_free(users);
            if (!phi) continue;
            wpi_phi_add(phi, i, k->before);
            wpi_phi_add(phi, LLVMGetPoison(LLVMTypeOf(i)), begin);
        }
}

static LLVMValueRef initial_value(const stride_loop *k, const carried *v) {
    if (!v->phi) return LLVMGetPoison(LLVMTypeOf(v->value));
    return LLVMGetIncomingValue(v->phi, LLVMGetIncomingBlock(v->phi, 0) == k->latch ? 1 : 0);
}

/* A lane's loop by whole warps keeps lanes: says so, for loops over threads (region_lanes.c). */
static LLVMValueRef by_warps(wpi_compile *c, const stride_loop *k, LLVMValueRef offset) {
    if (!k->is_by_lane || !LLVMIsAConstantInt(k->step) ||
        LLVMConstIntGetZExtValue(k->step) % WP_WARP_LANES != 0)
        return offset;
    LLVMValueRef mask = LLVMConstInt(LLVMTypeOf(offset), ~(uint64_t)(WP_WARP_LANES - 1), 1);
    return LLVMBuildAnd(c->builder, offset, mask, "");
}

static void make_rounds(wpi_compile *c, stride_loop *k, wpi_region_step step, wpi_map *done) {
    LLVMBuilderRef at = c->builder;
    LLVMBasicBlockRef left = successor(k->latch, k->leave);
    LLVMBasicBlockRef skipped = successor(k->guard_block, k->skip);
    LLVMTypeRef type = LLVMTypeOf(k->index);
    hoist_chain(c, k);
    for (uint32_t i = 0; i < k->carried_count; i++)
        k->carried[i].at_left = phi_at_left(c, k, k->carried[i].value);
    LLVMBasicBlockRef plain = build_plain(c, k, done);
    LLVMBasicBlockRef entered = LLVMInsertBasicBlockInContext(c->context, k->header, "entered");
    LLVMBasicBlockRef head = LLVMInsertBasicBlockInContext(c->context, k->header, "head");
    LLVMBasicBlockRef turn = LLVMInsertBasicBlockInContext(c->context, left, "turn");
    LLVMBasicBlockRef end = LLVMInsertBasicBlockInContext(c->context, left, "end");
    build_way_in(c, k, plain, entered, head);
    LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(entered));
    wpi_region_join(c, step);

    LLVMPositionBuilderAtEnd(at, head);
    LLVMValueRef offset = LLVMBuildPhi(at, type, "k");
    for (uint32_t i = 0; i < k->carried_count; i++)
        k->carried[i].at_head = LLVMBuildPhi(at, LLVMTypeOf(k->carried[i].value), "");
    LLVMValueRef index = LLVMBuildAdd(at, k->start, by_warps(c, k, offset), "i");
    LLVMBuildCondBr(at, LLVMBuildICmp(at, k->predicate, index, k->limit, ""), k->header, turn);

    LLVMValueRef latch_branch = LLVMGetBasicBlockTerminator(k->latch);
    LLVMPositionBuilderBefore(at, latch_branch);
    LLVMValueRef again = LLVMGetCondition(latch_branch);
    if (k->leave == 0) again = LLVMBuildNot(at, again, "");
    LLVMBuildBr(at, turn);
    LLVMInstructionEraseFromParent(latch_branch);

    LLVMPositionBuilderAtEnd(at, turn);
    LLVMValueRef wants = LLVMBuildPhi(at, c->i1, "wants");
    wpi_phi_add(wants, again, k->latch);
    wpi_phi_add(wants, LLVMConstNull(c->i1), head);
    for (uint32_t i = 0; i < k->carried_count; i++) {
        carried *v = &k->carried[i];
        v->at_turn = LLVMBuildPhi(at, LLVMTypeOf(v->value), "");
        wpi_phi_add(v->at_turn, v->value, k->latch);
        wpi_phi_add(v->at_turn, v->at_head, head);
    }
    LLVMValueRef offset_next = LLVMBuildAdd(at, offset, k->step, "");
    LLVMValueRef vote = LLVMBuildZExt(at, wants, c->i64, "");
    LLVMValueRef any = wpi_lower_stop(c, at, WP_STOP_ROUND, NULL, NULL, vote);
    any = LLVMBuildICmp(at, LLVMIntNE, any, wpi_const64(c, 0), "");
    LLVMBuildCondBr(at, any, head, end);

    LLVMPositionBuilderAtEnd(at, end);
    LLVMBuildCondBr(at, k->guard, k->skip ? left : skipped, k->skip ? skipped : left);

    wpi_phi_add(offset, LLVMConstNull(type), entered);
    wpi_phi_add(offset, offset_next, turn);
    for (uint32_t i = 0; i < k->carried_count; i++) {
        carried *v = &k->carried[i];
        wpi_phi_add(v->at_head, initial_value(k, v), entered);
        wpi_phi_add(v->at_head, v->at_turn, turn);
        if (v->at_left) wpi_phi_add(v->at_left, v->at_turn, end);
    }
    for (uint32_t i = 0; i < k->carried_count; i++) {
        if (!k->carried[i].phi) continue;
        LLVMReplaceAllUsesWith(k->carried[i].phi, k->carried[i].at_head);
        LLVMInstructionEraseFromParent(k->carried[i].phi);
    }
    LLVMReplaceAllUsesWith(k->index, index);
    LLVMInstructionEraseFromParent(k->index);
}

/* ---- the pass ---- */

/* Changes one loop, which invalidates the analyses. */
static bool change_one(wpi_compile *c, LLVMValueRef kernel, wpi_map *done) {
    wpi_loops loops;
    wpi_uniform uniform;
    wpi_loops_init(&loops, kernel);
    wpi_region_uniform_init(&uniform, kernel);
    bool changed = false;
    wpi_region_step step = wpi_region_step_for_cuts(c, &uniform);
    if (step != WP_STEP_LOST)
        for (uint32_t i = 0; i < loops.loop_count && !changed; i++) {
            stride_loop k = {.loops = &loops, .loop = &loops.loops[i], .uniform = &uniform};
            if (wpi_map_has(done, loops.blocks[loops.loops[i].header]) || !match(&k)) continue;
            if (!split_ways(&k)) make_rounds(c, &k, step, done);
            changed = true;
        }
    wpi_uniform_deinit(&uniform);
    wpi_loops_deinit(&loops);
    return changed;
}

wp_status wpi_pass_rounds(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++) {
        wpi_map done = {0}; /* headers of the copies */
        while (change_one(c, c->kernels[n].function, &done)) {
        }
        wpi_map_deinit(&done);
    }
    return WP_STATUS_OK;
}
