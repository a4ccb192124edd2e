/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The host's two state machines against a model of the threads of a block, with random delays on
 * both sides and on the copies: no slot is read before it is filled, or filled again before it was
 * used; and each call of a queue that fails ends the launch with one error. The threads read words
 * by their addresses, or through an index that the host follows.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "device/device.h"
#include "slow_queue.h"
#include "stream/stream_server.h"
#include "wp_random.h"
#include "wp_test.h"

enum { THREADS = 32, CHUNKS = 30, SLOTS = 6, WORDS = 4096 };

static uint32_t host[WORDS];
static int32_t indices[WORDS]; /* of words, from the middle of host */

/* ---- the block ---- */

typedef struct model {
    const wpi_stream_launch *l;
    bool is_indexed;
    atomic_uint computed; /* chunks */
    atomic_bool is_over;
    uint64_t base, index_base; /* of the reservations */
    const char *wrong;
} model;

/* What thread t reads in slot s of chunk n, and whether it reads it. */
static uint32_t word_of(uint32_t n, uint32_t s, uint32_t t) {
    return (n * 977 + s * 131 + t * 7) % WORDS;
}
static uint32_t count_of(uint32_t n, uint32_t t) {
    return (n * 5 + t * 3) % (SLOTS + 1);
}

static bool await(const uint32_t *word, uint32_t value, model *m) {
    for (;;) {
        const uint32_t now = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (now == WPI_STREAM_END || atomic_load(&m->is_over)) return false;
        if (now >= value) return true;
        sched_yield();
    }
}

static uint64_t slot_at(const wpi_stream_launch *l, uint32_t slot, uint32_t t) {
    return (uint64_t)slot * l->half + t;
}

/* Of three threads' chunks one is a pattern, words at a stride; one is a pattern in its first half,
 * and then a run; one is single words. */
enum { PATTERN, RUN, SINGLE };
static uint32_t shape_of(uint32_t n, uint32_t t) {
    return (n + t) % 3;
}
static uint32_t pattern_reads(uint32_t n, uint32_t t) {
    const uint32_t shape = shape_of(n, t), count = count_of(n, t);
    return shape == PATTERN ? count : shape == RUN ? count / 2 : 0;
}
static uint32_t read_word(uint32_t n, uint32_t s, uint32_t t) {
    if (s < pattern_reads(n, t)) return n * 11 % 100 + t * 20 + s * 3;
    if (shape_of(n, t) == RUN) return (n * 13 + t * 31) % 2000 + s;
    return word_of(n, s, t);
}

enum { INDEXED = WPI_STREAM_CLASSES, INDEX }; /* rows */

static uint32_t value_at(const model *m, uint32_t word) {
    return (m->is_indexed ? (uint32_t)(indices[word] + WORDS / 2) : word) * 3 + 1;
}

/* The device has what some chunks read, and it is not what the host has. */
static bool is_filled(const model *m, uint32_t n) {
    return m->l->kept_count != 0 && n * 5 % 3 != 0;
}

static uint32_t value_in(const model *m, uint32_t n, uint32_t word) {
    return value_at(m, word) + (is_filled(m, n) ? 1u << 30 : 0);
}

/* The words behind the pattern. */
static void send_words(const model *m, uint64_t *words, uint32_t n, uint32_t t) {
    const uint64_t base = m->is_indexed ? m->index_base : m->base;
    const wpi_stream_launch *l = m->l;
    const uint32_t first = pattern_reads(n, t), count = count_of(n, t);
    const uint32_t reads = shape_of(n, t) == RUN ? count - first : 1;
    for (uint32_t s = first, at = 0; s < count; s += reads, at++)
        words[slot_at(l, at, t)] = (base + (uint64_t)read_word(n, s, t) * 4) |
                                   (uint64_t)(reads - 1) << WPI_STREAM_RUN_SHIFT;
}

/* What the indices are added to is the same for all reads. */
static void send_middles(const model *m, uint32_t n, uint32_t t) {
    const wpi_stream_launch *l = m->l;
    const uint64_t buffer = n % WPI_STREAM_BUFFERS, row = buffer * l->row_count + INDEXED;
    const uint64_t middle = m->base + WORDS / 2 * 4;
    uint64_t *words = (uint64_t *)(void *)(l->addresses + buffer * l->addresses_bytes +
                                           l->classes[INDEXED].address_offset);
    const uint32_t count = count_of(n, t), in_pattern = shape_of(n, t) == PATTERN ? count : 0;
    l->read_counts[row * l->half + t] = count;
    l->pattern_reads[row * l->half + t] = in_pattern;
    l->pattern_sites[row * l->half + t] = 1;
    l->patterns[row * WPI_STREAM_SITES * l->half + t] = (wpi_stream_stride){middle, 0};
    if (in_pattern == 0 && count != 0)
        words[t] = middle | WPI_STREAM_SAME | (uint64_t)(count - 1) << WPI_STREAM_RUN_SHIFT;
}

/* Four words are a line. */
static uint64_t read_at(const wpi_stream_launch *l, uint32_t slot, uint32_t t) {
    if (!l->has_lines) return slot_at(l, slot, t);
    return ((uint64_t)(slot / 4) * l->half + t) * 4 + slot % 4;
}

static void fill_slots(const model *m, uint32_t n) {
    const wpi_stream_launch *l = m->l;
    const uint64_t buffer = n % WPI_STREAM_BUFFERS;
    uint32_t *data =
        (uint32_t *)(void *)(l->data + buffer * l->data_bytes + l->classes[2].data_offset);
    for (uint32_t t = 0; t < THREADS; t++)
        for (uint32_t s = 0; s < count_of(n, t); s++)
            data[read_at(l, s, t)] = value_in(m, n, read_word(n, s, t));
}

/* The buffer of chunk n can be filled: the host has read it, or, without flags, all is done with
 * it. */
static bool is_free(const model *m, uint32_t n) {
    if (n < WPI_STREAM_BUFFERS) return true;
    const uint32_t done = m->l->has_flags ? __atomic_load_n(m->l->taken, __ATOMIC_ACQUIRE)
                                          : atomic_load(&m->computed);
    return done + WPI_STREAM_BUFFERS > n;
}

static void *address_threads(void *arg) {
    model *m = arg;
    const wpi_stream_launch *l = m->l;
    uint64_t random = 1;
    for (uint32_t n = 0; n < CHUNKS; n++) {
        while (!is_free(m, n)) {
            if (atomic_load(&m->is_over)) return NULL;
            sched_yield();
        }
        const uint32_t r = m->is_indexed ? INDEX : 2;
        const uint64_t base = m->is_indexed ? m->index_base : m->base;
        const uint64_t buffer = n % WPI_STREAM_BUFFERS, row = buffer * l->row_count + r;
        uint64_t *words = (uint64_t *)(void *)(l->addresses + buffer * l->addresses_bytes +
                                               l->classes[r].address_offset);
        slow_delay((uint32_t)wp_random_next(&random));
        for (uint32_t t = 0; t < THREADS; t++) {
            l->read_counts[row * l->half + t] = count_of(n, t);
            l->pattern_reads[row * l->half + t] = pattern_reads(n, t);
            l->pattern_sites[row * l->half + t] = 1;
            l->patterns[row * WPI_STREAM_SITES * l->half + t] =
                (wpi_stream_stride){base + (uint64_t)read_word(n, 0, t) * 4, 12};
            send_words(m, words, n, t);
            if (m->is_indexed) send_middles(m, n, t);
        }
        l->filled[buffer] = is_filled(m, n);
        if (is_filled(m, n)) fill_slots(m, n);
        __atomic_store_n(l->asked, n + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

/* Each thread writes as many words as it read: to the second half of the reservation. */
static void compute_chunk(model *m, uint32_t n) {
    const wpi_stream_launch *l = m->l;
    const uint32_t r = m->is_indexed ? INDEXED : 2;
    const uint64_t buffer = n % WPI_STREAM_BUFFERS, row = buffer * WPI_STREAM_CLASSES + 2;
    const uint32_t *data = (const uint32_t *)(const void *)(l->data + buffer * l->data_bytes +
                                                            l->classes[r].data_offset);
    uint64_t *targets =
        (uint64_t *)(void *)(l->targets + buffer * l->targets_bytes + l->classes[2].target_offset);
    uint32_t *values =
        (uint32_t *)(void *)(l->values + buffer * l->values_bytes + l->classes[2].value_offset);
    for (uint32_t t = 0; t < THREADS; t++) {
        l->write_counts[row * l->half + t] = count_of(n, t);
        for (uint32_t s = 0; s < count_of(n, t); s++) {
            const uint32_t value = data[read_at(l, s, t)];
            if (value != value_in(m, n, read_word(n, s, t))) m->wrong = "a slot has other data";
            targets[slot_at(l, s, t)] =
                m->base + (WORDS + (uint64_t)(n * THREADS + t) * SLOTS + s) * 4;
            values[slot_at(l, s, t)] = value + n;
        }
    }
}

static void *compute_threads(void *arg) {
    model *m = arg;
    const wpi_stream_launch *l = m->l;
    uint64_t random = 2;
    for (uint32_t n = 0; n < CHUNKS; n++) {
        if (!await(l->answered, n + 1, m)) return NULL;
        if (n >= WPI_STREAM_BUFFERS && !await(l->stored, n + 1 - WPI_STREAM_BUFFERS, m))
            return NULL;
        slow_delay((uint32_t)wp_random_next(&random));
        compute_chunk(m, n);
        __atomic_store_n(l->wrote, n + 1, __ATOMIC_RELEASE);
        if (l->has_flags) __atomic_store_n(l->used, n + 1, __ATOMIC_RELEASE);
        atomic_store(&m->computed, n + 1);
    }
    (void)await(l->stored, CHUNKS, m);
    return NULL;
}

/* ---- a launch of one block ---- */

typedef struct outcome {
    bool has_failed;
    const char *wrong;
    uint64_t stored; /* words that are right */
} outcome;

typedef enum form { PLAIN, LINES, INDEXED_READS, KEPT } form;
/* How it is served: bits. */
enum { OWN = 1, FLAGS = 2, FETCHED = 4, ONE_SERVER = 8, WAYS = 16 };

static outcome run(int failing_call, uint32_t ways, form reads) {
    static uint32_t results[CHUNKS * THREADS * SLOTS];
    const bool is_indexed = reads == INDEXED_READS;
    wpi_stream_facts facts = {.read_need = {0, 0, SLOTS, 0, 0},
                              .write_need = {0, 0, SLOTS, 0, 0},
                              .has_lines = reads == LINES};
    if (is_indexed) {
        facts.read_need[2] = 0;
        facts.read_need[INDEXED] = SLOTS;
        facts.followed_count = 2;
        facts.followed[0] = (wpi_stream_row){.class = 2, .index = INDEX, .scale = 4};
        facts.followed[1] = (wpi_stream_row){.class = 2, .is_index = 1, .is_signed = 1};
    }
    const wpi_stream_shape shape = {.block = {THREADS, 1, 1},
                                    .set_count_max = 1,
                                    .device_bytes_max = 1 << 20,
                                    .slots_max = SLOTS,
                                    .has_flags = reads != KEPT && (ways & FLAGS) != 0,
                                    .has_fetched = (ways & FETCHED) != 0,
                                    .looks_for_patterns = true};
    wp_device *device;
    wp_queue *down, *up;
    wpi_stream_layout layout;
    wpi_stream_buffers buffers = {0};
    wpi_stream_memory memory = {0};
    wp_actor *actors[2] = {NULL};
    wp_error err = {0};
    void *base, *index_base;
    pthread_t ahead, compute;
    memset(results, 0, sizeof results);
    assert_status_ok(wp_device_open("cpu", &device, &err), &err);
    assert_status_ok(wp_queue_create(device, false, &down, &err), &err);
    assert_status_ok(wp_queue_create(device, false, &up, &err), &err);
    assert_status_ok(wpi_stream_layout_make(&facts, &shape, &layout, &err), &err);
    assert_status_ok(
        wpi_stream_memory_alloc(&memory, device, layout.pinned_bytes, layout.device_bytes, &err),
        &err);
    wpi_stream_buffers_place(&buffers, &memory, &layout);
    memset(memory.memory, 0, memory.device_bytes);
    buffers.launch_source->kept_count = reads == KEPT;
    assert_status_ok(wpi_reservation_create(sizeof host + sizeof results, &base, &err), &err);
    assert_status_ok(wpi_reservation_map(base, host, sizeof host, &err), &err);
    assert_status_ok(wpi_reservation_map((char *)base + sizeof host, results, sizeof results, &err),
                     &err);
    assert_status_ok(wpi_reservation_create(sizeof indices, &index_base, &err), &err);
    assert_status_ok(wpi_reservation_map(index_base, indices, sizeof indices, &err), &err);
    for (uint32_t i = 0; i < WORDS; i++) {
        host[i] = i * 3 + 1;
        indices[i] = (int32_t)(i * 7 % WORDS) - WORDS / 2;
    }

    model m = {.l = buffers.launch_source,
               .is_indexed = is_indexed,
               .base = (uintptr_t)base,
               .index_base = (uintptr_t)index_base};
    wpi_stream_side sides[2];
    atomic_bool is_reported = false;
    for (int i = 0; i < 2; i++)
        sides[i] =
            (wpi_stream_side){.buffers = &buffers,
                              .kernel_name = "k",
                              .is_reported = &is_reported,
                              .step = i == 0 ? wpi_stream_gather_step : wpi_stream_store_step,
                              .reads_own = (ways & OWN) != 0,
                              .down = down,
                              .up = up};
    wpi_stream_side *served[2] = {&sides[0], &sides[1]};
    wpi_stream_server servers[2] = {{.sides = &served[0], .count = 1},
                                    {.sides = &served[1], .count = 1}};
    if ((ways & ONE_SERVER) != 0) servers[0].count = 2;
    slow_queues_of(device, failing_call);
    for (uint32_t i = 0; i < ((ways & ONE_SERVER) != 0 ? 1u : 2u); i++)
        assert_status_ok(
            wp_actor_start(device, "server", wpi_stream_server_step, &servers[i], &actors[i], &err),
            &err);
    assert_int_equal(pthread_create(&ahead, NULL, address_threads, &m), 0);
    assert_int_equal(pthread_create(&compute, NULL, compute_threads, &m), 0);
    assert_int_equal(pthread_join(compute, NULL), 0);
    atomic_store(&m.is_over, true);
    assert_int_equal(pthread_join(ahead, NULL), 0);
    __atomic_store_n(m.l->asked, WPI_STREAM_END, __ATOMIC_RELEASE);
    __atomic_store_n(m.l->wrote, WPI_STREAM_END, __ATOMIC_RELEASE);
    wp_actor_destroy(actors[0]);
    wp_actor_destroy(actors[1]);

    outcome o = {.has_failed = sides[0].has_failed || sides[1].has_failed, .wrong = m.wrong};
    for (uint32_t n = 0; n < CHUNKS; n++)
        for (uint32_t t = 0; t < THREADS; t++)
            for (uint32_t s = 0; s < count_of(n, t); s++)
                o.stored += results[(n * THREADS + t) * SLOTS + s] ==
                            value_in(&m, n, read_word(n, s, t)) + n;
    assert_int_equal(wpi_reservation_free(base, true, NULL), WP_STATUS_OK);
    assert_int_equal(wpi_reservation_free(index_base, true, NULL), WP_STATUS_OK);
    wp_queue_destroy(down);
    wp_queue_destroy(up);
    assert_int_equal(wp_device_wait(device, NULL), WP_STATUS_OK);
    wpi_stream_memory_free(&memory);
    wp_device_close(device);
    return o;
}

static uint64_t words_in_all(void) {
    uint64_t words = 0;
    for (uint32_t n = 0; n < CHUNKS; n++)
        for (uint32_t t = 0; t < THREADS; t++)
            words += count_of(n, t);
    return words;
}

static void every_slot_is_filled_before_it_is_read(void **state) {
    (void)state;
    for (uint32_t round = 0; round < 2 * WAYS; round++) {
        const outcome o = run(-1, round % WAYS, (form)((round / 4 + round / WAYS) % 4));
        if (o.wrong != NULL) fail_msg("%s", o.wrong);
        assert_false(o.has_failed);
        assert_u64(o.stored, words_in_all());
    }
}

static void a_call_that_fails_ends_the_launch(void **state) {
    (void)state;
    for (int call = 0; call < 3 * CHUNKS; call += 7) {
        const uint32_t ways = (uint32_t)call / 7 % WAYS & ~(uint32_t)OWN;
        const outcome o = run(call, ways, (form)(call % 3));
        if (o.wrong != NULL) fail_msg("%s", o.wrong);
        assert_true(o.has_failed);
        assert_true(o.stored < words_in_all());
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_slot_is_filled_before_it_is_read),
        cmocka_unit_test(a_call_that_fails_ends_the_launch),
    };
    return wp_test_main(tests);
}
