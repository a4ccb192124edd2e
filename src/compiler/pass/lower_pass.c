/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/pass/lower_pass.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "compiler/ir/edit.h"

static const char *const id_names[WP_ID_COUNT] = {
    "tid.x",   "tid.y",   "tid.z",   "thread",   "ntid.x",   "ntid.y",   "ntid.z",
    "ctaid.x", "ctaid.y", "ctaid.z", "nctaid.x", "nctaid.y", "nctaid.z",
};

void wpi_lower_mark_pure(wpi_compile *c, LLVMValueRef function) {
    wpi_function_attribute(c, function, "memory"); /* 0: none */
    wpi_function_attribute(c, function, "willreturn");
    wpi_function_attribute(c, function, "nounwind");
    wpi_function_attribute(c, function, "speculatable");
    wpi_function_attribute(c, function, "nosync");
    wpi_function_attribute(c, function, "nofree");
}

static LLVMValueRef call_pure(wpi_compile *c, LLVMBuilderRef at, const char *name,
                              LLVMTypeRef result) {
    LLVMValueRef function = LLVMGetNamedFunction(c->module, name);
    if (!function) {
        function = wpi_compile_declare(c, name, result, NULL, 0);
        wpi_lower_mark_pure(c, function);
    }
    return LLVMBuildCall2(at, wpi_function_type(function), function, NULL, 0, "");
}

LLVMValueRef wpi_lower_id(wpi_compile *c, LLVMBuilderRef at, wpi_id id) {
    char name[32];
    snprintf(name, sizeof name, WP_ID_PREFIX "%s", id_names[id]);
    return call_pure(c, at, name, c->i32);
}

LLVMValueRef wpi_lower_block(wpi_compile *c, LLVMBuilderRef at) {
    return call_pure(c, at, WP_BLOCK_PLACEHOLDER, c->ptr);
}

LLVMValueRef wpi_lower_block_field(wpi_compile *c, LLVMBuilderRef at, LLVMValueRef block,
                                   size_t offset) {
    LLVMValueRef index = wpi_const64(c, offset);
    return LLVMBuildInBoundsGEP2(at, c->i8, block, &index, 1, "");
}

wpi_id wpi_lower_id_of(LLVMValueRef function) {
    size_t length;
    const char *name = function ? LLVMGetValueName2(function, &length) : "";
    if (strncmp(name, WP_ID_PREFIX, strlen(WP_ID_PREFIX)) != 0) return WP_ID_COUNT;
    wpi_id id = 0;
    while (id < WP_ID_COUNT && strcmp(name + strlen(WP_ID_PREFIX), id_names[id]) != 0)
        id++;
    return id;
}

bool wpi_lower_stands_for_value(LLVMValueRef value) {
    LLVMValueRef callee = LLVMIsAInstruction(value) ? wpi_called_function(value) : NULL;
    size_t length;
    return callee && strncmp(LLVMGetValueName2(callee, &length), "wp.", 3) == 0;
}

LLVMValueRef wpi_lower_stop(wpi_compile *c, LLVMBuilderRef at, uint32_t op, LLVMValueRef mask,
                            LLVMValueRef a, LLVMValueRef b) {
    LLVMTypeRef params[5] = {c->i32, c->i32, c->i32, c->i64, c->i64};
    LLVMValueRef function = LLVMGetNamedFunction(c->module, WP_STOP_FUNCTION);
    if (!function) {
        function = wpi_compile_declare(c, WP_STOP_FUNCTION, c->i64, params, 5);
        wpi_function_attribute(c, function, "convergent");
        wpi_function_attribute(c, function, "nounwind");
    }
    LLVMValueRef args[5] = {wpi_const32(c, op), wpi_const32(c, 0), mask ? mask : wpi_const32(c, 0),
                            a ? a : wpi_const64(c, 0), b ? b : wpi_const64(c, 0)};
    return LLVMBuildCall2(at, wpi_function_type(function), function, args, 5, "");
}

bool wpi_lower_is_stop(LLVMValueRef instruction) {
    LLVMValueRef callee = wpi_called_function(instruction);
    size_t length;
    return callee && strcmp(LLVMGetValueName2(callee, &length), WP_STOP_FUNCTION) == 0;
}

uint32_t wpi_lower_stop_op(LLVMValueRef stop) {
    return (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(stop, 0));
}

static unsigned cache_kind(LLVMValueRef access) {
    return LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(access)), WP_CACHE_METADATA,
                                    sizeof WP_CACHE_METADATA - 1);
}

void wpi_lower_mark_cache(wpi_compile *c, LLVMValueRef access, uint32_t cache) {
    LLVMMetadataRef value = LLVMValueAsMetadata(wpi_const32(c, cache));
    LLVMSetMetadata(access, cache_kind(access),
                    LLVMMetadataAsValue(c->context, LLVMMDNodeInContext2(c->context, &value, 1)));
}

int wpi_lower_cache_mark(LLVMValueRef access) {
    LLVMValueRef node = LLVMGetMetadata(access, cache_kind(access)), value;
    if (!node) return -1;
    LLVMGetMDNodeOperands(node, &value);
    return (int)LLVMConstIntGetZExtValue(value);
}

static unsigned note_kind(LLVMValueRef instruction, const char *what) {
    return LLVMGetMDKindIDInContext(LLVMGetTypeContext(LLVMTypeOf(instruction)), what,
                                    (unsigned)strlen(what));
}

void wpi_lower_note(wpi_compile *c, LLVMValueRef instruction, const char *what) {
    LLVMSetMetadata(instruction, note_kind(instruction, what),
                    LLVMMetadataAsValue(c->context, LLVMMDNodeInContext2(c->context, NULL, 0)));
}

bool wpi_lower_has_note(LLVMValueRef instruction, const char *what) {
    return LLVMGetMetadata(instruction, note_kind(instruction, what)) != NULL;
}

void wpi_lower_pass_library(wpi_compile *c, LLVMValueRef before, LLVMValueRef call) {
    if (!wpi_lower_has_note(call, WP_LIBRARY_METADATA)) return;
    for (LLVMValueRef i = call; i && i != before; i = LLVMGetPreviousInstruction(i))
        if (wpi_lower_is_stop(i)) wpi_lower_note(c, i, WP_LIBRARY_METADATA);
}
