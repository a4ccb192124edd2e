/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's side of windows against a model of the threads of several blocks, with random delays
 * on both sides and on the copies: a window has the contents of host memory, writes are stored
 * before data that comes with them is read, no thread waits for ever; and each failing call of a
 * queue ends the launch with one error.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "device/device.h"
#include "slow_queue.h"
#include "stream/window_service.h"
#include "wp_random.h"
#include "wp_test.h"

/* Copies of values are of whole warps: with the lanes that asked they carry bytes of others, which
 * are not looked at. To the thread sanitizer these are races. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define SKIP_RACES() skip()
#endif
#endif
#ifndef SKIP_RACES
#define SKIP_RACES() ((void)0)
#endif

enum { SETS = 5, THREADS = 40, ROUNDS = 25, WORDS = 4096, OWN = 16, CLASS = 2 };
#define LANES (SETS * THREADS)

static uint32_t words[WORDS];     /* read only, window 0 */
static uint32_t own[LANES * OWN]; /* each thread writes and reads its own, window 1 */

/* ---- a block ---- */

typedef struct model {
    const wpi_window_launch *l;
    uint64_t base, own_base; /* addresses of the two arrays */
    uint32_t set;
    bool has_ended; /* before its time */
    const char *wrong;
} model;

static uint64_t index_of(const model *m, uint32_t t) {
    return (uint64_t)m->set * m->l->threads + t;
}

static void ask(const model *m, uint32_t t, uint64_t address, uint32_t window) {
    const wpi_window_launch *l = m->l;
    const uint32_t group = m->set / l->sets_per_group;
    const uint32_t number = (m->set - group * l->sets_per_group) * l->threads + t;
    l->wants[index_of(m, t)] = address | UINT64_C(4) << WPI_WINDOW_BYTES_SHIFT |
                               (uint64_t)window << WPI_WINDOW_NUMBER_SHIFT;
    const uint32_t ticket =
        __atomic_fetch_add(&l->tickets[group * WPI_STREAM_WORD], 1, __ATOMIC_RELAXED);
    const uint32_t lap = ticket >> l->ring_shift;
    uint32_t *ring = l->ring + ((uint64_t)group << l->ring_shift);
    __atomic_store_n(&ring[ticket - (lap << l->ring_shift)], number << 1 | ((lap & 1) ^ 1),
                     __ATOMIC_RELEASE);
}

static uint32_t answer_of(const model *m, uint32_t t) {
    return __atomic_load_n(&m->l->answers[index_of(m, t)], __ATOMIC_ACQUIRE);
}

/* The bytes of the window; WPI_STREAM_END: the launch has failed. */
static uint32_t await(const model *m, uint32_t t, uint32_t last) {
    for (;;) {
        const uint32_t now = answer_of(m, t);
        if (now == WPI_STREAM_END || last == WPI_STREAM_END) return WPI_STREAM_END;
        if (now != last) return now >> 1;
        sched_yield();
    }
}

/* A value for the thread's own array, in its list of writes. */
static void put(const model *m, uint32_t t, uint32_t slot, uint64_t address, uint32_t value) {
    const wpi_window_launch *l = m->l;
    const uint64_t warp = index_of(m, t) / WPI_WINDOW_LANES;
    const uint64_t at = (warp * l->write_slots + slot) * WPI_WINDOW_LANES + t % WPI_WINDOW_LANES;
    l->targets[at] = address | (uint64_t)CLASS << WPI_WINDOW_BYTES_SHIFT;
    memcpy(l->values + (at << l->value_class), &value, sizeof value);
    l->write_counts[index_of(m, t)] = slot + 1;
}

/* Whether the window begins at the wanted word, and has what the array has. */
static bool is_right(const model *m, uint32_t t, uint32_t window, uint32_t bytes,
                     const uint32_t *array, uint32_t first, uint32_t outer) {
    const wpi_window_launch *l = m->l;
    const uint64_t warps = (uint64_t)l->set_count * l->threads / WPI_WINDOW_LANES;
    const char *source = l->source +
                         (window * warps + index_of(m, t) / WPI_WINDOW_LANES) * l->region_bytes +
                         (t % WPI_WINDOW_LANES) * WPI_WINDOW_PIECE;
    uint32_t value;
    if (bytes < 4 || bytes % 4 != 0 || bytes > l->granules * 4) return false;
    for (uint32_t at = 0; at < bytes && first + at / 4 < outer; at += 4) {
        const uint32_t inside = at % WPI_WINDOW_PIECE;
        memcpy(&value, source + (uint64_t)(at - inside) * WPI_WINDOW_LANES + inside, sizeof value);
        if (value != array[first + at / 4]) return false;
    }
    return true;
}

/* In each round some threads ask, all at once, for words of the common array or for their own,
 * which some of them change with the same request. */
static void *threads_of_block(void *arg) {
    model *m = arg;
    uint64_t random = m->set + 1;
    uint32_t last[THREADS] = {0}, at[THREADS] = {0}, expected[THREADS][OWN] = {{0}};
    for (uint32_t round = 0; round < ROUNDS && m->wrong == NULL; round++) {
        bool asks[THREADS], is_own[THREADS];
        for (uint32_t t = 0; t < THREADS; t++) {
            const uint64_t draw = wp_random_next(&random);
            const uint32_t lane = m->set * THREADS + t;
            asks[t] = draw % 3 != 0;
            is_own[t] = draw >> 8 & 1;
            if (!asks[t]) continue;
            slow_delay((uint32_t)(draw >> 20));
            at[t] = is_own[t]       ? (uint32_t)(draw >> 12) % OWN
                    : draw >> 9 & 1 ? (at[t] + 9) % WORDS
                                    : (uint32_t)(draw >> 12) % WORDS;
            for (uint32_t s = 0; is_own[t] && s < (draw >> 40) % (m->l->write_slots + 1); s++) {
                const uint32_t place = (uint32_t)(draw >> (16 + s)) % OWN;
                expected[t][place] = lane * 1000 + round * 7 + s;
                put(m, t, s, m->own_base + (uint64_t)(lane * OWN + place) * 4, expected[t][place]);
            }
            last[t] = answer_of(m, t);
            ask(m, t,
                is_own[t] ? m->own_base + (uint64_t)(lane * OWN + at[t]) * 4
                          : m->base + (uint64_t)at[t] * 4,
                is_own[t]);
        }
        for (uint32_t t = 0; t < THREADS; t++) {
            if (!asks[t]) continue;
            const uint32_t bytes = await(m, t, last[t]);
            if (bytes == WPI_STREAM_END) {
                m->has_ended = true;
                return NULL;
            }
            if (!is_right(m, t, is_own[t], bytes, is_own[t] ? expected[t] : words, at[t],
                          is_own[t] ? OWN : WORDS))
                m->wrong = "a window has other data";
        }
    }
    return NULL;
}

/* ---- a launch ---- */

typedef struct outcome {
    uint32_t failures;
    bool has_ended; /* a block, before its time */
    const char *wrong;
} outcome;

static outcome run(int failing_call, uint32_t granules) {
    const wpi_stream_facts facts = {.windows = 2,
                                    .granule = CLASS,
                                    .value_class = CLASS,
                                    .reads_own = 1,
                                    .write_need = {0, 0, 1, 0, 0}};
    const wpi_stream_shape shape = {.block = {THREADS, 1, 1},
                                    .set_count_max = SETS,
                                    .device_bytes_max = 1 << 20,
                                    .slots_max = granules};
    wp_device *device;
    wp_queue *down, *up;
    wpi_window_layout layout;
    wpi_window_buffers buffers = {0};
    wpi_stream_memory memory = {0};
    wp_error err = {0};
    void *base;
    pthread_t blocks[SETS];
    model models[SETS];
    outcome o = {0};
    assert_status_ok(wp_device_open("cpu", &device, &err), &err);
    assert_status_ok(wp_queue_create(device, false, &down, &err), &err);
    assert_status_ok(wp_queue_create(device, false, &up, &err), &err);
    assert_status_ok(wpi_window_layout_make(&facts, &shape, &layout, &err), &err);
    assert_status_ok(
        wpi_stream_memory_alloc(&memory, device, layout.pinned_bytes, layout.device_bytes, &err),
        &err);
    memset(memory.memory, 0, memory.device_bytes);
    wpi_window_buffers_place(&buffers, &memory, &layout);
    assert_status_ok(wpi_reservation_create(sizeof words + sizeof own, &base, &err), &err);
    assert_status_ok(wpi_reservation_map(base, words, sizeof words, &err), &err);
    assert_status_ok(wpi_reservation_map((char *)base + sizeof words, own, sizeof own, &err), &err);
    memset(own, 0, sizeof own);
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = i * 3 + 1;

    const wpi_window_launch *l = buffers.launch_source;
    assert_u64(l->set_count, SETS);
    const uint32_t group_count = l->group_count;
    wpi_window_service services[SETS] = {{0}};
    atomic_bool is_reported = false;
    wp_actor *actors[SETS];
    slow_queues_of(device, failing_call);
    for (uint32_t g = 0; g < group_count; g++) {
        services[g] = (wpi_window_service){
            .kernel_name = "k", .down = down, .up = up, .is_reported = &is_reported};
        assert_status_ok(wpi_window_service_init(&services[g], &buffers, g, &err), &err);
        assert_status_ok(wp_actor_start(device, "windows", wpi_window_service_step, &services[g],
                                        &actors[g], &err),
                         &err);
    }
    for (uint32_t s = 0; s < SETS; s++) {
        models[s] = (model){
            .l = l, .base = (uintptr_t)base, .own_base = (uintptr_t)base + sizeof words, .set = s};
        assert_int_equal(pthread_create(&blocks[s], NULL, threads_of_block, &models[s]), 0);
    }
    for (uint32_t s = 0; s < SETS; s++) {
        assert_int_equal(pthread_join(blocks[s], NULL), 0);
        if (models[s].wrong != NULL) o.wrong = models[s].wrong;
        o.has_ended |= models[s].has_ended;
    }
    uint32_t *ring;
    size_t ring_words;
    wpi_window_buffers_rings(&buffers, &ring, &ring_words);
    for (size_t i = 0; i < ring_words; i++)
        __atomic_store_n(&ring[i], WPI_STREAM_END, __ATOMIC_RELEASE);
    for (uint32_t g = 0; g < group_count; g++) {
        wp_actor_destroy(actors[g]);
        o.failures += services[g].has_failed;
        wpi_window_service_free(&services[g]);
    }
    assert_int_equal(wpi_reservation_free(base, true, NULL), WP_STATUS_OK);
    wp_queue_destroy(down);
    wp_queue_destroy(up);
    assert_int_equal(wp_device_wait(device, NULL), WP_STATUS_OK);
    wpi_stream_memory_free(&memory);
    wp_device_close(device);
    return o;
}

static void windows_have_what_host_memory_has(void **state) {
    static const uint32_t granules[] = {1, 3, 16, 128};
    (void)state;
    SKIP_RACES();
    for (size_t i = 0; i < sizeof granules / sizeof *granules; i++) {
        const outcome o = run(-1, granules[i]);
        if (o.wrong != NULL) fail_msg("%s", o.wrong);
        assert_u64(o.failures, 0);
        assert_false(o.has_ended);
    }
}

/* Blocks of the group that failed trap; in this model those of others go on. */
static void a_call_that_fails_ends_the_launch(void **state) {
    (void)state;
    SKIP_RACES();
    for (int call = 0; call < 40; call += 3) {
        const outcome o = run(call, 16);
        if (o.wrong != NULL) fail_msg("%s", o.wrong);
        assert_u64(o.failures, 1);
    }
}

/* Blocks of the last group may be fewer; small memory costs blocks, then bytes of a window. */
static void layouts_fit(void **state) {
    const wpi_stream_facts facts = {.windows = 3, .granule = 4, .reads_own = 1};
    (void)state;
    for (uint32_t sets = 1; sets < 30; sets++) {
        const wpi_stream_shape shape = {
            .block = {96, 2, 1}, .set_count_max = sets, .device_bytes_max = 200000};
        wpi_window_layout layout;
        wp_error err = {0};
        assert_status_ok(wpi_window_layout_make(&facts, &shape, &layout, &err), &err);
        const wpi_window_launch *l = &layout.launch;
        assert_true(layout.device_bytes <= 200000 && l->set_count >= 1 && l->granules >= 1);
        assert_true(l->group_count * l->sets_per_group >= l->set_count);
        assert_true((l->group_count - 1) * l->sets_per_group < l->set_count);
        assert_true(UINT64_C(1) << l->ring_shift >= (uint64_t)l->sets_per_group * l->threads);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_have_what_host_memory_has),
        cmocka_unit_test(a_call_that_fails_ends_the_launch),
        cmocka_unit_test(layouts_fit),
    };
    return wp_test_main(tests);
}
