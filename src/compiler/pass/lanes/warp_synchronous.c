/* SPDX-License-Identifier: Apache-2.0 */
/* Warp-synchronous code on plain shared memory: adds steps where lanes rely on implicit lockstep.
 *
 *     tile[t] = x;                      the hardware runs each line for all lanes of a warp;
 *     y = tile[t ^ 1];                  without a step, a thread would run both before the next
 *     tile[t] = y;                      thread begins
 *
 * The rule. Take two plain accesses A and B of one kernel, at least one of them a store, and a path
 * from A to B without a barrier or warp operation. They clash if some lane's A and another lane's B
 * touch the same byte. A clash that is proved by the indices gets a step before B; data-dependent
 * indices or unknown distances prove nothing.
 *
 * The indices are numbers once the shape of the block is known (thread_value.h). It is not, so
 * common shapes are tried. The program is assumed to be correct on hardware, where only the lanes
 * of a warp run in step. So a shape is impossible in which
 *     - two threads of different warps clash (ways end at block barriers only),
 *     - a store has two threads write different values to the same place (warp_uniform.h), or
 *     - an access misses its variable;
 * and so is a block of one warp for a kernel with a block barrier, which would be useless. If a
 * possible shape has no clash at all, the kernel is assumed to be launched in that shape without
 * races, and gets no step. If none is possible, it gets none either. Otherwise every pair that
 * clashes in a possible shape gets a step.
 *
 * In a shape that only clashes between warps make impossible, two forms get a step all the same:
 * all lanes store one value to one place, and then one lane stores another value there; or all
 * threads load one word, and then threads store to it, as in the next round of a loop that lacks
 * its last barrier. Warps that a barrier released together have loaded on GPUs long before the
 * first store.
 *
 * Guards that dominate an access (`if (t < 16)`) limit its threads if they evaluate to numbers;
 * otherwise all threads count as active.
 *
 * A kernel without a block barrier is right only if lanes of a warp run in step, whatever its
 * indices are, in which on a path without a barrier or warp operation all threads load a word after
 * each stored its own; or lanes load their own words after storing where data say, or the other way
 * round. There every pair of accesses to one variable counts as clashing. */
#include <string.h>

#include "base/fail.h"
#include "base/must.h"
#include "compiler/ir/access.h"
#include "compiler/ir/edit.h"
#include "compiler/ir/loop.h"
#include "compiler/ir/map.h"
#include "compiler/ir/pointer.h"
#include "compiler/ir/thread_touch.h"
#include "compiler/ir/thread_value.h"
#include "compiler/pass/lanes/warp_uniform.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/passes.h"

enum {
    ACCESSES_MAX = 4096,
    PAIRS_MAX = 200 * 1000, /* of kernels whose shapes are tried */
    NODES_MAX = 16384,
    COPY_BYTES_MAX = 64,
    WORK_MAX = 200 * 1000 * 1000 /* threads examined per kernel: half a second */
};

typedef struct guard {
    uint32_t node;
    bool is_true; /* the access runs where the node is true */
} guard;

typedef struct access {
    LLVMValueRef instruction;
    LLVMValueRef stored; /* the value; NULL for a load or a copy of memory */
    LLVMValueRef pointer;
    uint32_t address; /* node */
    uint32_t size_bytes;
    bool is_store;
    uint32_t block, place; /* its event */
    guard *guards;
    uint32_t guard_count;
    uint32_t value_count;        /* nodes up to here are needed for its address and its guards */
    bool has_lane, is_data_only; /* what decides the place among the lanes of a warp */
    uint32_t *unknowns;          /* nodes in its address that a repetition redefines */
    uint32_t unknown_count;
    bool *meets_block,
        *meets_warp; /* [access_count]: reached without a barrier; … or warp operation */
    bool *clashes;   /* [access_count]: parts of a pair, in a possible shape */
    bool has_step;   /* gets a step before it */
    bool is_close;   /* a store to what other warps have just loaded */
    /* for the shape at hand */
    bool is_considered;
    bool is_guarded_by_unknown;
    wpi_thread_touch touch;
} access;

typedef enum event_kind { EVENT_ACCESS, EVENT_BARRIER, EVENT_WARP, EVENT_DEFINITION } event_kind;

typedef struct event {
    event_kind kind;
    uint32_t index; /* of the access, or the node */
} event;

typedef struct event_list {
    event *items;
    uint32_t count, capacity;
} event_list;

typedef struct search {
    wpi_compile *c;
    const wpi_kernel_ir *kernel;
    wpi_thread_values values;
    wpi_loops flow;
    event_list *events; /* a block of `flow` */
    access *accesses;
    uint32_t access_count, pair_count;
    bool has_block_barrier;
    bool has_late_store;
    bool is_in_step; /* its addresses need not be comparable: paths go on where they change */
    wpi_thread_touches touches;
} search;

/* ---- the accesses ---- */

/* Whether it is a variable of the device libraries that is valid in any order of the lanes. */
static bool is_hint(LLVMValueRef pointer) {
    while (LLVMIsAGetElementPtrInst(pointer) ||
           (LLVMIsAConstantExpr(pointer) && LLVMGetConstOpcode(pointer) == LLVMGetElementPtr))
        pointer = LLVMGetOperand(pointer, 0);
    size_t length;
    return LLVMIsAGlobalVariable(pointer) &&
           strncmp(LLVMGetValueName2(pointer, &length), "__wp_hint_", 10) == 0;
}

/* Describes an instruction's plain accesses to shared memory: sets instruction, stored, size_bytes,
 * is_store and the pointers; returns how many. */
static uint32_t describe(const wpi_thread_values *v, LLVMValueRef i, access out[2],
                         LLVMValueRef pointers[2]) {
    const wpi_ir_access what = wpi_access_of(i);
    const uint64_t bytes = wpi_access_bytes(v->layout, &what);
    const bool is_range = wpi_access_is_range(&what);
    uint32_t count = 0;
    if (what.is_ordered || (is_range && bytes > COPY_BYTES_MAX)) return 0;
    const access a = {.instruction = i, .size_bytes = (uint32_t)bytes};
    if (what.kind == WP_ACCESS_READ || what.kind == WP_ACCESS_COPY) {
        pointers[count] = what.kind == WP_ACCESS_COPY ? what.source : what.pointer;
        out[count++] = a;
    }
    if (what.kind == WP_ACCESS_WRITE || is_range) {
        pointers[count] = what.pointer;
        out[count] = a;
        out[count].is_store = true;
        out[count++].stored = what.value;
    }
    uint32_t kept = 0;
    for (uint32_t n = 0; n < count; n++) {
        if (out[n].size_bytes == 0 || is_hint(pointers[n]) ||
            LLVMGetPointerAddressSpace(LLVMTypeOf(pointers[n])) != WP_SPACE_SHARED)
            continue;
        pointers[kept] = pointers[n];
        out[kept++] = out[n];
    }
    return kept;
}

static void append_event(event_list *list, event_kind kind, uint32_t index) {
    if (list->count == list->capacity) {
        list->capacity = list->capacity ? 2 * list->capacity : 8;
        list->items = wpi_must_realloc(list->items, list->capacity * sizeof *list->items);
    }
    list->items[list->count++] = (event){kind, index};
}

static bool parts_lanes(uint32_t op) {
    uint32_t kind = WP_STOP_KIND(op);
    return kind != WP_STOP_YIELD && kind != WP_STOP_BARRIER_ARRIVE &&
           kind != WP_STOP_CLUSTER_ARRIVE;
}

static bool parts_warps(uint32_t op) {
    uint32_t kind = WP_STOP_KIND(op);
    return (kind >= WP_STOP_BARRIER && kind <= WP_STOP_BARRIER_OR) || kind == WP_STOP_GRID ||
           kind == WP_STOP_CLUSTER_WAIT;
}

/* Adds the conditions under which the access's block is reached. */
static void add_guard(search *s, access *a, LLVMValueRef condition, bool is_true, int depth) {
    LLVMOpcode opcode =
        LLVMIsAInstruction(condition) ? LLVMGetInstructionOpcode(condition) : LLVMRet;
    LLVMValueRef x = NULL, y = NULL;
    if (opcode == (is_true ? LLVMAnd : LLVMOr)) {
        x = LLVMGetOperand(condition, 0);
        y = LLVMGetOperand(condition, 1);
    } else if (opcode == LLVMSelect) { /* c ? x : false, c ? true : x */
        LLVMValueRef rest = LLVMGetOperand(condition, is_true ? 2 : 1);
        if (LLVMIsAConstantInt(rest) && (LLVMConstIntGetZExtValue(rest) != 0) == !is_true) {
            x = LLVMGetOperand(condition, 0);
            y = LLVMGetOperand(condition, is_true ? 1 : 2);
        }
    }
    if (x && depth < 8) {
        add_guard(s, a, x, is_true, depth + 1);
        add_guard(s, a, y, is_true, depth + 1);
        return;
    }
    a->guards = wpi_must_realloc(a->guards, (a->guard_count + 1) * sizeof *a->guards);
    a->guards[a->guard_count++] = (guard){wpi_thread_values_add(&s->values, condition), is_true};
}

static bool has_one_way_in(LLVMBasicBlockRef block) {
    uint32_t ways = 0;
    for (LLVMUseRef u = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); u; u = LLVMGetNextUse(u))
        ways += LLVMIsATerminatorInst(LLVMGetUser(u)) != NULL;
    return ways == 1;
}

static void find_guards(search *s, access *a) {
    const wpi_loops *flow = &s->flow;
    for (uint32_t b = a->block; b != 0; b = flow->idom[b]) {
        LLVMValueRef branch = LLVMGetBasicBlockTerminator(flow->blocks[flow->idom[b]]);
        if (!LLVMIsABranchInst(branch) || !LLVMIsConditional(branch)) continue;
        for (unsigned way = 0; way < 2; way++)
            if (LLVMGetSuccessor(branch, way) == flow->blocks[b] && has_one_way_in(flow->blocks[b]))
                add_guard(s, a, LLVMGetCondition(branch), way == 0, 0);
    }
}

static void find_unknowns(const search *s, uint32_t node, wpi_map *seen, access *a) {
    const wpi_thread_node *n = &s->values.nodes[node];
    if (wpi_map_has(seen, (const void *)(uintptr_t)(node + 1))) return;
    wpi_map_set_index(seen, (const void *)(uintptr_t)(node + 1), 0);
    if (wpi_thread_node_is_redefined(n)) {
        a->unknowns = wpi_must_realloc(a->unknowns, (a->unknown_count + 1) * sizeof *a->unknowns);
        a->unknowns[a->unknown_count++] = node;
    }
    for (uint32_t o = 0; o < n->operand_count; o++)
        find_unknowns(s, n->operands[o], seen, a);
}

/* Finds the accesses. False: none, or too many. */
static bool find_accesses(search *s) {
    uint32_t stores = 0;
    s->accesses = wpi_must_calloc(ACCESSES_MAX, sizeof *s->accesses);
    for (uint32_t b = 0; b < s->flow.block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(s->flow.blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            access found[2];
            LLVMValueRef pointers[2];
            uint32_t count = describe(&s->values, i, found, pointers);
            if (s->access_count + count > ACCESSES_MAX) return false;
            for (uint32_t n = 0; n < count; n++) {
                access *a = &s->accesses[s->access_count++];
                *a = found[n];
                a->block = b;
                a->pointer = pointers[n];
                a->address = wpi_thread_values_add(&s->values, pointers[n]);
                find_guards(s, a);
                a->value_count = s->values.count;
                stores += a->is_store;
            }
        }
    for (uint32_t n = 0; n < s->access_count; n++) {
        wpi_map seen = {0};
        find_unknowns(s, s->accesses[n].address, &seen, &s->accesses[n]);
        wpi_map_deinit(&seen);
    }
    return s->access_count > 1 && stores > 0 && s->values.count <= NODES_MAX;
}

static void find_events(search *s) {
    s->events = wpi_must_calloc(s->flow.block_count, sizeof *s->events);
    uint32_t next = 0;
    for (uint32_t b = 0; b < s->flow.block_count; b++)
        for (LLVMValueRef i = LLVMGetFirstInstruction(s->flow.blocks[b]); i;
             i = LLVMGetNextInstruction(i)) {
            uint32_t node = wpi_map_index(&s->values.index, i);
            if (node != UINT32_MAX && wpi_thread_node_is_redefined(&s->values.nodes[node]))
                append_event(&s->events[b], EVENT_DEFINITION, node);
            for (; next < s->access_count && s->accesses[next].instruction == i; next++) {
                s->accesses[next].place = s->events[b].count;
                append_event(&s->events[b], EVENT_ACCESS, next);
            }
            if (wpi_lower_is_stop(i) && parts_lanes(wpi_lower_stop_op(i))) {
                bool is_barrier = parts_warps(wpi_lower_stop_op(i));
                s->has_block_barrier |= is_barrier;
                append_event(&s->events[b], is_barrier ? EVENT_BARRIER : EVENT_WARP, 0);
            }
        }
}

/* ---- ways from one access to others ---- */

static bool is_unknown_of(const access *a, uint32_t node) {
    for (uint32_t u = 0; u < a->unknown_count; u++)
        if (a->unknowns[u] == node) return true;
    return false;
}

/* Marks the accesses of block `b` from event `first` on; true: the path leaves the block. */
static bool pass_block(const search *s, const access *from, uint32_t b, uint32_t first,
                       bool warp_ends, bool *met) {
    for (uint32_t e = first; e < s->events[b].count; e++) {
        const event *at = &s->events[b].items[e];
        if (at->kind == EVENT_BARRIER || (at->kind == EVENT_WARP && warp_ends)) return false;
        if (at->kind == EVENT_DEFINITION && !s->is_in_step && is_unknown_of(from, at->index))
            return false;
        if (at->kind != EVENT_ACCESS) continue;
        if (warp_ends && s->accesses[at->index].has_step) return false;
        met[at->index] = true;
    }
    return true;
}

/* Marks the accesses that follow `from` before a barrier (or a warp operation, if `warp_ends`).
 */
static void walk(const search *s, const access *from, bool warp_ends, bool *met) {
    bool *seen = wpi_must_calloc(s->flow.block_count, sizeof *seen);
    uint32_t *stack = wpi_must_calloc(s->flow.block_count + 1, sizeof *stack), depth = 0;
    memset(met, 0, s->access_count * sizeof *met);
    uint32_t b = from->block;
    bool goes_on = pass_block(s, from, b, from->place + 1, warp_ends, met);
    for (;;) {
        LLVMValueRef terminator = LLVMGetBasicBlockTerminator(s->flow.blocks[b]);
        for (unsigned n = 0; goes_on && n < LLVMGetNumSuccessors(terminator); n++) {
            uint32_t to = wpi_map_index(&s->flow.index, LLVMGetSuccessor(terminator, n));
            if (!seen[to]) stack[depth++] = to;
            seen[to] = true;
        }
        if (depth == 0) break;
        b = stack[--depth];
        goes_on = pass_block(s, from, b, 0, warp_ends, met);
    }
    wpi_free(seen);
    wpi_free(stack);
}

static bool has_same_guards(const access *a, const access *b) {
    if (a->guard_count != b->guard_count) return false;
    for (uint32_t g = 0; g < a->guard_count; g++)
        if (a->guards[g].node != b->guards[g].node || a->guards[g].is_true != b->guards[g].is_true)
            return false;
    return true;
}

/* Finds the pairs to examine; false: none. Two accesses to the same address by the same threads are
 * covered by each of them alone. */
static bool find_pairs(search *s) {
    uint32_t warp_pairs = 0;
    for (uint32_t n = 0; n < s->access_count; n++) {
        access *a = &s->accesses[n];
        a->meets_block = wpi_must_calloc(s->access_count, sizeof(bool));
        a->meets_warp = wpi_must_calloc(s->access_count, sizeof(bool));
        a->clashes = wpi_must_calloc(s->access_count, sizeof(bool));
        walk(s, a, false, a->meets_block);
        walk(s, a, true, a->meets_warp);
        for (uint32_t m = 0; m < s->access_count; m++) {
            const access *b = &s->accesses[m];
            bool is_pair = (a->is_store || b->is_store) &&
                           !(a->address == b->address && has_same_guards(a, b));
            a->meets_block[m] &= is_pair;
            a->meets_warp[m] &= is_pair;
            s->pair_count += a->meets_block[m];
            warp_pairs += a->meets_warp[m];
        }
    }
    return warp_pairs > 0;
}

/* ---- kernels whose warps run in step ---- */

static bool is_one_variable(const access *a, const access *b) {
    return wpi_pointer_base(a->pointer) == wpi_pointer_base(b->pointer);
}

/* Whether lanes load what other lanes stored: each its own of what went where the data say, or the
 * other way round. */
static bool is_scattered(const access *store, const access *load) {
    return store->is_store && !load->is_store && is_one_variable(store, load) &&
           ((store->is_data_only && load->has_lane) || (store->has_lane && load->is_data_only));
}

static void find_lanes(search *s) {
    const wpi_block_shape shape = {2 * WP_WARP_LANES, 1, 1};
    wpi_thread_values_evaluate(&s->values, shape, 0, s->values.count);
    for (uint32_t n = 0; n < s->access_count; n++) {
        access *a = &s->accesses[n];
        bool is_data = false;
        a->has_lane = wpi_thread_node_has_lane(&s->values, a->address, shape.x, &is_data);
        a->is_data_only = is_data && !a->has_lane;
    }
}

/* Whether all threads load one word of a variable in which each thread stored its own. */
static bool is_shared_out(const search *s, const access *store, const access *load) {
    const wpi_uniform *u = &s->values.uniform;
    return store->is_store && !load->is_store && is_one_variable(store, load) &&
           !wpi_uniform_is(u, store->pointer) && wpi_uniform_is(u, load->pointer) &&
           (!wpi_uniform_is_partial(u, s->flow.blocks[load->block]) ||
            has_same_guards(store, load));
}

/* Whether two accesses may touch one place, each at an address that is not known. */
static bool may_clash(const access *a, const access *b) {
    if (a == b || !(a->is_store || b->is_store) || !is_one_variable(a, b)) return false;
    return a->address != b->address || !has_same_guards(a, b) || a->unknown_count > 0;
}

/* Marks the pairs of a kernel that relies on its warps running in step; false: it does not. */
static bool note_in_step(search *s) {
    if (s->has_block_barrier) return false;
    find_lanes(s);
    for (uint32_t n = 0; n < s->access_count; n++)
        for (uint32_t m = 0; m < s->access_count; m++) {
            const access *a = &s->accesses[n], *b = &s->accesses[m];
            s->is_in_step |= a->meets_warp[m] && (is_shared_out(s, a, b) || is_scattered(a, b));
        }
    for (uint32_t n = 0; n < s->access_count && s->is_in_step; n++) {
        access *a = &s->accesses[n];
        walk(s, a, true, a->meets_warp);
        for (uint32_t m = 0; m < s->access_count; m++)
            a->clashes[m] = a->meets_warp[m] && may_clash(a, &s->accesses[m]);
    }
    return s->is_in_step;
}

/* ---- one shape ---- */

static void find_active(const search *s, access *a, uint32_t threads, bool *is_active) {
    memset(is_active, true, threads * sizeof *is_active);
    a->is_guarded_by_unknown = false;
    for (uint32_t g = 0; g < a->guard_count; g++) {
        const wpi_thread_node *node = &s->values.nodes[a->guards[g].node];
        if (!wpi_thread_node_is_number(node)) {
            a->is_guarded_by_unknown = true;
            continue;
        }
        for (uint32_t t = 0; t < threads; t++)
            is_active[t] &= (wpi_thread_node_at(node, t) != 0) == a->guards[g].is_true;
    }
}

/* Whether an access is outside of its variable. */
static bool misses(const search *s, const access *a) {
    const wpi_thread_node *node = &s->values.nodes[a->address];
    if (a->is_guarded_by_unknown || node->term_count != 1 || node->terms[0].factor != 1)
        return false;
    LLVMValueRef variable = s->values.nodes[node->terms[0].unknown].value;
    if (!LLVMIsAGlobalVariable(variable)) return false;
    int64_t size = (int64_t)LLVMABISizeOfType(s->values.layout, LLVMGlobalGetValueType(variable));
    return size != 0 && (a->touch.first < 0 || a->touch.outer > size);
}

/* Whether two threads store different values to one place. */
static bool quarrels(search *s, const access *a) {
    if (!a->stored || a->is_guarded_by_unknown) return false;
    if (wpi_uniform_is(&s->values.uniform, a->stored)) return false;
    return wpi_touches_clash(&s->touches, a->touch, a->touch, false) ||
           (!wpi_warp_uniform_is(&s->values.uniform, a->stored) &&
            wpi_touches_clash(&s->touches, a->touch, a->touch, true));
}

static bool is_comparable(const search *s, const access *a, const access *b) {
    return a->is_considered && b->is_considered &&
           wpi_thread_node_is_alike(&s->values.nodes[a->address], &s->values.nodes[b->address]);
}

static bool store_the_same(const search *s, const access *a, const access *b) {
    return a->stored && a->stored == b->stored && wpi_uniform_is(&s->values.uniform, a->stored);
}

static bool do_clash(search *s, const access *a, const access *b, bool in_warp) {
    return is_comparable(s, a, b) && !store_the_same(s, a, b) &&
           wpi_touches_clash(&s->touches, a->touch, b->touch, in_warp);
}

/* Evaluates values as far as the answer needs them. False: the shape is impossible. */
static bool evaluate(search *s, wpi_block_shape shape) {
    const uint32_t threads = shape.x * shape.y * shape.z;
    bool is_active[WP_BLOCK_THREADS_MAX];
    wpi_touches_start(&s->touches, threads);
    for (uint32_t n = 0, evaluated = 0; n < s->access_count; n++) {
        access *a = &s->accesses[n];
        wpi_thread_values_evaluate(&s->values, shape, evaluated, a->value_count);
        s->touches.work += (uint64_t)(a->value_count - evaluated) * threads;
        evaluated = a->value_count;
        const wpi_thread_node *address = &s->values.nodes[a->address];
        a->is_considered = address->is_known;
        if (!a->is_considered) continue;
        find_active(s, a, threads, is_active);
        if (!wpi_touches_add(&s->touches, address, is_active, a->size_bytes, &a->touch) ||
            misses(s, a) || quarrels(s, a))
            return false;
    }
    return true;
}

static bool do_warps_clash(search *s) {
    for (uint32_t n = 0; n < s->access_count; n++)
        for (uint32_t m = 0; m < s->access_count; m++) {
            const access *a = &s->accesses[n];
            if (a->meets_block[m] && do_clash(s, a, &s->accesses[m], false)) return true;
        }
    return false;
}

/* Whether all lanes of a warp store one value to one place. */
static bool is_stored_by_all(search *s, const access *a) {
    return a->stored && a->is_considered && wpi_warp_uniform_is(&s->values.uniform, a->stored) &&
           wpi_touches_clash(&s->touches, a->touch, a->touch, true);
}

static bool is_bit(LLVMValueRef value) {
    LLVMTypeRef type = LLVMTypeOf(value);
    return LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) == 1;
}

/* What a condition or a choice decides by besides the value; NULL: it is neither. */
static LLVMValueRef other_condition(LLVMValueRef user, LLVMValueRef value) {
    const bool is_first = LLVMGetOperand(user, 0) == value;
    if (LLVMIsASelectInst(user) && !is_first) return LLVMGetOperand(user, 0);
    if (!is_bit(user)) return NULL;
    if (LLVMIsASelectInst(user)) /* value ? x : false, value ? true : x */
        return LLVMGetOperand(user, LLVMIsAConstant(LLVMGetOperand(user, 1)) ? 2 : 1);
    return LLVMIsABinaryOperator(user) ? LLVMGetOperand(user, is_first ? 1 : 0) : NULL;
}

/* Whether only some threads use a value that all have: the rest of the condition, or of the choice,
 * differs between threads. clang loads early what `t == 0 && variable == 0` needs. */
static bool is_for_some(const wpi_uniform *u, LLVMValueRef value, int depth) {
    for (LLVMUseRef use = LLVMGetFirstUse(value); use; use = LLVMGetNextUse(use)) {
        LLVMValueRef user = LLVMGetUser(use);
        LLVMValueRef other = LLVMIsAInstruction(user) ? other_condition(user, value) : NULL;
        if (other && !wpi_uniform_is(u, other)) continue;
        if (depth == 0 || !LLVMIsAICmpInst(user) || !is_for_some(u, user, depth - 1)) return false;
    }
    return true;
}

/* Whether all threads of the block load one word. */
static bool is_loaded_by_all(const search *s, const access *a) {
    const wpi_uniform *u = &s->values.uniform;
    return !a->is_store && a->is_considered && wpi_uniform_is(u, a->pointer) &&
           !wpi_uniform_is_partial(u, s->flow.blocks[a->block]) &&
           !is_for_some(u, a->instruction, 1);
}

/* Marks stores that follow what all lanes did with the same place. */
static void note_late_stores(search *s) {
    for (uint32_t n = 0; n < s->access_count; n++) {
        access *a = &s->accesses[n];
        const bool is_stored = is_stored_by_all(s, a);
        if (!is_stored && !is_loaded_by_all(s, a)) continue;
        for (uint32_t m = 0; m < s->access_count; m++) {
            access *b = &s->accesses[m];
            if (!a->meets_warp[m] || !b->is_store || (is_stored && is_stored_by_all(s, b)) ||
                !do_clash(s, a, b, true))
                continue;
            a->clashes[m] = true;
            b->is_close |= !is_stored;
            s->has_late_store = true;
        }
    }
}

/* Marks accesses whose lanes clash; false: none. */
static bool note_clashes(search *s) {
    bool found = false;
    for (uint32_t n = 0; n < s->access_count; n++)
        for (uint32_t m = 0; m < s->access_count; m++) {
            access *a = &s->accesses[n];
            if (!a->meets_warp[m] || !do_clash(s, a, &s->accesses[m], true)) continue;
            a->clashes[m] = true;
            found = true;
        }
    return found;
}

/* ---- all shapes ---- */

static bool uses_id(LLVMValueRef kernel, wpi_id id) {
    for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(kernel); b; b = LLVMGetNextBasicBlock(b))
        for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
            if (LLVMIsACallInst(i) && wpi_lower_id_of(wpi_called_function(i)) == id) return true;
    return false;
}

/* Evaluates a shape. False: the kernel needs no steps in it, or the limit of work is reached. */
static bool try_shape(search *s, wpi_block_shape shape, bool *any_possible) {
    uint32_t threads = shape.x * shape.y * shape.z;
    uint32_t threads_max = s->kernel->max_threads ? s->kernel->max_threads : WP_BLOCK_THREADS_MAX;
    bool one_warp_fits = !s->has_block_barrier || threads_max <= WP_WARP_LANES;
    if (threads < WP_WARP_LANES || threads > threads_max) return true;
    if (threads == WP_WARP_LANES && !one_warp_fits) return true;
    if (!evaluate(s, shape)) return s->touches.work < WORK_MAX;
    if (do_warps_clash(s)) {
        note_late_stores(s);
        return s->touches.work < WORK_MAX;
    }
    *any_possible = true;
    return note_clashes(s) && s->touches.work < WORK_MAX;
}

static bool try_shapes(search *s) {
    static const uint32_t sizes_x[] = {2,   4,   8,   16,  24,  32,  64,  96,
                                       128, 192, 256, 384, 512, 768, 1024};
    static const uint32_t sizes[] = {1, 2, 4, 8, 12, 16, 24, 32};
    enum { SIZES_X = sizeof sizes_x / sizeof *sizes_x };
    bool has_z = uses_id(s->kernel->function, WP_ID_TID_Z);
    bool has_y = has_z || uses_id(s->kernel->function, WP_ID_TID_Y);
    bool any_possible = false;
    if (s->pair_count > PAIRS_MAX) return false;
    for (size_t z = 0; z < (has_z ? sizeof sizes / sizeof *sizes : 1); z++)
        for (size_t y = 0; y < (has_y ? sizeof sizes / sizeof *sizes : 1); y++)
            for (size_t x = 0; x < SIZES_X; x++) {
                wpi_block_shape shape = {sizes_x[x], sizes[y], sizes[z]};
                if (!try_shape(s, shape, &any_possible)) return false;
            }
    for (size_t y = 0; y < (has_y ? SIZES_X : 0); y++) /* columns of threads */
        if (!try_shape(s, (wpi_block_shape){1, sizes_x[y], 1}, &any_possible)) return false;
    return any_possible || s->has_late_store;
}

/* ---- steps ---- */

/* Places steps before as few accesses as the order of the code allows: a step covers all pairs
 * whose paths pass it. */
static void place_steps(search *s) {
    uint32_t *steps_seen = wpi_must_calloc(s->access_count, sizeof *steps_seen), steps = 0;
    for (uint32_t m = 0; m < s->access_count; m++)
        for (uint32_t n = 0; n < s->access_count && !s->accesses[m].has_step; n++) {
            access *a = &s->accesses[n];
            if (!a->clashes[m]) continue;
            if (steps_seen[n] < steps) walk(s, a, true, a->meets_warp);
            steps_seen[n] = steps;
            s->accesses[m].has_step = a->meets_warp[m];
            steps += s->accesses[m].has_step;
        }
    wpi_free(steps_seen);
    for (uint32_t m = 0; m < s->access_count; m++) {
        if (!s->accesses[m].has_step) continue;
        if (m > 0 && s->accesses[m - 1].has_step &&
            s->accesses[m - 1].instruction == s->accesses[m].instruction)
            continue; /* a copy's load has one already */
        LLVMPositionBuilderBefore(s->c->builder, s->accesses[m].instruction);
        LLVMValueRef step = wpi_lower_stop(s->c, s->c->builder, WP_STOP_STEP, NULL, NULL, NULL);
        if (s->accesses[m].is_close) wpi_lower_note(s->c, step, WP_CLOSE_METADATA);
    }
}

static void search_deinit(search *s) {
    for (uint32_t n = 0; n < s->access_count; n++) {
        wpi_free(s->accesses[n].guards);
        wpi_free(s->accesses[n].unknowns);
        wpi_free(s->accesses[n].meets_block);
        wpi_free(s->accesses[n].meets_warp);
        wpi_free(s->accesses[n].clashes);
    }
    wpi_free(s->accesses);
    for (uint32_t b = 0; s->events && b < s->flow.block_count; b++)
        wpi_free(s->events[b].items);
    wpi_free(s->events);
    wpi_touches_deinit(&s->touches);
    wpi_thread_values_deinit(&s->values);
    wpi_loops_deinit(&s->flow);
}

static bool uses_shared(LLVMModuleRef module) {
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetPointerAddressSpace(LLVMTypeOf(g)) == WP_SPACE_SHARED) return true;
    return false;
}

static void part_lanes(wpi_compile *c, const wpi_kernel_ir *kernel) {
    search s = {.c = c, .kernel = kernel};
    wpi_thread_values_init(&s.values, c, kernel->function);
    wpi_loops_init(&s.flow, kernel->function);
    if (find_accesses(&s)) {
        find_events(&s);
        if (find_pairs(&s) && (note_in_step(&s) || try_shapes(&s))) place_steps(&s);
    }
    search_deinit(&s);
}

wp_status wpi_pass_warp_synchronous(wpi_compile *c, wp_error *err) {
    (void)err;
    if (c->variant.is_in_step) return WP_STATUS_OK; /* no lane gets ahead there (lockstep.c) */
    for (uint32_t k = 0; k < c->kernel_count && uses_shared(c->module); k++)
        part_lanes(c, &c->kernels[k]);
    return WP_STATUS_OK;
}
