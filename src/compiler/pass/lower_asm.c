/* SPDX-License-Identifier: Apache-2.0 */
/* lower_asm: replaces each call of inline PTX by equivalent IR.
 *
 *     %r = call i32 asm "add.s32 $0, $1, $2;", "=r,r,r"(i32 %a, i32 %b)
 *     ──►  %r = add i32 %a, %b
 *
 * The operands become registers of the block ($0, $1 … are called %0, %1 …; a tied operand is the
 * output it is tied to), ptx/ translates the statements in place, and the registers of the outputs
 * become the result. Calls are taken in reverse post order, so that the addresses one block
 * computes are seen by the next.
 *
 * The comment "// warpage: retries" (warpage/shared_words.h) becomes a yield that `lockstep` takes
 * as a mark of the loop around it. The comment "// warpage: sums" stands before an atomic addition
 * that becomes a call of the CPU's runtime. */
#include <ctype.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"
#include "compiler/ptx/ptx.h"

typedef struct calls {
    LLVMValueRef *items;
    size_t count, capacity;
} calls;

static LLVMValueRef inline_asm_of(LLVMValueRef instruction) {
    if (!LLVMIsACallInst(instruction)) return NULL;
    LLVMValueRef callee = LLVMGetCalledValue(instruction);
    return LLVMIsAInlineAsm(callee) ? callee : NULL;
}

static void find_calls(LLVMValueRef function, calls *found) {
    uint32_t block_count;
    LLVMBasicBlockRef *blocks = wpi_blocks_rpo(function, &block_count);
    for (uint32_t i = 0; i < block_count; i++) {
        for (LLVMValueRef at = LLVMGetFirstInstruction(blocks[i]); at;
             at = LLVMGetNextInstruction(at)) {
            if (!inline_asm_of(at)) continue;
            if (found->count == found->capacity) {
                found->capacity = found->capacity ? 2 * found->capacity : 16;
                LLVMValueRef *grown =
                    wpi_must_realloc(found->items, found->capacity * sizeof *found->items);
                found->items = grown;
            }
            found->items[found->count++] = at;
        }
    }
    wpi_free(blocks);
}

/* Converts an argument to a register's value: bits or a pointer. */
static LLVMValueRef register_value(wpi_ptx *t, LLVMValueRef argument) {
    return LLVMGetTypeKind(LLVMTypeOf(argument)) == LLVMPointerTypeKind
               ? argument
               : wpi_ptx_as_integer(t, argument);
}

static bool has_bits(LLVMTypeRef type) {
    switch (LLVMGetTypeKind(type)) {
    case LLVMIntegerTypeKind:
    case LLVMPointerTypeKind:
    case LLVMHalfTypeKind:
    case LLVMBFloatTypeKind:
    case LLVMFloatTypeKind:
    case LLVMDoubleTypeKind: return true;
    default: return false;
    }
}

static unsigned bits_of(wpi_ptx *t, LLVMTypeRef type) {
    if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) return 64;
    return LLVMGetIntTypeWidth(LLVMTypeOf(wpi_ptx_as_integer(t, LLVMGetUndef(type))));
}

static LLVMTypeRef result_type(LLVMValueRef call, unsigned index) {
    LLVMTypeRef type = LLVMTypeOf(call);
    return LLVMGetTypeKind(type) == LLVMStructTypeKind ? LLVMStructGetTypeAtIndex(type, index)
                                                       : type;
}

/* Declares %0, %1 … from the constraints "=r,=&l,f,n,0,~{memory}". Gives the number of outputs. */
static wp_status declare_operands(wpi_ptx *t, LLVMValueRef call, const char *constraints,
                                  unsigned *output_count) {
    unsigned outputs = 0, inputs = 0, number = 0;
    for (const char *at = constraints; *at;) {
        size_t length = strcspn(at, ",");
        const char *code = at;
        at += length + (at[length] == ',');
        if (*code == '~') continue;
        bool is_output = *code == '=', is_tied = isdigit((unsigned char)*code);
        char name[16];
        snprintf(name, sizeof name, "%%%u", number++);
        if (memchr(code, '*', length) || (is_output && inputs > 0))
            return WP_FAIL(t->err, UNSUPPORTED,
                           "inline PTX: the operand constraint \"%.*s\" is not "
                           "understood; PTX takes h, r, l, f, d and n",
                           (int)length, code);
        LLVMValueRef argument = is_output ? NULL : LLVMGetArgOperand(call, inputs++);
        LLVMTypeRef type = is_output ? result_type(call, outputs++) : LLVMTypeOf(argument);
        if (!has_bits(type))
            return WP_FAIL(t->err, UNSUPPORTED,
                           "inline PTX: operand %s is neither a number nor a pointer", name);
        LLVMValueRef value = argument ? register_value(t, argument) : NULL;
        if (is_tied) { /* the same register as the output; also known by its own number */
            char output[16];
            snprintf(output, sizeof output, "%%%d", atoi(code));
            wpi_ptx_register *r = wpi_ptx_find(t, output);
            WP_CHECK(r != NULL);
            r->value = value;
            wpi_ptx_alias(t, name, output);
        } else {
            wpi_ptx_declare(t, name, wpi_ptx_type_of(WP_PTX_BITS, bits_of(t, type)), value);
            t->registers[t->register_count - 1].is_output = is_output;
        }
    }
    *output_count = outputs;
    return WP_STATUS_OK;
}

static LLVMValueRef output_value(wpi_ptx *t, unsigned index, LLVMTypeRef type) {
    char name[16];
    snprintf(name, sizeof name, "%%%u", index);
    LLVMValueRef value = wpi_ptx_value(t, wpi_ptx_find(t, name));
    if (!value) return LLVMGetUndef(type);
    LLVMTypeRef from = LLVMTypeOf(value);
    if (from == type) return value;
    bool is_pointer = LLVMGetTypeKind(type) == LLVMPointerTypeKind;
    if (is_pointer && LLVMGetTypeKind(from) == LLVMPointerTypeKind)
        return LLVMBuildAddrSpaceCast(t->b, value, type, "");
    value = wpi_ptx_as_integer(t, value);
    if (is_pointer) return LLVMBuildIntToPtr(t->b, value, type, "");
    return LLVMBuildBitCast(t->b, value, type, "");
}

static void replace(wpi_ptx *t, LLVMValueRef call, unsigned output_count) {
    LLVMTypeRef type = LLVMTypeOf(call);
    LLVMValueRef result = NULL;
    if (LLVMGetTypeKind(type) == LLVMStructTypeKind) {
        result = LLVMGetUndef(type);
        for (unsigned i = 0; i < output_count; i++) {
            LLVMValueRef value = output_value(t, i, LLVMStructGetTypeAtIndex(type, i));
            result = LLVMBuildInsertValue(t->b, result, value, i, "");
        }
    } else if (output_count == 1) {
        result = output_value(t, 0, type);
    }
    if (result) LLVMReplaceAllUsesWith(call, result);
    LLVMInstructionEraseFromParent(call);
}

static bool is_retry_mark(const char *text, size_t length) {
    static const char mark[] = "// warpage: retries";
    return length == sizeof mark - 1 && memcmp(text, mark, length) == 0;
}

static void lower_retry_mark(wpi_ptx *t, LLVMValueRef call) {
    LLVMPositionBuilderBefore(t->b, call);
    LLVMValueRef stop = wpi_lower_stop(t->c, t->b, WP_STOP_YIELD, NULL, NULL, NULL);
    wpi_lower_note(t->c, stop, WP_TRIES_METADATA);
    LLVMInstructionEraseFromParent(call);
}

static bool is_sum_mark(const char *text, size_t length) {
    static const char mark[] = "// warpage: sums ";
    return length > sizeof mark - 1 && memcmp(text, mark, sizeof mark - 1) == 0;
}

/* The addition behind the mark, whose result is not used; NULL: it was moved away. */
static LLVMValueRef marked_sum(LLVMValueRef mark) {
    LLVMValueRef at = LLVMGetNextInstruction(mark);
    while (at && !LLVMIsAAtomicRMWInst(at) && !LLVMIsACallInst(at))
        at = LLVMGetNextInstruction(at);
    const bool is_sum = at && LLVMIsAAtomicRMWInst(at) &&
                        LLVMGetAtomicRMWBinOp(at) == LLVMAtomicRMWBinOpAdd && !LLVMGetFirstUse(at);
    return is_sum ? at : NULL;
}

/* In code that is as fast as the CPU can, the worker keeps the sum. */
static void lower_sum_mark(wpi_ptx *t, LLVMValueRef mark) {
    LLVMValueRef sum = wpi_compile_is_plain(t->c) ? marked_sum(mark) : NULL;
    if (sum) {
        wpi_compile *c = t->c;
        LLVMPositionBuilderBefore(t->b, sum);
        LLVMValueRef value = LLVMGetOperand(sum, 1);
        const unsigned bytes = LLVMGetIntTypeWidth(LLVMTypeOf(value)) / 8;
        LLVMTypeRef types[] = {c->ptr, c->i64, c->i32};
        LLVMValueRef args[] = {LLVMBuildAddrSpaceCast(t->b, LLVMGetOperand(sum, 0), c->ptr, ""),
                               LLVMBuildZExt(t->b, value, c->i64, ""), wpi_const32(c, bytes)};
        LLVMValueRef function =
            wpi_compile_declare(c, "wp_rt_sum", LLVMVoidTypeInContext(c->context), types, 3);
        wpi_function_attribute(c, function, "nounwind");
        LLVMBuildCall2(t->b, wpi_function_type(function), function, args, 3, "");
        LLVMInstructionEraseFromParent(sum);
    }
    LLVMInstructionEraseFromParent(mark);
}

static wp_status lower_call(wpi_ptx *t, LLVMValueRef call, unsigned uid) {
    LLVMValueRef code = inline_asm_of(call);
    size_t text_length, constraint_length;
    const char *text = LLVMGetInlineAsmAsmString(code, &text_length);
    if (is_retry_mark(text, text_length)) {
        lower_retry_mark(t, call);
        return WP_STATUS_OK;
    }
    if (is_sum_mark(text, text_length)) {
        lower_sum_mark(t, call);
        return WP_STATUS_OK;
    }
    const char *constraint_text = LLVMGetInlineAsmConstraintString(code, &constraint_length);
    char *constraints = wpi_must_strndup(constraint_text, constraint_length);
    t->is_volatile = LLVMGetInlineAsmHasSideEffects(code);
    t->anchor = call;
    t->depth = 0;
    wpi_ptx_forget(t, 0);
    LLVMPositionBuilderBefore(t->b, call);
    LLVMValueRef before = LLVMGetPreviousInstruction(call);
    unsigned outputs = 0;
    wp_status status = declare_operands(t, call, constraints, &outputs);
    if (status == WP_STATUS_OK) {
        wpi_ptx_translate(t, text, text_length, uid);
        status = t->status;
    }
    wpi_lower_pass_library(t->c, before, call);
    if (status == WP_STATUS_OK) replace(t, call, outputs);
    wpi_ptx_labels_forget(t);
    wpi_free(constraints);
    return status;
}

static bool is_kernel(const wpi_compile *c, LLVMValueRef function) {
    for (uint32_t i = 0; i < c->kernel_count; i++)
        if (c->kernels[i].function == function) return true;
    return false;
}

/* Removes the front end's memory attributes: it assumes that asm without a "memory" clobber
 * accesses none, but the loads that replace it do. The optimiser infers them again later. */
static void forget_memory_facts(wpi_compile *c) {
    static const char *const facts[] = {"memory",   "nosync",    "nofree",   "readnone",
                                        "readonly", "writeonly", "nocapture"};
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        LLVMUseRef use = LLVMGetFirstUse(f);
        for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
            unsigned kind = LLVMGetEnumAttributeKindForName(facts[i], strlen(facts[i]));
            LLVMRemoveEnumAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
            for (unsigned p = 1; p <= LLVMCountParams(f); p++)
                LLVMRemoveEnumAttributeAtIndex(f, p, kind);
            for (LLVMUseRef u = use; u; u = LLVMGetNextUse(u)) {
                LLVMValueRef call = LLVMGetUser(u);
                if (!LLVMIsACallInst(call) || LLVMGetCalledValue(call) != f) continue;
                LLVMRemoveCallSiteEnumAttribute(
                    call, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, kind);
                for (unsigned p = 1; p <= LLVMGetNumArgOperands(call); p++)
                    LLVMRemoveCallSiteEnumAttribute(call, p, kind);
            }
        }
    }
}

/* ---- functions of tensorlib ---- */

static bool is_of_tensorlib(LLVMValueRef function) {
    size_t length;
    return strncmp(LLVMGetValueName2(function, &length), WP_PTX_TENSOR_PREFIX,
                   sizeof WP_PTX_TENSOR_PREFIX - 1) == 0;
}

static bool needs_tensorlib(const wpi_compile *c) {
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (LLVMIsDeclaration(f) && is_of_tensorlib(f)) return true;
    return false;
}

static wp_status read_tensorlib(wpi_compile *c, LLVMModuleRef *out, wp_error *err) {
    char *folder = wpi_path_dir(c->devicelib_path), *path = wpi_path_join(folder, "tensorlib.bc");
    wp_status status = wpi_compile_read_library(c, path, out, err);
    wpi_free(path);
    wpi_free(folder);
    return status;
}

/* The functions that copies of tensors call, as GPU code of the program. */
static wp_status link_tensorlib(wpi_compile *c, wp_error *err) {
    static const char *const dropped[] = {"target-cpu", "target-features"};
    LLVMModuleRef library = NULL;
    if (!needs_tensorlib(c)) return WP_STATUS_OK;
    WP_TRY(read_tensorlib(c, &library, err));
    LLVMSetTarget(library, LLVMGetTarget(c->module));
    LLVMSetDataLayout(library, LLVMGetDataLayoutStr(c->module));
    for (LLVMValueRef f = LLVMGetFirstFunction(library); f; f = LLVMGetNextFunction(f)) {
        for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
            LLVMRemoveStringAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                             dropped[i], (unsigned)strlen(dropped[i]));
        if (!LLVMIsDeclaration(f) && is_of_tensorlib(f)) /* only what is used is linked */
            LLVMSetLinkage(f, LLVMLinkOnceODRLinkage);
    }
    if (LLVMLinkModules2(c->module, library))
        return WP_FAIL(err, TOOLCHAIN, "tensorlib.bc does not fit the program; reinstall warpage");
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f) && is_of_tensorlib(f)) LLVMSetLinkage(f, LLVMInternalLinkage);
    return WP_STATUS_OK;
}

wp_status wpi_pass_lower_asm(wpi_compile *c, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    bool has_asm = false;
    unsigned uid = 0;
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        if (LLVMIsDeclaration(f)) continue;
        calls found = {0};
        wpi_map pointers = {0}, hopeless = {0};
        find_calls(f, &found);
        has_asm |= found.count > 0;
        wpi_ptx t = {
            .c = c,
            .b = c->builder,
            .function = f,
            .is_kernel = is_kernel(c, f),
            .pointers = &pointers,
            .hopeless = &hopeless,
            .err = err,
        };
        LLVMBasicBlockRef block = NULL; /* carries pass between asm blocks of one basic block */
        for (size_t i = 0; i < found.count && status == WP_STATUS_OK; i++) {
            LLVMBasicBlockRef now = LLVMGetInstructionParent(found.items[i]);
            if (now != block) t.carry = NULL;
            block = now;
            status = lower_call(&t, found.items[i], uid++);
        }
        wpi_free(t.registers);
        wpi_ptx_names_deinit(&t.names);
        wpi_free(found.items);
        wpi_map_deinit(&pointers);
        wpi_map_deinit(&hopeless);
        if (status != WP_STATUS_OK) return status;
    }
    WP_TRY(link_tensorlib(c, err));
    if (has_asm) forget_memory_facts(c);
    return WP_STATUS_OK;
}
