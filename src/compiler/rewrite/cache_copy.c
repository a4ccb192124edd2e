/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Values that are alive between blocks are in the thread's memory here, so the copies share them
 * and either may go on where the other left off:
 *
 *     ─► begin ─► header ◄──────┐        ┌─► header' ◄─┐
 *                   │ 300? ─► choose ────┘      │      │
 *                   ▼           │              ...     │
 *          monitored turn ──────┘        cached turn ──┘
 *                   │                           │
 *                   ▼                           ▼ flush
 *                   └──────────► exit ◄─────────┘
 */
#include "base/must.h"
#include "compiler/ir/clone.h"
#include "compiler/ir/edit.h"
#include "compiler/rewrite/cache.h"

typedef struct nest {
    wpi_cache *k;
    LLVMBasicBlockRef header;
    LLVMBasicBlockRef *blocks;
    uint32_t count;
    wpi_map inside; /* of `blocks`: their numbers */
    wpi_map made;   /* their cached copies */
} nest;

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

static void call_flush(wpi_cache *k) {
    LLVMValueRef args[] = {k->thread, wpi_const32(k->c, k->used), wpi_const32(k->c, k->written),
                           how(k)};
    (void)call(k, "__wp_cache_flush", k->c->none, args, 4);
}

/* ---- edges ---- */

static void end_monitored(wpi_cache *k) {
    LLVMValueRef args[] = {k->thread, k->counts, wpi_const32(k->c, k->used)};
    (void)call(k, "__wp_cache_end_monitored", k->c->none, args, 3);
}

static void end_cached(wpi_cache *k) {
    LLVMValueRef args[] = {k->thread, k->counts};
    call_flush(k);
    (void)call(k, "__wp_cache_end", k->c->none, args, 2);
}

static void end_edge(nest *n, LLVMBasicBlockRef from, unsigned successor,
                     void (*end)(wpi_cache *)) {
    LLVMBasicBlockRef between = wpi_edge_split(from, successor);
    LLVMPositionBuilderBefore(n->k->c->builder, LLVMGetBasicBlockTerminator(between));
    end(n->k);
}

static void end_exits(nest *n) {
    for (uint32_t b = 0; b < n->count; b++) {
        LLVMValueRef last = LLVMGetBasicBlockTerminator(n->blocks[b]);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(last); s++) {
            if (wpi_map_has(&n->inside, LLVMGetSuccessor(last, s))) continue;
            end_edge(n, wpi_map_get(&n->made, n->blocks[b]), s, end_cached);
            end_edge(n, n->blocks[b], s, end_monitored);
        }
    }
}

/* All ways into the loop lead through `begin`. */
static void begin_entries(nest *n) {
    wpi_compile *c = n->k->c;
    LLVMBasicBlockRef start = LLVMInsertBasicBlockInContext(c->context, n->header, "begin");
    LLVMPositionBuilderAtEnd(c->builder, start);
    LLVMValueRef args[] = {n->k->thread, n->k->offset, how(n->k)};
    (void)call(n->k, "__wp_cache_begin", c->none, args, 3);
    LLVMBuildBr(c->builder, n->header);
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(n->k->body); b;
         b = LLVMGetNextBasicBlock(b)) {
        if (b == start || wpi_map_has(&n->inside, b)) continue;
        LLVMValueRef last = LLVMGetBasicBlockTerminator(b);
        for (unsigned s = 0; s < LLVMGetNumSuccessors(last); s++)
            if (LLVMGetSuccessor(last, s) == n->header) LLVMSetSuccessor(last, s, start);
    }
}

static void leave_at(nest *n, const wpi_cache_exit *exit) {
    wpi_cache *k = n->k;
    wpi_compile *c = k->c;
    LLVMBasicBlockRef front = wpi_block_split_before(LLVMGetFirstInstruction(exit->header));
    LLVMBasicBlockRef leave = LLVMInsertBasicBlockInContext(c->context, exit->header, "choose");
    LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(front));
    LLVMPositionBuilderAtEnd(c->builder, front);
    LLVMValueRef turn[] = {k->thread, wpi_const32(c, exit->accesses), k->lines};
    LLVMValueRef leaves =
        call(k, exit->is_inner ? "__wp_cache_inner_turn" : "__wp_cache_turn", c->i32, turn, 3);
    LLVMValueRef is_left = LLVMBuildICmp(c->builder, LLVMIntNE, leaves, wpi_const32(c, 0), "");
    LLVMBuildCondBr(c->builder, is_left, leave, exit->header);
    LLVMPositionBuilderAtEnd(c->builder, leave);
    LLVMValueRef choose[] = {
        k->thread, k->counts, k->lines, wpi_const32(c, k->used), wpi_const32(c, k->written),
        how(k)};
    (void)call(k, "__wp_cache_choose", c->none, choose, 6);
    LLVMBuildBr(c->builder, wpi_map_get(&n->made, exit->header));
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

static void cache(wpi_cache *k, LLVMValueRef i) {
    wpi_compile *c = k->c;
    const wpi_cache_note note = wpi_cache_noted(i);
    LLVMValueRef pointer;
    uint32_t bytes;
    bool is_write;
    LLVMPositionBuilderBefore(c->builder, i);
    if (note.act == WPI_CACHE_FLUSH) call_flush(k);
    if (note.act != WPI_CACHE_ACCESS && note.act != WPI_CACHE_OUTSIDE) return;
    if (!wpi_cache_describe(c, i, &pointer, &bytes, &is_write)) return;
    if (note.act == WPI_CACHE_OUTSIDE) {
        LLVMValueRef args[] = {k->thread,
                               pointer,
                               wpi_const32(c, note.others),
                               wpi_const32(c, k->written),
                               wpi_const32(c, bytes),
                               wpi_const32(c, is_write),
                               how(k)};
        if (note.others != 0) (void)call(k, "__wp_cache_outside", c->none, args, 7);
        return;
    }
    LLVMValueRef args[] = {k->thread,
                           pointer,
                           wpi_const32(c, note.structure),
                           wpi_const32(c, note.others),
                           wpi_const32(c, k->written),
                           wpi_const32(c, bytes),
                           wpi_const32(c, is_write),
                           how(k)};
    LLVMValueRef place = call(k, "__wp_cache_access", c->ptr, args, 8);
    LLVMSetOperand(i, is_write ? 1 : 0, place);
    forget(i, alignment_most(k));
}

static void for_accesses(LLVMBasicBlockRef block, wpi_cache *k,
                         void (*visit)(wpi_cache *, LLVMValueRef)) {
    LLVMValueRef next;
    for (LLVMValueRef i = LLVMGetFirstInstruction(block); i; i = next) {
        next = LLVMGetNextInstruction(i);
        visit(k, i);
    }
}

/* ---- a nest ---- */

static void forget_note(wpi_cache *k, LLVMValueRef i) {
    (void)k;
    wpi_cache_forget_note(i);
}

static bool find_nest(wpi_cache *k, const wpi_cache_loops *l, LLVMBasicBlockRef header, nest *n) {
    *n = (nest){.k = k, .header = header};
    n->blocks = wpi_must_calloc(l->found.block_count, sizeof *n->blocks);
    for (uint32_t i = 0; i < l->count; i++) {
        if (l->loops[i].header != header) continue;
        for (uint32_t b = 0; b < l->found.block_count; b++) {
            if (!l->loops[i].contains[b]) continue;
            wpi_map_set_index(&n->inside, l->found.blocks[b], n->count);
            n->blocks[n->count++] = l->found.blocks[b];
        }
    }
    return n->count != 0;
}

static void copy_nest(nest *n) {
    wpi_map values = {0};
    wpi_clone_blocks(n->blocks, n->count, n->header, &values, &n->made);
    wpi_map_deinit(&values);
    end_exits(n);
    begin_entries(n);
    for (uint32_t b = 0; b < n->count; b++) {
        for_accesses(n->blocks[b], n->k, simulate);
        for_accesses(wpi_map_get(&n->made, n->blocks[b]), n->k, cache);
    }
    for (uint32_t e = 0; e < n->k->exit_count; e++)
        if (wpi_map_has(&n->inside, n->k->exits[e].header)) leave_at(n, &n->k->exits[e]);
}

void wpi_cache_copy(wpi_cache *k) {
    wpi_cache_loops loops;
    wpi_cache_loops_init(&loops, k->body);
    for (uint32_t i = 0; i < k->nest_count; i++) {
        nest n;
        if (find_nest(k, &loops, k->nests[i], &n)) copy_nest(&n);
        wpi_map_deinit(&n.inside);
        wpi_map_deinit(&n.made);
        wpi_free(n.blocks);
    }
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(k->body); b; b = LLVMGetNextBasicBlock(b))
        for_accesses(b, k, forget_note);
    wpi_cache_loops_deinit(&loops);
}
