/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/threads.h"

#include <string.h>

#include "base/alloc.h"
#include "device/sim/merge.h"

#define LANE_WORDS 128u /* how far a thread may be ahead, unless one block needs more */

/* Why a thread is held (wpi_fiber_hold). */
enum { HELD_FOR_SPACE = 0, HELD_FOR_STEP, HELD_FOR_CLOCK };

typedef struct slot {
    wpi_block *block; /* kept from CTA to CTA */
    uint32_t next_free;
    wpi_lane_words *lanes;
    uint64_t *words;
    wpi_merge *merges;
    uint64_t *addresses; /* [warp]: of the blocks that next() gave out last */
    bool has_news;       /* a lane was let go since the threads ran last */
} slot;

struct wpi_threads {
    wpi_warp_source source; /* first */
    wpi_worker *worker;
    wpi_launch *launch;
    uint32_t lane_words;
    uint32_t access_max;
    slot *slots;
    uint32_t slot_count, free_slot;
    uint64_t run_count;
};

/* ---- what traced code calls
 * ----------------------------------------------------------------------- */

wp_trace_lane *wp_rt_trace_lane(void) {
    wpi_block *block = (wpi_block *)(void *)wp_rt_block;
    return &block->trace[block->pub.thread].lane;
}

static size_t unread(const wpi_lane_words *words) {
    return (size_t)(words->lane.cursor - words->read);
}

static void rewind_words(wpi_lane_words *words) {
    const size_t count = unread(words);
    memmove(words->words, words->read, count * sizeof *words->words);
    words->read = words->words;
    words->lane.cursor = words->words + count;
}

void wp_rt_trace_full(wp_trace_lane *lane, uint32_t count) {
    wpi_lane_words *words = (wpi_lane_words *)(void *)lane;
    rewind_words(words);
    while (lane->cursor + count > lane->limit) {
        (void)wpi_fiber_hold(HELD_FOR_SPACE, 0);
        rewind_words(words);
    }
}

void wp_rt_trace_step(wp_trace_lane *lane) {
    (void)lane;
    (void)wpi_fiber_hold(HELD_FOR_STEP, 0);
}

uint64_t wp_rt_trace_clock(wp_trace_lane *lane, uint32_t is_ns) {
    (void)lane;
    return wpi_fiber_hold(HELD_FOR_CLOCK, is_ns);
}

/* ---- running
 * -------------------------------------------------------------------------------------- */

static void note_exits(slot *s) {
    for (uint32_t w = 0; w < s->block->warp_count; w++)
        s->merges[w].exited = s->block->warps[w].exited;
}

/* Runs the threads until each is held, waits, or has returned. */
static bool run(wpi_threads *threads, slot *s) {
    wpi_outcome outcome;
    s->has_news = false;
    threads->source.run_count++;
    if (!wpi_worker_run(threads->worker, s->block, &outcome)) return false;
    note_exits(s);
    return true;
}

/* Lanes of a warp that wait for space, and of whose words half were read, may run on. */
static void let_go_read(const wpi_threads *threads, slot *s, uint32_t warp) {
    uint32_t lanes = 0;
    for (uint32_t left = s->block->warps[warp].held; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const size_t thread = (size_t)warp * WP_WARP_LANES + lane;
        const bool is_for_space = s->block->pub.requests[thread].a == HELD_FOR_SPACE;
        const bool has_space = 2 * unread(&s->lanes[thread]) <= threads->lane_words;
        lanes |= (uint32_t)(is_for_space && has_space) << lane;
    }
    if (lanes == 0) return;
    wpi_block_let_go(s->block, warp, lanes);
    s->has_news = true;
}

/* Lanes let others go first, which may be other CTAs. */
static bool spins(const slot *s, uint32_t warp) {
    return s->block->warps[warp].yielded != 0;
}

/* All threads have come to the grid barrier, and the model has let them through. */
static bool is_past_grid(const slot *s, uint32_t blocked) {
    return s->block->is_at_grid && blocked == 0;
}

static wpi_source_answer next(wpi_warp_source *source, uint32_t number, uint32_t warp,
                              uint32_t blocked, wpi_warp_block *out) {
    wpi_threads *threads = (wpi_threads *)(void *)source;
    slot *s = &threads->slots[number];
    uint64_t *addresses = s->addresses + (size_t)warp * threads->access_max * WP_WARP_LANES;
    out->addresses = addresses;
    for (bool has_run = false;; has_run = true) {
        const wpi_merge_answer answer = wpi_merge_next(&s->merges[warp], source->tables, blocked,
                                                       &out->block, &out->mask, addresses);
        out->exited = s->merges[warp].retired;
        if (answer == WPI_MERGE_BLOCK) return WPI_SOURCE_BLOCK;
        if (answer == WPI_MERGE_EXIT) return WPI_SOURCE_EXIT;
        let_go_read(threads, s, warp);
        const bool can_run =
            s->has_news || (!has_run && (spins(s, warp) || is_past_grid(s, blocked)));
        if (!can_run) {
            if (wpi_merge_loosen(&s->merges[warp], blocked)) continue;
            return spins(s, warp) ? WPI_SOURCE_SPIN : WPI_SOURCE_WAIT;
        }
        if (!run(threads, s)) return WPI_SOURCE_FAILED;
    }
}

static void reach(wpi_warp_source *source, uint32_t number, uint32_t warp, uint32_t lanes,
                  uint64_t cycles, uint64_t time_ns) {
    slot *s = &((wpi_threads *)(void *)source)->slots[number];
    const uint32_t held = s->block->warps[warp].held & lanes;
    for (uint32_t left = held; left != 0; left &= left - 1) {
        wp_cpu_request *r =
            &s->block->pub.requests[(size_t)warp * WP_WARP_LANES + (uint32_t)__builtin_ctz(left)];
        r->result = r->b != 0 ? time_ns : cycles;
    }
    wpi_block_let_go(s->block, warp, held);
    s->has_news = s->has_news || held != 0;
}

/* ---- CTAs
 * ----------------------------------------------------------------------------------------- */

static void free_slot(slot *s) {
    wp_free(s->lanes);
    wp_free(s->words);
    wp_free(s->merges);
    wp_free(s->addresses);
    if (s->block != NULL) wpi_block_release(s->block);
    *s = (slot){0};
}

static bool fill_slot(const wpi_threads *threads, slot *s) {
    const size_t warps = threads->source.warps_per_cta, lanes = warps * WP_WARP_LANES;
    if (s->lanes != NULL) return true;
    s->lanes = wp_calloc(lanes, sizeof *s->lanes);
    s->words = wp_malloc(lanes * threads->lane_words * sizeof *s->words);
    s->merges = wp_calloc(warps, sizeof *s->merges);
    s->addresses = wp_malloc((lanes * threads->access_max + 1) * sizeof *s->addresses);
    return s->lanes != NULL && s->words != NULL && s->merges != NULL && s->addresses != NULL;
}

static slot *take_slot(wpi_threads *threads) {
    if (threads->free_slot == threads->slot_count) { /* none is free */
        const uint32_t count = threads->slot_count == 0 ? 16 : 2 * threads->slot_count;
        slot *slots = wp_realloc(threads->slots, count * sizeof *slots);
        if (slots == NULL) return NULL;
        for (uint32_t i = threads->slot_count; i < count; i++)
            slots[i] = (slot){.next_free = i + 1};
        threads->slots = slots;
        threads->slot_count = count;
    }
    slot *s = &threads->slots[threads->free_slot];
    threads->free_slot = s->next_free;
    return s;
}

static void give_slot(wpi_threads *threads, slot *s) {
    s->next_free = threads->free_slot;
    threads->free_slot = (uint32_t)(s - threads->slots);
}

static void start_lanes(const wpi_threads *threads, slot *s) {
    const uint32_t warps = threads->source.warps_per_cta;
    for (uint32_t t = 0; t < warps * WP_WARP_LANES; t++) {
        wpi_lane_words *words = &s->lanes[t];
        words->words = s->words + (size_t)t * threads->lane_words;
        words->lane.limit = words->words + threads->lane_words;
        words->lane.cursor = words->words;
        words->read = words->words;
    }
    for (uint32_t w = 0; w < warps; w++) {
        wpi_merge_start(&s->merges[w], s->lanes + (size_t)w * WP_WARP_LANES,
                        ~s->block->warps[w].exited);
    }
}

static wpi_windows windows_of(const wpi_block *block) {
    return (wpi_windows){.shared = (uintptr_t)block->pub.shared,
                         .shared_bytes = block->shared_capacity,
                         .local = (uintptr_t)block->fiber_stacks,
                         .local_bytes = (uint64_t)block->fiber_capacity *
                                        (block->fiber_stack_bytes + WPI_FIBER_GUARD_BYTES)};
}

static wp_status start(wpi_warp_source *source, uint64_t cta, uint32_t sm, uint32_t *number,
                       wpi_windows *windows, wp_error *err) {
    wpi_threads *threads = (wpi_threads *)(void *)source;
    slot *s = take_slot(threads);
    if (s != NULL && fill_slot(threads, s) && s->block == NULL)
        s->block = wpi_block_obtain(threads->worker, threads->launch);
    if (s == NULL || s->block == NULL) {
        if (s != NULL) give_slot(threads, s);
        return WP_FAIL(err, NOMEM, "kernel %s: no host memory for a CTA of %u threads",
                       threads->launch->kernel->display_name, source->threads_per_cta);
    }
    wpi_block_start(s->block, cta);
    s->block->pub.sm_id = sm;
    s->block->trace = s->lanes;
    start_lanes(threads, s);
    s->has_news = true;
    *windows = windows_of(s->block);
    *number = (uint32_t)(s - threads->slots);
    return WP_STATUS_OK;
}

static void finish(wpi_warp_source *source, uint32_t number) {
    wpi_threads *threads = (wpi_threads *)(void *)source;
    give_slot(threads, &threads->slots[number]);
}

/* ---- the source
 * ----------------------------------------------------------------------------------- */

static const wpi_warp_source_ops ops = {start, next, reach, finish};

static void measure_blocks(wpi_threads *threads, const wp_trace_tables *tables) {
    for (uint32_t i = 0; i < tables->block_count; i++) {
        if (tables->blocks[i].access_count > threads->access_max)
            threads->access_max = tables->blocks[i].access_count;
    }
    threads->lane_words = LANE_WORDS;
    if (2 * (threads->access_max + 1) > threads->lane_words)
        threads->lane_words = 2 * (threads->access_max + 1);
}

wp_status wpi_threads_create(wpi_worker *worker, wpi_launch *launch, bool is_in_step,
                             wpi_threads **out, wp_error *err) {
    *out = NULL;
    wpi_threads *threads = wp_calloc(1, sizeof *threads);
    if (threads == NULL) return WP_FAIL(err, NOMEM, "warp source");
    const wpi_cpu_kernel *kernel = launch->kernel;
    threads->worker = worker;
    threads->launch = launch;
    threads->source = (wpi_warp_source){
        .ops = &ops,
        .tables = kernel->tables,
        .cta_count = launch->block_count,
        .warps_per_cta = (launch->thread_count + WP_WARP_LANES - 1) / WP_WARP_LANES,
        .threads_per_cta = launch->thread_count,
        .shared_bytes_per_cta = kernel->code->shared_static_bytes + launch->shared_dynamic_bytes,
        .registers_per_thread = kernel->code->register_estimate,
        .is_in_step = is_in_step,
    };
    measure_blocks(threads, kernel->tables);
    *out = threads;
    return WP_STATUS_OK;
}

void wpi_threads_destroy(wpi_threads *threads) {
    if (threads == NULL) return;
    for (uint32_t i = 0; i < threads->slot_count; i++)
        free_slot(&threads->slots[i]);
    wp_free(threads->slots);
    wp_free(threads);
}

wpi_warp_source *wpi_threads_source(wpi_threads *threads) {
    return &threads->source;
}
