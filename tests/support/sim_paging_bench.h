/* SPDX-License-Identifier: Apache-2.0 */
/** Unified memory alone on a bench: accesses walk, ask where their page is, wait, and are made
 * while they hold it. Times are fixed, so that sums can be made by hand. */
#ifndef SIM_PAGING_BENCH_H
#define SIM_PAGING_BENCH_H

#include "sim/paging/paging.h"
#include "wp_random.h"
#include "wp_test.h"

#define MIB ((uint64_t)1 << 20)
#define BENCH_PROFILE                                                                              \
    "[gpu]\ncore_clock = 1481MHz\nmemory = 1GiB\n"                                                 \
    "[floorplan]\ngpcs = 1\ntpcs = 4\nsms = 1\n"                                                   \
    "[link]\nlatency = 0\nbandwidth = 12GiB/s\ncurve = 14043B\n"                                   \
    "[paging]\non = on\nlatency = 45us\n"
#define BENCH_FIRST ((uint64_t)1 << 40)
#define BENCH_WALK_PS 70000
#define BENCH_ACCESS_PS 300000
#define BENCH_ACCESS_BYTES 128

typedef struct bench {
    wpi_engine *engine;
    wpi_profile *profile;
    wpi_link link;
    wpi_paging *paging;
    struct {
        uint64_t address;
        uint32_t sm;
        bool is_write, is_held;
    } accesses[4096];
    uint32_t open; /* accesses without an end */
    uint64_t local, remote, waits, shot_down_bytes;
    void (*ended)(struct bench *b, uint32_t number);
    uint64_t random, left, span_bytes;
} bench;

/* Accesses are made, or allowed, only where the page is resident. */
static inline void bench_check_page(const bench *b, uint64_t address) {
    const wpi_chunk *chunk = wpi_residency_chunk(wpi_paging_residency(b->paging), address);
    assert_true(wpi_pages_has(&chunk->resident, wpi_page_of(address)));
}

static inline void bench_made(void *object, uint64_t number, wpi_time_ps now) {
    bench *b = object;
    bench_check_page(b, b->accesses[number].address);
    wpi_paging_release(b->paging, b->accesses[number].address, now);
    b->open--;
    if (b->ended != NULL) b->ended(b, (uint32_t)number);
}

static inline void bench_remote_ended(void *object, uint64_t number, wpi_time_ps now) {
    bench *b = object;
    (void)now;
    b->open--;
    if (b->ended != NULL) b->ended(b, (uint32_t)number);
}

static inline void bench_walked(void *object, uint64_t number, wpi_time_ps now) {
    bench *b = object;
    const wpi_paging_asker asker = {b->accesses[number].address, number, b->accesses[number].sm,
                                    b->accesses[number].is_write, NULL};
    const bool is_held = b->accesses[number].is_held;
    const wpi_paging_answer answer = wpi_paging_ask(b->paging, &asker, now);
    if (is_held) assert_u64(answer, WPI_PAGING_LOCAL);
    if (answer == WPI_PAGING_LOCAL) {
        bench_check_page(b, asker.address);
        b->local++;
        (void)wpi_paging_hold(b->paging, asker.address, asker.is_write);
        wpi_paging_use_local(b->paging, asker.address, BENCH_ACCESS_BYTES);
        wpi_engine_at(b->engine, now + BENCH_ACCESS_PS, bench_made, b, number);
    } else if (answer == WPI_PAGING_REMOTE) {
        b->remote++;
        wpi_paging_use_remote(b->paging, asker.address, BENCH_ACCESS_BYTES, now);
        wpi_engine_at(b->engine, now + BENCH_ACCESS_PS, bench_remote_ended, b, number);
    } else {
        b->waits++;
    }
    if (is_held) wpi_paging_release(b->paging, asker.address, now);
}

static inline void bench_replay(void *object, uint64_t number, bool is_held, wpi_time_ps now) {
    bench *b = object;
    b->accesses[number].is_held = is_held;
    wpi_engine_at(b->engine, now + BENCH_WALK_PS, bench_walked, b, number);
}

static inline void bench_shoot_down(void *object, const wpi_paging_shot *shot) {
    ((bench *)object)->shot_down_bytes += (uint64_t)wpi_pages_count(shot->pages) * WPI_PAGE_BYTES;
}

static inline void bench_issue(bench *b, uint32_t number, uint32_t sm, uint64_t address,
                               bool is_write, wpi_time_ps now) {
    b->accesses[number].address = address;
    b->accesses[number].sm = sm;
    b->accesses[number].is_write = is_write;
    b->accesses[number].is_held = false;
    b->open++;
    wpi_paging_touch(b->paging, address);
    wpi_engine_at(b->engine, now + BENCH_WALK_PS, bench_walked, b, number);
}

/** Of an allocation of `bytes`; the bench owns the profile. */
static inline void bench_open_with(bench *b, wpi_profile *profile, uint64_t bytes) {
    wp_error err = {0};
    memset(b, 0, sizeof *b);
    b->profile = profile;
    assert_status_ok(wpi_engine_create(&b->engine, &err), &err);
    assert_status_ok(wpi_link_init(&b->link, b->profile, &err), &err);
    const wpi_paging_calls calls = {bench_replay, bench_shoot_down, b};
    assert_status_ok(
        wpi_paging_create(b->engine, b->profile, &b->link, BENCH_FIRST, &calls, &b->paging, &err),
        &err);
    assert_status_ok(wpi_paging_add(b->paging, BENCH_FIRST, bytes, &err), &err);
}

static inline void bench_open(bench *b, const char *const *settings, size_t count, uint64_t bytes) {
    wp_error err = {0};
    wpi_profile *profile = NULL;
    assert_status_ok(
        wpi_profile_parse(BENCH_PROFILE, "paging.ini", settings, count, &profile, &err), &err);
    bench_open_with(b, profile, bytes);
}

static inline void bench_close(bench *b) {
    assert_u64(b->open, 0);
    wpi_paging_destroy(b->paging);
    wpi_link_deinit(&b->link);
    wpi_engine_destroy(b->engine);
    wpi_profile_destroy(b->profile);
}

#define BENCH_OPEN(b, bytes, ...)                                                                  \
    do {                                                                                           \
        const char *const settings[] = {__VA_ARGS__};                                              \
        bench_open(b, settings, sizeof settings / sizeof settings[0], bytes);                      \
    } while (0)

typedef struct bench_wanted {
    const char *name;
    uint64_t value;
} bench_wanted;

static inline void bench_look(void *object, const wpi_statistic *statistic) {
    bench_wanted *w = object;
    if (strcmp(statistic->name, w->name) == 0) w->value = statistic->value;
}

static inline uint64_t bench_count_of(const bench *b, const char *name) {
    bench_wanted w = {name, UINT64_MAX};
    wpi_paging_statistics(b->paging, bench_look, &w);
    assert_true(w.value != UINT64_MAX);
    return w.value;
}

/* One access after the other, each ended before the next. */
static inline void bench_touch_pages(bench *b, uint64_t bytes, uint32_t step_pages) {
    for (uint64_t at = 0; at < bytes; at += (uint64_t)step_pages * WPI_PAGE_BYTES) {
        bench_issue(b, 0, 0, BENCH_FIRST + at, false, wpi_engine_now(b->engine));
        wpi_engine_run(b->engine);
    }
}

static inline void bench_issue_random(bench *b, uint32_t number) {
    if (b->left == 0) return;
    b->left--;
    const uint64_t r = wp_random_next(&b->random);
    const uint64_t span = r % 4 == 0 ? b->span_bytes : b->span_bytes / 8; /* some are hot */
    bench_issue(b, number, (uint32_t)(r >> 8) % 4, BENCH_FIRST + (r >> 16) % span, (r & 12) == 12,
                wpi_engine_now(b->engine));
}

/* `b->left` accesses all over `b->span_bytes`, so many at a time, to their ends. */
static inline void bench_run_random(bench *b, uint32_t at_a_time) {
    b->ended = bench_issue_random;
    for (uint32_t i = 0; i < at_a_time; i++)
        bench_issue_random(b, i);
    wpi_engine_run(b->engine);
}

static inline void bench_check_residency(const bench *b) {
    const wpi_residency *r = wpi_paging_residency(b->paging);
    uint64_t used = 0;
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        const wpi_chunk *chunk = &r->chunks[i];
        const wpi_pages both = wpi_pages_and(&chunk->resident, &chunk->coming);
        const wpi_pages lost = wpi_pages_without(&chunk->dirty, &chunk->resident);
        assert_true(wpi_pages_is_empty(&both) && wpi_pages_is_empty(&lost));
        assert_u64(wpi_pages_next(&chunk->resident, chunk->page_count), WPI_CHUNK_PAGES);
        uint32_t in_use = 0;
        for (uint32_t block = 0; block < WPI_CHUNK_BLOCKS; block++)
            in_use += chunk->blocks[block].in_use;
        assert_u64(in_use, chunk->in_use);
        used += wpi_pages_count(&chunk->resident);
    }
    assert_u64(used, r->used);
    assert_u64(r->coming, 0);
    assert_u64(r->leaving, 0);
    assert_true(r->used <= r->frames);
}

#endif
