/* SPDX-License-Identifier: Apache-2.0 */
/* Code that works by warps: `lane = tid & 31`, `warp = tid >> 5`.
 *
 *     for each thread t:  s[(t >> 5) * 480 + (t & 31)] = …
 *
 * is no row of memory for LLVM. A region with such addresses runs a warp at a time, and within the
 * loop over its threads an index is base + lane, where the base is a multiple of 32 and the same
 * for all of them: `t & 31` is the lane, `t >> 5` comes from the base. */
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/region/regions.h"

enum {
    LANE_BITS = 5,
    SHIFT_MOST = 20, /* an index has 11 bits: shifted so far it does not overflow */
    DEPTH_MOST = 12
};

/* An index, shifted left: the sum of two parts that have no bit in common. The lane's has
 * LANE_BITS bits, from bit `shift` on. */
typedef struct split {
    LLVMValueRef base, lane; /* NULL: only looked for */
    unsigned shift;
    bool is_x; /* tid.x itself */
} split;

/* The walk over what is computed from an index. */
typedef struct walk {
    wpi_compile *c;
    const wpi_lane_ids *ids;
    wpi_map seen; /* of the search for addresses */
    bool reaches_address;
} walk;

static bool is_constant(LLVMValueRef value, uint64_t *out) {
    if (!LLVMIsAConstantInt(value) || LLVMGetIntTypeWidth(LLVMTypeOf(value)) > 64) return false;
    *out = LLVMConstIntGetZExtValue(value);
    return true;
}

/* Whether a mask keeps the lane whole, or drops it. */
static bool is_clean_mask(uint64_t mask, unsigned shift, bool *keeps_lane) {
    const uint64_t lanes = (uint64_t)(WP_WARP_LANES - 1);
    *keeps_lane = (mask >> shift & lanes) == lanes;
    return *keeps_lane || (mask >> shift & lanes) == 0;
}

static bool is_id(LLVMValueRef value, wpi_id id, const wpi_lane_ids *ids) {
    if (ids) return value == (id == WP_ID_CTAID_X ? ids->ctaid_x : ids->ntid_x);
    return wpi_lower_stands_for_value(value) && wpi_lower_id_of(wpi_called_function(value)) == id;
}

/* blockIdx.x * blockDim.x */
static bool is_start_of_block(LLVMValueRef value, const wpi_lane_ids *ids) {
    if (!LLVMIsAInstruction(value) || LLVMGetInstructionOpcode(value) != LLVMMul) return false;
    LLVMValueRef a = LLVMGetOperand(value, 0), b = LLVMGetOperand(value, 1);
    return (is_id(a, WP_ID_CTAID_X, ids) && is_id(b, WP_ID_NTID_X, ids)) ||
           (is_id(b, WP_ID_CTAID_X, ids) && is_id(a, WP_ID_NTID_X, ids));
}

/* Whether a value has no bit below 2^bits, by its form. */
static bool is_multiple(LLVMValueRef value, unsigned bits) {
    uint64_t number = 0;
    if (is_constant(value, &number)) return number % (UINT64_C(1) << bits) == 0;
    if (!LLVMIsAInstruction(value) || LLVMGetNumOperands(value) != 2 ||
        !is_constant(LLVMGetOperand(value, 1), &number))
        return false;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMShl: return number >= bits;
    case LLVMMul: return number % (UINT64_C(1) << bits) == 0;
    case LLVMAnd: return number % (UINT64_C(1) << bits) == 0;
    default: return false;
    }
}

static LLVMValueRef plus_lane(LLVMBuilderRef at, LLVMValueRef base, LLVMValueRef lane) {
    LLVMValueRef sum = LLVMBuildNUWAdd(at, base, lane, "");
    LLVMSetNSW(sum, true);
    return sum;
}

/* index + other: the index of the grid's thread, or one with another base. */
static bool match_sum(const walk *w, LLVMValueRef sum, LLVMValueRef index, const split *from,
                      split *to) {
    LLVMOpcode op = LLVMGetInstructionOpcode(sum);
    if (op != LLVMAdd && !(op == LLVMOr && LLVMGetIsDisjoint(sum))) return false;
    unsigned own = LLVMGetOperand(sum, 0) == index ? 0 : 1;
    LLVMValueRef other = LLVMGetOperand(sum, 1 - own);
    if (from->is_x && is_start_of_block(other, w->ids)) {
        *to = (split){0};
        if (from->base) *to = (split){.base = w->ids->grid_base, .lane = w->ids->grid_lane};
        return true;
    }
    if (!is_multiple(other, from->shift + LANE_BITS)) return false;
    *to = *from;
    to->is_x = false;
    if (from->base) to->base = LLVMBuildAdd(w->c->builder, from->base, other, "");
    return true;
}

/* Whether a user of the index is an index, too. */
static bool match_index(const walk *w, LLVMValueRef user, LLVMValueRef index, const split *from,
                        split *to) {
    LLVMBuilderRef at = w->c->builder;
    uint64_t number = 0;
    *to = *from;
    switch (LLVMGetInstructionOpcode(user)) {
    case LLVMAdd:
    case LLVMOr: return match_sum(w, user, index, from, to);
    case LLVMZExt:
        if (!from->base) return true;
        to->base = LLVMBuildZExt(at, from->base, LLVMTypeOf(user), "");
        to->lane = LLVMBuildZExt(at, from->lane, LLVMTypeOf(user), "");
        return true;
    case LLVMShl:
        if (!is_constant(LLVMGetOperand(user, 1), &number) || from->shift + number > SHIFT_MOST)
            return false;
        to->shift += (unsigned)number;
        to->is_x = false;
        if (!from->base) return true;
        to->base = LLVMBuildShl(at, from->base, LLVMGetOperand(user, 1), "");
        to->lane = LLVMBuildShl(at, from->lane, LLVMGetOperand(user, 1), "");
        return true;
    default: return false;
    }
}

/* Whether a user takes lane or warp from the index; `*to`: what takes its place. A lane, with or
 * without its warp, is an index again: `further`. */
static bool match_part(const walk *w, LLVMValueRef user, const split *from, LLVMValueRef *to,
                       split *further, bool *keeps_lane) {
    LLVMBuilderRef at = w->c->builder;
    uint64_t number = 0;
    LLVMOpcode op = LLVMGetInstructionOpcode(user);
    *keeps_lane = false;
    if ((op != LLVMAnd && op != LLVMLShr) || !is_constant(LLVMGetOperand(user, 1), &number))
        return false;
    LLVMValueRef constant = LLVMGetOperand(user, 1);
    if (op == LLVMLShr) {
        if (number < from->shift + LANE_BITS) return false;
        if (from->base) *to = LLVMBuildLShr(at, from->base, constant, "");
        return true;
    }
    if (!is_clean_mask(number, from->shift, keeps_lane)) return false;
    *further = *from;
    further->is_x = false;
    if (!from->base) return true;
    *to = further->base = LLVMBuildAnd(at, from->base, constant, "");
    if (*keeps_lane) *to = plus_lane(at, *to, from->lane);
    return true;
}

/* ---- whether it pays ---- */

static bool is_arithmetic(LLVMValueRef value) {
    return LLVMIsABinaryOperator(value) || LLVMIsACastInst(value) ||
           LLVMIsAGetElementPtrInst(value);
}

/* Whether an address follows from the value. */
static void follow(walk *w, LLVMValueRef value, unsigned depth) {
    if (w->reaches_address || wpi_map_has(&w->seen, value)) return;
    wpi_map_set(&w->seen, value, value);
    for (LLVMUseRef u = LLVMGetFirstUse(value); u && !w->reaches_address; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        if ((LLVMIsALoadInst(user) && LLVMGetOperand(user, 0) == value) ||
            (LLVMIsAStoreInst(user) && LLVMGetOperand(user, 1) == value))
            w->reaches_address = true;
        else if (depth && is_arithmetic(user))
            follow(w, user, depth - 1);
    }
}

/* ---- the walk ---- */

static void visit(walk *w, LLVMValueRef index, const split *from, unsigned depth) {
    uint32_t count = 0;
    LLVMValueRef *users = wpi_users(index, &count);
    for (uint32_t u = 0; u < count; u++) {
        split further;
        LLVMValueRef to = NULL;
        bool keeps_lane;
        if (!LLVMIsAInstruction(users[u]) || LLVMIsAPHINode(users[u])) continue;
        if (from->base) LLVMPositionBuilderBefore(w->c->builder, users[u]);
        if (match_part(w, users[u], from, &to, &further, &keeps_lane)) {
            if (to)
                LLVMReplaceAllUsesWith(users[u], to);
            else
                follow(w, users[u], DEPTH_MOST);
            if (keeps_lane && depth) visit(w, to ? to : users[u], &further, depth - 1);
        } else if (depth && match_index(w, users[u], index, from, &further)) {
            visit(w, users[u], &further, depth - 1);
        }
    }
    wpi_free(users);
}

bool wpi_region_has_lanes(wpi_compile *c, LLVMValueRef index, bool is_x) {
    walk w = {.c = c};
    visit(&w, index, &(split){.is_x = is_x}, DEPTH_MOST);
    wpi_map_deinit(&w.seen);
    return w.reaches_address;
}

void wpi_region_split_lanes(wpi_compile *c, LLVMValueRef index, LLVMValueRef base,
                            LLVMValueRef lane, const wpi_lane_ids *ids) {
    walk w = {.c = c, .ids = ids};
    visit(&w, index, &(split){.base = base, .lane = lane, .is_x = ids != NULL}, DEPTH_MOST);
}
