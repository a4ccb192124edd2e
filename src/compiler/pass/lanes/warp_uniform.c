/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/pass/lanes/warp_uniform.h"

#include "base/abi.h"
#include "compiler/pass/lower_pass.h"

enum { DEPTH_MAX = 16 };

static bool is_constant(LLVMValueRef value, uint64_t bits) {
    return LLVMIsAConstantInt(value) && LLVMConstIntGetZExtValue(value) == bits;
}

/* Whether a warp operation returns one value to all lanes that execute it. */
static bool is_same_for_lanes(LLVMValueRef stop) {
    const uint32_t op = wpi_lower_stop_op(stop), kind = WP_STOP_KIND(op);
    const LLVMValueRef mask = LLVMGetOperand(stop, 2), b = LLVMGetOperand(stop, 4);
    if (!(op & WP_STOP_FLAG_ACTIVE) && !is_constant(mask, UINT32_MAX)) return false;
    if (kind == WP_STOP_SHFL_IDX)
        return LLVMIsAConstantInt(b) && LLVMConstIntGetZExtValue(b) >> 32 == WP_WARP_LANES - 1;
    return (kind >= WP_STOP_VOTE_ALL && kind <= WP_STOP_VOTE_BALLOT) || kind == WP_STOP_MATCH_ALL ||
           (kind >= WP_STOP_REDUX_ADD && kind <= WP_STOP_REDUX_XOR);
}

static bool is_uniform(const wpi_uniform *u, LLVMValueRef value, int depth) {
    if (wpi_uniform_is(u, value)) return true;
    if (!LLVMIsAInstruction(value) || depth == DEPTH_MAX) return false;
    if (wpi_lower_is_stop(value)) return is_same_for_lanes(value);
    if (LLVMIsACallInst(value) || LLVMIsALoadInst(value) || LLVMIsAPHINode(value) ||
        LLVMIsAAllocaInst(value) || LLVMIsAAtomicRMWInst(value) || LLVMIsAAtomicCmpXchgInst(value))
        return false;
    for (int n = 0; n < LLVMGetNumOperands(value); n++)
        if (!is_uniform(u, LLVMGetOperand(value, (unsigned)n), depth + 1)) return false;
    return true;
}

bool wpi_warp_uniform_is(const wpi_uniform *u, LLVMValueRef value) {
    return is_uniform(u, value, 0);
}
