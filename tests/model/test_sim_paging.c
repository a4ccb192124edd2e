/* SPDX-License-Identifier: Apache-2.0 */
/* Far faults, prefetching and eviction against counts made by hand, and under random traffic with
 * every pair of policies: nothing is lost, frames are never exceeded (which residency checks). */
#include "sim/paging.h"
#include "sim_rig.h"
#include "wp_random.h"

#define PROFILE                                                                                    \
    "[gpu]\ncore_clock = 1481MHz\nmemory = 1GiB\n"                                                 \
    "[floorplan]\ngpcs = 1\ntpcs = 4\nsms = 1\n"                                                   \
    "[link]\nlatency = 0\nbandwidth = 12GiB/s\ncurve = 14043B\n"                                   \
    "[paging]\nlatency = 45us\n"
#define FIRST ((uint64_t)1 << 40)
#define WALK_PS 70000
#define ACCESS_PS 300000

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
    uint64_t local, remote, shot_down_bytes;
    void (*ended)(struct bench *b, uint32_t number);
    uint64_t random, left, span_bytes;
} bench;

static void made(void *object, uint64_t number, wp_time_ps now) {
    bench *b = object;
    wpi_paging_release(b->paging, b->accesses[number].address, now);
    b->open--;
    if (b->ended != NULL) b->ended(b, (uint32_t)number);
}

static void remote_ended(void *object, uint64_t number, wp_time_ps now) {
    bench *b = object;
    (void)now;
    b->open--;
    if (b->ended != NULL) b->ended(b, (uint32_t)number);
}

static void walked(void *object, uint64_t number, wp_time_ps now) {
    bench *b = object;
    const wpi_paging_asker asker = {b->accesses[number].address, number, b->accesses[number].sm,
                                    b->accesses[number].is_write};
    const bool is_held = b->accesses[number].is_held;
    const wpi_paging_answer answer = wpi_paging_ask(b->paging, &asker, now);
    if (is_held) assert_u64(answer, WPI_PAGING_LOCAL);
    if (answer == WPI_PAGING_LOCAL) {
        b->local++;
        wpi_paging_hold(b->paging, asker.address, asker.is_write);
        wpi_engine_at(b->engine, now + ACCESS_PS, made, b, number);
    } else if (answer == WPI_PAGING_REMOTE) {
        b->remote++;
        wpi_engine_at(b->engine, now + ACCESS_PS, remote_ended, b, number);
    }
    if (is_held) wpi_paging_release(b->paging, asker.address, now);
}

static void replay(void *object, uint64_t number, bool is_held, wp_time_ps now) {
    bench *b = object;
    b->accesses[number].is_held = is_held;
    wpi_engine_at(b->engine, now + WALK_PS, walked, b, number);
}

static void shoot_down(void *object, uint64_t address, uint64_t bytes) {
    (void)address;
    ((bench *)object)->shot_down_bytes += bytes;
}

static void issue(bench *b, uint32_t number, uint32_t sm, uint64_t address, bool is_write,
                  wp_time_ps now) {
    b->accesses[number].address = address;
    b->accesses[number].sm = sm;
    b->accesses[number].is_write = is_write;
    b->accesses[number].is_held = false;
    b->open++;
    wpi_paging_touch(b->paging, address);
    wpi_engine_at(b->engine, now + WALK_PS, walked, b, number);
}

static void open_bench(bench *b, const char *const *settings, size_t count, uint64_t bytes) {
    wp_error err = {0};
    memset(b, 0, sizeof *b);
    assert_status_ok(wpi_profile_parse(PROFILE, "paging.ini", settings, count, &b->profile, &err),
                     &err);
    assert_status_ok(wpi_engine_create(&b->engine, &err), &err);
    assert_status_ok(wpi_link_init(&b->link, b->profile, &err), &err);
    const wpi_paging_calls calls = {replay, shoot_down, b};
    assert_status_ok(
        wpi_paging_create(b->engine, b->profile, &b->link, FIRST, &calls, &b->paging, &err), &err);
    assert_status_ok(wpi_paging_add(b->paging, FIRST, bytes, &err), &err);
}

static void close_bench(bench *b) {
    assert_u64(b->open, 0);
    wpi_paging_destroy(b->paging);
    wpi_link_deinit(&b->link);
    wpi_engine_destroy(b->engine);
    wpi_profile_destroy(b->profile);
}

#define OPEN(b, bytes, ...)                                                                        \
    do {                                                                                           \
        const char *const settings[] = {__VA_ARGS__};                                              \
        open_bench(b, settings, sizeof settings / sizeof settings[0], bytes);                      \
    } while (0)

typedef struct wanted {
    const char *name;
    uint64_t value;
} wanted;

static void look(void *object, const wpi_statistic *statistic) {
    wanted *w = object;
    if (strcmp(statistic->name, w->name) == 0) w->value = statistic->value;
}

static uint64_t count_of(const bench *b, const char *name) {
    wanted w = {name, UINT64_MAX};
    wpi_paging_statistics(b->paging, look, &w);
    assert_true(w.value != UINT64_MAX);
    return w.value;
}

/* One access after the other, each ended before the next. */
static void touch_pages(bench *b, uint64_t bytes, uint32_t step_pages) {
    for (uint64_t at = 0; at < bytes; at += (uint64_t)step_pages * WPI_PAGE_BYTES) {
        issue(b, 0, 0, FIRST + at, false, wpi_engine_now(b->engine));
        wpi_engine_run(b->engine);
    }
}

#define MIB ((uint64_t)1 << 20)

static void a_fault_each_page_without_prefetching(void **state) {
    (void)state;
    bench b;
    OPEN(&b, 4 * MIB, "paging.prefetch=none");
    touch_pages(&b, 4 * MIB, 1);
    assert_u64(count_of(&b, "paging.far_faults"), 1024);
    assert_u64(count_of(&b, "paging.fetched"), 1024);
    close_bench(&b);
}

static void a_fault_each_block_with_sequential_local(void **state) {
    (void)state;
    bench b;
    OPEN(&b, 4 * MIB, "paging.prefetch=sequential-local");
    touch_pages(&b, 4 * MIB, 1);
    assert_u64(count_of(&b, "paging.far_faults"), 64);
    assert_u64(count_of(&b, "paging.prefetched"), 960);
    close_bench(&b);
}

/* Leaves 0, 1, 2, 4, 8, 16 of each chunk; of a rest of 512 KiB: 0, 1, 2, 4. */
static void six_faults_a_chunk_with_the_tree(void **state) {
    (void)state;
    bench b;
    OPEN(&b, 4 * MIB + MIB / 2, "paging.prefetch=tree");
    touch_pages(&b, 4 * MIB + MIB / 2, 1);
    assert_u64(count_of(&b, "paging.far_faults"), 2 * 6 + 4);
    assert_u64(count_of(&b, "paging.fetched"), 1024 + 128);
    close_bench(&b);
}

/* 2,605 cycles for 4 KiB and 8,240 for 60 KiB, which UVMSmart has; behind a walk and the service. */
static void transfers_take_what_the_curve_says(void **state) {
    (void)state;
    bench b;
    OPEN(&b, 2 * MIB, "paging.prefetch=sequential-local");
    issue(&b, 0, 0, FIRST, false, 0);
    wpi_engine_run(b.engine);
    const wp_time_ps service_ps = 45 * WP_PS_PER_US;
    const wp_time_ps walks_ps = (wp_time_ps)2 * WALK_PS;
    const double cycle_ps = 1e6 / 1481;
    const double took = (double)(wpi_engine_now(b.engine) - service_ps);
    /* The rest of the block arrives last: the access was over before. */
    assert_near(took / cycle_ps, ((double)WALK_PS / cycle_ps) + 2605 + 8240, 0.001);
    assert_u64(b.local, 1);
    assert_true(walks_ps > 0);
    close_bench(&b);
}

/* All faults of a round take one latency: 16 pages of 16 blocks, of as many SMs' requests. */
static void a_service_drains_the_buffer(void **state) {
    (void)state;
    bench b;
    OPEN(&b, 2 * MIB, "paging.prefetch=none", "link.curve=0", "link.bandwidth=16GB/s");
    for (uint32_t i = 0; i < 16; i++)
        issue(&b, i, i % 4, FIRST + (uint64_t)i * 65536, false, 0);
    wpi_engine_run(b.engine);
    /* The first fault starts a service alone; the other fifteen are the next one. */
    assert_u64(count_of(&b, "paging.services"), 2);
    const double transfer_ps = 4096 / 16e9 * 1e12;
    assert_near((double)wpi_engine_now(b.engine),
                90e6 + 15 * transfer_ps + 2.0 * WALK_PS + ACCESS_PS, 0.001);
    close_bench(&b);
}

static void an_sm_waits_for_no_more_pages_than_it_may(void **state) {
    (void)state;
    bench b;
    OPEN(&b, 2 * MIB, "paging.prefetch=none", "paging.cu_faults=2");
    for (uint32_t i = 0; i < 10; i++)
        issue(&b, i, 0, FIRST + (uint64_t)i * WPI_PAGE_BYTES, false, 0);
    wpi_engine_run(b.engine);
    assert_u64(b.local, 10);
    assert_u64(count_of(&b, "paging.far_faults"), 10);
    assert_true(count_of(&b, "paging.nacks") >= 8);
    assert_true(wpi_engine_now(b.engine) > 5 * 45 * WP_PS_PER_US);
    close_bench(&b);
}

static void counters_delay_migration(void **state) {
    (void)state;
    bench b;
    OPEN(&b, 2 * MIB, "paging.migrate=always", "paging.migrate_threshold=8");
    for (uint32_t i = 0; i < 8; i++) {
        issue(&b, 0, 0, FIRST + (uint64_t)(i % 16) * WPI_PAGE_BYTES, false, wpi_engine_now(b.engine));
        wpi_engine_run(b.engine);
    }
    assert_u64(b.remote, 7);
    assert_u64(b.local, 1);
    issue(&b, 0, 0, FIRST + MIB, true, wpi_engine_now(b.engine)); /* a write comes at once */
    wpi_engine_run(b.engine);
    assert_u64(b.local, 2);
    close_bench(&b);
}

/* ---- random traffic ---------------------------------------------------------------------------
 */

static void issue_random(bench *b, uint32_t number) {
    if (b->left == 0) return;
    b->left--;
    const uint64_t r = wp_random_next(&b->random);
    const uint64_t span = r % 4 == 0 ? b->span_bytes : b->span_bytes / 8; /* some are hot */
    issue(b, number, (uint32_t)(r >> 8) % 4, FIRST + (r >> 16) % span, (r & 12) == 12,
          wpi_engine_now(b->engine));
}

static void check_residency(const bench *b) {
    const wpi_residency *r = wpi_paging_residency(b->paging);
    uint64_t used = 0;
    for (uint32_t i = 0; i < r->chunk_count; i++) {
        const wpi_chunk *chunk = &r->chunks[i];
        const wpi_pages both = wpi_pages_and(&chunk->resident, &chunk->coming);
        const wpi_pages lost = wpi_pages_without(&chunk->dirty, &chunk->resident);
        assert_true(wpi_pages_is_empty(&both) && wpi_pages_is_empty(&lost));
        assert_u64(wpi_pages_next(&chunk->resident, chunk->page_count), WPI_CHUNK_PAGES);
        used += wpi_pages_count(&chunk->resident);
    }
    assert_u64(used, r->used);
    assert_u64(r->coming, 0);
    assert_u64(r->leaving, 0);
    assert_true(r->used <= r->frames);
}

static void run_random(const char *prefetch, const char *evict, const char *migrate,
                       const char *more) {
    char texts[3][64];
    bench b;
    snprintf(texts[0], sizeof texts[0], "paging.prefetch=%s", prefetch);
    snprintf(texts[1], sizeof texts[1], "paging.evict=%s", evict);
    snprintf(texts[2], sizeof texts[2], "paging.migrate=%s", migrate);
    OPEN(&b, 20 * MIB - 300000, texts[0], texts[1], texts[2], more, "gpu.memory=4MiB");
    b.random = 1 + strlen(prefetch) + 100 * strlen(evict) + 10000 * strlen(migrate);
    b.left = 20000;
    b.span_bytes = 20 * MIB - 300000;
    b.ended = issue_random;
    for (uint32_t i = 0; i < 500; i++)
        issue_random(&b, i);
    wpi_engine_run(b.engine);
    if (b.open != 0)
        fail_msg("%s, %s, %s, %s: %u accesses wait for ever", prefetch, evict, migrate, more, b.open);
    assert_u64(b.local + b.remote, 20000);
    check_residency(&b);
    close_bench(&b);
}

static void random_traffic_ends_under_all_policies(void **state) {
    (void)state;
    const char *const more[] = {"paging.cu_faults=0", "paging.cu_faults=1", "paging.mshrs=3",
                                "paging.service=serial", "paging.service=added",
                                "paging.free=10",     "paging.reserve=20",
                                "paging.free_at_start=on", "paging.drop_clean=on"};
    uint32_t runs = 0;
    for (const wpi_policy *const *p = wpi_policies; *p != NULL; p++) {
        for (const wpi_policy *const *e = wpi_policies; *e != NULL; e++) {
            if (strcmp((*p)->kind, "prefetch") != 0 || strcmp((*e)->kind, "evict") != 0) continue;
            run_random((*p)->name, (*e)->name, "first-touch",
                       more[runs++ % (sizeof more / sizeof more[0])]);
        }
    }
    for (const wpi_policy *const *m = wpi_policies; *m != NULL; m++)
        if (strcmp((*m)->kind, "migrate") == 0) run_random("tree", "lfu-2m", (*m)->name, more[0]);
    assert_true(runs >= 36);
}

/* ---- behind TLBs, in front of caches ----------------------------------------------------------
 */

typedef struct traffic {
    rig rig;
    uint64_t random, left;
} traffic;

static void go_on(void *object, uint64_t sm, const wpi_answer *answer);

/* Lanes in a row, or all over; loads, stores and atomics. */
static void issue_warp(traffic *t, uint32_t sm, wp_time_ps now) {
    if (t->left == 0) return;
    t->left--;
    static const uint8_t kinds[] = {WP_TRACE_LOAD, WP_TRACE_LOAD, WP_TRACE_STORE, WP_TRACE_ATOMIC};
    uint64_t addresses[WPI_LANES];
    const uint64_t r = wp_random_next(&t->random);
    const uint64_t base = FIRST + (r >> 8) % (16 * MIB - 4096);
    for (uint32_t lane = 0; lane < WPI_LANES; lane++)
        addresses[lane] = (r & 4) != 0
                              ? base / 4 * 4 + lane * 4
                              : FIRST + wp_random_next(&t->random) % (4 * MIB) / 4 * 4;
    const wpi_access access = {.sm = sm,
                               .kind = kinds[r % 4],
                               .cache = WP_TRACE_CACHE_ALL,
                               .size_bytes = 4,
                               .mask = ~0u,
                               .addresses = addresses};
    (void)wpi_memory_access(t->rig.memory, &access, now, go_on, t, sm);
}

static void go_on(void *object, uint64_t sm, const wpi_answer *answer) {
    traffic *t = object;
    rig_note(&t->rig, 0, answer);
    issue_warp(t, (uint32_t)sm, answer->answered);
}

static void run_traffic(const char *on_fault, const char *migrate, const char *evict,
                        const char *more) {
    traffic t = {.random = 99, .left = 3000};
    wp_error err = {0};
    RIG_OPEN(&t.rig, on_fault, migrate, evict, more, "gpu.memory=3MiB", "walker.queue=8",
             "paging.migrate_threshold=3", );
    assert_status_ok(wpi_memory_manage(t.rig.memory, FIRST, &err), &err);
    wpi_paging *paging = wpi_memory_paging(t.rig.memory);
    assert_status_ok(wpi_paging_add(paging, FIRST, 16 * MIB, &err), &err);
    for (uint32_t i = 0; i < 64; i++)
        issue_warp(&t, i % 8, 0);
    wpi_engine_run(t.rig.engine);
    if (t.rig.answers != 3000)
        fail_msg("%s, %s, %s, %s: %llu of 3000 accesses", on_fault, migrate, evict, more,
                 (unsigned long long)t.rig.answers);
    const wpi_residency *r = wpi_paging_residency(paging);
    for (uint32_t i = 0; i < r->chunk_count; i++)
        assert_false(wpi_chunk_is_busy(&r->chunks[i]));
    assert_true(r->used <= r->frames);
    rig_close(&t.rig);
}

static void warps_over_more_than_memory_end(void **state) {
    (void)state;
    static const char *const on_fault[] = {"paging.on_fault=replay",
                                           "paging.on_fault=hit-under-fault",
                                           "paging.on_fault=block"};
    static const char *const migrate[] = {"paging.migrate=first-touch", "paging.migrate=adaptive",
                                          "paging.migrate=zero-copy", "paging.migrate=always"};
    static const char *const evict[] = {"paging.evict=lru-2m", "paging.evict=tree",
                                        "paging.evict=lru-4k", "paging.evict=random"};
    static const char *const more[] = {"paging.cu_faults=0", "paging.cu_faults=4",
                                       "paging.mshrs=2", "tlb.levels=1"};
    for (uint32_t i = 0; i < 3; i++)
        for (uint32_t k = 0; k < 16; k++)
            run_traffic(on_fault[i], migrate[k % 4], evict[k / 4], more[(i + k + k / 4) % 4]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fault_each_page_without_prefetching),
        cmocka_unit_test(a_fault_each_block_with_sequential_local),
        cmocka_unit_test(six_faults_a_chunk_with_the_tree),
        cmocka_unit_test(transfers_take_what_the_curve_says),
        cmocka_unit_test(a_service_drains_the_buffer),
        cmocka_unit_test(an_sm_waits_for_no_more_pages_than_it_may),
        cmocka_unit_test(counters_delay_migration),
        cmocka_unit_test(random_traffic_ends_under_all_policies),
        cmocka_unit_test(warps_over_more_than_memory_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
