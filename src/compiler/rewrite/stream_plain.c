/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Before anything else, accesses to mapped data become loads and stores of 1, 2, 4, 8 or 16 bytes,
 * at multiples of so many:
 *
 *     __ldg(p), __ldcg(p), __ldcs(p)           a load; a cache holds nothing of mapped data
 *     memcpy, memmove, memset, large structs   as PTX has them: words, or a loop over bytes
 *     a value of 8 bytes, aligned to 4         two values of 4 bytes, as PTX has it
 *
 * Parts of mapped data that lie together (a granule of a window, a block of a file, host memory of
 * one streamingMap) begin and end at such multiples: an access is in one of them.
 */
#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/expand_copy.h"
#include "compiler/rewrite/stream.h"

static bool is_mapped(const wpi_stream *s, LLVMValueRef pointer) {
    return (wpi_stream_root_of(pointer).params & s->mask) != 0;
}

static bool is_called(LLVMValueRef i, const char *prefix) {
    LLVMValueRef callee = LLVMIsACallInst(i) ? wpi_called_function(i) : NULL;
    size_t length;
    return callee != NULL &&
           strncmp(LLVMGetValueName2(callee, &length), prefix, strlen(prefix)) == 0;
}

static void replace(LLVMValueRef i, LLVMValueRef value) {
    LLVMReplaceAllUsesWith(i, value);
    LLVMInstructionEraseFromParent(i);
}

/* ---- loads with hints ---- */

/* Memory that is read in this way is not written by the kernel, mapped or not. */
static void make_load(const wpi_stream *s, LLVMValueRef i) {
    LLVMValueRef load = LLVMBuildLoad2(s->c->builder, LLVMTypeOf(i), LLVMGetOperand(i, 0), "");
    LLVMSetAlignment(load, (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(i, 1)));
    replace(i, load);
}

static void drop_hint(const wpi_stream *s, LLVMValueRef i) {
    if (is_called(i, "llvm.nvvm.ldg.global.") || is_called(i, "llvm.nvvm.ldu.global."))
        make_load(s, i);
    else if ((is_called(i, "__wp_cache_global") || is_called(i, "__wp_cache_stream")) &&
             is_mapped(s, LLVMGetOperand(i, 0)))
        replace(i, LLVMGetOperand(i, 0));
}

/* ---- copies ---- */

static bool is_mapped_copy(const void *object, LLVMValueRef i) {
    const wpi_ir_access a = wpi_access_of(i);
    return !a.is_ordered &&
           (is_mapped(object, a.pointer) || (a.source != NULL && is_mapped(object, a.source)));
}

/* ---- values of other widths or alignments ---- */

enum { WIDEST = 16 };

/* Of the values that an access of so many bytes is made of. */
static unsigned part_bytes(uint64_t bytes, unsigned alignment) {
    uint64_t part = bytes & -bytes;
    if (part > WIDEST) part = WIDEST;
    return (unsigned)(part < alignment ? part : alignment);
}

static LLVMValueRef place_of(wpi_compile *c, LLVMValueRef base, uint64_t offset) {
    LLVMValueRef index = wpi_const64(c, offset);
    return LLVMBuildInBoundsGEP2(c->builder, c->i8, base, &index, 1, "");
}

static LLVMValueRef as_integer(wpi_compile *c, LLVMValueRef value, LLVMTypeRef integer) {
    return LLVMGetTypeKind(LLVMTypeOf(value)) == LLVMPointerTypeKind
               ? LLVMBuildPtrToInt(c->builder, value, integer, "")
               : LLVMBuildBitCast(c->builder, value, integer, "");
}

static LLVMValueRef from_integer(wpi_compile *c, LLVMValueRef value, LLVMTypeRef type) {
    return LLVMGetTypeKind(type) == LLVMPointerTypeKind
               ? LLVMBuildIntToPtr(c->builder, value, type, "")
               : LLVMBuildBitCast(c->builder, value, type, "");
}

static void split_load(wpi_compile *c, LLVMValueRef i, uint64_t bytes, unsigned part) {
    LLVMTypeRef whole = LLVMIntTypeInContext(c->context, (unsigned)(8 * bytes)),
                type = LLVMIntTypeInContext(c->context, 8 * part);
    LLVMValueRef all = NULL;
    for (uint64_t at = 0; at < bytes; at += part) {
        LLVMValueRef load =
            LLVMBuildLoad2(c->builder, type, place_of(c, LLVMGetOperand(i, 0), at), "");
        LLVMSetAlignment(load, part);
        LLVMValueRef bits = LLVMBuildZExt(c->builder, load, whole, "");
        if (at != 0) bits = LLVMBuildShl(c->builder, bits, LLVMConstInt(whole, 8 * at, 0), "");
        all = all == NULL ? bits : LLVMBuildOr(c->builder, all, bits, "");
    }
    replace(i, from_integer(c, all, LLVMTypeOf(i)));
}

static void split_store(wpi_compile *c, LLVMValueRef i, uint64_t bytes, unsigned part) {
    LLVMTypeRef whole = LLVMIntTypeInContext(c->context, (unsigned)(8 * bytes)),
                type = LLVMIntTypeInContext(c->context, 8 * part);
    LLVMValueRef all = as_integer(c, LLVMGetOperand(i, 0), whole);
    for (uint64_t at = 0; at < bytes; at += part) {
        LLVMValueRef bits = LLVMBuildLShr(c->builder, all, LLVMConstInt(whole, 8 * at, 0), "");
        LLVMValueRef store = LLVMBuildStore(c->builder, LLVMBuildTrunc(c->builder, bits, type, ""),
                                            place_of(c, LLVMGetOperand(i, 1), at));
        LLVMSetAlignment(store, part);
    }
    LLVMInstructionEraseFromParent(i);
}

/* Of structures, and of types with bits that memory does not have, nothing changes. */
static bool has_bytes(LLVMTargetDataRef layout, LLVMTypeRef type) {
    const LLVMTypeKind kind = LLVMGetTypeKind(type);
    return kind != LLVMStructTypeKind && kind != LLVMArrayTypeKind &&
           LLVMSizeOfTypeInBits(layout, type) == 8 * LLVMStoreSizeOfType(layout, type);
}

static void split(const wpi_stream *s, LLVMValueRef i) {
    LLVMTargetDataRef layout = LLVMGetModuleDataLayout(s->c->module);
    const wpi_ir_access a = wpi_access_of(i);
    const bool is_value = a.kind == WP_ACCESS_READ || a.kind == WP_ACCESS_WRITE;
    if (!is_value || a.is_ordered || !has_bytes(layout, a.type) || !is_mapped(s, a.pointer)) return;
    const uint64_t bytes = LLVMStoreSizeOfType(layout, a.type);
    const unsigned part = part_bytes(bytes, LLVMGetAlignment(i));
    if (part == bytes) return;
    if (a.kind == WP_ACCESS_READ)
        split_load(s->c, i, bytes, part);
    else
        split_store(s->c, i, bytes, part);
}

/* ---- all of them ---- */

static void change_all(const wpi_stream *s, void (*change)(const wpi_stream *s, LLVMValueRef i)) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(s->body); b; b = LLVMGetNextBasicBlock(b)) {
        for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
            next = LLVMGetNextInstruction(i);
            LLVMPositionBuilderBefore(s->c->builder, i);
            LLVMSetCurrentDebugLocation2(s->c->builder, LLVMInstructionGetDebugLoc(i));
            change(s, i);
        }
    }
    LLVMSetCurrentDebugLocation2(s->c->builder, NULL);
}

wp_status wpi_stream_make_plain(wpi_stream *s, wp_error *err) {
    change_all(s, drop_hint);
    /* Structures in memory of the thread become values again. */
    if (wpi_expand_copies(s->c, s->body, is_mapped_copy, s) != 0)
        WP_TRY(wpi_compile_run(s->c,
                               "function(sroa,early-cse,instcombine<no-verify-fixpoint>,"
                               "simplifycfg)",
                               NULL, err));
    change_all(s, split);
    return WP_STATUS_OK;
}
