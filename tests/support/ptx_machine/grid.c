/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A launch: its blocks, one after the other while each comes to its end, side by side when they
 * wait for one another, as many as a GPU would have together.
 */
#include "machine.h"

enum { PASSES_BEFORE_NEXT = 16 };

static _Atomic uint64_t lane_instructions;

uint64_t pm_lane_instructions(void) {
    return lane_instructions;
}

/* ---- blocks ---- */

static uint32_t round_up(uint32_t bytes, uint32_t to) {
    return (bytes + to - 1) / to * to;
}

/* Shared memory, and in it dynamic memory, begins as aligned as any dynamic variable asks for. */
static uint32_t dynamic_align(const pm_module *module) {
    return module->shared_dynamic_align > 16 ? module->shared_dynamic_align : 16;
}

static pm_block *make_block(pm_grid *g) {
    const unsigned *shape = g->launch->block;
    const uint32_t threads = shape[0] * shape[1] * shape[2];
    pm_block *b = calloc(1, sizeof *b);
    if (b == NULL) abort();
    b->grid = g;
    b->warp_count = (threads + PM_LANES - 1) / PM_LANES;
    b->warps = calloc(b->warp_count, sizeof *b->warps);
    b->arrived = calloc((size_t)PM_BARRIERS * b->warp_count, sizeof *b->arrived);
    const uint32_t align = dynamic_align(g->module) > 256 ? dynamic_align(g->module) : 256;
    b->shared = aligned_alloc(align, round_up(g->shared_bytes + 1, align));
    if (b->warps == NULL || b->arrived == NULL || b->shared == NULL) abort();
    for (uint32_t i = 0; i < b->warp_count; i++) {
        pm_warp *w = &b->warps[i];
        w->grid = g;
        w->block = b;
        w->number = i;
        w->constants = g->module->constants;
        w->valid =
            threads - i * PM_LANES < PM_LANES ? (1u << (threads - i * PM_LANES)) - 1 : PM_FULL;
        w->row_capacity = g->function->row_count + 1;
        w->rows = malloc(w->row_capacity * PM_LANES * sizeof *w->rows);
        w->local = malloc(PM_LANES * g->local_bytes + 1);
        if (w->rows == NULL || w->local == NULL) abort();
        memset(w->rows, 0xdb, w->row_capacity * PM_LANES * sizeof *w->rows);
    }
    return b;
}

static void free_blocks(pm_block *b) {
    while (b != NULL) {
        pm_block *next = b->next;
        for (uint32_t i = 0; i < b->warp_count; i++) {
            for (unsigned l = 0; l < PM_LANES; l++)
                free(b->warps[i].stacks[l].items);
            free(b->warps[i].rows);
            free(b->warps[i].local);
        }
        free(b->warps);
        free(b->arrived);
        free(b->shared);
        free(b);
        b = next;
    }
}

static void start_warp(pm_warp *w, const pm_function *f) {
    w->ready = w->valid;
    w->at_barrier = w->at_sync = w->carry = 0;
    w->patience = 0;
    w->tick = 0;
    for (unsigned l = 0; l < PM_LANES; l++) {
        w->pcs[l] = f->entry;
        w->bases[l] = w->local_frames[l] = 0;
        w->functions[l] = f;
        w->ran_at[l] = 0;
        w->stacks[l].depth = 0;
    }
}

/* Shared memory begins with anything. */
static void start_block(pm_block *b) {
    pm_grid *g = b->grid;
    const uint64_t number = g->blocks_started++;
    const unsigned *shape = g->launch->grid;
    b->ctaid[0] = (uint32_t)(number % shape[0]);
    b->ctaid[1] = (uint32_t)(number / shape[0] % shape[1]);
    b->ctaid[2] = (uint32_t)(number / shape[0] / shape[1]);
    b->sm = (uint32_t)(number % g->launch->sm_count);
    b->live_threads = 0;
    memset(b->shared, 0xdb, g->shared_bytes);
    memset(b->arrived, 0, (size_t)PM_BARRIERS * b->warp_count * sizeof *b->arrived);
    for (uint32_t i = 0; i < PM_BARRIERS; i++)
        b->barriers[i] = (pm_barrier){.arrived = b->arrived + (size_t)i * b->warp_count};
    for (uint32_t i = 0; i < b->warp_count; i++) {
        start_warp(&b->warps[i], g->function);
        b->live_threads += (uint32_t)__builtin_popcount(b->warps[i].valid);
    }
}

/* Each warp has a turn; whether any of them could do something. */
static bool run_block(pm_block *b) {
    bool has_run = false;
    for (uint32_t i = 0; i < b->warp_count && b->grid->result == PM_OK; i++)
        has_run |= pm_warp_run(&b->warps[i]);
    return has_run;
}

/* ---- the launch ---- */

static int compare_ranges(const void *a, const void *b) {
    const pm_range *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

/* Those that overlap become one. */
static void merge_ranges(pm_grid *g) {
    size_t count = 0;
    for (size_t i = 0; i < g->range_count; i++) {
        const pm_range next = g->ranges[i];
        pm_range *last = count != 0 ? &g->ranges[count - 1] : NULL;
        if (last == NULL || next.first >= last->outer)
            g->ranges[count++] = next;
        else if (next.outer > last->outer)
            last->outer = next.outer;
    }
    g->range_count = count;
}

static void collect_ranges(pm_grid *g) {
    const pm_launch *launch = g->launch;
    const pm_module *m = g->module;
    const size_t count = launch->range_count + m->variable_count + 2;
    g->ranges = malloc(count * sizeof *g->ranges);
    if (g->ranges == NULL) abort();
    for (size_t i = 0; i < launch->range_count; i++)
        g->ranges[g->range_count++] = launch->ranges[i];
    for (unsigned i = 0; i < m->variable_count; i++)
        if (m->variables[i].bytes != 0)
            g->ranges[g->range_count++] =
                (pm_range){(uintptr_t)m->variables[i].memory,
                           (uintptr_t)m->variables[i].memory + m->variables[i].bytes};
    if (launch->kernel->param_bytes != 0)
        g->ranges[g->range_count++] =
            (pm_range){(uintptr_t)g->params, (uintptr_t)g->params + launch->kernel->param_bytes};
    qsort(g->ranges, g->range_count, sizeof *g->ranges, compare_ranges);
    merge_ranges(g);
}

/* Frames that are known beforehand have their room; recursion has the stack's size on top. */
static size_t local_bytes(const pm_grid *g) {
    size_t bytes = (g->function->local_bytes + 15) / 16 * 16;
    bool has_calls = false;
    for (uint32_t i = 0; i < g->module->function_count; i++) {
        const pm_function *f = g->module->functions[i];
        if (f->is_kernel || !f->is_defined) continue;
        bytes += (f->local_bytes + 15) / 16 * 16;
        has_calls = true;
    }
    return bytes + (has_calls ? (g->launch->stack_bytes + 15) / 16 * 16 : 0);
}

static void report_deadlock(pm_block *b) {
    for (uint32_t i = 0; i < b->warp_count; i++) {
        pm_warp *w = &b->warps[i];
        const uint32_t waiting = w->at_barrier | w->at_sync;
        if (waiting == 0) continue;
        const unsigned l = (unsigned)__builtin_ctz(waiting);
        pm_fault(w, w->insn_of[l], l, PM_TIMEOUT,
                 "nothing can wake it, at a %s: %#x of the warp's lanes wait, %#x at barriers",
                 (w->at_barrier >> l & 1) != 0 ? "barrier" : "warp operation", waiting,
                 w->at_barrier);
    }
}

typedef struct residents {
    pm_block *running, *spare;
    unsigned count;
} residents;

static void admit(pm_grid *g, residents *r) {
    pm_block *b = r->spare;
    if (b != NULL)
        r->spare = b->next;
    else
        b = make_block(g);
    start_block(b);
    pm_block **last = &r->running;
    while (*last != NULL)
        last = &(*last)->next;
    b->next = NULL;
    *last = b;
    r->count++;
}

/* A turn for each block that is there; whether any of them could do something. */
static bool run_residents(pm_grid *g, residents *r) {
    bool has_run = false;
    for (pm_block **link = &r->running; *link != NULL && g->result == PM_OK;) {
        pm_block *b = *link;
        for (int pass = 0; pass < PASSES_BEFORE_NEXT && b->live_threads != 0; pass++) {
            if (!run_block(b)) break;
            has_run = true;
        }
        if (b->live_threads != 0) {
            link = &b->next;
            continue;
        }
        *link = b->next;
        b->next = r->spare;
        r->spare = b;
        r->count--;
    }
    return has_run;
}

static void run_grid(pm_grid *g) {
    residents r = {0};
    const unsigned most = g->launch->resident_max > 0 ? g->launch->resident_max : 1;
    const bool is_cooperative = g->launch->is_cooperative;
    while (g->result == PM_OK && (r.count != 0 || g->blocks_started < g->blocks_total)) {
        do { /* one more than the ones that did not come to their end */
            if (r.count < most && g->blocks_started < g->blocks_total) admit(g, &r);
        } while (is_cooperative && g->blocks_started < g->blocks_total);
        if (!run_residents(g, &r) && r.running != NULL &&
            (r.count == most || g->blocks_started == g->blocks_total))
            report_deadlock(r.running);
    }
    free_blocks(r.running);
    free_blocks(r.spare);
}

static bool fits(pm_grid *g) {
    const pm_launch *launch = g->launch;
    g->blocks_total = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    return !launch->is_cooperative || g->blocks_total <= launch->resident_max;
}

pm_result pm_run(pm_module *module, const pm_launch *launch, char *report, size_t report_bytes) {
    pm_grid g = {.module = module,
                 .launch = launch,
                 .function = launch->kernel->function,
                 .code = module->code,
                 .report = report,
                 .report_bytes = report_bytes};
    if (report != NULL && report_bytes != 0) report[0] = '\0';
    if (!fits(&g)) return PM_OUT_OF_RESOURCES;
    g.shared_static_bytes = round_up(launch->kernel->shared_static_bytes, dynamic_align(module));
    g.shared_bytes = g.shared_static_bytes + launch->shared_dynamic_bytes;
    g.local_bytes = local_bytes(&g);
    g.params = aligned_alloc(256, (launch->kernel->param_bytes + 256) / 256 * 256);
    if (g.params == NULL) abort();
    memcpy(g.params, launch->params, launch->kernel->param_bytes);
    collect_ranges(&g);
    run_grid(&g);
    free(g.ranges);
    free(g.params);
    lane_instructions += g.lane_instructions;
    return g.result;
}
