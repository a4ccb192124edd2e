/* SPDX-License-Identifier: Apache-2.0 */
/* The accesses of a run in turn `turn` of N: elements of lines that are in registers (cache_run.c).
 */
#include "base/must.h"
#include "compiler/rewrite/cache_run.h"

static LLVMValueRef word_at(const wpi_cache *k, LLVMValueRef words, uint32_t byte) {
    LLVMValueRef index = wpi_const32(k->c, byte / 4);
    return LLVMBuildGEP2(k->c->builder, k->c->i32, words, &index, 1, "");
}

static LLVMValueRef load_word(const wpi_cache *k, LLVMValueRef words, uint32_t byte) {
    return LLVMBuildLoad2(k->c->builder, k->c->i32, word_at(k, words, byte), "");
}

static LLVMTypeRef number_type(const wpi_cache *k, uint32_t bytes) {
    return LLVMIntTypeInContext(k->c->context, 8 * bytes);
}

static void read_line(const wpi_cache *k, LLVMValueRef words, LLVMValueRef from, uint32_t byte) {
    LLVMBuilderRef at = k->c->builder;
    const uint32_t first = byte / WPI_RUN_LINE_BYTES * WPI_RUN_LINE_BYTES;
    LLVMValueRef back = LLVMConstInt(k->c->i64, (uint64_t)first - byte, 1);
    from = LLVMBuildGEP2(at, k->c->i8, from, &back, 1, "");
    LLVMValueRef line = LLVMBuildLoad2(at, LLVMVectorType(k->c->i32, 4), from, "");
    LLVMSetAlignment(line, WPI_RUN_LINE_BYTES);
    for (uint32_t w = 0; w < 4; w++)
        LLVMBuildStore(at, LLVMBuildExtractElement(at, line, wpi_const32(k->c, w), ""),
                       word_at(k, words, first + 4 * w));
}

static void write_line(const wpi_cache *k, LLVMValueRef words, LLVMValueRef to, uint32_t byte) {
    LLVMBuilderRef at = k->c->builder;
    const uint32_t first = byte / WPI_RUN_LINE_BYTES * WPI_RUN_LINE_BYTES;
    LLVMValueRef line = LLVMGetUndef(LLVMVectorType(k->c->i32, 4));
    LLVMValueRef back = LLVMConstInt(k->c->i64, (uint64_t)first - byte, 1);
    for (uint32_t w = 0; w < 4; w++)
        line = LLVMBuildInsertElement(at, line, load_word(k, words, first + 4 * w),
                                      wpi_const32(k->c, w), "");
    to = LLVMBuildGEP2(at, k->c->i8, to, &back, 1, "");
    LLVMSetAlignment(LLVMBuildStore(at, line, to), WPI_RUN_LINE_BYTES);
}

static LLVMValueRef element(const wpi_cache *k, LLVMValueRef words, uint32_t bytes, uint32_t byte) {
    LLVMBuilderRef at = k->c->builder;
    LLVMValueRef value = load_word(k, words, byte);
    if (bytes == 8) {
        LLVMValueRef low = LLVMBuildZExt(at, value, k->c->i64, "");
        LLVMValueRef high = LLVMBuildZExt(at, load_word(k, words, byte + 4), k->c->i64, "");
        return LLVMBuildOr(at, low, LLVMBuildShl(at, high, wpi_const64(k->c, 32), ""), "");
    }
    if (bytes == 4) return value;
    value = LLVMBuildLShr(at, value, wpi_const32(k->c, byte % 4 * 8), "");
    return LLVMBuildTrunc(at, value, number_type(k, bytes), "");
}

/* The other bytes of a word stay. */
static void set_element(const wpi_cache *k, LLVMValueRef words, LLVMValueRef value, uint32_t bytes,
                        uint32_t byte) {
    LLVMBuilderRef at = k->c->builder;
    if (bytes == 8) {
        LLVMValueRef high = LLVMBuildLShr(at, value, wpi_const64(k->c, 32), "");
        LLVMBuildStore(at, LLVMBuildTrunc(at, value, k->c->i32, ""), word_at(k, words, byte));
        value = LLVMBuildTrunc(at, high, k->c->i32, "");
        byte += 4;
    } else if (bytes < 4) {
        const uint32_t shift = byte % 4 * 8, own = ((1u << 8 * bytes) - 1) << shift;
        value =
            LLVMBuildShl(at, LLVMBuildZExt(at, value, k->c->i32, ""), wpi_const32(k->c, shift), "");
        LLVMValueRef others =
            LLVMBuildAnd(at, load_word(k, words, byte), wpi_const32(k->c, ~own), "");
        value = LLVMBuildOr(at, value, others, "");
    }
    LLVMBuildStore(at, value, word_at(k, words, byte));
}

static void rewrite_access(const wpi_cache *k, LLVMValueRef words, LLVMValueRef i,
                           const wpi_cache_note *note, uint32_t bytes, uint32_t turn) {
    LLVMBuilderRef at = k->c->builder;
    const uint32_t byte = turn * note->step_bytes + note->offset;
    const bool is_end = (note->line_turns >> turn & 1) != 0;
    LLVMPositionBuilderBefore(at, i);
    if (LLVMIsALoadInst(i)) {
        if (is_end) read_line(k, words, LLVMGetOperand(i, 0), byte);
        LLVMReplaceAllUsesWith(
            i, LLVMBuildBitCast(at, element(k, words, bytes, byte), LLVMTypeOf(i), ""));
    } else {
        set_element(k, words, LLVMBuildBitCast(at, LLVMGetOperand(i, 0), number_type(k, bytes), ""),
                    bytes, byte);
        if (is_end) write_line(k, words, LLVMGetOperand(i, 1), byte);
    }
    LLVMInstructionEraseFromParent(i);
}

void wpi_cache_run_turn(wpi_cache *k, LLVMBasicBlockRef block, uint32_t turn) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        const wpi_cache_note note = wpi_cache_noted(i);
        LLVMValueRef pointer;
        uint32_t bytes;
        bool is_write;
        if (note.run == 0 || !wpi_cache_describe(k->c, i, &pointer, &bytes, &is_write)) continue;
        LLVMValueRef *words = &k->words[note.run - 1];
        if (*words == NULL) {
            LLVMPositionBuilderBefore(k->c->builder,
                                      LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(k->body)));
            *words = LLVMBuildAlloca(k->c->builder,
                                     LLVMArrayType2(k->c->i32, WPI_RUN_BYTES_MAX / 4), "words");
        }
        rewrite_access(k, *words, i, &note, bytes, turn);
    }
}
