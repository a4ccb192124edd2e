/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/ir/expand_copy.h"

#include <llvm-c/DebugInfo.h>
#include <string.h>

#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"

enum { STRAIGHT_MAX_BYTES = 128, WIDEST_BYTES = 16 };

typedef struct copy {
    LLVMValueRef instruction, to, from, size; /* `from`: a byte where memory is set */
    bool is_set, is_move;
    unsigned align_bytes;
} copy;

static unsigned align_of(LLVMValueRef call, unsigned operand) {
    unsigned kind = LLVMGetEnumAttributeKindForName("align", 5);
    LLVMAttributeRef attribute = LLVMGetCallSiteEnumAttribute(call, operand + 1, kind);
    return attribute ? (unsigned)LLVMGetEnumAttributeValue(attribute) : 1;
}

static bool describe(LLVMValueRef i, copy *out) {
    const wpi_ir_access a = wpi_access_of(i);
    if (!wpi_access_is_range(&a)) return false;
    const bool is_set = a.kind == WP_ACCESS_SET;
    *out = (copy){i,
                  a.pointer,
                  is_set ? a.value : a.source,
                  LLVMGetOperand(i, 2),
                  is_set,
                  LLVMIsAMemMoveInst(i) != NULL,
                  align_of(i, 0)};
    if (!is_set && align_of(i, 1) < out->align_bytes) out->align_bytes = align_of(i, 1);
    return true;
}

static LLVMValueRef byte_address(wpi_compile *c, LLVMValueRef base, LLVMValueRef offset) {
    return LLVMBuildInBoundsGEP2(c->builder, c->i8, base, &offset, 1, "");
}

/* ---- straight ---- */

/* The byte to set, repeated to the width of `type`. */
static LLVMValueRef repeated(wpi_compile *c, LLVMValueRef byte, LLVMTypeRef type) {
    if (LLVMTypeOf(byte) == type) return byte;
    LLVMValueRef ones = LLVMBuildUDiv(c->builder, LLVMConstAllOnes(type),
                                      LLVMConstInt(type, 0xff, 0), ""); /* 0x0101… */
    return LLVMBuildMul(c->builder, LLVMBuildZExt(c->builder, byte, type, ""), ones, "");
}

static LLVMTypeRef word_type(wpi_compile *c, unsigned bytes) {
    return bytes == WIDEST_BYTES ? LLVMVectorType(c->i32, 4)
                                 : LLVMIntTypeInContext(c->context, 8 * bytes);
}

static LLVMValueRef word_to_set(wpi_compile *c, const copy *m, unsigned bytes) {
    if (bytes < WIDEST_BYTES) return repeated(c, m->from, word_type(c, bytes));
    LLVMValueRef vector = LLVMGetUndef(word_type(c, bytes));
    LLVMValueRef part = repeated(c, m->from, c->i32);
    for (unsigned i = 0; i < 4; i++)
        vector = LLVMBuildInsertElement(c->builder, vector, part, wpi_const32(c, i), "");
    return vector;
}

/* All loads come first: memmove's ranges may overlap. */
static void straight(wpi_compile *c, const copy *m, uint64_t size_bytes) {
    LLVMValueRef words[STRAIGHT_MAX_BYTES];
    uint64_t offsets[STRAIGHT_MAX_BYTES];
    unsigned widths[STRAIGHT_MAX_BYTES], count = 0;
    unsigned width = m->align_bytes < WIDEST_BYTES ? m->align_bytes : WIDEST_BYTES;
    for (uint64_t offset = 0; offset < size_bytes; offset += width) {
        while (width > size_bytes - offset)
            width /= 2;
        offsets[count] = offset;
        widths[count++] = width;
    }
    for (unsigned w = 0; w < count; w++) {
        if (m->is_set) {
            words[w] = word_to_set(c, m, widths[w]);
            continue;
        }
        LLVMValueRef place = byte_address(c, m->from, wpi_const64(c, offsets[w]));
        words[w] = LLVMBuildLoad2(c->builder, word_type(c, widths[w]), place, "");
        LLVMSetAlignment(words[w], widths[w]);
    }
    for (unsigned w = 0; w < count; w++) {
        LLVMValueRef place = byte_address(c, m->to, wpi_const64(c, offsets[w]));
        LLVMSetAlignment(LLVMBuildStore(c->builder, words[w], place), widths[w]);
    }
}

/* ---- a loop ---- */

/* for (n = 0; n < size; n++) body, before the copy; `is_down`: from the last byte to the first. */
static void loop(wpi_compile *c, const copy *m, bool is_down) {
    LLVMBuilderRef at = c->builder;
    LLVMBasicBlockRef front = wpi_block_split_before(m->instruction);
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(m->instruction);
    LLVMBasicBlockRef body = LLVMInsertBasicBlockInContext(c->context, rest, "copy");
    LLVMTypeRef type = LLVMTypeOf(m->size);
    LLVMValueRef zero = LLVMConstNull(type), one = LLVMConstInt(type, 1, 0);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(at, front);
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntEQ, m->size, zero, ""), rest, body);
    LLVMPositionBuilderAtEnd(at, body);
    LLVMValueRef n = LLVMBuildPhi(at, type, ""), index = n;
    LLVMValueRef next = LLVMBuildAdd(at, n, one, "");
    if (is_down) index = LLVMBuildSub(at, m->size, next, "");
    LLVMValueRef byte =
        m->is_set ? m->from : LLVMBuildLoad2(at, c->i8, byte_address(c, m->from, index), "");
    LLVMBuildStore(at, byte, byte_address(c, m->to, index));
    LLVMBuildCondBr(at, LLVMBuildICmp(at, LLVMIntULT, next, m->size, ""), body, rest);
    wpi_phi_add(n, zero, front);
    wpi_phi_add(n, next, body);
}

/* memmove copies downwards if the target is above the source. */
static void loop_either_way(wpi_compile *c, const copy *m) {
    LLVMBuilderRef at = c->builder;
    LLVMPositionBuilderBefore(at, m->instruction);
    LLVMValueRef to = LLVMBuildPtrToInt(at, m->to, c->i64, "");
    LLVMValueRef from = LLVMBuildPtrToInt(at, m->from, c->i64, "");
    LLVMValueRef is_down = LLVMBuildICmp(at, LLVMIntUGT, to, from, "");
    LLVMTypeRef type = LLVMTypeOf(m->size);
    copy up = *m, down = *m;
    up.size = LLVMBuildSelect(at, is_down, LLVMConstNull(type), m->size, "");
    down.size = LLVMBuildSelect(at, is_down, m->size, LLVMConstNull(type), "");
    loop(c, &up, false);
    loop(c, &down, true);
}

static void expand(wpi_compile *c, const copy *m) {
    LLVMPositionBuilderBefore(c->builder, m->instruction);
    LLVMSetCurrentDebugLocation2(c->builder, LLVMInstructionGetDebugLoc(m->instruction));
    bool is_known = LLVMIsAConstantInt(m->size) != NULL;
    uint64_t size_bytes = is_known ? LLVMConstIntGetZExtValue(m->size) : UINT64_MAX;
    if (size_bytes <= STRAIGHT_MAX_BYTES)
        straight(c, m, size_bytes);
    else if (m->is_move)
        loop_either_way(c, m);
    else
        loop(c, m, false);
    LLVMInstructionEraseFromParent(m->instruction);
    LLVMSetCurrentDebugLocation2(c->builder, NULL);
}

uint32_t wpi_expand_copies(wpi_compile *c, LLVMValueRef function, wpi_copy_filter *wants,
                           const void *object) {
    copy *found = NULL;
    uint32_t count = 0, capacity = 0;
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
            copy m;
            if (!describe(i, &m) || (wants != NULL && !wants(object, i))) continue;
            if (count == capacity) {
                capacity = capacity == 0 ? 16 : 2 * capacity;
                found = wpi_must_realloc(found, capacity * sizeof *found);
            }
            found[count++] = m;
        }
    for (uint32_t m = 0; m < count; m++)
        expand(c, &found[m]);
    wpi_free(found);
    return count;
}
