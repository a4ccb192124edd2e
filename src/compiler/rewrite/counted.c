/* SPDX-License-Identifier: Apache-2.0 */
/* A block of code adds the numbers of its loads and stores, known when it is compiled, to two
 * counters of the thread; the thread's end adds them to memory. */
#include "compiler/ir/access.h"
#include "compiler/ir/clone.h"
#include "compiler/ir/pointer.h"
#include "compiler/rewrite/rewrite.h"

enum { LOADS, STORES, THREADS, COUNTS };

typedef struct sibling {
    wpi_compile *c;
    LLVMValueRef function, counters[THREADS];
} sibling;

static bool is_private(LLVMValueRef pointer) {
    LLVMValueRef base = wpi_pointer_base(pointer);
    return LLVMIsAAllocaInst(base) ||
           LLVMGetPointerAddressSpace(LLVMTypeOf(base)) == WP_SPACE_LOCAL;
}

static void count_block(const sibling *s, LLVMBasicBlockRef block) {
    uint32_t counts[THREADS] = {0};
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        const wpi_ir_access a = wpi_access_of(i);
        if (!a.type || is_private(a.pointer)) continue;
        counts[LOADS] += wpi_access_reads(&a);
        counts[STORES] += wpi_access_writes(&a);
    }
    LLVMBuilderRef at = s->c->builder;
    LLVMPositionBuilderBefore(at, LLVMGetBasicBlockTerminator(block));
    for (int k = 0; k < THREADS; k++) {
        if (counts[k] == 0) continue;
        LLVMValueRef before = LLVMBuildLoad2(at, s->c->i64, s->counters[k], "");
        LLVMValueRef more = LLVMBuildAdd(at, before, wpi_const64(s->c, counts[k]), "");
        LLVMBuildStore(at, more, s->counters[k]);
    }
}

static void add_to_memory(const sibling *s, int k, LLVMValueRef value) {
    LLVMBuilderRef at = s->c->builder;
    LLVMValueRef counts = LLVMGetParam(s->function, LLVMCountParams(s->function) - 1);
    LLVMValueRef index = wpi_const64(s->c, (uint64_t)k);
    LLVMValueRef place = LLVMBuildGEP2(at, s->c->i64, counts, &index, 1, "");
    LLVMBuildAtomicRMW(at, LLVMAtomicRMWBinOpAdd, place, value, LLVMAtomicOrderingMonotonic, 0);
}

static void end_thread(const sibling *s, LLVMValueRef end) {
    LLVMPositionBuilderBefore(s->c->builder, end);
    for (int k = 0; k < THREADS; k++)
        add_to_memory(s, k, LLVMBuildLoad2(s->c->builder, s->c->i64, s->counters[k], ""));
    add_to_memory(s, THREADS, wpi_const64(s->c, 1));
}

static void count_all(sibling *s) {
    LLVMBasicBlockRef entry = LLVMGetEntryBasicBlock(s->function);
    LLVMPositionBuilderBefore(s->c->builder, LLVMGetFirstInstruction(entry));
    for (int k = 0; k < THREADS; k++) {
        s->counters[k] = LLVMBuildAlloca(s->c->builder, s->c->i64, "");
        LLVMBuildStore(s->c->builder, wpi_const64(s->c, 0), s->counters[k]);
    }
    for (LLVMBasicBlockRef b = entry; b; b = LLVMGetNextBasicBlock(b)) {
        count_block(s, b);
        LLVMValueRef end = LLVMGetBasicBlockTerminator(b);
        if (LLVMIsAReturnInst(end)) end_thread(s, end);
    }
}

wp_status wpi_rewrite_counted(wpi_compile *c, const char *argument, wp_error *err) {
    (void)argument;
    for (uint32_t k = 0; k < c->kernel_count; k++) {
        sibling s = {.c = c};
        s.function = wpi_rewrite_sibling(c, &c->kernels[k], "counted", &c->ptr, 1, true);
        LLVMSetValueName2(LLVMGetParam(s.function, LLVMCountParams(s.function) - 1), "counts", 6);
        wpi_clone_body(c->kernels[k].function, s.function);
        count_all(&s);
    }
    return wpi_compile_run(c, "function(mem2reg,instsimplify)", NULL, err);
}
