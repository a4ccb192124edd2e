/* SPDX-License-Identifier: Apache-2.0 */
/* Policies that know the future, against all others: a first run notes, a second one uses it. */
#include "policy/policy.h"
#include "sim_paging_bench.h"

#define LINK_BLOCK_PS 5876000 /* 64 KiB on the link, and nothing more */
#define LINK_PAGE_PS 1759000  /* a page */

/* What a run does: pages, one access each. */
typedef struct plan {
    uint32_t *pages;
    uint32_t count;
    uint64_t bytes;      /* of the allocation */
    wpi_time_ps step_ps; /* between accesses; 0: each ends before the next begins */
} plan;

static plan *driven; /* by the bench's events */

static void begin(bench *b, wpi_foresight *foresight) {
    wp_error err = {0};
    wpi_paging_set_foresight(b->paging, foresight);
    assert_status_ok(wpi_paging_launch(b->paging, 0, &err), &err);
}

static void issue(void *object, uint64_t i, wpi_time_ps now) {
    bench *b = object;
    bench_issue(b, (uint32_t)i, (uint32_t)i % 4,
                BENCH_FIRST + (uint64_t)driven->pages[i] * WPI_PAGE_BYTES, false, now);
}

static void drive(bench *b, plan *p) {
    driven = p;
    for (uint32_t i = 0; i < p->count; i++) {
        if (p->step_ps != 0) {
            wpi_engine_at(b->engine, i * p->step_ps, issue, b, i);
        } else {
            bench_issue(b, 0, 0, BENCH_FIRST + (uint64_t)p->pages[i] * WPI_PAGE_BYTES, false,
                        wpi_engine_now(b->engine));
            wpi_engine_run(b->engine);
        }
    }
    wpi_engine_run(b->engine);
    bench_check_residency(b);
}

/* Notes of a run under policies that do not look ahead, as the future of another. */
static void note(plan *p, const char *memory, wpi_foresight *out) {
    wpi_foresight f;
    bench b;
    wp_error err = {0};
    wpi_foresight_init(&f, 1);
    wpi_foresight_note(&f);
    BENCH_OPEN(&b, p->bytes, "paging.prefetch=none", memory);
    begin(&b, &f);
    drive(&b, p);
    bench_close(&b);
    wpi_foresight_init(out, 1);
    assert_status_ok(wpi_foresight_take(out, f.pages, f.count, f.launches, f.launch_count, &err),
                     &err);
    f.pages = f.launches = NULL;
    wpi_foresight_deinit(&f);
}

typedef struct counts {
    uint64_t faults, fetched, waits;
    wpi_time_ps end;
} counts;

static counts run(plan *p, const char *prefetch, const char *evict, const char *memory) {
    char texts[2][64];
    bench b;
    wpi_foresight f;
    note(p, memory, &f);
    snprintf(texts[0], sizeof texts[0], "paging.prefetch=%s", prefetch);
    snprintf(texts[1], sizeof texts[1], "paging.evict=%s", evict);
    BENCH_OPEN(&b, p->bytes, texts[0], texts[1], memory);
    begin(&b, &f);
    drive(&b, p);
    const counts c = {bench_count_of(&b, "paging.far_faults"), bench_count_of(&b, "paging.fetched"),
                      b.waits, wpi_engine_now(b.engine)};
    bench_close(&b);
    wpi_foresight_deinit(&f);
    return c;
}

static void no_evictor_has_fewer_faults(void **state) {
    (void)state;
    plan p = {.count = 6000, .bytes = 6 * MIB};
    uint64_t random = 777;
    uint32_t others = 0;
    p.pages = malloc(p.count * sizeof *p.pages);
    assert_non_null(p.pages);
    for (uint32_t i = 0; i < p.count; i++) {
        const uint64_t r = wp_random_next(&random);
        p.pages[i] = (uint32_t)((r >> 20) % (r % 2 == 0 ? 1536 : 300)); /* some are hot */
    }
    const counts oracle = run(&p, "none", "oracle", "gpu.memory=3MiB");
    for (const wpi_policy *const *e = wpi_policies; *e != NULL; e++) {
        if (strcmp((*e)->kind, "evict") != 0 || strcmp((*e)->name, "oracle") == 0) continue;
        const counts other = run(&p, "none", (*e)->name, "gpu.memory=3MiB");
        if (oracle.faults > other.faults)
            fail_msg("%s: %llu faults, oracle %llu", (*e)->name, (unsigned long long)other.faults,
                     (unsigned long long)oracle.faults);
        others += oracle.faults < other.faults;
    }
    assert_true(others >= 5);
    free(p.pages);
}

static void shuffle(uint32_t *pages, uint32_t count, uint64_t random) {
    for (uint32_t i = 0; i < count; i++)
        pages[i] = i;
    for (uint32_t i = count; i > 1; i--) {
        const uint32_t j = (uint32_t)(wp_random_next(&random) >> 20) % i, page = pages[j];
        pages[j] = pages[i - 1];
        pages[i - 1] = page;
    }
}

/* With memory enough, pages in any order: what the link can bring in time, block by block, is
 * there; where it cannot, blocks come all the same. */
static void nobody_waits_for_what_the_link_could_bring(void **state) {
    (void)state;
    uint32_t pages[1024];
    plan p = {.pages = pages,
              .count = 1024,
              .bytes = 4 * MIB,
              .step_ps = LINK_BLOCK_PS + LINK_BLOCK_PS / 50};
    shuffle(pages, 1024, 4711);
    const counts slow = run(&p, "oracle", "lru-2m", "gpu.memory=8MiB");
    assert_u64(slow.fetched, 1024);
    assert_u64(slow.faults, 0);
    assert_true(slow.waits <= 52); /* a block is there 50 steps before its turn, or on its way */
    assert_true(slow.end <= 1023 * p.step_ps + BENCH_WALK_PS + BENCH_ACCESS_PS);
    p.step_ps = LINK_BLOCK_PS / 20;
    const counts fast = run(&p, "oracle", "lru-2m", "gpu.memory=8MiB");
    assert_u64(fast.fetched, 1024);
    assert_true(fast.end <= 1024 / 2 * (wpi_time_ps)LINK_PAGE_PS); /* half of page by page */
}

/* A third of the pages has no room. Who looks ahead brings each of them each time, in the place of
 * what is needed last, so that hardly anybody waits; who asks waits for each. */
static void what_is_needed_sooner_stays(void **state) {
    (void)state;
    uint32_t pages[3 * 768];
    plan p = {.pages = pages, .count = 3 * 768, .bytes = 3 * MIB, .step_ps = 0};
    for (uint32_t i = 0; i < p.count; i++)
        pages[i] = i % 768;
    const counts asked = run(&p, "none", "oracle", "gpu.memory=2MiB");
    p.step_ps = 5 * LINK_BLOCK_PS;
    const counts ahead = run(&p, "oracle", "oracle", "gpu.memory=2MiB");
    assert_u64(asked.faults, 768 + 2 * 256);
    assert_true(ahead.waits <= 4);
    assert_true(ahead.fetched <= p.count + WPI_BLOCK_PAGES);
}

static void without_a_future_the_launch_fails(void **state) {
    (void)state;
    wp_error err = {0};
    bench b;
    BENCH_OPEN(&b, 2 * MIB, "paging.prefetch=oracle");
    assert_status_fails(wpi_paging_launch(b.paging, 0, &err), WP_STATUS_INVALID, &err,
                        "needs the page accesses of an earlier run");
    bench_close(&b);
}

static void notes_of_another_program_are_refused(void **state) {
    (void)state;
    uint32_t pages[] = {0, 511, 512};
    plan p = {.pages = pages, .count = 3, .bytes = 4 * MIB};
    wpi_foresight f;
    wp_error err = {0};
    bench b;
    note(&p, "gpu.memory=8MiB", &f);
    BENCH_OPEN(&b, 2 * MIB, "paging.evict=oracle");
    wpi_paging_set_foresight(b.paging, &f);
    assert_status_fails(wpi_paging_launch(b.paging, 0, &err), WP_STATUS_INVALID, &err,
                        "same program and arguments");
    bench_close(&b);
    wpi_foresight_deinit(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_evictor_has_fewer_faults),
        cmocka_unit_test(nobody_waits_for_what_the_link_could_bring),
        cmocka_unit_test(what_is_needed_sooner_stays),
        cmocka_unit_test(without_a_future_the_launch_fails),
        cmocka_unit_test(notes_of_another_program_are_refused),
    };
    return wp_test_main(tests);
}
