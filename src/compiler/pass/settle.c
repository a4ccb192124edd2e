/* SPDX-License-Identifier: Apache-2.0 */
/* Guards that all threads of a row pass are settled before the loop.
 *
 *     for each thread: sum = i < n ? x[i] : 0; if (i + 256 < n) sum += x[i + 256]; …
 *
 * All but the last block of a grid pass every such guard, yet each thread asks, and a vectorised
 * loop loads under a mask. Here one bit, computed from the first and the last thread of the row,
 * says that every guard of the loop is true; each becomes `all or guard`, and LLVM makes a loop
 * without guards of the case that matters (simple-loop-unswitch). */
#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/thread_loop.h"
#include "compiler/passes.h"

#define GUARDS_MOST 8

typedef struct settled {
    LLVMValueRef compare;
    wp_linear_guard guard;
} settled;

static bool is_order(LLVMIntPredicate predicate) {
    return predicate != LLVMIntEQ && predicate != LLVMIntNE;
}

/* Does the compare decide something by itself? */
static bool decides(LLVMValueRef compare) {
    for (LLVMUseRef u = LLVMGetFirstUse(compare); u; u = LLVMGetNextUse(u))
        if (LLVMIsABranchInst(LLVMGetUser(u)) || LLVMIsASelectInst(LLVMGetUser(u))) return true;
    return false;
}

static uint32_t collect(const wp_thread_loop *t, settled *out) {
    uint32_t count = 0;
    for (uint32_t b = 0; b < t->loops->block_count; b++) {
        if (!t->loop->contains[b]) continue;
        for (LLVMValueRef i = LLVMGetFirstInstruction(t->loops->blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            if (i == t->bound || !decides(i)) continue;
            settled *s = &out[count];
            s->compare = i;
            if (!wpi_linear_guard_match(t, i, &s->guard) || !is_order(s->guard.predicate)) continue;
            if (++count == GUARDS_MOST) return count;
        }
    }
    return count;
}

/* True when linear <predicate> limit for every thread: at the end that is closest to the limit. */
static LLVMValueRef holds_for_all(wp_compile *c, const wp_thread_loop *t, const settled *s,
                                  LLVMValueRef last) {
    LLVMBuilderRef at = c->builder;
    wp_linear_ends ends = wpi_linear_ends_build(t, at, &s->guard, t->start, last);
    LLVMIntPredicate p = s->guard.predicate;
    bool is_upper = p == LLVMIntULT || p == LLVMIntULE || p == LLVMIntSLT || p == LLVMIntSLE;
    LLVMValueRef holds =
        LLVMBuildICmp(at, p, is_upper ? ends.last : ends.first, s->guard.limit, "");
    return LLVMBuildAnd(at, ends.is_plain, holds, "");
}

static void settle(wp_compile *c, const wp_thread_loop *t) {
    settled found[GUARDS_MOST];
    uint32_t count = collect(t, found);
    if (!count) return;
    LLVMBuilderRef at = c->builder;
    LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(t->before));
    LLVMValueRef last = LLVMBuildSub(at, t->count, wpi_const32(c, 1), ""), all = NULL;
    for (uint32_t g = 0; g < count; g++) {
        LLVMValueRef holds = holds_for_all(c, t, &found[g], last);
        all = all ? LLVMBuildAnd(at, all, holds, "") : holds;
    }
    for (uint32_t g = 0; g < count; g++) {
        uint32_t users_count;
        LLVMValueRef *users = wpi_users(found[g].compare, &users_count);
        wpi_builder_after(at, found[g].compare);
        LLVMValueRef passed = LLVMBuildOr(at, all, found[g].compare, "");
        for (uint32_t u = 0; u < users_count; u++)
            if (LLVMIsABranchInst(users[u]) || LLVMIsASelectInst(users[u]))
                LLVMSetOperand(users[u], 0, passed);
        wp_free(users);
    }
}

wp_status wpi_pass_settle(wp_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t n = 0; n < c->kernel_count; n++)
        for (uint32_t s = 0; c->kernels[n].regions && s < c->kernels[n].region_count; s++) {
            wp_loops loops;
            wpi_loops_init(&loops, c->kernels[n].regions[s]);
            for (uint32_t i = 0; i < loops.loop_count; i++) {
                wp_thread_loop t;
                if (wpi_thread_loop_match(&loops, &loops.loops[i], &t)) settle(c, &t);
            }
            wpi_loops_deinit(&loops);
        }
    return WP_STATUS_OK;
}
