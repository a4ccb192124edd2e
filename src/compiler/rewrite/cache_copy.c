/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that are alive between blocks are in the thread's memory here, so the copies share them
 * and any may go on where another left off:
 *
 *     ─► begin ─► shared header ◄──────────────────────────────────┐
 *                   │  │                                           │
 *                   │  └─► enter: which mode? ─► plain copy ──────►┤
 *                   │        │          └──────► cached copy ─────►┤
 *                   │        ▼                      ▲              │
 *                   │      header' ─ 300? ─► choose ┴► plain copy ►┤
 *                   │        ▲ │                                   │
 *                   │        └─┴ monitored copy ──────────────────►┘
 *                   ▼
 *                 flush ─► exit
 *
 * A nest that is one loop has no shared part.
 */
#include <string.h>

#include "base/must.h"
#include "compiler/ir/clone.h"
#include "compiler/ir/edit.h"
#include "compiler/rewrite/cache.h"

typedef struct blocks {
    LLVMBasicBlockRef *list;
    uint32_t count;
    wpi_map inside; /* the same */
} blocks;

typedef struct nest {
    wpi_cache *k;
    LLVMBasicBlockRef header;
    blocks all;    /* with the copies */
    wpi_map apart; /* blocks of copied loops, and copies */
} nest;

static void add_block(blocks *to, LLVMBasicBlockRef block) {
    if (wpi_map_has(&to->inside, block)) return;
    wpi_map_set_index(&to->inside, block, to->count);
    to->list = wpi_must_realloc(to->list, (to->count + 1) * sizeof *to->list);
    to->list[to->count++] = block;
}

static void free_blocks(blocks *b) {
    wpi_free(b->list);
    wpi_map_deinit(&b->inside);
}

static blocks blocks_of(const wpi_cache_loops *l, LLVMBasicBlockRef header) {
    blocks found = {0};
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->loops[i].header != header) continue;
        for (uint32_t b = 0; b < l->found.block_count; b++)
            if (l->loops[i].contains[b]) add_block(&found, l->found.blocks[b]);
    }
    return found;
}

static LLVMValueRef call(wpi_cache *k, const char *name, LLVMTypeRef result, LLVMValueRef *args,
                         unsigned count) {
    LLVMTypeRef types[9];
    for (unsigned i = 0; i < count; i++)
        types[i] = LLVMTypeOf(args[i]);
    LLVMValueRef function = wpi_compile_declare(k->c, name, result, types, count);
    return LLVMBuildCall2(k->c->builder, wpi_function_type(function), function, args, count, "");
}

static LLVMValueRef how(const wpi_cache *k) {
    return wpi_const32(k->c, k->facts.ways | k->facts.pad_bytes << WPI_CACHE_PAD_SHIFT);
}

static void call_flush(wpi_cache *k, const char *name) {
    LLVMValueRef args[] = {k->thread, wpi_const32(k->c, k->used), wpi_const32(k->c, k->written),
                           how(k)};
    (void)call(k, name, k->c->none, args, 4);
}

static void call_end(wpi_cache *k) {
    LLVMValueRef args[] = {k->thread, k->counts, wpi_const32(k->c, k->used),
                           wpi_const32(k->c, k->written), how(k)};
    (void)call(k, "__wp_cache_end", k->c->none, args, 5);
}

/* What a thread chooses from, and with which facts. */
static LLVMValueRef call_choosing(wpi_cache *k, const char *name, LLVMTypeRef result) {
    LLVMValueRef args[] = {k->thread,
                           k->counts,
                           k->lines,
                           k->offset,
                           wpi_const32(k->c, k->used),
                           wpi_const32(k->c, k->written),
                           how(k)};
    return call(k, name, result, args, 7);
}

static LLVMBasicBlockRef new_block(const wpi_cache *k, LLVMBasicBlockRef before, const char *name) {
    return LLVMInsertBasicBlockInContext(k->c->context, before, name);
}

/* Edges into `header` from blocks outside of `inside` lead to `to`. */
static void turn_entries(const wpi_cache *k, const wpi_map *inside, LLVMBasicBlockRef header,
                         LLVMBasicBlockRef to) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->body); b; b = LLVMGetNextBasicBlock(b)) {
        if (b == to || wpi_map_has(inside, b)) continue;
        LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(last); s++)
            if (LLVMGetSuccessor(last, s) == header) LLVMSetSuccessor(last, s, to);
    }
}

/* ---- ways into a nest and out of it ---- */

static void begin_nest(nest *n) {
    wpi_cache *k = n->k;
    LLVMBasicBlockRef start = new_block(k, n->header, "begin");
    LLVMPositionBuilderAtEnd(k->c->builder, start);
    LLVMValueRef args[] = {k->thread, how(k)};
    (void)call(k, "__wp_cache_begin", k->c->none, args, 2);
    LLVMBuildBr(k->c->builder, n->header);
    turn_entries(k, &n->all.inside, n->header, start);
}

/* All ways out lead through one flush: `way` says where to from there. */
static void end_nest(nest *n) {
    wpi_cache *k = n->k;
    wpi_compile *c = k->c;
    LLVMBasicBlockRef end = new_block(k, n->header, "ended");
    blocks exits = {0};
    for (uint32_t b = 0; b < n->all.count; b++) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(n->all.list[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(last); s++) {
            LLVMBasicBlockRef to = LLVMGetSuccessor(last, s);
            if (to == end || wpi_map_has(&n->all.inside, to)) continue;
            add_block(&exits, to);
            LLVMBasicBlockRef between = wpi_edge_split(n->all.list[b], s);
            LLVMValueRef jump = LLVMGetBasicBlockTerminator(between);
            LLVMPositionBuilderBefore(c->builder, jump);
            LLVMBuildStore(c->builder, wpi_const32(c, wpi_map_index(&exits.inside, to)), k->way);
            LLVMSetSuccessor(jump, 0, end);
        }
    }
    LLVMPositionBuilderAtEnd(c->builder, end);
    call_end(k);
    if (exits.count == 0) { /* an endless loop */
        LLVMBuildUnreachable(c->builder);
    } else {
        LLVMValueRef way = LLVMBuildLoad2(c->builder, c->i32, k->way, "");
        LLVMValueRef jump = LLVMBuildSwitch(c->builder, way, exits.list[0], exits.count);
        for (uint32_t e = 1; e < exits.count; e++)
            LLVMAddCase(jump, wpi_const32(c, e), exits.list[e]);
    }
    free_blocks(&exits);
}

/* ---- accesses ---- */

static void simulate(wpi_cache *k, LLVMValueRef i) {
    const wpi_cache_note note = wpi_cache_noted(i);
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    if (note.act != WPI_CACHE_ACCESS || !wpi_cache_describe(k->c, i, &pointer, &bytes, &is_write))
        return;
    LLVMValueRef args[] = {k->thread, pointer, wpi_const32(k->c, note.structure), how(k)};
    LLVMPositionBuilderBefore(k->c->builder, LLVMGetNextInstruction(i));
    (void)call(k, "__wp_cache_simulate", k->c->none, args, 4);
}

/* What the front end knew of the address holds no longer: it may be in a line. */
static void forget(LLVMValueRef i, unsigned most) {
    static const char *const kinds[] = {"tbaa",         "tbaa.struct",      "alias.scope",
                                        "noalias",      "invariant.load",   "invariant.group",
                                        "access_group", "llvm.access.group"};
    LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(i));
    for (size_t n = 0; n < sizeof kinds / sizeof *kinds; n++) {
        unsigned length = 0;
        while (kinds[n][length] != '\0')
            length++;
        LLVMSetMetadata(i, LLVMGetMDKindIDInContext(context, kinds[n], length), NULL);
    }
    if (LLVMGetAlignment(i) > most) LLVMSetAlignment(i, most);
}

/* Of an access in a line, whose place in shared memory is aligned to the largest power of two that
 * divides the length of lines and the gaps between them. */
static unsigned alignment_most(const wpi_cache *k) {
    const uint32_t all = k->facts.line_bytes | k->facts.pad_bytes | WPI_CACHE_ALIGN_BYTES;
    return all & (~all + 1);
}

static void rewrite(wpi_cache *k, LLVMValueRef i, bool is_shared) {
    wpi_compile *c = k->c;
    const wpi_cache_note note = wpi_cache_noted(i);
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    LLVMPositionBuilderBefore(c->builder, i);
    if (note.act == WPI_CACHE_FLUSH)
        call_flush(k, is_shared ? "__wp_cache_flush_any" : "__wp_cache_flush");
    if (note.act != WPI_CACHE_ACCESS && note.act != WPI_CACHE_OUTSIDE) return;
    if (!wpi_cache_describe(c, i, &pointer, &bytes, &is_write)) return;
    LLVMValueRef others = wpi_const32(c, note.others), written = wpi_const32(c, k->written);
    LLVMValueRef size = wpi_const32(c, bytes), writes = wpi_const32(c, is_write);
    if (note.act == WPI_CACHE_OUTSIDE) {
        LLVMValueRef args[] = {k->thread, pointer, others, written, size, writes, how(k)};
        if (note.others != 0)
            (void)call(k, is_shared ? "__wp_cache_outside_any" : "__wp_cache_outside", c->none,
                       args, 7);
        return;
    }
    LLVMValueRef number = wpi_const32(c, note.structure);
    LLVMValueRef args[] = {k->thread, pointer, number, others, written, size, writes, how(k)};
    LLVMValueRef place =
        call(k, is_shared ? "__wp_cache_access_any" : "__wp_cache_access", c->ptr, args, 8);
    LLVMSetOperand(i, is_write ? 1 : 0, place);
    forget(i, alignment_most(k));
}

static void cache(wpi_cache *k, LLVMValueRef i) {
    rewrite(k, i, false);
}

static void share(wpi_cache *k, LLVMValueRef i) {
    rewrite(k, i, true);
}

static void for_accesses(LLVMBasicBlockRef block, wpi_cache *k,
                         void (*visit)(wpi_cache *, LLVMValueRef)) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        visit(k, i);
    }
}

static void for_blocks(const blocks *b, const wpi_map *made, wpi_cache *k,
                       void (*visit)(wpi_cache *, LLVMValueRef)) {
    for (uint32_t i = 0; i < b->count; i++)
        for_accesses(made != NULL ? wpi_map_get(made, b->list[i]) : b->list[i], k, visit);
}

/* ---- the loops of a nest ---- */

/* The monitored copy, which is the original, is left at its header for another copy. */
static void leave(nest *n, const wpi_cache_choice *loop, LLVMBasicBlockRef cached,
                  LLVMBasicBlockRef plain) {
    wpi_cache *k = n->k;
    wpi_compile *c = k->c;
    LLVMBasicBlockRef front = wpi_block_split_before(LLVMGetFirstInstruction(loop->header));
    LLVMBasicBlockRef choose = new_block(k, loop->header, "choose");
    add_block(&n->all, front);
    add_block(&n->all, choose);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(c->builder, front);
    LLVMValueRef args[] = {k->thread, wpi_const32(c, loop->accesses)};
    LLVMValueRef ends = call(k, "__wp_cache_turn", c->i32, args, 2);
    LLVMValueRef is_end = LLVMBuildICmp(c->builder, LLVMIntNE, ends, wpi_const32(c, 0), "");
    LLVMBuildCondBr(c->builder, is_end, choose, loop->header);
    LLVMPositionBuilderAtEnd(c->builder, choose);
    LLVMValueRef mode = call_choosing(k, "__wp_cache_choose", c->i32);
    LLVMValueRef is_cached =
        LLVMBuildICmp(c->builder, LLVMIntEQ, mode, wpi_const32(c, WPI_CACHE_CACHED), "");
    LLVMBuildCondBr(c->builder, is_cached, cached, plain);
}

static LLVMBasicBlockRef enter(nest *n, const blocks *loop, LLVMBasicBlockRef header,
                               LLVMBasicBlockRef cached, LLVMBasicBlockRef plain) {
    wpi_cache *k = n->k;
    wpi_compile *c = k->c;
    LLVMBasicBlockRef start = new_block(k, header, "enter");
    turn_entries(k, &loop->inside, header, start);
    add_block(&n->all, start);
    wpi_map_set_index(&n->apart, start, 0);
    LLVMPositionBuilderAtEnd(c->builder, start);
    LLVMValueRef mode = call_choosing(k, "__wp_cache_enter", c->i32);
    LLVMValueRef jump = LLVMBuildSwitch(c->builder, mode, header, 2);
    LLVMAddCase(jump, wpi_const32(c, WPI_CACHE_CACHED), cached);
    LLVMAddCase(jump, wpi_const32(c, WPI_CACHE_PLAIN), plain);
    if (n->header == header) n->header = start;
    return start;
}

static void clone(nest *n, const blocks *loop, LLVMBasicBlockRef header, wpi_map *made) {
    wpi_map values = {0};
    wpi_clone_blocks(loop->list, loop->count, header, &values, made);
    wpi_map_deinit(&values);
    for (uint32_t b = 0; b < loop->count; b++) {
        LLVMBasicBlockRef copy = wpi_map_get(made, loop->list[b]);
        add_block(&n->all, copy);
        wpi_map_set_index(&n->apart, copy, 0);
        wpi_map_set_index(&n->apart, loop->list[b], 0);
    }
}

/* ---- runs (cache_run.c) ---- */

static LLVMValueRef run_call(LLVMBasicBlockRef header) {
    for (LLVMValueRef i = LLVMGetFirstInstruction(header); i; i = LLVMGetNextInstruction(i)) {
        size_t length;
        LLVMValueRef callee = LLVMIsACallInst(i) ? wpi_called_function(i) : NULL;
        if (callee != NULL && strcmp(LLVMGetValueName2(callee, &length), WPI_CACHE_RUN_CALL) == 0)
            return i;
    }
    return NULL;
}

static void forget_run_call(LLVMBasicBlockRef header) {
    LLVMValueRef function = wpi_called_function(run_call(header));
    LLVMInstructionEraseFromParent(run_call(header));
    if (LLVMGetFirstUse(function) == NULL) LLVMDeleteFunction(function);
}

/* The header ends with a branch by what was computed for it: argument `which` of the call. */
static void branch_by(wpi_cache *k, LLVMBasicBlockRef header, unsigned which, LLVMBasicBlockRef yes,
                      LLVMBasicBlockRef no) {
    LLVMValueRef decides = LLVMGetOperand(run_call(header), which);
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(header));
    LLVMPositionBuilderAtEnd(k->c->builder, header);
    LLVMBuildCondBr(k->c->builder, decides, yes, no);
    forget_run_call(header);
}

/* The counted ways out of a copy are not taken. */
static void stay(wpi_cache *k, const blocks *loop, const wpi_map *made) {
    for (uint32_t b = 0; b < loop->count; b++) {
        LLVMBasicBlockRef block = wpi_map_get(made, loop->list[b]);
        LLVMValueRef last = LLVMGetBasicBlockTerminator(block);
        const wpi_cache_note note = wpi_cache_noted(last);
        if (note.act != WPI_CACHE_STAY) continue;
        LLVMBasicBlockRef to = LLVMGetSuccessor(last, note.structure);
        LLVMInstructionEraseFromParent(last);
        LLVMPositionBuilderAtEnd(k->c->builder, block);
        LLVMBuildBr(k->c->builder, to);
    }
}

/* Back edges of a copy lead elsewhere. */
static void turn_back(const blocks *loop, const wpi_map *made, LLVMBasicBlockRef header,
                      LLVMBasicBlockRef to) {
    for (uint32_t b = 0; b < loop->count; b++) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(wpi_map_get(made, loop->list[b]));
        for (unsigned s = 0; s < LLVMGetNumSuccessors(last); s++)
            if (LLVMGetSuccessor(last, s) == header) LLVMSetSuccessor(last, s, to);
    }
}

static LLVMBasicBlockRef copy_header(nest *n, LLVMBasicBlockRef header) {
    wpi_map made = {0}, values = {0};
    wpi_clone_blocks(&header, 1, header, &values, &made);
    LLVMBasicBlockRef copy = wpi_map_get(&made, header);
    wpi_map_deinit(&made);
    wpi_map_deinit(&values);
    add_block(&n->all, copy);
    wpi_map_set_index(&n->apart, copy, 0);
    return copy;
}

/* N turns in straight code between the two places. */
static LLVMBasicBlockRef chain(nest *n, const blocks *loop, LLVMBasicBlockRef header,
                               uint32_t turns, LLVMBasicBlockRef back) {
    for (uint32_t t = turns; t-- > 0;) {
        wpi_map made = {0};
        clone(n, loop, header, &made);
        LLVMBasicBlockRef first = wpi_map_get(&made, header);
        stay(n->k, loop, &made);
        turn_back(loop, &made, first, back);
        forget_run_call(first);
        for (uint32_t b = 0; b < loop->count; b++)
            wpi_cache_run_turn(n->k, wpi_map_get(&made, loop->list[b]), t);
        wpi_map_deinit(&made);
        back = first;
    }
    return back;
}

/* `start`: where the copies of all modes begin. */
static void add_runs(nest *n, const blocks *loop, LLVMBasicBlockRef header,
                     LLVMBasicBlockRef start) {
    wpi_cache *k = n->k;
    wpi_map before = {0}, after = {0}, nothing = {0};
    const uint32_t turns = (uint32_t)LLVMConstIntGetZExtValue(LLVMGetOperand(run_call(header), 3));
    LLVMBasicBlockRef decide = copy_header(n, header), lines = copy_header(n, header);
    clone(n, loop, header, &before);
    clone(n, loop, header, &after);
    turn_entries(k, &nothing, start, decide);
    if (n->header == start) n->header = decide;
    LLVMBasicBlockRef flush = new_block(k, header, "runs");
    add_block(&n->all, flush);
    wpi_map_set_index(&n->apart, flush, 0);
    branch_by(k, decide, 0, flush, start);
    LLVMPositionBuilderAtEnd(k->c->builder, flush);
    call_flush(k, "__wp_cache_run_begins");
    LLVMBuildBr(k->c->builder, wpi_map_get(&before, header));
    LLVMBasicBlockRef first = wpi_map_get(&before, header);
    stay(k, loop, &before);
    branch_by(k, first, 1, lines, LLVMGetSuccessor(LLVMGetBasicBlockTerminator(first), 0));
    memset(k->words, 0, sizeof k->words);
    branch_by(k, lines, 2, chain(n, loop, header, turns, lines), wpi_map_get(&after, header));
    forget_run_call(wpi_map_get(&after, header));
    wpi_map_deinit(&before);
    wpi_map_deinit(&after);
}

static void copy_loop(nest *n, const wpi_cache_loops *l, const wpi_cache_choice *loop) {
    wpi_map cached = {0}, plain = {0};
    blocks own = blocks_of(l, loop->header);
    clone(n, &own, loop->header, &cached);
    clone(n, &own, loop->header, &plain);
    LLVMBasicBlockRef start = enter(n, &own, loop->header, wpi_map_get(&cached, loop->header),
                                    wpi_map_get(&plain, loop->header));
    if (run_call(loop->header) != NULL) {
        add_runs(n, &own, loop->header, start);
        forget_run_call(loop->header);
        forget_run_call(wpi_map_get(&cached, loop->header));
        forget_run_call(wpi_map_get(&plain, loop->header));
    }
    for_blocks(&own, &cached, n->k, cache);
    for_blocks(&own, NULL, n->k, simulate);
    leave(n, loop, wpi_map_get(&cached, loop->header), wpi_map_get(&plain, loop->header));
    wpi_map_deinit(&cached);
    wpi_map_deinit(&plain);
    free_blocks(&own);
}

/* Where all modes share a loop, threads choose at its header. */
static void share_loop(nest *n, const wpi_cache_choice *loop) {
    LLVMPositionBuilderBefore(n->k->c->builder, LLVMGetFirstInstruction(loop->header));
    (void)call_choosing(n->k, "__wp_cache_consider", n->k->c->none);
}

/* Others may wait for what this thread wrote; what it reads there comes from memory. */
static void leave_alone(nest *n, const wpi_cache_loops *l, const wpi_cache_choice *loop) {
    wpi_cache *k = n->k;
    blocks own = blocks_of(l, loop->header);
    LLVMBasicBlockRef before = new_block(k, loop->header, "wait");
    turn_entries(k, &own.inside, loop->header, before);
    add_block(&n->all, before);
    LLVMPositionBuilderAtEnd(k->c->builder, before);
    call_flush(k, "__wp_cache_flush_any");
    LLVMBuildBr(k->c->builder, loop->header);
    for (uint32_t b = 0; b < own.count; b++)
        wpi_map_set_index(&n->apart, own.list[b], 0);
    free_blocks(&own);
}

/* ---- a nest ---- */

static void forget_note(wpi_cache *k, LLVMValueRef i) {
    (void)k;
    wpi_cache_forget_note(i);
}

static void rewrite_nest(nest *n, const wpi_cache_loops *l) {
    wpi_cache *k = n->k;
    const uint32_t own_count = n->all.count;
    for (uint32_t i = 0; i < k->choice_count; i++) {
        if (!wpi_map_has(&n->all.inside, k->choices[i].header)) continue;
        if (k->choices[i].is_copied) copy_loop(n, l, &k->choices[i]);
        if (k->choices[i].waits) leave_alone(n, l, &k->choices[i]);
    }
    for (uint32_t b = 0; b < own_count; b++)
        if (!wpi_map_has(&n->apart, n->all.list[b])) for_accesses(n->all.list[b], k, share);
    for (uint32_t i = 0; i < k->choice_count; i++)
        if (wpi_map_has(&n->all.inside, k->choices[i].header) && !k->choices[i].is_copied &&
            !k->choices[i].waits)
            share_loop(n, &k->choices[i]);
    begin_nest(n);
    end_nest(n);
}

void wpi_cache_copy(wpi_cache *k) {
    wpi_cache_loops loops;
    wpi_cache_loops_init(&loops, k->body);
    for (uint32_t i = 0; i < k->nest_count; i++) {
        nest n = {.k = k, .header = k->nests[i], .all = blocks_of(&loops, k->nests[i])};
        rewrite_nest(&n, &loops);
        free_blocks(&n.all);
        wpi_map_deinit(&n.apart);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->body); b; b = LLVMGetNextBasicBlock(b))
        for_accesses(b, k, forget_note);
    wpi_cache_loops_deinit(&loops);
}
