/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/driver/finish.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/BitWriter.h>
#include <llvm-c/Core.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "compiler/driver/lowered_names.h"

static void mark(LLVMModuleRef module, const char *name) {
    LLVMAttributeRef mark = LLVMCreateStringAttribute(LLVMGetModuleContext(module), name,
                                                      (unsigned)strlen(name), "", 0);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            LLVMAddAttributeAtIndex(f, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, mark);
}

/* Whether a node of nvvm.annotations, !{function, !"name", i32 value, …}, has one of the names. */
static bool has_annotation(LLVMValueRef node, LLVMValueRef *function, const char *const *names) {
    const unsigned count = LLVMGetMDNodeNumOperands(node);
    LLVMValueRef *values = wpi_must_calloc(count + 1, sizeof *values);
    LLVMGetMDNodeOperands(node, values);
    bool has = false;
    *function = values[0];
    for (unsigned i = 1; i < count; i += 2) {
        unsigned length;
        const char *key = values[i] == NULL ? NULL : LLVMGetMDString(values[i], &length);
        for (size_t n = 0; key != NULL && names[n] != NULL; n++)
            has = has || (strlen(names[n]) == length && memcmp(names[n], key, length) == 0);
    }
    wpi_free(values);
    return has && *function != NULL && LLVMIsAFunction(*function);
}

/* Annotates kernels, except those with __launch_bounds__, as nvcc does. */
static void limit_registers(LLVMModuleRef module, uint32_t registers) {
    static const char *const kernel[] = {"kernel", NULL};
    static const char *const bounds[] = {"maxntidx", "minctasm", "maxnreg", NULL};
    LLVMContextRef context = LLVMGetModuleContext(module);
    const unsigned count = LLVMGetNamedMetadataNumOperands(module, "nvvm.annotations");
    LLVMValueRef *nodes = wpi_must_calloc(count + 1, sizeof *nodes);
    LLVMGetNamedMetadataOperands(module, "nvvm.annotations", nodes);
    for (unsigned n = 0; n < count; n++) {
        LLVMValueRef function, other;
        if (!has_annotation(nodes[n], &function, kernel)) continue;
        bool is_bounded = false;
        for (unsigned m = 0; m < count; m++)
            is_bounded =
                is_bounded || (has_annotation(nodes[m], &other, bounds) && other == function);
        if (is_bounded) continue;
        LLVMMetadataRef parts[] = {
            LLVMValueAsMetadata(function), LLVMMDStringInContext2(context, "maxnreg", 7),
            LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), registers, 0))};
        LLVMAddNamedMetadataOperand(
            module, "nvvm.annotations",
            LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts, 3)));
    }
    wpi_free(nodes);
}

static LLVMValueRef behind_casts(LLVMValueRef value) {
    while (LLVMIsAConstantExpr(value))
        value = LLVMGetOperand(value, 0);
    return value;
}

/* __cluster_dims__(x, y, z), an annotation with one to three numbers (host_defines.h), becomes
 * !{kernel, !"cluster_dim_x", i32 x, …} of nvvm.annotations. */
static void name_clusters(LLVMModuleRef module) {
    static const char word[] = "warpage.cluster_dims";
    LLVMContextRef context = LLVMGetModuleContext(module);
    LLVMValueRef list = LLVMGetNamedGlobal(module, "llvm.global.annotations");
    LLVMValueRef entries = list ? LLVMGetInitializer(list) : NULL;
    const unsigned count = entries ? (unsigned)LLVMGetArrayLength2(LLVMTypeOf(entries)) : 0;
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef entry = LLVMGetOperand(entries, i);
        LLVMValueRef function = behind_casts(LLVMGetOperand(entry, 0));
        LLVMValueRef text = behind_casts(LLVMGetOperand(entry, 1));
        LLVMValueRef bytes = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
        size_t length;
        if (!LLVMIsAFunction(function) || !bytes || !LLVMIsConstantString(bytes) ||
            strncmp(LLVMGetAsString(bytes, &length), word, sizeof word - 1) != 0)
            continue;
        LLVMValueRef args = behind_casts(LLVMGetOperand(entry, 4));
        LLVMValueRef values = LLVMIsAGlobalVariable(args) ? LLVMGetInitializer(args) : NULL;
        const unsigned given = values ? LLVMCountStructElementTypes(LLVMTypeOf(values)) : 0;
        for (unsigned d = 0; d < 3; d++) {
            const char key[] = {
                'c', 'l', 'u', 's', 't', 'e', 'r', '_', 'd', 'i', 'm', '_', (char)('x' + d)};
            LLVMValueRef value = d < given ? LLVMGetAggregateElement(values, d) : NULL;
            const uint64_t number =
                value && LLVMIsAConstantInt(value) ? LLVMConstIntGetZExtValue(value) : 1;
            LLVMMetadataRef parts[] = {
                LLVMValueAsMetadata(function), LLVMMDStringInContext2(context, key, sizeof key),
                LLVMValueAsMetadata(LLVMConstInt(LLVMInt32TypeInContext(context), number, 0))};
            LLVMAddNamedMetadataOperand(
                module, "nvvm.annotations",
                LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, parts, 3)));
        }
    }
}

/* Whether an entry of llvm.global.annotations says that the program may look for the variable. */
static bool says_kept(LLVMValueRef entry) {
    static const char word[] = "warpage.kept";
    LLVMValueRef text = behind_casts(LLVMGetOperand(entry, 1));
    LLVMValueRef bytes = LLVMIsAGlobalVariable(text) ? LLVMGetInitializer(text) : NULL;
    size_t length;
    return bytes && LLVMIsConstantString(bytes) &&
           strcmp(LLVMGetAsString(bytes, &length), word) == 0;
}

/* Static variables of a source that is compiled at run time are visible, as the program may look
 * for them by name. Their annotations, which have kept clang from taking them for constants, go. */
static void show_kept_variables(LLVMModuleRef module) {
    LLVMValueRef list = LLVMGetNamedGlobal(module, "llvm.global.annotations");
    LLVMValueRef entries = list ? LLVMGetInitializer(list) : NULL;
    const unsigned count = entries ? (unsigned)LLVMGetArrayLength2(LLVMTypeOf(entries)) : 0;
    LLVMValueRef *others = wpi_must_calloc(count + 1, sizeof *others);
    unsigned other_count = 0;
    for (unsigned i = 0; i < count; i++) {
        LLVMValueRef entry = LLVMGetOperand(entries, i);
        LLVMValueRef variable = behind_casts(LLVMGetOperand(entry, 0));
        if (!says_kept(entry)) {
            others[other_count++] = entry;
            continue;
        }
        const unsigned space = LLVMGetPointerAddressSpace(LLVMTypeOf(variable));
        if (LLVMGetLinkage(variable) != LLVMInternalLinkage || LLVMIsGlobalConstant(variable) ||
            (space != WP_SPACE_GLOBAL && space != WP_SPACE_CONSTANT))
            continue;
        LLVMSetLinkage(variable, LLVMExternalLinkage);
        LLVMSetExternallyInitialized(variable, 1);
    }
    if (other_count < count) {
        LLVMDeleteGlobal(list);
        if (other_count > 0) {
            LLVMTypeRef type = LLVMTypeOf(others[0]);
            list =
                LLVMAddGlobal(module, LLVMArrayType2(type, other_count), "llvm.global.annotations");
            LLVMSetInitializer(list, LLVMConstArray2(type, others, other_count));
            LLVMSetLinkage(list, LLVMAppendingLinkage);
            LLVMSetSection(list, "llvm.metadata");
        }
    }
    wpi_free(others);
}

static void drop_locations(LLVMModuleRef module) {
    unsigned kind = LLVMGetMDKindIDInContext(LLVMGetModuleContext(module), "srcloc", 6);
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (LLVMIsACallInst(i) && LLVMGetMetadata(i, kind)) LLVMSetMetadata(i, kind, NULL);
}

/* Removes all names except those of arguments. */
static void drop_names(LLVMModuleRef module) {
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMSetValueName2(LLVMBasicBlockAsValue(b), "", 0);
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
                if (LLVMGetTypeKind(LLVMTypeOf(i)) != LLVMVoidTypeKind) LLVMSetValueName2(i, "", 0);
        }
}

static bool is_narrow_cast(LLVMValueRef i) {
    const LLVMOpcode opcode = LLVMGetInstructionOpcode(i);
    return (opcode == LLVMFPToSI || opcode == LLVMFPToUI) &&
           LLVMGetTypeKind(LLVMTypeOf(i)) == LLVMIntegerTypeKind &&
           LLVMGetIntTypeWidth(LLVMTypeOf(i)) < 32;
}

/* float to 8 or 16 bits: by way of 32, as nvcc has it. */
static void widen_casts(LLVMModuleRef module) {
    LLVMTypeRef wide = LLVMInt32TypeInContext(LLVMGetModuleContext(module));
    LLVMBuilderRef at = LLVMCreateBuilderInContext(LLVMGetModuleContext(module));
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b)) {
            LLVMValueRef next;
            for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = next) {
                next = LLVMGetNextInstruction(i);
                if (!is_narrow_cast(i)) continue;
                LLVMPositionBuilderBefore(at, i);
                LLVMValueRef word =
                    LLVMBuildCast(at, LLVMGetInstructionOpcode(i), LLVMGetOperand(i, 0), wide, "");
                LLVMReplaceAllUsesWith(i, LLVMBuildTrunc(at, word, LLVMTypeOf(i), ""));
                LLVMInstructionEraseFromParent(i);
            }
        }
    LLVMDisposeBuilder(at);
}

wp_status wpi_finish_bitcode(const char *path, const wpi_options *o, wp_error *err) {
    char *bitcode = NULL;
    size_t size_bytes = 0;
    WP_TRY(wpi_file_read(path, &bitcode, &size_bytes, err));
    LLVMContextRef context = LLVMContextCreate();
    LLVMMemoryBufferRef buffer =
        LLVMCreateMemoryBufferWithMemoryRangeCopy(bitcode, size_bytes, path);
    LLVMModuleRef module = NULL;
    wp_status status = WP_STATUS_OK;
    if (LLVMParseBitcodeInContext2(context, buffer, &module)) {
        status = WP_FAIL(err, TOOLCHAIN, "%s is not bitcode of LLVM 19", path);
        goto done;
    }
    if (o->lowered_names)
        WP_TRY_GOTO(wpi_lowered_names_write(module, o->lowered_names, err), dispose);
    if (o->contract) mark(module, WP_CONTRACT_ATTRIBUTE);
    if (o->lockstep) mark(module, WP_LOCKSTEP_ATTRIBUTE);
    if (o->registers_max != 0) limit_registers(module, o->registers_max);
    name_clusters(module);
    show_kept_variables(module);
    widen_casts(module);
    drop_locations(module);
    drop_names(module);
    if (LLVMWriteBitcodeToFile(module, path)) status = WP_FAIL(err, IO, "cannot write %s", path);
dispose:
    LLVMDisposeModule(module);
done:
    LLVMDisposeMemoryBuffer(buffer);
    LLVMContextDispose(context);
    wpi_free(bitcode);
    return status;
}
