/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The two slices of the state machine. In the address slice reads become records, everything that
 * has an effect goes, and what then has no use goes with it (LLVM's adce and loop-deletion). Values
 * that it cannot have are calls of wp.stream.unknown.*: one that is still there afterwards decides
 * about an address or a branch, and the kernel is refused.
 */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "base/text.h"
#include "compiler/ir/access.h"
#include "compiler/ir/clone.h"
#include "compiler/ir/edit.h"
#include "compiler/rewrite/stream.h"

LLVMValueRef wpi_stream_call(wpi_compile *c, const char *name, LLVMTypeRef result,
                             LLVMValueRef *args, unsigned count) {
    LLVMTypeRef types[8];
    char *whole = wpi_format("__wp_stream_%s", name);
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMValueRef callee = wpi_compile_declare(c, whole, result, types, count);
    wpi_free(whole);
    return LLVMBuildCall2(c->builder, wpi_function_type(callee), callee, args, count, "");
}

static LLVMValueRef thread_of(LLVMValueRef function) {
    return LLVMGetParam(function, LLVMCountParams(function) - 1);
}

static LLVMValueRef thread_of_instruction(LLVMValueRef i) {
    return thread_of(LLVMGetBasicBlockParent(LLVMGetInstructionParent(i)));
}

static bool is_called(LLVMValueRef i, const char *name) {
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    return callee != NULL && strcmp(LLVMGetValueName2(callee, &length), name) == 0;
}

static void erase_for(LLVMValueRef i, LLVMValueRef value) {
    if (value != NULL) LLVMReplaceAllUsesWith(i, value);
    LLVMInstructionEraseFromParent(i);
}

static LLVMValueRef sized_call(wpi_compile *c, const char *name, int class, LLVMTypeRef result,
                               LLVMValueRef *args, unsigned count) {
    char *sized = wpi_format("%s_%d", name, 1 << class);
    LLVMValueRef value = wpi_stream_call(c, sized, result, args, count);
    wpi_free(sized);
    return value;
}

/* ---- both slices ---- */

/* threadIdx and blockDim are those that the program launched with. */
static LLVMValueRef own_index(wpi_compile *c, LLVMValueRef i) {
    static const char prefix[] = "llvm.nvvm.read.ptx.sreg.";
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    const char *name = callee != NULL ? LLVMGetValueName2(callee, &length) : "";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0) return NULL;
    const char *what = name + sizeof prefix - 1;
    const bool is_tid = strncmp(what, "tid.", 4) == 0, is_ntid = strncmp(what, "ntid.", 5) == 0;
    if (!is_tid && !is_ntid) return NULL;
    const char axis = what[is_tid ? 4 : 5];
    LLVMValueRef args[] = {thread_of_instruction(i), wpi_const32(c, (uint32_t)(axis - 'x'))};
    return wpi_stream_call(c, is_tid ? "tid" : "ntid", c->i32, args, 2);
}

typedef void (*change)(wpi_stream *s, LLVMValueRef i);

static void change_all(wpi_stream *s, LLVMValueRef function, change how) {
    wpi_compile *c = s->c;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            LLVMPositionBuilderBefore(c->builder, i);
            LLVMValueRef index = own_index(c, i);
            if (index != NULL)
                erase_for(i, index);
            else
                how(s, i);
        }
    }
}

static LLVMValueRef next_call(wpi_stream *s, LLVMValueRef i, bool is_computing) {
    wpi_compile *c = s->c;
    const uint32_t rows = WPI_STREAM_CLASSES + s->facts.followed_count;
    LLVMValueRef args[] = {thread_of_instruction(i), LLVMGetOperand(i, 0),
                           wpi_const32(c, is_computing ? s->write_classes : s->address_rows),
                           wpi_const32(c, s->has_barriers), wpi_const32(c, rows)};
    return is_computing ? wpi_stream_call(c, "next_data", c->i32, args, 4)
                        : wpi_stream_call(c, "next_addresses", c->i32, args, 5);
}

/* ---- the compute slice ---- */

static void compute_change(wpi_stream *s, LLVMValueRef i) {
    const int read = wpi_stream_read_class(i), write = wpi_stream_write_class(i);
    LLVMValueRef thread = thread_of_instruction(i);
    if (is_called(i, WPI_STREAM_NEXT)) {
        erase_for(i, next_call(s, i, true));
    } else if (read >= 0) {
        LLVMValueRef args[] = {thread, LLVMGetOperand(i, 0), LLVMGetOperand(i, 1),
                               LLVMGetOperand(i, WPI_STREAM_READ_ROW)};
        const bool has_line = s->has_lines && read < WPI_STREAM_LINE_CLASS;
        erase_for(i,
                  sized_call(s->c, has_line ? "take_line" : "take", read, LLVMTypeOf(i), args, 4));
    } else if (wpi_stream_row_of(i) >= 0) {
        LLVMInstructionEraseFromParent(i); /* only the host needs it */
    } else if (write >= 0) {
        LLVMValueRef args[] = {thread, LLVMGetOperand(i, 0), LLVMGetOperand(i, 1),
                               LLVMGetOperand(i, 2)};
        (void)sized_call(s->c, "put", write, s->c->none, args, 4);
        LLVMInstructionEraseFromParent(i);
    }
}

/* ---- functions without effects ---- */

static void mark_pure(wpi_compile *c, LLVMValueRef function) {
    static const char *const names[] = {"willreturn", "nounwind", "nosync", "nofree",
                                        "speculatable"};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        wpi_function_attribute(c, function, names[n]);
    const unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(c->context, memory, 0)); /* none */
}

/* The device library's functions compute something from numbers, unless they take a pointer. */
static void mark_library(wpi_compile *c) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        bool takes_pointer = false;
        if (!LLVMIsDeclaration(f) || strncmp(LLVMGetValueName2(f, &length), "__nv_", 5) != 0)
            continue;
        for (unsigned p = 0; p < LLVMCountParams(f); p++)
            takes_pointer |= LLVMTypeOf(LLVMGetParam(f, p)) == c->ptr;
        if (!takes_pointer) mark_pure(c, f);
    }
}

/* ---- the address slice ---- */

static LLVMValueRef unknown_value(wpi_stream *s, LLVMTypeRef type, LLVMValueRef number) {
    wpi_compile *c = s->c;
    char *type_name = LLVMPrintTypeToString(type);
    char *name = wpi_format("%s%s", WPI_STREAM_UNKNOWN, type_name);
    LLVMDisposeMessage(type_name);
    LLVMValueRef callee = wpi_compile_declare(c, name, type, &c->i32, 1);
    mark_pure(c, callee);
    wpi_free(name);
    return LLVMBuildCall2(c->builder, wpi_function_type(callee), callee, &number, 1, "");
}

static void forget(wpi_stream *s, LLVMValueRef i, const char *reason) {
    LLVMTypeRef type = LLVMTypeOf(i);
    LLVMValueRef value = NULL;
    if (type != s->c->none && LLVMGetFirstUse(i) != NULL)
        value = unknown_value(s, type, wpi_const32(s->c, wpi_stream_add_unknown(s, i, reason)));
    erase_for(i, value);
}

static bool may_be_written(const wpi_stream_root *read, const wpi_stream_root *written) {
    const bool is_global = read->params != 0 || read->is_variable || read->is_loaded;
    return (read->params & written->params) != 0 || (read->is_shared && written->is_shared) ||
           (read->is_variable && written->is_variable) || (is_global && written->is_loaded) ||
           (read->is_loaded && (written->params != 0 || written->is_variable));
}

/* Functions without effects: intrinsics and the device library's. */
static bool is_pure(LLVMValueRef i) {
    LLVMValueRef callee = wpi_called_function(i);
    if (callee == NULL) return false;
    const unsigned memory = LLVMGetEnumAttributeKindForName("memory", 6);
    LLVMAttributeRef attribute =
        LLVMGetEnumAttributeAtIndex(callee, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, memory);
    if (attribute != NULL && LLVMGetEnumAttributeValue(attribute) == 0) return true;
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    return strncmp(name, "__wp_stream_", 12) == 0;
}

static bool is_lasting(const wpi_stream *s, LLVMValueRef load) {
    const wpi_stream_root root = wpi_stream_noted_root(load);
    return wpi_stream_is_own(&root) || !may_be_written(&root, &s->written);
}

/* A read, or an entry that the host needs for one. */
static void address_record(wpi_stream *s, LLVMValueRef i, uint32_t row) {
    wpi_compile *c = s->c;
    const bool is_read = wpi_stream_read_class(i) >= 0;
    LLVMValueRef entry = LLVMGetOperand(i, is_read ? WPI_STREAM_READ_ENTRY : 1);
    uint32_t class = row;
    if (row >= WPI_STREAM_CLASSES)
        class = s->facts.followed[row - WPI_STREAM_CLASSES].class;
    else
        entry = LLVMBuildPtrToInt(c->builder, LLVMGetOperand(i, 1), c->i64, "");
    LLVMValueRef args[] = {thread_of_instruction(i),
                           wpi_const32(c, row),
                           wpi_const32(c, class),
                           entry,
                           LLVMGetOperand(i, WPI_STREAM_READ_LOOP),
                           LLVMGetOperand(i, WPI_STREAM_READ_SITE),
                           LLVMGetOperand(i, WPI_STREAM_READ_SITES)};
    (void)wpi_stream_call(c, "record", c->none, args, 7);
    erase_for(i, LLVMGetFirstUse(i) != NULL ? unknown_value(s, LLVMTypeOf(i), LLVMGetOperand(i, 2))
                                            : NULL);
}

static void address_change(wpi_stream *s, LLVMValueRef i) {
    const int row = wpi_stream_row_of(i);
    if (is_called(i, WPI_STREAM_NEXT)) {
        erase_for(i, next_call(s, i, false));
    } else if (row >= 0) {
        address_record(s, i, (uint32_t)row);
    } else if (LLVMIsALoadInst(i)) {
        if (is_lasting(s, i)) return;
        forget(s, i, "an address or a branch depends on memory that the kernel writes, read at");
    } else if (LLVMIsAStoreInst(i) || LLVMIsAMemIntrinsic(i)) {
        const wpi_stream_root root = wpi_stream_noted_root(i);
        if (wpi_stream_is_own(&root)) return;
        LLVMInstructionEraseFromParent(i);
    } else if (wpi_access_is_atomic(i)) {
        forget(s, i, "an address or a branch depends on the result of the atomic operation at");
    } else if (LLVMIsACallInst(i) && !is_pure(i)) {
        forget(s, i, "an address or a branch depends on the result of the call at");
    }
}

/* ---- what is left ---- */

static wp_status check_slice(wpi_stream *s, LLVMValueRef function, wp_error *err) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            LLVMValueRef callee = wpi_called_function(i);
            size_t length;
            const char *name = callee != NULL ? LLVMGetValueName2(callee, &length) : "";
            if (strncmp(name, WPI_STREAM_UNKNOWN, sizeof WPI_STREAM_UNKNOWN - 1) != 0) continue;
            LLVMValueRef number = LLVMGetOperand(i, 0);
            if (!LLVMIsAConstantInt(number)) continue;
            const wpi_stream_unknown *u = &s->unknowns[LLVMConstIntGetZExtValue(number)];
            return wpi_stream_need_windows(s, u->reason, u->place, err);
        }
    }
    return WP_STATUS_OK;
}

static void note_steering(wpi_stream *s, LLVMValueRef function) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsALoadInst(i))
                s->facts.steering |= wpi_stream_root_of(LLVMGetOperand(i, 0)).params;
    s->facts.steering &= ~(UINT64_C(1) << (LLVMCountParams(function) - 1));
}

static LLVMValueRef copy_of(wpi_stream *s, const char *name) {
    wpi_compile *c = s->c;
    LLVMValueRef function = LLVMAddFunction(c->module, name, wpi_function_type(s->body));
    LLVMSetLinkage(function, LLVMInternalLinkage);
    wpi_function_attribute(c, function, "mustprogress");
    wpi_clone_body(s->body, function);
    return function;
}

wp_status wpi_stream_slice(wpi_stream *s, LLVMValueRef *addresses, LLVMValueRef *compute,
                           wp_error *err) {
    *compute = s->body;
    s->facts.written = s->written.params;
    mark_library(s->c);
    *addresses = copy_of(s, "wp.stream.addresses");
    change_all(s, *addresses, address_change);
    change_all(s, *compute, compute_change);
    WP_TRY(wpi_compile_run(s->c,
                           "function(sroa,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,"
                           "adce,simplifycfg,loop-simplify,lcssa,loop(loop-deletion),adce,"
                           "simplifycfg,loop-simplify,lcssa,loop(loop-deletion),"
                           "instcombine<no-verify-fixpoint>,adce,simplifycfg)",
                           NULL, err));
    WP_TRY(check_slice(s, *addresses, err));
    note_steering(s, *addresses);
    return WP_STATUS_OK;
}
