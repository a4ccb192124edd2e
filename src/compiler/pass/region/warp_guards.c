/* SPDX-License-Identifier: Apache-2.0 */
/* Warp operations that only some warps reach:
 *
 *     if (threadIdx.x < 32) {             the last step of a reduction over a block
 *         x = s[threadIdx.x];
 *         x += shuffle(x, 16);            take turns with the code between them:
 *         x += shuffle(x, 8);             every warp performs them, and what lies
 *         …                               between is guarded piece by piece
 *     }
 *
 * So the threads of a block stay together, which costs far less than to run its warps one by one. A
 * thread outside the guard is as if it were absent: it has a neutral operand, and its result is not
 * used. Only for operations that name all lanes, and guards that follow from indices and arguments,
 * in a block without other stops. A lane outside may meet those inside at another operation, if the
 * guard splits a warp: then only where it comes to a barrier first. */
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/same_code.h"
#include "compiler/ir/uniform.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/pass/region/regions.h"
#include "compiler/passes.h"

/* Longer code is faster with the one warp's own loop, without a guard for each thread. */
enum { STOPS_MOST = 32, INSTRUCTIONS_MOST = 128, DEPTH_MOST = 12 };

/* The operand with which a lane changes nothing; false: there is none. */
static bool neutral_operand(uint32_t op, uint64_t *out) {
    switch (WP_STOP_KIND(op)) {
    case WP_STOP_WARP_SYNC:
    case WP_STOP_SHFL_IDX:
    case WP_STOP_SHFL_UP:
    case WP_STOP_SHFL_DOWN:
    case WP_STOP_SHFL_BFLY:
    case WP_STOP_VOTE_ANY:
    case WP_STOP_VOTE_BALLOT:
    case WP_STOP_REDUX_ADD:
    case WP_STOP_REDUX_OR:
    case WP_STOP_REDUX_XOR:
    case WP_STOP_REDUX_MAX_U: *out = 0; return true;
    case WP_STOP_VOTE_ALL: *out = 1; return true;
    case WP_STOP_REDUX_AND:
    case WP_STOP_REDUX_MIN_U: *out = UINT32_MAX; return true;
    case WP_STOP_REDUX_MIN_S: *out = INT32_MAX; return true;
    case WP_STOP_REDUX_MAX_S: *out = (uint32_t)INT32_MIN; return true;
    default: return false;
    }
}

static bool can_be_performed_by_all(LLVMValueRef stop) {
    wpi_stop_point point = {.call = stop, .op = wpi_lower_stop_op(stop)};
    uint64_t ignored;
    if ((point.op & WP_STOP_FLAG_ACTIVE) != 0 || !neutral_operand(point.op, &ignored)) return false;
    wpi_region_find_alike(&point);
    return point.is_alike;
}

/* The stops of a short block, in order; 0: none, or one that must stay. */
static uint32_t stops_of(LLVMBasicBlockRef block, LLVMValueRef *out) {
    uint32_t count = 0, instructions = 0;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        if (++instructions > INSTRUCTIONS_MOST) return 0;
        if (!wpi_lower_is_stop(i)) continue;
        if (count == STOPS_MOST || !can_be_performed_by_all(i)) return 0;
        out[count++] = i;
    }
    return count;
}

/* Whether a value follows from indices and arguments. */
static bool is_of_indices(LLVMValueRef value, int depth) {
    if (!LLVMIsAInstruction(value) || wpi_lower_stands_for_value(value)) return true;
    if (wpi_is_param_load(value)) return true;
    if (depth > DEPTH_MOST || !wpi_is_pure_operation(value)) return false;
    for (int o = 0; o < LLVMGetNumOperands(value); o++)
        if (!is_of_indices(LLVMGetOperand(value, (unsigned)o), depth + 1)) return false;
    return true;
}

/* Whether a value has no lower bits of a lane: `index >> 5`, `index & ~31`, or it is uniform. */
static bool is_without_lane(const wpi_uniform *uniform, LLVMValueRef value) {
    if (wpi_uniform_is(uniform, value)) return true;
    if (!LLVMIsABinaryOperator(value) || !LLVMIsAConstantInt(LLVMGetOperand(value, 1)))
        return false;
    const uint64_t number = LLVMConstIntGetZExtValue(LLVMGetOperand(value, 1));
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMLShr: return number >= 5;
    case LLVMAnd: return number % WP_WARP_LANES == 0;
    default: return false;
    }
}

/* Whether a guard is written for whole warps. */
static bool is_of_warps(const wpi_uniform *uniform, LLVMValueRef guard, int depth) {
    if (depth > DEPTH_MOST || !LLVMIsAInstruction(guard) || LLVMGetNumOperands(guard) != 2)
        return false;
    LLVMValueRef x = LLVMGetOperand(guard, 0), y = LLVMGetOperand(guard, 1);
    if (!LLVMIsAICmpInst(guard))
        return LLVMIsABinaryOperator(guard) &&
               (LLVMIsAConstantInt(y) || is_of_warps(uniform, y, depth + 1)) &&
               is_of_warps(uniform, x, depth + 1);
    if (is_without_lane(uniform, x) && is_without_lane(uniform, y)) return true;
    if (!LLVMIsAConstantInt(y)) return false;
    const LLVMIntPredicate predicate = LLVMGetICmpPredicate(guard);
    const bool is_beyond = predicate == LLVMIntUGT || predicate == LLVMIntSGT ||
                           predicate == LLVMIntULE || predicate == LLVMIntSLE;
    const uint64_t bound = LLVMConstIntGetZExtValue(y) + is_beyond;
    return predicate != LLVMIntEQ && predicate != LLVMIntNE && bound % WP_WARP_LANES == 0;
}

/* The stop that threads at the start of a block come to first in it. */
static LLVMValueRef first_stop(LLVMBasicBlockRef block) {
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    while (i && !wpi_lower_is_stop(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* Whether all ways from a block lead to barriers, or to the end, before any other stop. */
static bool leads_to_barriers(LLVMBasicBlockRef block, wpi_map *seen) {
    if (wpi_map_has(seen, block)) return true;
    wpi_map_set(seen, block, block);
    LLVMValueRef stop = first_stop(block), terminator = LLVMGetBasicBlockTerminator(block);
    if (stop) return WP_STOP_KIND(wpi_lower_stop_op(stop)) == WP_STOP_BARRIER;
    for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++)
        if (!leads_to_barriers(LLVMGetSuccessor(terminator, s), seen)) return false;
    return true;
}

/* Whether a way from a block leads to a stop; else threads on it only end, and the others stay
 * together without them. */
static bool leads_to_stop(LLVMBasicBlockRef block, wpi_map *seen) {
    if (wpi_map_has(seen, block)) return false;
    wpi_map_set(seen, block, block);
    if (first_stop(block)) return true;
    LLVMValueRef terminator = LLVMGetBasicBlockTerminator(block);
    for (unsigned s = 0; s < LLVMGetNumSuccessors(terminator); s++)
        if (leads_to_stop(LLVMGetSuccessor(terminator, s), seen)) return true;
    return false;
}

/* Whether threads past the guard go on, and do not meet those inside in the same warp. */
static bool are_apart(const wpi_uniform *uniform, LLVMValueRef guard, LLVMBasicBlockRef past) {
    wpi_map stops = {0}, barriers = {0};
    const bool are = leads_to_stop(past, &stops) &&
                     (is_of_warps(uniform, guard, 0) || leads_to_barriers(past, &barriers));
    wpi_map_deinit(&stops);
    wpi_map_deinit(&barriers);
    return are;
}

static LLVMBasicBlockRef only_predecessor(LLVMBasicBlockRef block) {
    LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block));
    if (!use || LLVMGetNextUse(use)) return NULL;
    LLVMValueRef user = LLVMGetUser(use);
    return LLVMIsABranchInst(user) ? LLVMGetInstructionParent(user) : NULL;
}

/* A block that only some threads reach. */
typedef struct guarded {
    LLVMBasicBlockRef from, block;
    LLVMValueRef guard;
    unsigned past; /* the successor that leads past the block */
    LLVMValueRef stops[STOPS_MOST];
    uint32_t stop_count;
} guarded;

static bool match(guarded *g, LLVMBasicBlockRef block, const wpi_uniform *uniform) {
    g->block = block;
    g->stop_count = stops_of(block, g->stops);
    g->from = g->stop_count ? only_predecessor(block) : NULL;
    if (!g->from) return false;
    LLVMValueRef branch = LLVMGetBasicBlockTerminator(g->from);
    if (!LLVMIsConditional(branch)) return false;
    g->past = LLVMGetSuccessor(branch, 0) == block ? 1 : 0;
    g->guard = LLVMGetCondition(branch);
    return LLVMGetSuccessor(branch, g->past) != block && !wpi_uniform_is(uniform, g->guard) &&
           is_of_indices(g->guard, 0) &&
           are_apart(uniform, g->guard, LLVMGetSuccessor(branch, g->past));
}

/* Uses after the guarded piece read a phi at the stop behind it. */
static void merge(wpi_compile *c, LLVMBasicBlockRef piece, LLVMBasicBlockRef past,
                  LLVMBasicBlockRef stop_block) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(piece); i; i = LLVMGetNextInstruction(i)) {
        if (LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMVoidTypeKind) continue;
        LLVMValueRef phi = wpi_uses_read_phi(c->builder, i, stop_block);
        if (!phi) continue;
        wpi_phi_add(phi, i, piece);
        wpi_phi_add(phi, LLVMConstNull(LLVMTypeOf(i)), past);
    }
}

static void set_neutral(wpi_compile *c, const guarded *g, LLVMValueRef stop) {
    const uint32_t op = wpi_lower_stop_op(stop), kind = WP_STOP_KIND(op);
    uint64_t neutral = 0;
    (void)neutral_operand(op, &neutral);
    if (kind >= WP_STOP_WARP_SYNC && kind <= WP_STOP_SHFL_BFLY) return; /* read, it is undefined */
    LLVMValueRef own = LLVMGetOperand(stop, 3), other = wpi_const64(c, neutral);
    LLVMPositionBuilderBefore(c->builder, stop);
    LLVMValueRef operand = g->past ? LLVMBuildSelect(c->builder, g->guard, own, other, "")
                                   : LLVMBuildSelect(c->builder, g->guard, other, own, "");
    LLVMSetOperand(stop, 3, operand);
}

/* Whether the code from the stop before to this one may run for threads outside the guard. */
static bool is_harmless(LLVMValueRef before, LLVMValueRef stop) {
    for (LLVMValueRef i = LLVMGetNextInstruction(before); i != stop; i = LLVMGetNextInstruction(i))
        if (!wpi_lower_stands_for_value(i) && (!wpi_is_pure_operation(i) || wpi_is_division(i)))
            return false;
    return true;
}

/* Leads threads outside the guard past the code up to the stop. `before` ends in the guard. */
static void guard_piece(wpi_compile *c, const guarded *g, LLVMBasicBlockRef before,
                        LLVMValueRef stop) {
    LLVMBasicBlockRef piece = wpi_block_split_before(stop);
    LLVMSetSuccessor(LLVMGetBasicBlockTerminator(before), g->past, g->block);
    merge(c, piece, before, g->block);
}

/* Ends the block behind the stop with the guard; returns it. */
static LLVMBasicBlockRef guard_after(wpi_compile *c, const guarded *g, LLVMValueRef stop,
                                     LLVMBasicBlockRef past) {
    LLVMBasicBlockRef before = wpi_block_split_before(LLVMGetNextInstruction(stop));
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(before));
    LLVMPositionBuilderAtEnd(c->builder, before);
    LLVMBuildCondBr(c->builder, g->guard, g->past ? g->block : past, g->past ? past : g->block);
    return before;
}

/* `from` leads to the block, or past it; then every thread comes to each stop:
 *
 *     from ──► piece ──► stop ──► piece ──► stop ──► rest of the block
 *        └───────────────┘  └───────────────┘  └───► past */
static void open(wpi_compile *c, const guarded *g) {
    LLVMBasicBlockRef past = wpi_edge_split(g->from, g->past), before = g->from;
    for (uint32_t s = 0; s < g->stop_count; s++) {
        LLVMValueRef stop = g->stops[s], next = s + 1 < g->stop_count ? g->stops[s + 1] : NULL;
        if (before) guard_piece(c, g, before, stop);
        set_neutral(c, g, stop);
        before = next && is_harmless(stop, next) ? NULL : guard_after(c, g, stop, past);
    }
}

static bool open_one(wpi_compile *c, LLVMValueRef kernel) {
    wpi_uniform uniform;
    wpi_region_uniform_init(&uniform, kernel);
    bool changed = false;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b && !changed;
         b = LLVMGetNextBasicBlock(b)) {
        guarded g;
        changed = match(&g, b, &uniform);
        if (changed) open(c, &g);
    }
    wpi_uniform_deinit(&uniform);
    return changed;
}

wp_status wpi_pass_warp_guards(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        while (open_one(c, c->kernels[n].function)) {
        }
    return WP_STATUS_OK;
}
