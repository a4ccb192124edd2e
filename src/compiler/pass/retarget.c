/* SPDX-License-Identifier: Apache-2.0 */
/* From nvptx64 to the host: triple, layout, attributes, arithmetic rule, device library. */
#include <llvm-c/BitReader.h>
#include <llvm-c/Comdat.h>
#include <llvm-c/DebugInfo.h>
#include <llvm-c/Linker.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/strings.h"
#include "compiler/driver/finish.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

/* A function that was pure on the GPU may read its thread's identity from memory here. */
static const char *const dropped[] = {"memory", "nosync", "speculatable", "optnone"};

static void drop_string_attribute(LLVMValueRef function, const char *name) {
    LLVMRemoveStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, name,
                                     (unsigned)strlen(name));
}

/* Without -fmad=true and fast math, results on the CPU are those of the operations as written, on
 * every processor, so additions must not fuse. LLVM-C cannot clear such flags, so the addition is
 * rebuilt. */
static void without_contract(LLVMBuilderRef at, LLVMValueRef sum) {
    LLVMPositionBuilderBefore(at, sum);
    LLVMValueRef x = LLVMGetOperand(sum, 0), y = LLVMGetOperand(sum, 1);
    LLVMValueRef made = LLVMGetInstructionOpcode(sum) == LLVMFAdd ? LLVMBuildFAdd(at, x, y, "")
                                                                  : LLVMBuildFSub(at, x, y, "");
    LLVMReplaceAllUsesWith(sum, made);
    LLVMInstructionEraseFromParent(sum);
}

/* Whether an instruction converts a float to an integer, as C or as PTX does. */
static bool is_conversion(LLVMValueRef instruction, bool *is_signed) {
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (LLVMGetTypeKind(LLVMTypeOf(instruction)) != LLVMIntegerTypeKind) return false;
    *is_signed = opcode == LLVMFPToSI;
    if (opcode == LLVMFPToSI || opcode == LLVMFPToUI) return true;
    LLVMValueRef callee = LLVMIsACallInst(instruction) ? wpi_called_function(instruction) : NULL;
    if (!callee || LLVMGetIntrinsicID(callee) == 0) return false;
    size_t length;
    const char *name = LLVMGetValueName2(callee, &length);
    *is_signed = strncmp(name, "llvm.fptosi.sat.i32.", 20) == 0;
    return *is_signed || strncmp(name, "llvm.fptoui.sat.i32.", 20) == 0;
}

static void saturate(wpi_compile *c, LLVMValueRef conversion, bool is_signed) {
    LLVMPositionBuilderBefore(c->builder, conversion);
    LLVMValueRef made = wpi_saturated_conversion(c, c->builder, LLVMGetOperand(conversion, 0),
                                                 is_signed, LLVMTypeOf(conversion));
    LLVMReplaceAllUsesWith(conversion, made);
    LLVMInstructionEraseFromParent(conversion);
}

/* A division by zero, or of the least integer by -1, gives some value on a GPU and a trap on the
 * host. The divisor becomes 1 in these cases; division by zero then gives all ones as on GPUs, and
 * by -1 the negated dividend (remainder 0). */
static void guard_division(wpi_compile *c, LLVMValueRef division) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(division);
    LLVMValueRef x = LLVMGetOperand(division, 0), y = LLVMGetOperand(division, 1);
    LLVMTypeRef type = LLVMTypeOf(division);
    if (LLVMIsConstant(y)) return;
    bool is_signed = opcode == LLVMSDiv || opcode == LLVMSRem,
         is_rest = opcode == LLVMURem || opcode == LLVMSRem;
    LLVMBuilderRef at = c->builder;
    LLVMPositionBuilderBefore(at, division);
    LLVMValueRef zero = LLVMConstNull(type), ones = LLVMConstAllOnes(type);
    LLVMValueRef one = LLVMBuildSub(at, zero, ones, "");
    LLVMValueRef is_zero = LLVMBuildICmp(at, LLVMIntEQ, y, zero, "");
    LLVMValueRef is_minus = is_signed ? LLVMBuildICmp(at, LLVMIntEQ, y, ones, "") : NULL;
    LLVMValueRef is_odd = is_minus ? LLVMBuildOr(at, is_zero, is_minus, "") : is_zero;
    LLVMValueRef made = LLVMBuildBinOp(at, opcode, x, LLVMBuildSelect(at, is_odd, one, y, ""), "");
    if (is_minus && !is_rest)
        made = LLVMBuildSelect(at, is_minus, LLVMBuildNeg(at, x, ""), made, "");
    made = LLVMBuildSelect(at, is_zero, is_rest ? x : ones, made, "");
    LLVMReplaceAllUsesWith(division, made);
    LLVMInstructionEraseFromParent(division);
}

/* Already bounded: a constant, or masked by one. */
static bool is_small_amount(LLVMValueRef amount) {
    if (LLVMIsConstant(amount)) return true;
    if (LLVMIsAZExtInst(amount)) amount = LLVMGetOperand(amount, 0);
    return LLVMIsAInstruction(amount) && LLVMGetInstructionOpcode(amount) == LLVMAnd &&
           LLVMIsAConstantInt(LLVMGetOperand(amount, 1)) &&
           LLVMConstIntGetZExtValue(LLVMGetOperand(amount, 1)) < 32;
}

/* GPUs shift out all bits if the amount reaches the width; in LLVM and on x86 the result
 * differs. */
static void clamp_shift(wpi_compile *c, LLVMValueRef shift) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(shift);
    LLVMValueRef x = LLVMGetOperand(shift, 0), amount = LLVMGetOperand(shift, 1);
    LLVMTypeRef type = LLVMTypeOf(shift);
    if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind || is_small_amount(amount)) return;
    LLVMBuilderRef at = c->builder;
    LLVMPositionBuilderBefore(at, shift);
    LLVMValueRef last = LLVMConstInt(type, LLVMGetIntTypeWidth(type) - 1, 0);
    LLVMValueRef is_inside = LLVMBuildICmp(at, LLVMIntULE, amount, last, "");
    LLVMValueRef made;
    if (opcode == LLVMAShr)
        made = LLVMBuildAShr(at, x, LLVMBuildSelect(at, is_inside, amount, last, ""), "");
    else /* outside the shift is poison, and not selected */
        made = LLVMBuildSelect(at, is_inside, LLVMBuildBinOp(at, opcode, x, amount, ""),
                               LLVMConstNull(type), "");
    LLVMReplaceAllUsesWith(shift, made);
    LLVMInstructionEraseFromParent(shift);
}

static void adapt_instruction(wpi_compile *c, LLVMValueRef instruction, bool may_fuse) {
    LLVMOpcode opcode = LLVMGetInstructionOpcode(instruction);
    if (!may_fuse && (opcode == LLVMFAdd || opcode == LLVMFSub) &&
        LLVMGetFastMathFlags(instruction) == LLVMFastMathAllowContract) {
        without_contract(c->builder, instruction);
        return;
    }
    /* CUDA's atomics are relaxed. */
    if (LLVMIsAAtomicRMWInst(instruction)) {
        LLVMSetOrdering(instruction, LLVMAtomicOrderingMonotonic);
    } else if (LLVMIsAAtomicCmpXchgInst(instruction)) {
        LLVMSetCmpXchgSuccessOrdering(instruction, LLVMAtomicOrderingMonotonic);
        LLVMSetCmpXchgFailureOrdering(instruction, LLVMAtomicOrderingMonotonic);
    }
    if (opcode == LLVMUDiv || opcode == LLVMSDiv || opcode == LLVMURem || opcode == LLVMSRem) {
        guard_division(c, instruction);
        return;
    }
    if (opcode == LLVMShl || opcode == LLVMLShr || opcode == LLVMAShr) {
        clamp_shift(c, instruction);
        return;
    }
    bool is_signed;
    if (is_conversion(instruction, &is_signed)) {
        saturate(c, instruction, is_signed);
        return;
    }
    LLVMValueRef callee = wpi_called_function(instruction);
    if (!LLVMIsACallInst(instruction) || (callee && LLVMIsDeclaration(callee))) return;
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        LLVMRemoveCallSiteEnumAttribute(
            instruction, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
            LLVMGetEnumAttributeKindForName(dropped[i], strlen(dropped[i])));
}

static bool has_string_attribute(LLVMValueRef function, const char *name) {
    return LLVMGetStringAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                                         name, (unsigned)strlen(name)) != NULL;
}

static void adapt_function(wpi_compile *c, LLVMValueRef function) {
    bool may_fuse = has_string_attribute(function, WP_CONTRACT_ATTRIBUTE);
    drop_string_attribute(function, WP_CONTRACT_ATTRIBUTE);
    drop_string_attribute(function, "target-cpu");
    drop_string_attribute(function, "target-features");
    drop_string_attribute(function, "tune-cpu");
    if (LLVMIsDeclaration(function)) return;
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        wpi_function_attribute_remove(function, dropped[i]);
    wpi_function_attribute_remove(function, "mustprogress"); /* a thread may wait forever */
    LLVMSetVisibility(function, LLVMDefaultVisibility);
    LLVMSetComdat(function, NULL);
    LLVMSetLinkage(function,
                   wpi_compile_is_kernel(c, function) ? LLVMExternalLinkage : LLVMInternalLinkage);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            adapt_instruction(c, i, may_fuse);
        }
}

static wp_status link_devicelib(wpi_compile *c, wp_error *err) {
    LLVMModuleRef library = NULL;
    WP_TRY(wpi_compile_read_library(c, c->devicelib_path, &library, err));
    LLVMSetTarget(library, LLVMGetTarget(c->module));
    if (LLVMLinkModules2(c->module, library))
        return WP_FAIL(err, TOOLCHAIN, "the device library %s does not fit the program",
                       c->devicelib_path);
    return WP_STATUS_OK;
}

static bool is_ours(const char *name) {
    return strncmp(name, "llvm.", 5) == 0 || strncmp(name, "wp.", 3) == 0 ||
           strncmp(name, "wp_rt_", 6) == 0;
}

static const char *user_of(LLVMValueRef function) {
    for (LLVMUseRef u = LLVMGetFirstUse(function); u; u = LLVMGetNextUse(u)) {
        LLVMValueRef user = LLVMGetUser(u);
        size_t length;
        if (LLVMIsAInstruction(user))
            return LLVMGetValueName2(LLVMGetBasicBlockParent(LLVMGetInstructionParent(user)),
                                     &length);
    }
    return "a variable's initial value";
}

/* Reports functions that the program declares and that are undefined. */
static wp_status check_undefined(wpi_compile *c, const wpi_strings *declared, wp_error *err) {
    for (size_t i = 0; i < declared->count; i++) {
        LLVMValueRef f = LLVMGetNamedFunction(c->module, declared->items[i]);
        if (f && LLVMIsDeclaration(f) && LLVMGetFirstUse(f))
            return WP_FAIL(
                err, NOT_FOUND,
                "undefined device function %s, used by %s; define it in this file, or compile all "
                "files with -rdc=true and link them with wpcc",
                declared->items[i], user_of(f));
    }
    return WP_STATUS_OK;
}

wp_status wpi_pass_retarget(wpi_compile *c, wp_error *err) {
    LLVMTargetMachineRef machine;
    WP_TRY(wpi_target_host(c->isa, &machine, err));
    LLVMStripModuleDebugInfo(c->module);
    LLVMSetCurrentDebugLocation2(c->builder, NULL);
    LLVMSetTarget(c->module, "x86_64-pc-linux-gnu");
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
    char *layout_text = LLVMCopyStringRepOfTargetData(layout);
    LLVMSetDataLayout(c->module, layout_text);
    LLVMDisposeMessage(layout_text);
    LLVMDisposeTargetData(layout);

    wpi_strings declared = {0};
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f)) {
        size_t length;
        const char *name = LLVMGetValueName2(f, &length);
        if (LLVMIsDeclaration(f) && !is_ours(name)) wpi_strings_add(&declared, name);
    }
    wp_status status;
    WP_TRY_GOTO(link_devicelib(c, err), done);
    WP_TRY_GOTO(check_undefined(c, &declared, err), done);
    for (LLVMValueRef f = LLVMGetFirstFunction(c->module); f; f = LLVMGetNextFunction(f))
        adapt_function(c, f);
    /* Removes the list of variables for the GPU's linker, which would keep their old addresses
     * alive. */
    for (int i = 0; i < 2; i++) {
        LLVMValueRef used = LLVMGetNamedGlobal(c->module, i ? "llvm.used" : "llvm.compiler.used");
        if (used) LLVMDeleteGlobal(used);
    }
    LLVMValueRef annotations = LLVMGetNamedGlobal(c->module, "llvm.global.annotations");
    if (annotations) LLVMDeleteGlobal(annotations);
    /* Most of the device library: a small program uses none of it. */
    status = wpi_compile_run(c, "globaldce", machine, err);
done:
    wpi_strings_deinit(&declared);
    return status;
}
