/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that tell each other something through mapped data:
 *
 *     a[t] += a[t + 1];  __syncthreads();  … a[t + 2] …
 *
 * What is read there was sent before another thread wrote it. So a read is refused that comes
 * behind a write and a barrier, if both may be of the same bytes but are not of one place that each
 * thread has for itself. Without a barrier between them, such threads would race, anyway.
 */
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/ir/pointer.h"
#include "compiler/ir/same_code.h"
#include "compiler/rewrite/stream.h"

/* ---- places ---- */

enum { DEPTH = 8 };

/* Calls without memory, such as thread indices. */
static bool is_pure_call(LLVMValueRef i) {
    LLVMValueRef callee = LLVMIsACallInst(i) ? wpi_called_function(i) : NULL;
    size_t length;
    return callee != NULL &&
           strncmp(LLVMGetValueName2(callee, &length), "llvm.nvvm.read.ptx.sreg.", 24) == 0;
}

static bool is_same_value(LLVMValueRef a, LLVMValueRef b, int depth) {
    if (a == b) return true;
    if (depth == 0 || !LLVMIsAInstruction(a) || !LLVMIsAInstruction(b) ||
        LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) ||
        LLVMTypeOf(a) != LLVMTypeOf(b) || LLVMGetNumOperands(a) != LLVMGetNumOperands(b) ||
        !((wpi_is_pure_operation(a) && wpi_is_pure_operation(b)) ||
          (is_pure_call(a) && is_pure_call(b))))
        return false;
    if (LLVMIsAGetElementPtrInst(a) &&
        LLVMGetGEPSourceElementType(a) != LLVMGetGEPSourceElementType(b))
        return false;
    if (LLVMIsAICmpInst(a) && LLVMGetICmpPredicate(a) != LLVMGetICmpPredicate(b)) return false;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(a); o++)
        if (!is_same_value(LLVMGetOperand(a, o), LLVMGetOperand(b, o), depth - 1)) return false;
    return true;
}

/* The address less a number of bytes. */
static LLVMValueRef base_of(LLVMTargetDataRef layout, LLVMValueRef pointer, int64_t *offset) {
    *offset = 0;
    while (LLVMIsAGetElementPtrInst(pointer)) {
        wpi_gep_walk walk = wpi_gep_walk_begin(layout, pointer);
        LLVMValueRef index;
        uint64_t bytes;
        int64_t sum = 0;
        while (wpi_gep_next(&walk, &index, &bytes)) {
            if (index != NULL && !LLVMIsAConstantInt(index)) return pointer;
            sum +=
                index == NULL ? (int64_t)bytes : LLVMConstIntGetSExtValue(index) * (int64_t)bytes;
        }
        *offset += sum;
        pointer = LLVMGetOperand(pointer, 0);
    }
    return pointer;
}

bool wpi_stream_is_same_place(const wpi_stream *s, LLVMValueRef a, uint64_t a_bytes, LLVMValueRef b,
                              uint64_t b_bytes) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->c->module);
    int64_t a_first, b_first;
    LLVMValueRef a_base = base_of(layout, a, &a_first), b_base = base_of(layout, b, &b_first);
    return is_same_value(a_base, b_base, DEPTH) && a_first < b_first + (int64_t)b_bytes &&
           b_first < a_first + (int64_t)a_bytes;
}

/* ---- barriers ---- */

static bool is_barrier(LLVMValueRef i) {
    static const char *const prefixes[] = {"llvm.nvvm.barrier", "llvm.nvvm.bar.",
                                           "llvm.nvvm.membar.", "llvm.nvvm.fence."};
    size_t length;
    if (LLVMIsAFenceInst(i)) return true;
    if (!LLVMIsACallInst(i)) return false;
    if (LLVMIsAInlineAsm(LLVMGetCalledValue(i))) {
        const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(i), &length);
        return strstr(text, "bar") != NULL || strstr(text, "fence") != NULL;
    }
    LLVMValueRef callee = wpi_called_function(i);
    const char *name = callee != NULL ? LLVMGetValueName2(callee, &length) : "";
    for (size_t p = 0; p < sizeof prefixes / sizeof *prefixes; p++)
        if (strncmp(name, prefixes[p], strlen(prefixes[p])) == 0) return true;
    return false;
}

typedef struct search {
    LLVMValueRef read;
    wpi_map seen[2]; /* blocks that have been looked at, before and behind a barrier */
} search;

/* From an instruction on; `barrier`: one that has been met, or NULL. */
static LLVMValueRef search_from(search *in, LLVMValueRef i, LLVMValueRef barrier) {
    LLVMBasicBlockRef block = NULL;
    for (; i != NULL; i = LLVMGetNextInstruction(i)) {
        block = LLVMGetInstructionParent(i);
        if (i == in->read && barrier != NULL) return barrier;
        if (barrier == NULL && is_barrier(i)) barrier = i;
    }
    LLVMValueRef end = block != NULL ? LLVMGetBasicBlockTerminator(block) : NULL;
    for (unsigned n = 0; end != NULL && n < LLVMGetNumSuccessors(end); n++) {
        LLVMBasicBlockRef next = LLVMGetSuccessor(end, n);
        wpi_map *seen = &in->seen[barrier != NULL];
        if (wpi_map_has(seen, next)) continue;
        wpi_map_set(seen, next, next);
        LLVMValueRef found = search_from(in, LLVMGetFirstInstruction(next), barrier);
        if (found != NULL) return found;
    }
    return NULL;
}

LLVMValueRef wpi_stream_barrier_between(LLVMValueRef write, LLVMValueRef read) {
    search in = {.read = read};
    LLVMValueRef barrier = search_from(&in, LLVMGetNextInstruction(write), NULL);
    wpi_map_deinit(&in.seen[0]);
    wpi_map_deinit(&in.seen[1]);
    return barrier;
}
