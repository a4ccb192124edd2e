/* SPDX-License-Identifier: Apache-2.0 */
/* Loops over volatile shared memory that lack the barrier at their end.
 *
 *     do { row[p] = …; … __syncthreads(); … sum = row[0]; } while (…);
 *
 * The threads that a barrier released load one word, and store parts of the next row where it was.
 * On GPUs the warps have loaded long before the first of them stores. lockstep has put a step
 * before the store, which is enough on `cpu`; on simulated GPUs the kernel must run in step, which
 * a note on the step says (plain shared memory: warp_synchronous.c).
 *
 * The word is one for the block, or for groups of threads that may be larger than a warp: its
 * address has no thread index but in quotients (`thread / size`). All threads of the group load it:
 * between the barrier and the load no branch differs between threads. */
#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/pointer.h"
#include "compiler/ir/thread_value.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

enum { ADDRESS_DEPTH_MAX = 12, WARP_SHIFT = 5 };

typedef struct search {
    wpi_compile *c;
    wpi_thread_values values; /* its uniformity alone */
    wpi_loops flow;
} search;

static bool is_whole_barrier(LLVMValueRef i) {
    if (!wpi_lower_is_stop(i)) return false;
    const uint32_t kind = WP_STOP_KIND(wpi_lower_stop_op(i));
    return (kind >= WP_STOP_BARRIER && kind <= WP_STOP_BARRIER_OR) || kind == WP_STOP_GRID;
}

/* ---- one word for a group of threads ---- */

/* Whether a quotient by this value may be one number for more than a warp. */
static bool is_wide(const search *s, LLVMValueRef divisor, uint64_t least) {
    if (LLVMIsAConstantInt(divisor)) return LLVMConstIntGetZExtValue(divisor) > least;
    return wpi_uniform_is(&s->values.uniform, divisor);
}

static bool is_of_group(const search *s, LLVMValueRef value, int depth);

static bool are_of_group(const search *s, LLVMValueRef value, int depth) {
    for (int o = 0; o < LLVMGetNumOperands(value); o++)
        if (!is_of_group(s, LLVMGetOperand(value, (unsigned)o), depth - 1)) return false;
    return true;
}

/* Whether it is `a - a % b`. */
static bool is_rounded_down(const search *s, LLVMValueRef value) {
    LLVMValueRef rest = LLVMGetOperand(value, 1);
    return (wpi_opcode_of(rest) == LLVMURem || wpi_opcode_of(rest) == LLVMSRem) &&
           LLVMGetOperand(rest, 0) == LLVMGetOperand(value, 0) &&
           is_wide(s, LLVMGetOperand(rest, 1), WP_WARP_LANES);
}

static bool is_of_group(const search *s, LLVMValueRef value, int depth) {
    if (wpi_uniform_is(&s->values.uniform, value)) return true;
    if (!LLVMIsAInstruction(value) || depth == 0) return false;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMUDiv:
    case LLVMSDiv: return is_wide(s, LLVMGetOperand(value, 1), WP_WARP_LANES);
    case LLVMLShr:
    case LLVMAShr: return is_wide(s, LLVMGetOperand(value, 1), WARP_SHIFT);
    case LLVMSub: return is_rounded_down(s, value) || are_of_group(s, value, depth);
    case LLVMAdd:
    case LLVMMul:
    case LLVMShl:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMTrunc:
    case LLVMGetElementPtr: return are_of_group(s, value, depth);
    default: return false;
    }
}

/* ---- ways ---- */

static bool *new_marks(const search *s) {
    return wpi_must_calloc(s->flow.block_count, sizeof(bool));
}

/* Whether all threads that leave a block go the same way. */
static bool parts_none(const search *s, LLVMValueRef branch) {
    return LLVMIsABranchInst(branch) &&
           (!LLVMIsConditional(branch) ||
            wpi_uniform_is(&s->values.uniform, LLVMGetCondition(branch)));
}

static bool is_released(const search *s, LLVMBasicBlockRef block, LLVMValueRef last, bool *seen);

/* Whether every way into a block comes from a barrier, with no thread left behind. */
static bool is_released_before(const search *s, LLVMBasicBlockRef block, bool *seen) {
    bool any = false;
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef branch = LLVMGetUser(u);
        if (!LLVMIsATerminatorInst(branch)) continue;
        if (!parts_none(s, branch) ||
            !is_released(s, LLVMGetInstructionParent(branch), branch, seen))
            return false;
        any = true;
    }
    return any;
}

static bool is_released(const search *s, LLVMBasicBlockRef block, LLVMValueRef last, bool *seen) {
    for (LLVMValueRef i = last; i; i = LLVMGetPreviousInstruction(i))
        if (is_whole_barrier(i)) return true;
    const uint32_t b = wpi_map_index(&s->flow.index, block);
    if (b == UINT32_MAX || seen[b]) return b != UINT32_MAX;
    seen[b] = true;
    return is_released_before(s, block, seen);
}

static bool is_volatile_shared(const wpi_ir_access *a, wpi_ir_access_kind kind) {
    return a->kind == kind && LLVMGetVolatile(a->instruction) &&
           wpi_access_space(a) == WP_SPACE_SHARED;
}

/* Notes stores from `i` to the end of its block or to a barrier; true: to the end. */
static bool note_stores(const search *s, const wpi_ir_access *load, LLVMValueRef i) {
    for (; i; i = LLVMGetNextInstruction(i)) {
        if (is_whole_barrier(i)) return false;
        const wpi_ir_access a = wpi_access_of(i);
        if (!is_volatile_shared(&a, WP_ACCESS_WRITE) ||
            wpi_pointer_base(a.pointer) != wpi_pointer_base(load->pointer) ||
            is_of_group(s, a.pointer, ADDRESS_DEPTH_MAX))
            continue;
        LLVMValueRef step = LLVMGetPreviousInstruction(i);
        if (step && wpi_lower_is_stop(step) &&
            WP_STOP_KIND(wpi_lower_stop_op(step)) == WP_STOP_STEP)
            wpi_lower_note(s->c, step, WP_CLOSE_METADATA);
    }
    return true;
}

static void note_stores_after(const search *s, const wpi_ir_access *load) {
    bool *seen = new_marks(s);
    uint32_t *stack = wpi_must_calloc(s->flow.block_count + 1, sizeof *stack), depth = 0;
    LLVMBasicBlockRef block = LLVMGetInstructionParent(load->instruction);
    bool goes_on = note_stores(s, load, load->instruction);
    for (;;) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
        for (unsigned n = 0; goes_on && n < LLVMGetNumSuccessors(end); n++) {
            const uint32_t to = wpi_map_index(&s->flow.index, LLVMGetSuccessor(end, n));
            if (!seen[to]) stack[depth++] = to;
            seen[to] = true;
        }
        if (depth == 0) break;
        block = s->flow.blocks[stack[--depth]];
        goes_on = note_stores(s, load, LLVMGetFirstInstruction(block));
    }
    wpi_free(seen);
    wpi_free(stack);
}

static void examine(const search *s, LLVMValueRef instruction) {
    const wpi_ir_access a = wpi_access_of(instruction);
    if (!is_volatile_shared(&a, WP_ACCESS_READ) || !is_of_group(s, a.pointer, ADDRESS_DEPTH_MAX))
        return;
    bool *seen = new_marks(s);
    if (is_released(s, LLVMGetInstructionParent(instruction), instruction, seen))
        note_stores_after(s, &a);
    wpi_free(seen);
}

static bool has_volatile_shared(LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            const wpi_ir_access a = wpi_access_of(i);
            if (is_volatile_shared(&a, WP_ACCESS_READ)) return true;
        }
    return false;
}

static void note_kernel(wpi_compile *c, const wpi_kernel_ir *kernel) {
    search s = {.c = c};
    if ((kernel->max_threads && kernel->max_threads <= WP_WARP_LANES) ||
        !has_volatile_shared(kernel->function))
        return;
    wpi_thread_values_init(&s.values, c, kernel->function);
    wpi_loops_init(&s.flow, kernel->function);
    for (uint32_t b = 0; b < s.flow.block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(s.flow.blocks[b]); i;
             i = LLVMGetNextInstruction(i))
            examine(&s, i);
    wpi_loops_deinit(&s.flow);
    wpi_thread_values_deinit(&s.values);
}

wp_status wpi_pass_last_barrier(wpi_compile *c, wp_error *err) {
    (void)err;
    for (uint32_t k = 0; k < c->kernel_count; k++)
        note_kernel(c, &c->kernels[k]);
    return WP_STATUS_OK;
}
