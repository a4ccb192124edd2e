/* SPDX-License-Identifier: Apache-2.0 */
/* Generates the code that writes the words.
 *
 *     block:    if (cursor + words > lane->limit) full(lane, words), cursor = lane->cursor
 *               cursor[0] = number of the block
 *               cursor[1] = address of its first access …
 *               cursor += words
 *
 * all of them WP_TRACE_STRIDE apart: the words of a warp's lanes are interleaved. The cursor is a
 * local variable (later a register); it is stored to lane->cursor where others may read it: before
 * instructions that may stop the thread, before calls and returns. A function gets its thread's
 * lane once. */
#include <stddef.h>
#include <string.h>

#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/pass/trace/trace_pass.h"

typedef struct recorder {
    wpi_compile *c;
    LLVMBuilderRef at;
    LLVMValueRef lane;   /* wp_trace_lane * */
    LLVMValueRef cursor; /* the variable */
} recorder;

static LLVMValueRef call(recorder *r, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                         unsigned count) {
    LLVMTypeRef types[2];
    for (unsigned a = 0; a < count; a++)
        types[a] = LLVMTypeOf(args[a]);
    LLVMValueRef function = wpi_compile_declare(r->c, name, result, types, count);
    wpi_function_attribute(r->c, function, "nounwind");
    return LLVMBuildCall2(r->at, wpi_function_type(function), function, args, count, "");
}

/* ---- the cursor ---- */

static LLVMValueRef lane_field(recorder *r, size_t offset) {
    LLVMValueRef index = wpi_const64(r->c, offset);
    return LLVMBuildInBoundsGEP2(r->at, r->c->i8, r->lane, &index, 1, "");
}

static void read_cursor(recorder *r) {
    LLVMValueRef place = lane_field(r, offsetof(wp_trace_lane, cursor));
    LLVMBuildStore(r->at, LLVMBuildLoad2(r->at, r->c->ptr, place, ""), r->cursor);
}

static void publish_cursor(recorder *r) {
    LLVMBuildStore(r->at, LLVMBuildLoad2(r->at, r->c->ptr, r->cursor, ""),
                   lane_field(r, offsetof(wp_trace_lane, cursor)));
}

static void start_function(recorder *r, LLVMValueRef function) {
    LLVMPositionBuilderBefore(r->at, LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function)));
    r->cursor = LLVMBuildAlloca(r->at, r->c->ptr, "cursor");
    LLVMValueRef ask = wpi_compile_declare(r->c, "wp_rt_trace_lane", r->c->ptr, NULL, 0);
    wpi_lower_mark_pure(r->c, ask); /* constant within a function */
    r->lane = LLVMBuildCall2(r->at, wpi_function_type(ask), ask, NULL, 0, "lane");
    read_cursor(r);
}

/* ---- blocks ---- */

static LLVMValueRef word_place(recorder *r, LLVMValueRef cursor, uint32_t word) {
    LLVMValueRef index = wpi_const64(r->c, (uint64_t)word * WP_TRACE_STRIDE);
    return LLVMBuildInBoundsGEP2(r->at, r->c->i64, cursor, &index, 1, "");
}

static void write_word(recorder *r, LLVMValueRef cursor, uint32_t word, LLVMValueRef value) {
    LLVMBuildStore(r->at, value, word_place(r, cursor, word));
}

/* The first instruction of the block after phis, allocas and the code of start_function. */
static LLVMValueRef first_of(const recorder *r, LLVMBasicBlockRef block) {
    LLVMValueRef i = LLVMGetFirstInstruction(block);
    if (LLVMGetInstructionParent(r->cursor) == block) {
        while (i != r->lane)
            i = LLVMGetNextInstruction(i);
        while (!LLVMIsAStoreInst(i)) /* of read_cursor */
            i = LLVMGetNextInstruction(i);
        i = LLVMGetNextInstruction(i);
    }
    while (LLVMIsAPHINode(i) || LLVMIsAAllocaInst(i))
        i = LLVMGetNextInstruction(i);
    return i;
}

/* Builds the branch around the call that makes room. Returns the block after it, where the builder
 * is. */
static void make_room(recorder *r, LLVMValueRef first, uint32_t words) {
    wpi_compile *c = r->c;
    LLVMBasicBlockRef front = wpi_block_split_before(first);
    LLVMBasicBlockRef rest = LLVMGetInstructionParent(first);
    LLVMBasicBlockRef full = LLVMInsertBasicBlockInContext(c->context, rest, "full");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(r->at, front);
    LLVMValueRef cursor = LLVMBuildLoad2(r->at, c->ptr, r->cursor, "");
    LLVMValueRef limit =
        LLVMBuildLoad2(r->at, c->ptr, lane_field(r, offsetof(wp_trace_lane, limit)), "");
    LLVMValueRef is_full =
        LLVMBuildICmp(r->at, LLVMIntUGT, word_place(r, cursor, words), limit, "");
    wpi_branch_mark_rare(c->context, LLVMBuildCondBr(r->at, is_full, full, rest));
    LLVMPositionBuilderAtEnd(r->at, full);
    publish_cursor(r);
    call(r, "wp_rt_trace_full", c->none, (LLVMValueRef[]){r->lane, wpi_const32(c, words)}, 2);
    read_cursor(r);
    LLVMBuildBr(r->at, rest);
    LLVMPositionBuilderBefore(r->at, first);
}

/* The instruction before which an access's word is written: the access, or for a query of a
 * texture's place, whose result is the word, the next instruction. */
static LLVMValueRef made_by(const tracer *t, LLVMValueRef access) {
    return wpi_trace_access(t, access).pointer == access ? LLVMGetNextInstruction(access) : access;
}

static LLVMValueRef address(recorder *r, LLVMValueRef pointer) {
    if (LLVMTypeOf(pointer) != r->c->ptr)
        pointer = LLVMBuildAddrSpaceCast(r->at, pointer, r->c->ptr, "");
    return LLVMBuildPtrToInt(r->at, pointer, r->c->i64, "");
}

static LLVMValueRef address_word(recorder *r, const trace_access *a, LLVMValueRef access) {
    if (a->pointer == access) return access;
    LLVMValueRef word = address(r, a->pointer);
    return a->space == WP_TRACE_CONST ? LLVMBuildSub(r->at, word, address(r, a->base), "") : word;
}

/* Replaces a clock read by one of the simulated GPU's clock. */
static void replace_clock(recorder *r, LLVMValueRef end, bool is_ns) {
    LLVMPositionBuilderBefore(r->at, end);
    LLVMValueRef args[] = {r->lane, wpi_const32(r->c, is_ns)};
    LLVMReplaceAllUsesWith(end, call(r, "wp_rt_trace_clock", r->c->i64, args, 2));
    LLVMInstructionEraseFromParent(end);
}

/* Stores the cursor where other code may use it: before the block's end, or when threads run in
 * step, before `made`, at which the thread stops. */
static void finish_block(recorder *r, const tracer *t, const trace_block *block,
                         LLVMValueRef made) {
    bool is_ns;
    LLVMValueRef end = block->end;
    if (t->is_in_step && block->access_count && !end) {
        LLVMPositionBuilderBefore(r->at, made);
        publish_cursor(r);
        call(r, "wp_rt_trace_step", r->c->none, &r->lane, 1);
        read_cursor(r);
        return;
    }
    LLVMValueRef last = end ? end : LLVMGetBasicBlockTerminator(block->code);
    if (!end && LLVMGetNumSuccessors(last) > 0) return;
    LLVMPositionBuilderBefore(r->at, last);
    publish_cursor(r);
    if (!end) return;
    LLVMPositionBuilderBefore(r->at, LLVMGetNextInstruction(end));
    read_cursor(r);
    if (wpi_trace_is_clock(end, &is_ns)) replace_clock(r, end, is_ns);
}

/* wpi_trace_barrier_word */
static LLVMValueRef barrier_word(recorder *r, LLVMValueRef stop) {
    LLVMPositionBuilderBefore(r->at, stop);
    LLVMValueRef count = LLVMBuildZExt(r->at, wpi_trace_barrier_count(stop), r->c->i64, "");
    LLVMValueRef high = LLVMBuildShl(r->at, count, wpi_const64(r->c, 32), "");
    return LLVMBuildOr(r->at, high, wpi_trace_barrier_number(stop), "");
}

static void record_block(recorder *r, const tracer *t, uint32_t number) {
    const trace_block *block = &t->blocks[number];
    uint32_t words = 1 + block->row.access_count;
    LLVMValueRef first = first_of(r, block->code);
    make_room(r, first, words);
    LLVMValueRef made = first; /* where the last word is written */
    if (block->access_count) made = made_by(t, block->accesses[block->access_count - 1]);
    LLVMValueRef cursor = LLVMBuildLoad2(r->at, r->c->ptr, r->cursor, "");
    write_word(r, cursor, 0, wpi_const64(r->c, number));
    for (uint32_t a = 0; a < block->access_count; a++) {
        LLVMValueRef access = block->accesses[a];
        LLVMPositionBuilderBefore(r->at, made_by(t, access));
        trace_access recorded = wpi_trace_access(t, access);
        write_word(r, cursor, 1 + a, address_word(r, &recorded, access));
    }
    if (wpi_trace_has_barrier_word(block))
        write_word(r, cursor, words - 1, barrier_word(r, block->end));
    LLVMPositionBuilderBefore(r->at, made);
    LLVMBuildStore(r->at, word_place(r, cursor, words), r->cursor);
    finish_block(r, t, block, made);
}

void wpi_trace_record(tracer *t, LLVMValueRef function, uint32_t first) {
    recorder r = {.c = t->c, .at = t->c->builder};
    start_function(&r, function);
    for (uint32_t b = first; b < t->block_count; b++)
        record_block(&r, t, b);
}
