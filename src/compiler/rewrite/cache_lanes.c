/* SPDX-License-Identifier: Apache-2.0 */
/* How far apart the lanes of a warp read in the loops of a kernel: at one address, side by side, or
 * each by itself. From that follows how many lines the hardware's L1 has to hold, if it is to have
 * one until it is read again. */
#include <llvm-c/Target.h>
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/rewrite/cache.h"

enum {
    STEPS_MAX = 2000,      /* values looked at for one address */
    DEPTH_MAX = 40,        /* operands of operands */
    NEIGHBOURS_BYTES = 16, /* from lane to lane: 32 lanes are in four lines, at most five */
    LINKS_MAX = 16
};

/* What the next lane of a warp has more of a value. The bytes or elements, or: */
#define APART INT64_MAX             /* unknown, or too many */
#define SAME_AS_PHI (INT64_MAX - 1) /* as much as the phi has that is being looked at */

typedef struct survey {
    LLVMTargetDataRef layout;
    LLVMValueRef phis[LINKS_MAX]; /* being looked at, outermost first */
    uint32_t phi_count, steps;
    bool has_rows; /* depends on threadIdx.y or .z, which a row of threads has in common */
} survey;

static bool is_number(int64_t step) {
    return step < SAME_AS_PHI;
}

static int64_t sum(int64_t a, int64_t b) {
    if (is_number(a) && is_number(b)) return a + b;
    if (a == SAME_AS_PHI && b == 0) return a;
    if (b == SAME_AS_PHI && a == 0) return b;
    return APART;
}

static int64_t times(int64_t step, int64_t factor) {
    if (step == 0) return 0;
    const bool is_small =
        is_number(step) && step > -65536 && step < 65536 && factor > -65536 && factor < 65536;
    return is_small ? step * factor : APART;
}

static int64_t step_of(survey *s, LLVMValueRef value, int depth);

static int64_t gep_step(survey *s, LLVMValueRef gep, int depth) {
    LLVMTypeRef type = LLVMGetGEPSourceElementType(gep);
    int64_t step = step_of(s, LLVMGetOperand(gep, 0), depth);
    for (unsigned i = 1; i < (unsigned)LLVMGetNumOperands(gep); i++) {
        LLVMValueRef index = LLVMGetOperand(gep, i);
        if (i > 1 && LLVMGetTypeKind(type) == LLVMStructTypeKind) {
            type = LLVMStructGetTypeAtIndex(type, (unsigned)LLVMConstIntGetZExtValue(index));
            continue;
        }
        if (i > 1) type = LLVMGetElementType(type);
        const int64_t moved = step_of(s, index, depth);
        const int64_t bytes = (int64_t)LLVMABISizeOfType(s->layout, type);
        step = sum(step, moved == SAME_AS_PHI && bytes == 1 ? moved : times(moved, bytes));
    }
    return step;
}

static int64_t phi_step(survey *s, LLVMValueRef phi, int depth) {
    for (uint32_t p = 0; p < s->phi_count; p++)
        if (s->phis[p] == phi) return p + 1 == s->phi_count ? SAME_AS_PHI : APART;
    if (s->phi_count == LINKS_MAX) return APART;
    s->phis[s->phi_count++] = phi;
    int64_t step = SAME_AS_PHI;
    for (unsigned n = 0; n < LLVMCountIncoming(phi) && step != APART; n++) {
        const int64_t from = step_of(s, LLVMGetIncomingValue(phi, n), depth);
        if (step == SAME_AS_PHI)
            step = from;
        else if (from != SAME_AS_PHI && from != step)
            step = APART;
    }
    s->phi_count--;
    return is_number(step) ? step : APART;
}

static bool are_operands_alike(survey *s, LLVMValueRef value, int depth) {
    const int count =
        LLVMIsACallInst(value) ? (int)LLVMGetNumArgOperands(value) : LLVMGetNumOperands(value);
    for (int o = 0; o < count; o++)
        if (step_of(s, LLVMGetOperand(value, (unsigned)o), depth) != 0) return false;
    return true;
}

static int64_t call_step(survey *s, LLVMValueRef call, int depth) {
    static const char sreg[] = "llvm.nvvm.read.ptx.sreg.";
    size_t length;
    LLVMValueRef callee = wpi_called_function(call);
    const char *name = callee != NULL ? LLVMGetValueName2(callee, &length) : "";
    if (strncmp(name, sreg, sizeof sreg - 1) == 0) {
        const char *which = name + sizeof sreg - 1;
        if (strcmp(which, "tid.x") == 0 || strcmp(which, "laneid") == 0) return 1;
        s->has_rows |= strcmp(which, "tid.y") == 0 || strcmp(which, "tid.z") == 0;
        return strncmp(which, "tid.", 4) == 0 || strncmp(which, "ctaid", 5) == 0 ||
                       strncmp(which, "ntid", 4) == 0 || strncmp(which, "nctaid", 6) == 0
                   ? 0
                   : APART;
    }
    return strncmp(name, "llvm.", 5) == 0 && are_operands_alike(s, call, depth) ? 0 : APART;
}

static int64_t step_of(survey *s, LLVMValueRef value, int depth) {
    if (LLVMIsAArgument(value) || LLVMIsAConstant(value)) return 0;
    if (!LLVMIsAInstruction(value) || depth == DEPTH_MAX || ++s->steps > STEPS_MAX) return APART;
    const int next = depth + 1;
    LLVMValueRef first = LLVMGetNumOperands(value) > 0 ? LLVMGetOperand(value, 0) : NULL;
    LLVMValueRef second = LLVMGetNumOperands(value) > 1 ? LLVMGetOperand(value, 1) : NULL;
    switch (LLVMGetInstructionOpcode(value)) {
    case LLVMGetElementPtr: return gep_step(s, value, next);
    case LLVMPHI: return phi_step(s, value, next);
    case LLVMCall: return call_step(s, value, next);
    case LLVMTrunc:
    case LLVMZExt:
    case LLVMSExt:
    case LLVMFreeze:
    case LLVMBitCast:
    case LLVMAddrSpaceCast:
    case LLVMPtrToInt:
    case LLVMIntToPtr: return step_of(s, first, next);
    case LLVMLoad: return step_of(s, first, next) == 0 ? 0 : APART;
    case LLVMAdd: return sum(step_of(s, first, next), step_of(s, second, next));
    case LLVMSub: {
        const int64_t taken = step_of(s, second, next);
        return sum(step_of(s, first, next), is_number(taken) ? -taken : APART);
    }
    case LLVMMul:
    case LLVMShl: {
        const int64_t step = step_of(s, first, next);
        if (LLVMIsAConstantInt(second) && LLVMGetIntTypeWidth(LLVMTypeOf(second)) <= 64) {
            const int64_t number = LLVMConstIntGetSExtValue(second);
            const bool is_shift = LLVMGetInstructionOpcode(value) == LLVMShl;
            if (is_shift && (number < 0 || number > 15)) return step == 0 ? 0 : APART;
            return times(step, is_shift ? (int64_t)1 << number : number);
        }
        return step == 0 && step_of(s, second, next) == 0 ? 0 : APART;
    }
    case LLVMAlloca:
    case LLVMAtomicRMW:
    case LLVMAtomicCmpXchg: return APART;
    default: return are_operands_alike(s, value, next) ? 0 : APART;
    }
}

/* A function that is not inlined: what it reads is not known. */
static bool calls_function(LLVMValueRef i) {
    size_t length;
    LLVMValueRef callee = LLVMIsACallInst(i) ? wpi_called_function(i) : NULL;
    return LLVMIsACallInst(i) != NULL &&
           (callee == NULL || strncmp(LLVMGetValueName2(callee, &length), "llvm.", 5) != 0) &&
           wpi_cache_noted(i).act == WPI_CACHE_FLUSH;
}

static bool is_in_loop(const wpi_cache_loops *loops, uint32_t block) {
    for (uint32_t l = 0; l < loops->count; l++)
        if (loops->loops[l].contains[block]) return true;
    return false;
}

/* The step of an address is that of a few lines for a warp. */
static bool is_together(int64_t step) {
    return is_number(step) && step <= NEIGHBOURS_BYTES && step >= -NEIGHBOURS_BYTES;
}

static void note_access(wpi_cache *k, survey *s, LLVMValueRef i, bool *has_apart, bool *has_same) {
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    const wpi_cache_note note = wpi_cache_noted(i);
    if ((note.act != WPI_CACHE_ACCESS && note.act != WPI_CACHE_OUTSIDE) ||
        !wpi_cache_describe(k->c, i, &pointer, &bytes, &is_write))
        return;
    s->phi_count = s->steps = 0;
    s->has_rows = false;
    const int64_t step = step_of(s, pointer, 0);
    const bool is_apart = !is_together(step);
    if (note.act == WPI_CACHE_ACCESS && is_apart) k->facts.apart |= 1u << note.structure;
    if (note.act == WPI_CACHE_ACCESS && s->has_rows) k->facts.rows |= 1u << note.structure;
    if (!LLVMIsALoadInst(i)) return;
    *has_apart |= is_apart || s->has_rows;
    *has_same |= step == 0;
}

void wpi_cache_note_lanes(wpi_cache *k, const wpi_cache_loops *loops) {
    survey s = {.layout = LLVMGetModuleDataLayout(k->c->module)};
    bool has_apart = false, has_same = false;
    for (uint32_t b = 0; b < loops->found.block_count; b++) {
        LLVMValueRef i =
            is_in_loop(loops, b) ? LLVMGetFirstInstruction(loops->found.blocks[b]) : NULL;
        for (; i; i = LLVMGetNextInstruction(i)) {
            has_apart |= calls_function(i);
            note_access(k, &s, i, &has_apart, &has_same);
        }
    }
    k->facts.l1 = has_apart  ? WPI_CACHE_L1_THREADS
                  : has_same ? WPI_CACHE_L1_WARPS
                             : WPI_CACHE_L1_NONE;
}
