/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel becomes a state machine. Its values are in memory of the thread first (reg2mem), so
 * that any block can lead to any other; later passes bring them back into registers.
 *
 *     entry ─► head: next(done)? ──no──► return
 *               ▲ └─yes─► dispatch on state: start, point 1, … ; done: back to head
 *               │
 *     point p:  is there room for what may come before the next point? ─yes─► the code goes on
 *               └─no─► state = p ─► head
 *     barrier:  state = waits b ─► head; goes on when all threads wait or are done
 *     return:   state = done ─► head
 */
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/rewrite/stream.h"

enum { STATE_START = 0, STATE_WAITS = 0x40000000, STATE_DONE = 0x7fffffff };

typedef struct need {
    uint32_t reads[WPI_STREAM_ROWS], writes[WPI_STREAM_CLASSES]; /* reads: not of indices */
} need;

typedef struct cutter {
    wpi_stream *s;
    wpi_loops loops;
    bool *is_point;   /* [block]: control stops here, if there is no room */
    need *own, *most; /* [block]: its accesses; with those of the ways on to the next points */
    LLVMValueRef *barriers; /* calls, each the last of its block */
    uint32_t barrier_count;
    LLVMValueRef state, answer;
    LLVMBasicBlockRef head, dispatch;
} cutter;

/* ---- how many slots ---- */

static need count_own(LLVMBasicBlockRef block) {
    need n = {0};
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = LLVMGetNextInstruction(i)) {
        const int read = wpi_stream_read_class(i), write = wpi_stream_write_class(i);
        if (read >= 0) n.reads[wpi_stream_row_of(i)]++;
        if (write >= 0) n.writes[write]++;
    }
    return n;
}

static bool is_zero(const need *n) {
    static const need zero;
    return memcmp(n, &zero, sizeof zero) == 0;
}

/* Whether `to` grew. */
static bool raise_to(need *to, const need *own, const need *after) {
    const need before = *to;
    for (int k = 0; k < WPI_STREAM_ROWS; k++) {
        const uint32_t reads = own->reads[k] + after->reads[k];
        if (reads > to->reads[k]) to->reads[k] = reads;
    }
    for (int k = 0; k < WPI_STREAM_CLASSES; k++) {
        const uint32_t writes = own->writes[k] + after->writes[k];
        if (writes > to->writes[k]) to->writes[k] = writes;
    }
    return memcmp(&before, to, sizeof before) != 0;
}

/* Each loop with accesses has a point at its head, so no way between points is endless. */
static void find_most(cutter *t) {
    const wpi_loops *l = &t->loops;
    static const need zero;
    for (bool has_grown = true; has_grown;) {
        has_grown = false;
        for (uint32_t b = l->block_count; b-- > 0;) {
            LLVMValueRef end = LLVMGetBasicBlockTerminator(l->blocks[b]);
            has_grown = raise_to(&t->most[b], &t->own[b], &zero) || has_grown;
            for (unsigned n = 0; n < LLVMGetNumSuccessors(end); n++) {
                const uint32_t to = wpi_map_index(&l->index, LLVMGetSuccessor(end, n));
                if (!t->is_point[to])
                    has_grown = raise_to(&t->most[b], &t->own[b], &t->most[to]) || has_grown;
            }
        }
    }
}

static void note_need(wpi_stream_facts *facts, const need *n) {
    for (int k = 0; k < WPI_STREAM_ROWS; k++)
        if (n->reads[k] > facts->read_need[k]) facts->read_need[k] = n->reads[k];
    for (int k = 0; k < WPI_STREAM_CLASSES; k++)
        if (n->writes[k] > facts->write_need[k]) facts->write_need[k] = n->writes[k];
}

/* A loop that control enters at several blocks has no head. */
static wp_status check_reducible(cutter *t, wp_error *err) {
    const wpi_loops *l = &t->loops;
    for (uint32_t b = 0; b < l->block_count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(l->blocks[b]);
        for (unsigned n = 0; n < LLVMGetNumSuccessors(end); n++) {
            const uint32_t to = wpi_map_index(&l->index, LLVMGetSuccessor(end, n));
            if (to > b || wpi_loops_dominates(l, to, b)) continue;
            char *place = wpi_stream_place(end);
            const wp_status status = wpi_stream_need_windows(
                t->s, "a loop can be entered in its middle, at", place, err);
            wpi_free(place);
            return status;
        }
    }
    return WP_STATUS_OK;
}

/* ---- the kernel's own barriers ---- */

static bool is_barrier(LLVMValueRef i) {
    LLVMValueRef callee = wpi_called_function(i);
    size_t length;
    return callee != NULL && strcmp(LLVMGetValueName2(callee, &length), "llvm.nvvm.barrier0") == 0;
}

/* The code behind a barrier becomes a block of its own. */
static void find_barriers(cutter *t) {
    uint32_t count = 0;
    for (int pass = 0; pass < 2; pass++) {
        if (pass == 1) t->barriers = wpi_must_calloc(count + 1, sizeof *t->barriers);
        LLVMBasicBlockRef next;
        for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(t->s->body); b; b = next) {
            next = LLVMGetNextBasicBlock(b);
            for (LLVMValueRef i = LLVMGetFirstInstruction(b), after; i; i = after) {
                after = LLVMGetNextInstruction(i);
                if (!is_barrier(i)) continue;
                count += pass == 0;
                if (pass == 0) continue;
                t->barriers[t->barrier_count++] = i;
                (void)wpi_block_split_before(after); /* what comes before moves, the barrier too */
            }
        }
    }
}

static wp_status find_points(cutter *t, wp_error *err) {
    const wpi_loops *l = &t->loops;
    WP_TRY(check_reducible(t, err));
    for (uint32_t b = 0; b < l->block_count; b++) {
        t->own[b] = count_own(l->blocks[b]);
    }
    for (uint32_t i = 0; i < l->loop_count; i++)
        for (uint32_t b = 0; b < l->block_count && !t->is_point[l->loops[i].header]; b++)
            if (l->loops[i].contains[b] && !is_zero(&t->own[b]))
                t->is_point[l->loops[i].header] = true;
    for (uint32_t i = 0; i < t->barrier_count; i++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(LLVMGetInstructionParent(t->barriers[i]));
        t->is_point[wpi_map_index(&l->index, LLVMGetSuccessor(end, 0))] = true;
    }
    find_most(t);
    return WP_STATUS_OK;
}

/* ---- turns of loops, for patterns ---- */

/* The smallest loop with the block; loop_count: none. Several back edges of one head are one loop.
 */
static uint32_t innermost(const wpi_loops *l, uint32_t block) {
    uint32_t best = l->loop_count, best_size = UINT32_MAX;
    for (uint32_t i = 0; i < l->loop_count; i++) {
        uint32_t size = 0;
        if (!l->loops[i].contains[block]) continue;
        for (uint32_t b = 0; b < l->block_count; b++)
            size += l->loops[i].contains[b];
        if (size < best_size) {
            best = i;
            best_size = size;
        }
    }
    if (best == l->loop_count) return best;
    for (uint32_t i = 0; i < l->loop_count; i++)
        if (l->loops[i].header == l->loops[best].header) return i;
    return best;
}

static void set_number(const cutter *t, LLVMValueRef read, unsigned operand, uint32_t value) {
    LLVMSetOperand(read, operand, wpi_const32(t->s->c, value));
}

/* Reads of one row and loop, in the order of blocks, are the sites of its turn. */
static void number_sites(const cutter *t) {
    const wpi_loops *l = &t->loops;
    const uint32_t loops = l->loop_count + 1;
    uint32_t *counts = wpi_must_calloc((size_t)loops * WPI_STREAM_ROWS, sizeof *counts);
    for (int pass = 0; pass < 2; pass++) { /* positions, then how many there are */
        for (uint32_t b = 0; b < l->block_count; b++) {
            if (is_zero(&t->own[b])) continue;
            const uint32_t loop = innermost(l, b);
            for (LLVMValueRef i = LLVMGetFirstInstruction(l->blocks[b]); i;
                 i = LLVMGetNextInstruction(i)) {
                const int row = wpi_stream_row_of(i);
                if (row < 0) continue;
                uint32_t *count = &counts[loop * WPI_STREAM_ROWS + (uint32_t)row];
                if (pass == 0) {
                    set_number(t, i, WPI_STREAM_READ_LOOP, loop);
                    set_number(t, i, WPI_STREAM_READ_SITE, (*count)++);
                } else {
                    set_number(t, i, WPI_STREAM_READ_SITES,
                               *count <= WPI_STREAM_SITES ? *count : 0);
                }
            }
        }
    }
    wpi_free(counts);
}

/* ---- the machine ---- */

static void leave(const cutter *t, uint32_t state) {
    LLVMBuilderRef at = t->s->c->builder;
    LLVMBuildStore(at, wpi_const32(t->s->c, state), t->state);
    LLVMBuildBr(at, t->head);
}

static LLVMValueRef ask(const cutter *t, const char *name, uint32_t k, uint32_t count,
                        LLVMValueRef so_far) {
    wpi_compile *c = t->s->c;
    LLVMValueRef thread = LLVMGetParam(t->s->body, LLVMCountParams(t->s->body) - 1);
    LLVMValueRef args[] = {thread, wpi_const32(c, k), wpi_const32(c, count)};
    LLVMValueRef answer = wpi_stream_call(c, name, c->i32, args, 3);
    return so_far != NULL ? LLVMBuildAnd(c->builder, so_far, answer, "") : answer;
}

/* At the end of `from`: the writes that may come are counted. */
static void go_on(const cutter *t, LLVMBasicBlockRef from, LLVMBasicBlockRef to, const need *most) {
    wpi_compile *c = t->s->c;
    LLVMValueRef thread = LLVMGetParam(t->s->body, LLVMCountParams(t->s->body) - 1);
    LLVMPositionBuilderAtEnd(c->builder, from);
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++) {
        if (most->writes[k] == 0) continue;
        LLVMValueRef args[] = {thread, wpi_const32(c, k), wpi_const32(c, most->writes[k])};
        (void)wpi_stream_call(c, "allow", c->none, args, 3);
    }
    LLVMBuildBr(c->builder, to);
}

/* Code that `block` begins with from now on. Returns the new first block. */
static LLVMBasicBlockRef add_point(const cutter *t, LLVMBasicBlockRef block, const need *most,
                                   uint32_t state) {
    wpi_compile *c = t->s->c;
    LLVMBasicBlockRef front = wpi_block_split_before(LLVMGetFirstInstruction(block));
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMBasicBlockRef enter = LLVMInsertBasicBlockInContext(c->context, block, "room");
    LLVMBasicBlockRef full = LLVMInsertBasicBlockInContext(c->context, block, "full");
    LLVMValueRef room = NULL;
    LLVMPositionBuilderAtEnd(c->builder, front);
    for (uint32_t k = 0; k < WPI_STREAM_ROWS; k++) {
        if (most->reads[k] != 0) room = ask(t, "can_read", k, most->reads[k], room);
        if (k < WPI_STREAM_CLASSES && most->writes[k] != 0)
            room = ask(t, "can_write", k, most->writes[k], room);
    }
    LLVMValueRef has_room =
        LLVMBuildICmp(c->builder, LLVMIntNE, room, wpi_const32(c, 0), "has.room");
    LLVMBuildCondBr(c->builder, has_room, enter, full);
    LLVMPositionBuilderAtEnd(c->builder, full);
    leave(t, state);
    go_on(t, enter, block, most);
    return front;
}

/* Memory of the thread is made once: in the first block. */
static void move_memory(LLVMBasicBlockRef from, LLVMBuilderRef to) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(from), next; i; i = next) {
        next = LLVMGetNextInstruction(i);
        if (!LLVMIsAAllocaInst(i)) continue;
        LLVMInstructionRemoveFromParent(i);
        LLVMInsertIntoBuilder(to, i);
    }
}

static void end_threads(const cutter *t) {
    const wpi_loops *l = &t->loops;
    for (uint32_t b = 0; b < l->block_count; b++) {
        LLVMValueRef end = LLVMGetBasicBlockTerminator(l->blocks[b]);
        if (!LLVMIsAReturnInst(end)) continue;
        LLVMInstructionEraseFromParent(end);
        LLVMPositionBuilderAtEnd(t->s->c->builder, l->blocks[b]);
        leave(t, STATE_DONE);
    }
}

/* WPI_STREAM_WANTS, _DONE or _WAITS, of a state. */
static LLVMValueRef kind_of(const cutter *t, LLVMValueRef state) {
    wpi_compile *c = t->s->c;
    LLVMValueRef is_done =
        LLVMBuildICmp(c->builder, LLVMIntEQ, state, wpi_const32(c, STATE_DONE), "");
    LLVMValueRef waits =
        LLVMBuildICmp(c->builder, LLVMIntUGE, state, wpi_const32(c, STATE_WAITS), "");
    LLVMValueRef other = LLVMBuildSelect(c->builder, waits, wpi_const32(c, WPI_STREAM_WAITS),
                                         wpi_const32(c, WPI_STREAM_WANTS), "");
    return LLVMBuildSelect(c->builder, is_done, wpi_const32(c, WPI_STREAM_DONE), other, "");
}

/* In place of the barrier the thread leaves; it comes back when the answer says so. */
static void add_barrier(const cutter *t, LLVMValueRef branch, uint32_t number,
                        LLVMBasicBlockRef *entries) {
    wpi_compile *c = t->s->c;
    LLVMValueRef call = t->barriers[number];
    LLVMBasicBlockRef block = LLVMGetInstructionParent(call);
    LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
    LLVMBasicBlockRef after = LLVMGetSuccessor(end, 0);
    const uint32_t index = wpi_map_index(&t->loops.index, after);
    if (index != UINT32_MAX) after = entries[index]; /* else it is a point's front already */
    LLVMInstructionEraseFromParent(end);
    LLVMInstructionEraseFromParent(call);
    LLVMPositionBuilderAtEnd(c->builder, block);
    leave(t, STATE_WAITS + number);
    LLVMBasicBlockRef waits = LLVMInsertBasicBlockInContext(c->context, t->head, "waits");
    LLVMPositionBuilderAtEnd(c->builder, waits);
    LLVMValueRef is_over =
        LLVMBuildICmp(c->builder, LLVMIntEQ, t->answer, wpi_const32(c, WPI_STREAM_RELEASED), "");
    LLVMBuildCondBr(c->builder, is_over, after, t->head);
    LLVMAddCase(branch, wpi_const32(c, STATE_WAITS + number), waits);
}

static void build_machine(cutter *t) {
    wpi_stream *s = t->s;
    wpi_compile *c = s->c;
    const wpi_loops *l = &t->loops;
    LLVMBasicBlockRef first = l->blocks[0];
    LLVMBasicBlockRef entry = LLVMInsertBasicBlockInContext(c->context, first, "entry");
    t->head = LLVMInsertBasicBlockInContext(c->context, first, "head");
    t->dispatch = LLVMInsertBasicBlockInContext(c->context, first, "dispatch");
    LLVMBasicBlockRef start = LLVMInsertBasicBlockInContext(c->context, first, "start");
    LLVMBasicBlockRef last = LLVMAppendBasicBlockInContext(c->context, s->body, "last");
    LLVMValueRef thread = LLVMGetParam(s->body, LLVMCountParams(s->body) - 1);

    LLVMPositionBuilderAtEnd(c->builder, entry);
    t->state = LLVMBuildAlloca(c->builder, c->i32, "state");
    move_memory(first, c->builder);
    LLVMValueRef extra = wpi_stream_call(c, "is_extra", c->i32, &thread, 1);
    LLVMValueRef is_extra = LLVMBuildICmp(c->builder, LLVMIntNE, extra, wpi_const32(c, 0), "");
    LLVMBuildStore(c->builder,
                   LLVMBuildSelect(c->builder, is_extra, wpi_const32(c, STATE_DONE),
                                   wpi_const32(c, STATE_START), ""),
                   t->state);
    LLVMBuildBr(c->builder, t->head);

    LLVMPositionBuilderAtEnd(c->builder, t->head);
    LLVMValueRef state = LLVMBuildLoad2(c->builder, c->i32, t->state, "");
    LLVMValueRef next = wpi_compile_declare(c, WPI_STREAM_NEXT, c->i32, &c->i32, 1);
    LLVMValueRef kind = kind_of(t, state);
    t->answer = LLVMBuildCall2(c->builder, wpi_function_type(next), next, &kind, 1, "answer");
    LLVMValueRef goes_on =
        LLVMBuildICmp(c->builder, LLVMIntNE, t->answer, wpi_const32(c, WPI_STREAM_ENDS), "");
    LLVMBuildCondBr(c->builder, goes_on, t->dispatch, last);

    LLVMPositionBuilderAtEnd(c->builder, t->dispatch);
    LLVMValueRef branch =
        LLVMBuildSwitch(c->builder, state, t->head, l->block_count + t->barrier_count + 1);
    LLVMAddCase(branch, wpi_const32(c, STATE_START), start);
    go_on(t, start, first, &t->most[0]);
    LLVMPositionBuilderAtEnd(c->builder, last);
    LLVMBuildRetVoid(c->builder);

    end_threads(t);
    note_need(&s->facts, &t->most[0]);
    LLVMBasicBlockRef *entries = wpi_must_calloc(l->block_count, sizeof *entries); /* of points */
    for (uint32_t b = 0, count = STATE_START; b < l->block_count; b++) {
        entries[b] = l->blocks[b];
        if (!t->is_point[b] || is_zero(&t->most[b])) continue;
        note_need(&s->facts, &t->most[b]);
        entries[b] = add_point(t, l->blocks[b], &t->most[b], ++count);
        LLVMAddCase(branch, wpi_const32(c, count), entries[b]);
    }
    for (uint32_t i = 0; i < t->barrier_count; i++)
        add_barrier(t, branch, i, entries);
    wpi_free(entries);
}

wp_status wpi_stream_cut(wpi_stream *s, wp_error *err) {
    cutter t = {.s = s};
    find_barriers(&t); /* first, so that no value is left in registers across one */
    s->has_barriers = t.barrier_count != 0;
    wp_status status = wpi_compile_run(s->c, "function(reg2mem)", NULL, err);
    wpi_loops_init(&t.loops, s->body);
    const uint32_t count = t.loops.block_count;
    t.is_point = wpi_must_calloc(count, sizeof *t.is_point);
    t.own = wpi_must_calloc(count, sizeof *t.own);
    t.most = wpi_must_calloc(count, sizeof *t.most);
    if (status == WP_STATUS_OK) status = find_points(&t, err);
    if (status == WP_STATUS_OK) {
        number_sites(&t);
        build_machine(&t);
    }
    wpi_free(t.barriers);
    wpi_free(t.is_point);
    wpi_free(t.own);
    wpi_free(t.most);
    wpi_loops_deinit(&t.loops);
    return status;
}
