/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel with windows: the marker calls become calls that wait where they are, and nothing else
 * changes. */
#include <llvm-c/DebugInfo.h>

#include "base/must.h"
#include "base/text.h"
#include "compiler/ir/edit.h"
#include "compiler/rewrite/stream.h"

static LLVMValueRef sized_call(wpi_compile *c, const char *name, int class, LLVMTypeRef result,
                               LLVMValueRef *args, unsigned count) {
    char *sized = wpi_format("window_%s_%d", name, 1 << class);
    LLVMValueRef value = wpi_stream_call(c, sized, result, args, count);
    wpi_free(sized);
    return value;
}

static void change(const wpi_stream *s, LLVMValueRef thread, LLVMValueRef i) {
    wpi_compile *c = s->c;
    const wpi_stream_facts *f = &s->facts;
    const int read = wpi_stream_read_class(i), write = wpi_stream_write_class(i);
    if (read < 0 && write < 0) return;
    LLVMPositionBuilderBefore(c->builder, i);
    LLVMSetCurrentDebugLocation2(c->builder, LLVMInstructionGetDebugLoc(i));
    if (read >= 0) {
        LLVMValueRef args[] = {thread, LLVMGetOperand(i, WPI_STREAM_READ_LOOP),
                               wpi_const32(c, f->granule), wpi_const32(c, f->reads_own),
                               LLVMGetOperand(i, 1)};
        LLVMReplaceAllUsesWith(i, sized_call(c, "read", read, LLVMTypeOf(i), args, 5));
    } else {
        LLVMValueRef args[] = {thread, LLVMGetOperand(i, 0), wpi_const32(c, f->granule),
                               LLVMGetOperand(i, 1), LLVMGetOperand(i, 2)};
        (void)sized_call(c, "write", write, c->none, args, 5);
    }
    LLVMSetCurrentDebugLocation2(c->builder, NULL);
    LLVMInstructionEraseFromParent(i);
}

void wpi_stream_use_windows(wpi_stream *s) {
    LLVMValueRef thread = LLVMGetParam(s->body, LLVMCountParams(s->body) - 1);
    if (s->facts.windows == 0) s->facts.windows = 1; /* it accesses no mapped data */
    s->facts.written = s->written.params;
    for (int k = 0; k < WPI_STREAM_CLASSES; k++)
        s->facts.write_need[k] = s->write_classes >> k & 1;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->body); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            change(s, thread, i);
        }
    }
}
