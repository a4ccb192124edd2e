/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/threads.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "device/sim/code_tables.h"
#include "device/sim/merge.h"

#define LANE_WORDS 128u /* by which a thread may be ahead, unless one block needs more */
/* Times that, where lanes ahead keep others of their warp waiting at a step. */
#define WIDE_FACTOR 16u
/* Rounds of spin loops in one CTA after which its threads may be ahead by one block only. */
#define WAITING_ROUNDS 64u
/* Blocks of code without a spin loop after which a warp counts as making progress. */
#define LONG_WORK_BLOCKS 1000u
/* Rounds of spin loops of one warp in step after which lanes that wait for it continue alone. */
#define LOOSEN_ROUNDS 32u

/* Why a thread is held (wpi_fiber_hold). */
enum { HELD_FOR_SPACE = 0, HELD_FOR_STEP, HELD_FOR_CLOCK };

typedef struct slot {
    char *memory;     /* for all arrays */
    wpi_block *block; /* kept from CTA to CTA */
    uint32_t next_free;
    wpi_windows windows;
    wpi_lane_words *lanes;
    uint64_t *words;
    uint64_t **wide; /* [warp]: WIDE_FACTOR times as many words; NULL: not needed yet */
    wpi_merge *merges;
    uint64_t *addresses;     /* [warp]: addresses of the block last returned by next() */
    uint32_t *expected;      /* [warp]: lanes held until the model reaches their block's end */
    uint32_t *waiting;       /* [warp]: rounds of spin loops */
    uint32_t waiting_rounds; /* … of all warps */
    wpi_spin_round *rounds;  /* [lane], if the kernel has spin loops */
    uint32_t *since_round;   /* [warp]: blocks since any lane ended a round */
    bool *stores_to_host;    /* [warp]: whether the access that ends its block does */
    bool is_narrow;          /* threads may be ahead by one block only */
    bool has_news;           /* a lane was released since the threads last ran */
} slot;

struct wpi_threads {
    wpi_warp_source source; /* first */
    wpi_worker *worker;
    wpi_launch *launch;
    wpi_addresses *addresses;
    wpi_activity *activity;
    bool has_rounds; /* has spin loops */
    uint32_t lane_words;
    uint32_t word_max; /* words after a block's own, at most */
    slot *slots;
    uint32_t slot_count, free_slot;
    wpi_cluster *cluster; /* that the next CTA joins; NULL: it begins one */
    uint64_t run_count;
};

/* ---- what traced code calls ---- */

wp_trace_lane *wp_rt_trace_lane(void) {
    wpi_block *block = (wpi_block *)(void *)wp_rt_block;
    return &block->trace[block->pub.thread].lane;
}

static uint32_t unread(const wpi_lane_words *words) {
    return wpi_lane_written(words) - words->merge->read[words->number];
}

static void rewind_words(wpi_lane_words *words) {
    uint32_t *read = &words->merge->read[words->number];
    const size_t distance = (size_t)*read * WP_TRACE_STRIDE;
    const size_t outer = (size_t)unread(words) * WP_TRACE_STRIDE;
    for (size_t i = 0; i < outer; i += WP_TRACE_STRIDE)
        words->words[i] = words->words[distance + i];
    words->lane.cursor = words->words + outer;
    *read = 0;
}

void wp_rt_trace_full(wp_trace_lane *lane, uint32_t count) {
    wpi_lane_words *words = (wpi_lane_words *)(void *)lane;
    rewind_words(words);
    while (unread(words) != 0 && lane->cursor + (size_t)count * WP_TRACE_STRIDE > lane->limit) {
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

/* ---- running ---- */

/* Of the warps that ran: in step, that is nearly always one of them. */
static void note_words_and_exits(slot *s) {
    uint32_t warps = s->block->warps_run;
    s->block->warps_run = 0;
    for (; warps != 0; warps &= warps - 1) {
        const uint32_t w = (uint32_t)__builtin_ctz(warps);
        wpi_merge_take(&s->merges[w]);
        s->merges[w].exited = s->block->warps[w].exited;
    }
}

/* Runs the threads until each is held, waits, or has returned. */
static bool run(wpi_threads *threads, slot *s) {
    wpi_outcome outcome;
    s->has_news = false;
    threads->source.run_count++;
    if (!wpi_worker_run(threads->worker, s->block, &outcome)) return false;
    if (s->block->is_at_grid && !s->block->launch->is_cooperative) {
        wpi_worker_refuse_grid(threads->worker, s->block->launch);
        wpi_cpu_device_fail(threads->worker->device, &threads->worker->error);
        return false;
    }
    note_words_and_exits(s);
    return true;
}

static bool is_wide(const slot *s, uint32_t warp) {
    return s->wide[warp] != NULL && s->merges[warp].words == s->wide[warp];
}

/* The unread words at which a thread that waits for space continues. */
static uint32_t unread_most(const wpi_threads *threads, const slot *s, uint32_t warp) {
    if (s->is_narrow) return 0;
    return (is_wide(s, warp) ? WIDE_FACTOR : 1) * threads->lane_words / 2;
}

/* Releases lanes of a warp that wait for space, once enough of their words are read. */
static void let_go_read(const wpi_threads *threads, slot *s, uint32_t warp) {
    uint32_t lanes = 0;
    const uint32_t most = unread_most(threads, s, warp);
    for (uint32_t left = s->block->warps[warp].held; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const size_t thread = (size_t)warp * WP_WARP_LANES + lane;
        const bool is_for_space = s->block->pub.requests[thread].a == HELD_FOR_SPACE;
        const bool has_space = unread(&s->lanes[thread]) <= most;
        lanes |= (uint32_t)(is_for_space && has_space) << lane;
    }
    if (lanes == 0) return;
    wpi_block_let_go(s->block, warp, lanes);
    s->has_news = true;
}

/* Lanes wait at a step for lanes that wait for space, and the model for the former's words: gives
 * the latter more space, so that the step parts them as it should. False: they have it already, or
 * there are none. */
static bool widen(const wpi_threads *threads, slot *s, uint32_t warp) {
    const wpi_warp *w = &s->block->warps[warp];
    if (w->meet == 0 || w->held == 0 || w->ready != 0 || s->is_narrow || is_wide(s, warp))
        return false;
    const size_t count = (size_t)threads->lane_words * WP_TRACE_STRIDE;
    if (s->wide[warp] == NULL) s->wide[warp] = wpi_malloc(WIDE_FACTOR * count * sizeof **s->wide);
    if (s->wide[warp] == NULL) return false;
    memcpy(s->wide[warp], s->merges[warp].words, count * sizeof **s->wide);
    for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++) {
        wpi_lane_words *l = &s->lanes[(size_t)warp * WP_WARP_LANES + lane];
        const size_t outer = (size_t)(l->lane.cursor - l->words);
        l->words = s->wide[warp] + lane;
        l->lane.cursor = l->words + outer;
        l->lane.limit = l->words + WIDE_FACTOR * count;
    }
    s->merges[warp].words = s->wide[warp];
    let_go_read(threads, s, warp);
    return s->has_news;
}

/* Whether lanes of the warp have yielded to other threads, maybe of other CTAs. */
static bool spins(const slot *s, uint32_t warp) {
    return s->block->warps[warp].yielded != 0;
}

/* Restricts threads to one block ahead: without free space, a thread waits before each block until
 * the previous one is read. */
static void make_narrow(const wpi_threads *threads, slot *s) {
    const uint32_t lanes = threads->source.warps_per_cta * WP_WARP_LANES;
    s->is_narrow = true;
    for (uint32_t t = 0; t < lanes; t++)
        s->lanes[t].lane.limit = s->lanes[t].words;
}

/* The warp has ended a round of a spin loop. A CTA with many such rounds waits for others in
 * simulated time, so it may hardly run ahead from now on. In step, the loop may wait for lanes that
 * wait at a join, or at an operation for the present lanes. */
static void note_waiting_round(wpi_threads *threads, slot *s, uint32_t warp, uint32_t blocked,
                               uint32_t block) {
    if (threads->source.is_in_step) {
        wpi_merge_pass(&s->merges[warp]);
        if (wpi_block_waits_for_host(threads->source.tables, block)) return;
        if (++s->waiting[warp] % LOOSEN_ROUNDS != 0) return;
        (void)wpi_merge_loosen(&s->merges[warp], blocked);
        if (wpi_block_meet_in_turn(s->block, warp)) s->has_news = true;
    } else if (++s->waiting_rounds == WAITING_ROUNDS) {
        make_narrow(threads, s);
    }
}

/* Whether all threads are at the grid barrier, and the model has released them. */
static bool is_past_grid(const slot *s, uint32_t blocked) {
    return s->block->is_at_grid && blocked == 0;
}

/* ---- what a warp is about to do ---- */

/* The simulated address of global memory; other addresses are unchanged, as the SM has their
 * windows. */
static uint64_t simulated(const wpi_threads *threads, const slot *s, uint64_t address) {
    if (wpi_arena_has(address) || address == 0) return address; /* 0: no access */
    if (address - s->windows.shared < s->windows.shared_bytes ||
        address - s->windows.local < s->windows.local_bytes ||
        address - s->windows.cluster < s->windows.cluster_bytes)
        return address;
    return wpi_addresses_find(threads->addresses, address);
}

/* Translates the block's addresses. Those known to be in shared memory, and offsets in constant
 * memory, are unchanged; most others are in the arena. */
static void simulate_addresses(const wpi_threads *threads, const slot *s, const wpi_warp_block *at,
                               uint64_t *addresses) {
    const wp_trace_tables *tables = threads->source.tables;
    const wp_trace_block *block = &tables->blocks[at->block];
    const wp_trace_step *step = &tables->steps[block->first_step];
    uint64_t *lanes = addresses;
    for (const wp_trace_step *outer = step + block->step_count; step < outer; step++) {
        if (step->op != WP_TRACE_ACCESS) continue;
        const uint8_t space = tables->sites[step->value].space;
        const bool is_final = space == WP_TRACE_SHARED || space == WP_TRACE_CONST;
        if (!is_final && !(at->mask == ~0u && wpi_arena_has_all(lanes, WP_WARP_LANES))) {
            for (uint32_t left = at->mask; left != 0; left &= left - 1) {
                const uint32_t lane = (uint32_t)__builtin_ctz(left);
                lanes[lane] = simulated(threads, s, lanes[lane]);
            }
        }
        lanes += WP_WARP_LANES;
    }
}

/* Detects progress of the warp. `addresses` are not simulated ones. */
static void note_progress(wpi_threads *threads, slot *s, uint32_t warp, const wpi_warp_block *at,
                          const uint64_t *addresses) {
    const wp_trace_tables *tables = threads->source.tables;
    if (!threads->has_rounds || wpi_block_reads_clock(tables, at->block)) {
        wpi_activity_seen(threads->activity);
        return;
    }
    wpi_spin_round *lanes = s->rounds + (size_t)warp * WP_WARP_LANES;
    if (wpi_spin_round_add(lanes, at->mask, tables, at->block,
                           wpi_block_address_count(tables, at->block), addresses))
        wpi_activity_seen(threads->activity);
    if (wpi_block_ends_round(tables, at->block)) {
        s->since_round[warp] = 0;
        if (wpi_spin_round_end(lanes, at->mask))
            threads->activity->quiet++;
        else
            wpi_activity_seen(threads->activity);
    } else if (++s->since_round[warp] == LONG_WORK_BLOCKS) {
        s->since_round[warp] = 0;
        wpi_activity_seen(threads->activity);
    }
}

/* Whether the block ends in a store to host memory. In step a block has at most one access, which
 * ends it. `addresses` are simulated. */
static bool ends_in_host_store(const wp_trace_tables *tables, const wpi_warp_block *at,
                               const uint64_t *addresses) {
    const wp_trace_block *block = &tables->blocks[at->block];
    const wp_trace_step *step = &tables->steps[block->first_step];
    for (uint32_t i = 0; i < block->step_count; i++) {
        if (step[i].op != WP_TRACE_ACCESS || tables->sites[step[i].value].access == WP_TRACE_LOAD)
            continue;
        for (uint32_t left = at->mask; left != 0; left &= left - 1) {
            const uint64_t address = addresses[__builtin_ctz(left)];
            if (address >= WPI_HOST_FIRST && address < WPI_HOST_OUTER) return true;
        }
    }
    return false;
}

static void note_block(wpi_threads *threads, slot *s, uint32_t warp, uint32_t blocked,
                       const wpi_warp_block *at, uint64_t *addresses) {
    const wp_trace_tables *tables = threads->source.tables;
    note_progress(threads, s, warp, at, addresses);
    simulate_addresses(threads, s, at, addresses);
    if (threads->activity->stored != NULL && threads->source.is_in_step)
        s->stores_to_host[warp] = ends_in_host_store(tables, at, addresses);
    if (wpi_block_is_held(tables, at->block)) s->expected[warp] |= at->mask;
    if (wpi_block_ends_round(tables, at->block))
        note_waiting_round(threads, s, warp, blocked, at->block);
}

static wpi_source_answer next(wpi_warp_source *source, uint32_t number, uint32_t warp,
                              uint32_t blocked, wpi_warp_block *out) {
    wpi_threads *threads = (wpi_threads *)(void *)source;
    slot *s = &threads->slots[number];
    uint64_t *addresses = s->addresses + (size_t)warp * threads->word_max * WP_WARP_LANES;
    out->addresses = addresses;
    for (bool has_run = false;; has_run = true) {
        const wpi_merge_answer answer = wpi_merge_next(&s->merges[warp], source->tables, blocked,
                                                       &out->block, &out->mask, addresses);
        out->exited = s->merges[warp].retired;
        if (answer == WPI_MERGE_BLOCK) {
            note_block(threads, s, warp, blocked, out, addresses);
            return WPI_SOURCE_BLOCK;
        }
        if (answer == WPI_MERGE_EXIT) {
            wpi_activity_seen(threads->activity);
            return WPI_SOURCE_EXIT;
        }
        let_go_read(threads, s, warp);
        const bool can_run =
            s->has_news || (!has_run && (spins(s, warp) || is_past_grid(s, blocked) ||
                                         wpi_block_is_past_cluster(s->block)));
        if (!can_run) {
            if (s->expected[warp] == 0 && wpi_merge_loosen(&s->merges[warp], blocked)) continue;
            if (s->expected[warp] == 0 &&
                (widen(threads, s, warp) || wpi_block_meet_without_held(s->block, warp))) {
                if (!run(threads, s)) return WPI_SOURCE_FAILED;
                continue;
            }
            return spins(s, warp) ? WPI_SOURCE_SPIN : WPI_SOURCE_WAIT;
        }
        if (!run(threads, s)) return WPI_SOURCE_FAILED;
    }
}

static bool reach(wpi_warp_source *source, uint32_t number, uint32_t warp, uint32_t lanes,
                  uint64_t cycles, uint64_t time_ns) {
    wpi_threads *threads = (wpi_threads *)(void *)source;
    slot *s = &threads->slots[number];
    const uint32_t held = s->block->warps[warp].held & lanes;
    for (uint32_t left = held; left != 0; left &= left - 1) {
        wp_cpu_request *r =
            &s->block->pub.requests[(size_t)warp * WP_WARP_LANES + (uint32_t)__builtin_ctz(left)];
        r->result = r->b != 0 ? time_ns : cycles;
    }
    wpi_block_let_go(s->block, warp, held);
    s->expected[warp] &= ~lanes;
    const bool is_good = run(threads, s);
    if (s->stores_to_host[warp] && threads->activity->stored != NULL)
        threads->activity->stored(threads->activity->object);
    return is_good;
}

/* ---- CTAs ---- */

static void free_slot(const wpi_threads *threads, slot *s) {
    for (uint32_t w = 0; s->memory != NULL && w < threads->source.warps_per_cta; w++)
        wpi_free(s->wide[w]);
    wpi_free(s->memory);
    if (s->block != NULL) wpi_block_release(s->block);
    *s = (slot){0};
}

/* Places an array at offset *bytes; `memory` NULL: only counts. */
static void *place_array(char *memory, size_t *bytes, size_t count, size_t item_bytes) {
    enum { ALIGN = 16 };
    const size_t first = *bytes;
    *bytes += (count * item_bytes + ALIGN - 1) / ALIGN * ALIGN;
    return memory != NULL ? memory + first : NULL;
}

/* Returns the bytes of all arrays; the first `*zero_bytes` must be zeroed. */
static size_t place_arrays(const wpi_threads *threads, slot *s, char *memory, size_t *zero_bytes) {
    const size_t warps = threads->source.warps_per_cta, lanes = warps * WP_WARP_LANES;
    size_t bytes = 0;
    s->lanes = place_array(memory, &bytes, lanes, sizeof *s->lanes);
    s->merges = place_array(memory, &bytes, warps, sizeof *s->merges);
    s->wide = place_array(memory, &bytes, warps, sizeof(uint64_t *));
    s->waiting = place_array(memory, &bytes, warps, sizeof *s->waiting);
    s->expected = place_array(memory, &bytes, warps, sizeof *s->expected);
    s->since_round = place_array(memory, &bytes, warps, sizeof *s->since_round);
    s->stores_to_host = place_array(memory, &bytes, warps, sizeof *s->stores_to_host);
    if (threads->has_rounds) s->rounds = place_array(memory, &bytes, lanes, sizeof *s->rounds);
    *zero_bytes = bytes;
    s->words = place_array(memory, &bytes, lanes * threads->lane_words, sizeof *s->words);
    s->addresses = place_array(memory, &bytes, lanes * threads->word_max + 1, sizeof *s->addresses);
    return bytes;
}

/* Allocates all arrays at once: programs launch small kernels by the thousand. */
static bool fill_slot(const wpi_threads *threads, slot *s) {
    if (s->memory != NULL) return true;
    size_t zero_bytes;
    char *memory = wpi_malloc(place_arrays(threads, s, NULL, &zero_bytes));
    if (memory == NULL) return false;
    memset(memory, 0, zero_bytes);
    (void)place_arrays(threads, s, memory, &zero_bytes);
    s->memory = memory;
    return true;
}

static slot *take_slot(wpi_threads *threads) {
    if (threads->free_slot == threads->slot_count) { /* none is free */
        const uint32_t count = threads->slot_count == 0 ? 16 : 2 * threads->slot_count;
        slot *slots = wpi_realloc(threads->slots, count * sizeof *slots);
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
    const size_t words_per_warp = (size_t)threads->lane_words * WP_TRACE_STRIDE;
    for (uint32_t w = 0; w < warps; w++) {
        wpi_lane_words *lanes = s->lanes + (size_t)w * WP_WARP_LANES;
        wpi_merge_start(&s->merges[w], lanes, s->words + w * words_per_warp,
                        ~s->block->warps[w].exited);
        for (uint32_t lane = 0; lane < WP_WARP_LANES; lane++)
            lanes[lane].lane.limit = lanes[lane].words + words_per_warp;
        s->waiting[w] = s->expected[w] = s->since_round[w] = 0;
        s->stores_to_host[w] = false;
    }
    if (threads->has_rounds) memset(s->rounds, 0, warps * WP_WARP_LANES * sizeof *s->rounds);
}

static wpi_windows windows_of(const wpi_block *block) {
    const wp_cpu_block *pub = &block->pub;
    return (wpi_windows){.shared = (uintptr_t)pub->shared,
                         .shared_bytes = pub->cluster_stride_bytes != 0 ? pub->cluster_stride_bytes
                                                                        : block->shared_capacity,
                         .cluster = (uintptr_t)pub->cluster_shared,
                         .cluster_bytes = pub->cluster_stride_bytes * pub->cluster_size,
                         .local = (uintptr_t)block->fiber_stacks,
                         .local_bytes = (uint64_t)block->fiber_capacity *
                                        (block->fiber_stack_bytes + WPI_FIBER_GUARD_BYTES)};
}

/* The block joins its cluster, which begins with the first of its CTAs. False: out of memory. */
static bool join_cluster(wpi_threads *threads, wpi_block *block, uint64_t cta) {
    const uint32_t size = threads->launch->cluster_size, rank = (uint32_t)(cta % size);
    if (rank == 0) threads->cluster = wpi_cluster_obtain(threads->worker, threads->launch);
    if (threads->cluster == NULL || !wpi_cluster_join(threads->cluster, block, rank)) return false;
    if (rank + 1 == size) threads->cluster = NULL;
    return true;
}

static wp_status start(wpi_warp_source *source, uint64_t cta, uint32_t sm, uint32_t *number,
                       wpi_windows *windows, wp_error *err) {
    wpi_threads *threads = (wpi_threads *)(void *)source;
    slot *s = take_slot(threads);
    if (s != NULL && fill_slot(threads, s) && s->block == NULL)
        s->block = wpi_block_obtain(threads->worker, threads->launch);
    if (s == NULL || s->block == NULL ||
        (threads->launch->is_explicit_cluster && !join_cluster(threads, s->block, cta))) {
        if (s != NULL) give_slot(threads, s);
        return WP_FAIL(err, NOMEM, "kernel %s: no host memory for a CTA of %u threads",
                       threads->launch->kernel->display_name, source->threads_per_cta);
    }
    wpi_block_start(s->block, cta);
    s->block->pub.sm_id = sm;
    s->block->trace = s->lanes;
    start_lanes(threads, s);
    s->waiting_rounds = 0;
    s->is_narrow = false;
    s->has_news = true;
    threads->activity->warps += source->warps_per_cta;
    wpi_activity_seen(threads->activity);
    *windows = s->windows = windows_of(s->block);
    *number = s->block->slot = (uint32_t)(s - threads->slots);
    return WP_STATUS_OK;
}

static void finish(wpi_warp_source *source, uint32_t number) {
    wpi_threads *threads = (wpi_threads *)(void *)source;
    (void)wpi_cluster_leave(threads->slots[number].block);
    give_slot(threads, &threads->slots[number]);
    threads->activity->warps -= source->warps_per_cta;
}

/* ---- waiting for grids ---- */

static uint32_t lanes_that_wait(const slot *s, uint32_t warp) {
    uint32_t lanes = 0;
    for (uint32_t left = s->block->warps[warp].held; left != 0; left &= left - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(left);
        const wp_cpu_request *r = &s->block->pub.requests[(size_t)warp * WP_WARP_LANES + lane];
        lanes |= (uint32_t)(r->a == WPI_HELD_FOR_NESTED) << lane;
    }
    return lanes;
}

static bool awaits_grids(void *object, uint32_t number) {
    const wpi_threads *threads = object;
    for (uint32_t w = 0; w < threads->source.warps_per_cta; w++)
        if (lanes_that_wait(&threads->slots[number], w) != 0) return true;
    return false;
}

/* Lanes whose grids are not complete are held again at once. */
static bool grids_done(void *object, uint32_t number, uint32_t sm) {
    wpi_threads *threads = object;
    slot *s = &threads->slots[number];
    for (uint32_t w = 0; w < threads->source.warps_per_cta; w++)
        wpi_block_let_go(s->block, w, lanes_that_wait(s, w));
    s->block->pub.sm_id = sm;
    wpi_activity_seen(threads->activity);
    return run(threads, s);
}

/* ---- the source ---- */

static const wpi_warp_source_ops ops = {start, next, reach, finish};

static void measure_blocks(wpi_threads *threads, const wp_trace_tables *tables) {
    for (uint32_t i = 0; i < tables->block_count; i++) {
        if (tables->blocks[i].access_count > threads->word_max)
            threads->word_max = tables->blocks[i].access_count;
    }
    threads->lane_words = LANE_WORDS;
    if (2 * (threads->word_max + 1) > threads->lane_words)
        threads->lane_words = 2 * (threads->word_max + 1);
}

void wpi_threads_place(const wpi_block *block, uint32_t thread, char *out, size_t out_bytes) {
    const wp_trace_tables *tables = block->launch->kernel->tables;
    if (block->trace == NULL || tables == NULL) return;
    const wpi_lane_words *words = &block->trace[thread];
    const wpi_merge *merge = words->merge;
    const uint32_t written = wpi_lane_written(words);
    uint32_t number = merge->block[words->number];
    for (uint32_t row = merge->read[words->number]; row < written;
         row += 1 + tables->blocks[number].access_count)
        number = (uint32_t)words->words[(size_t)row * WP_TRACE_STRIDE];
    char place[128];
    wpi_describe_place(tables, number, place, sizeof place);
    snprintf(out, out_bytes, ", SM %u, warp %u%s", block->pub.sm_id, thread / WP_WARP_LANES, place);
}

wp_status wpi_threads_create(wpi_worker *worker, wpi_launch *launch, wpi_addresses *addresses,
                             wpi_activity *activity, wpi_threads **out, wp_error *err) {
    *out = NULL;
    wpi_threads *threads = wpi_calloc(1, sizeof *threads);
    if (threads == NULL) return WP_FAIL(err, NOMEM, "warp source");
    const wpi_cpu_kernel *kernel = launch->kernel;
    threads->worker = worker;
    threads->launch = launch;
    threads->addresses = addresses;
    threads->activity = activity;
    threads->has_rounds =
        kernel->trace != NULL && (kernel->trace->flags & WP_TRACE_KERNEL_SPINS) != 0;
    threads->source = (wpi_warp_source){
        .ops = &ops,
        .tables = kernel->tables,
        .name = kernel->display_name,
        .cta_count = launch->block_count,
        .warps_per_cta = (launch->thread_count + WP_WARP_LANES - 1) / WP_WARP_LANES,
        .threads_per_cta = launch->thread_count,
        .shared_bytes_per_cta = kernel->code->shared_static_bytes + launch->shared_dynamic_bytes,
        .cluster_size = launch->cluster_size,
        .registers_per_thread = kernel->base.info.register_count,
        .is_in_step = kernel->tables->is_in_step != 0,
        .prefers_l1 = launch->prefers_l1,
        .shared_carveout = launch->shared_carveout,
    };
    if (kernel->trace == NULL || (kernel->trace->flags & WP_TRACE_KERNEL_LAUNCHES) != 0)
        threads->source.waits = (wpi_source_waits){awaits_grids, grids_done, threads};
    measure_blocks(threads, kernel->tables);
    *out = threads;
    return WP_STATUS_OK;
}

void wpi_threads_destroy(wpi_threads *threads) {
    if (threads == NULL) return;
    for (uint32_t i = 0; i < threads->slot_count; i++)
        free_slot(threads, &threads->slots[i]);
    wpi_cluster_destroy(threads->cluster); /* not all of its CTAs have started */
    wpi_free(threads->slots);
    wpi_free(threads);
}

wpi_warp_source *wpi_threads_source(wpi_threads *threads) {
    return &threads->source;
}
