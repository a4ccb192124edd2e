/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of a block, from its instructions in order.
 *
 *     load a            ACCESS site 0
 *     load b            ACCESS site 1
 *     x = a + 1    ──►  WAIT 0, ISSUE int
 *     y = x * b         WAIT 1, ISSUE fp32
 *
 * An instruction without cost (a cast, a phi) is looked through: its users wait for the accesses
 * that its operands depend on.
 *
 * Between two other steps, ISSUE steps have the number of instructions of each class, and of those
 * on the longest chain of dependent ones. A block's shares say which lines they come from. */
#include <string.h>

#include "base/alloc.h"
#include "compiler/ir/edit.h"
#include "compiler/pass/lower_pass.h"
#include "compiler/pass/trace/trace_pass.h"

/* A node of the graph of instructions issued between two other steps. */
typedef struct issued {
    trace_cost cost;
    uint32_t depth;  /* instructions on the longest chain that ends here */
    uint32_t before; /* the node before it on that chain, or NONE */
} issued;

#define NONE UINT32_MAX

/* The sites behind a value, in the order found. */
typedef struct sources {
    uint32_t *sites;
    uint32_t count;
} sources;

typedef struct walk {
    tracer *t;
    sources *found; /* behind each looked-up value */
    uint32_t found_count;
    wpi_map found_of; /* value → index into found */
    /* of the block at hand */
    issued *issued;
    uint32_t issued_count;
    wpi_map issued_of; /* value → index */
    uint32_t *places;  /* sites of places since the last fetch */
    uint32_t place_count;
    wpi_map fetched;  /* a thread's array → index into found: the fetch whose result is there */
    uint32_t *waited; /* sites that were waited for, and not accessed since */
    uint32_t waited_count;
    trace_block *block;
    uint32_t last_place; /* of the block's instructions */
    trace_plan plan;
    bool is_last; /* no further step of the block issues */
} walk;

/* ---- where values come from ---- */

static void add_source(sources *s, uint32_t site) {
    for (uint32_t i = 0; i < s->count; i++)
        if (s->sites[i] == site) return;
    s->sites = wpi_trace_grow(s->sites, s->count, sizeof *s->sites);
    s->sites[s->count++] = site;
}

static bool is_transparent(const tracer *t, LLVMValueRef value) {
    trace_cost cost;
    return LLVMIsAPHINode(value) || !wpi_trace_cost(t, value, &cost);
}

static void collect(walk *w, LLVMValueRef value, wpi_map *seen, sources *into) {
    if (!LLVMIsAInstruction(value) || wpi_map_has(seen, value)) return;
    wpi_map_set(seen, value, value);
    uint32_t site = wpi_map_index(&w->t->site_of, value);
    if (site != NONE) {
        add_source(into, site);
        return;
    }
    uint32_t known = wpi_map_index(&w->found_of, value);
    if (known != NONE) {
        for (uint32_t s = 0; s < w->found[known].count; s++)
            add_source(into, w->found[known].sites[s]);
        return;
    }
    if (!is_transparent(w->t, value)) return;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(value); o++)
        collect(w, LLVMGetOperand(value, o), seen, into);
}

static const sources *sources_of(walk *w, LLVMValueRef value) {
    uint32_t known = wpi_map_index(&w->found_of, value);
    if (known != NONE) return &w->found[known];
    sources into = {0};
    wpi_map seen = {0};
    collect(w, value, &seen, &into);
    wpi_map_deinit(&seen);
    w->found = wpi_trace_grow(w->found, w->found_count, sizeof *w->found);
    w->found[w->found_count] = into;
    wpi_map_set_index(&w->found_of, value, w->found_count);
    return &w->found[w->found_count++];
}

/* ---- steps ---- */

static void add_step(tracer *t, wp_trace_step step) {
    t->steps = wpi_trace_grow(t->steps, t->step_count, sizeof *t->steps);
    t->steps[t->step_count++] = step;
}

/* Adds ISSUE steps for the instructions since the last other step. */
static void flush(walk *w) {
    uint32_t count[WP_TRACE_CLASS_COUNT] = {0}, chain[WP_TRACE_CLASS_COUNT] = {0}, last = NONE;
    for (uint32_t i = 0; i < w->issued_count; i++) {
        for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
            count[class] += w->issued[i].cost.count[class];
        if (last == NONE || w->issued[i].depth > w->issued[last].depth) last = i;
    }
    for (; last != NONE; last = w->issued[last].before)
        for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
            chain[class] += w->issued[last].cost.chain[class];
    wpi_trace_plan_step(&w->plan, w->is_last, count, chain);
    for (uint16_t class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        if (count[class])
            add_step(w->t, (wp_trace_step){.op = WP_TRACE_ISSUE,
                                           .class = class,
                                           .count = count[class],
                                           .chain = chain[class],
                                           .value = wpi_trace_plan_pairs(&w->plan, count[class])});
    w->issued_count = 0;
    wpi_map_deinit(&w->issued_of);
}

static void add_other(walk *w, wp_trace_op op, uint32_t value) {
    flush(w);
    add_step(w->t, (wp_trace_step){.op = (uint16_t)op, .value = value});
}

/* ---- waits ---- */

static bool was_waited(const walk *w, uint32_t site) {
    for (uint32_t i = 0; i < w->waited_count; i++)
        if (w->waited[i] == site) return true;
    return false;
}

static void wait_for(walk *w, LLVMValueRef value) {
    if (!LLVMIsAInstruction(value)) return;
    const sources *s = sources_of(w, value);
    for (uint32_t i = 0; i < s->count; i++) {
        if (was_waited(w, s->sites[i])) continue;
        add_other(w, WP_TRACE_WAIT, s->sites[i]);
        w->waited = wpi_trace_grow(w->waited, w->waited_count, sizeof *w->waited);
        w->waited[w->waited_count++] = s->sites[i];
    }
}

static void wait_for_operands(walk *w, LLVMValueRef instruction) {
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(instruction); o++)
        wait_for(w, LLVMGetOperand(instruction, o));
}

/* ---- textures ---- */

/* Adds a fetch: its array's contents come from the places queried before. */
static void add_fetch(walk *w, LLVMValueRef fetch) {
    LLVMValueRef array = wpi_trace_texture_result(fetch);
    if (array) {
        sources from = {0};
        for (uint32_t p = 0; p < w->place_count; p++)
            add_source(&from, w->places[p]);
        w->found = wpi_trace_grow(w->found, w->found_count, sizeof *w->found);
        w->found[w->found_count] = from;
        wpi_map_set_index(&w->fetched, array, w->found_count++);
    }
    w->place_count = 0;
}

/* A load of a fetch's array is no access, as the result is in registers. False: another load. */
static bool add_fetched(walk *w, LLVMValueRef load) {
    LLVMValueRef array = wpi_trace_loaded_array(load);
    uint32_t from = array ? wpi_map_index(&w->fetched, array) : NONE;
    if (from == NONE) return false;
    wpi_map_set_index(&w->found_of, load, from);
    return true;
}

static void note_place(walk *w, LLVMValueRef instruction, uint32_t site) {
    wp_trace_access kind;
    uint32_t size_bytes;
    if (!wpi_trace_is_place(instruction, &kind, &size_bytes)) return;
    w->places = wpi_trace_grow(w->places, w->place_count, sizeof *w->places);
    w->places[w->place_count++] = site;
}

static void add_access(walk *w, LLVMValueRef instruction) {
    uint32_t site = wpi_map_index(&w->t->site_of, instruction);
    note_place(w, instruction, site);
    wait_for_operands(w, instruction);
    add_other(w, WP_TRACE_ACCESS, site);
    for (uint32_t i = 0; i < w->waited_count; i++)
        if (w->waited[i] == site) w->waited[i] = w->waited[--w->waited_count];
}

/* ---- issue ---- */

/* The operand with the longest chain, among the instructions since the last other step. */
static uint32_t deepest_operand(const walk *w, LLVMValueRef instruction) {
    uint32_t best = NONE;
    for (unsigned o = 0; o < (unsigned)LLVMGetNumOperands(instruction); o++) {
        uint32_t node = wpi_map_index(&w->issued_of, LLVMGetOperand(instruction, o));
        if (node != NONE && (best == NONE || w->issued[node].depth > w->issued[best].depth))
            best = node;
    }
    return best;
}

void wpi_trace_add_share(tracer *t, trace_block *block, uint32_t place, uint32_t count) {
    for (uint32_t s = block->row.first_share; s < t->share_count; s++)
        if (t->shares[s].place == place) {
            t->shares[s].count += count;
            return;
        }
    t->shares = wpi_trace_grow(t->shares, t->share_count, sizeof *t->shares);
    t->shares[t->share_count++] = (wp_trace_share){place, count};
    block->row.share_count++;
}

/* The share of the last instruction's place comes last. */
static void end_with(tracer *t, trace_block *block, uint32_t place) {
    wp_trace_share *s = t->shares;
    for (uint32_t i = block->row.first_share; i + 1 < t->share_count; i++) {
        if (s[i].place != place) continue;
        const wp_trace_share last = s[i];
        memmove(&s[i], &s[i + 1], (t->share_count - 1 - i) * sizeof *s);
        s[t->share_count - 1] = last;
        return;
    }
}

static void issue(walk *w, LLVMValueRef instruction, const trace_cost *cost) {
    uint32_t before = deepest_operand(w, instruction);
    issued node = {*cost, before == NONE ? 0 : w->issued[before].depth, before};
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        node.depth += cost->chain[class];
    uint32_t instructions = 0;
    for (int class = 0; class < WP_TRACE_CLASS_COUNT; class ++)
        instructions += cost->count[class];
    w->last_place = wpi_trace_place_of(w->t, instruction);
    wpi_trace_add_share(w->t, w->block, w->last_place, instructions);
    w->issued = wpi_trace_grow(w->issued, w->issued_count, sizeof *w->issued);
    w->issued[w->issued_count] = node;
    wpi_map_set_index(&w->issued_of, instruction, w->issued_count++);
}

static void add_instruction(walk *w, LLVMValueRef instruction) {
    trace_cost cost;
    if (LLVMIsAPHINode(instruction) || add_fetched(w, instruction)) return;
    if (wpi_trace_cost(w->t, instruction, &cost)) {
        wait_for_operands(w, instruction);
        issue(w, instruction, &cost);
        return;
    }
    uint32_t node = deepest_operand(w, instruction); /* stands for its deepest operand */
    if (node != NONE) wpi_map_set_index(&w->issued_of, instruction, node);
}

/* ---- blocks ---- */

static uint32_t constant_or_none(LLVMValueRef value) {
    return LLVMIsAConstantInt(value) ? (uint32_t)LLVMConstIntGetZExtValue(value) : WP_TRACE_NONE;
}

/* Adds a stop; for a barrier with its count and number. */
static void add_stop(walk *w, LLVMValueRef stop) {
    const bool is_open = wpi_trace_is_open_barrier(stop);
    add_other(w, WP_TRACE_STOP, wpi_lower_stop_op(stop));
    wp_trace_step *step = &w->t->steps[w->t->step_count - 1];
    step->count = is_open ? WP_TRACE_NONE : constant_or_none(wpi_trace_barrier_count(stop));
    step->chain = is_open ? WP_TRACE_NONE : constant_or_none(wpi_trace_barrier_number(stop));
}

/* Adds a fence; not one of block scope, as an SM's own accesses are ordered. */
static void add_fence(walk *w, LLVMValueRef fence) {
    add_instruction(w, fence);
    if (!wpi_lower_has_note(fence, WP_BLOCK_METADATA)) add_other(w, WP_TRACE_FENCE, 0);
}

static void add_end(walk *w, LLVMValueRef end) {
    bool is_ns;
    add_instruction(w, end);
    w->is_last = true;
    if (wpi_lower_is_stop(end))
        add_stop(w, end);
    else if (wpi_trace_is_clock(end, &is_ns))
        add_other(w, WP_TRACE_CLOCK, 0);
    else
        add_other(w, WP_TRACE_CALL, 0);
}

static void add_block(walk *w, trace_block *block) {
    block->row.first_step = w->t->step_count;
    block->row.first_share = w->t->share_count;
    w->block = block;
    w->last_place = WP_TRACE_NONE;
    w->is_last = false;
    wpi_trace_plan_begin(w->t, block, &w->plan);
    for (LLVMValueRef i = LLVMGetFirstInstruction(block->code); i; i = LLVMGetNextInstruction(i)) {
        if (i == block->end)
            add_end(w, i);
        else if (wpi_map_has(&w->t->site_of, i))
            add_access(w, i);
        else if (LLVMIsAFenceInst(i))
            add_fence(w, i);
        else if (wpi_trace_is_texture(i))
            add_instruction(w, i), add_fetch(w, i);
        else
            add_instruction(w, i);
    }
    LLVMValueRef last = LLVMGetBasicBlockTerminator(block->code);
    w->is_last = true;
    if (LLVMGetNumSuccessors(last) == 0) add_other(w, WP_TRACE_RETURN, 0);
    flush(w);
    wpi_trace_plan_end(w->t, &w->plan, block, w->last_place);
    end_with(w->t, block, w->last_place);
    w->waited_count = 0;
    block->row.step_count = w->t->step_count - block->row.first_step;
}

void wpi_trace_add_steps(tracer *t, uint32_t first) {
    walk w = {.t = t};
    wpi_trace_plan_machine(t, first);
    for (uint32_t b = first; b < t->block_count; b++)
        add_block(&w, &t->blocks[b]);
    for (uint32_t f = 0; f < w.found_count; f++)
        wpi_free(w.found[f].sites);
    wpi_free(w.found);
    wpi_map_deinit(&w.found_of);
    wpi_map_deinit(&w.fetched);
    wpi_free(w.places);
    wpi_free(w.issued);
    wpi_free(w.waited);
}
