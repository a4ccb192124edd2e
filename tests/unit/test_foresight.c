/* SPDX-License-Identifier: Apache-2.0 */
/* What is noted, how a later run keeps in step, and that the oracle evictor is Belady's. */
#include "sim/paging/foresight.h"

#include "base/alloc.h"
#include "base/file.h"
#include "device/sim/future_file.h"
#include "policy/evict.h"
#include "sim/paging/page_residency.h"
#include "test_folder.h"
#include "wp_random.h"
#include "wp_test.h"

/* A run's notes become the future of another. */
static void take(wpi_foresight *later, const wpi_foresight *first) {
    wp_error err = {0};
    const size_t bytes = (size_t)first->count * sizeof(uint32_t);
    const size_t launch_bytes = (size_t)first->launch_count * sizeof(uint32_t);
    uint32_t *pages = wpi_malloc(bytes + 1), *launches = wpi_malloc(launch_bytes + 1);
    if (bytes != 0) memcpy(pages, first->pages, bytes);
    if (launch_bytes != 0) memcpy(launches, first->launches, launch_bytes);
    assert_status_ok(
        wpi_foresight_take(later, pages, first->count, launches, first->launch_count, &err), &err);
}

static void launch(wpi_foresight *foresight) {
    wp_error err = {0};
    assert_status_ok(wpi_foresight_launch(foresight, &err), &err);
}

static void touch_all(wpi_foresight *foresight, const uint32_t *pages, uint32_t count) {
    for (uint32_t i = 0; i < count; i++)
        (void)wpi_foresight_touch(foresight, (wpi_page_number){pages[i]});
}

static void a_page_is_noted_once_a_window(void **state) {
    (void)state;
    static const uint32_t used[] = {7, 7, 8, 7, 9, 7, 10, 7, 7, 8};
    static const uint32_t noted[] = {7, 8, 9, 7, 10, 8}; /* two notes behind the last: again */
    wpi_foresight f;
    wpi_foresight_init(&f, 2);
    wpi_foresight_note(&f);
    touch_all(&f, used, 6);
    assert_u64(f.count, 4);
    touch_all(&f, used + 6, 4);
    assert_u64(f.count, sizeof noted / sizeof noted[0]);
    assert_memory_equal(f.pages, noted, sizeof noted);
    wpi_foresight_deinit(&f);
}

static void a_launch_brings_the_run_into_step(void **state) {
    (void)state;
    static const uint32_t first_launch[] = {1, 2, 3, 1}, second_launch[] = {4, 1};
    wpi_foresight f, later;
    wp_error err = {0};
    wpi_foresight_init(&f, 1);
    wpi_foresight_note(&f);
    launch(&f);
    touch_all(&f, first_launch, 4);
    launch(&f);
    touch_all(&f, second_launch, 2);
    wpi_foresight_init(&later, 1);
    take(&later, &f);
    launch(&later);
    assert_u64(wpi_future_next(&later.future, 1), 0);
    assert_u64(wpi_future_next(&later.future, 4), 4);
    assert_u64(wpi_future_next(&later.future, 5), WPI_FUTURE_NEVER);
    assert_u64(wpi_future_next(&later.future, 1000000), WPI_FUTURE_NEVER);
    touch_all(&later, first_launch, 1);
    assert_u64(wpi_future_next(&later.future, 1), 3);
    launch(&later); /* it did less than the first run */
    assert_u64(wpi_future_next(&later.future, 2), WPI_FUTURE_NEVER);
    assert_u64(wpi_future_next(&later.future, 1), 5);
    touch_all(&later, first_launch, 4); /* and now more: time stands at the end */
    assert_u64(later.future.now, 6);
    assert_status_fails(wpi_foresight_launch(&later, &err), WP_STATUS_INVALID, &err, "had 2");
    wpi_foresight_deinit(&f);
    wpi_foresight_deinit(&later);
}

/* ---- Belady ---- */

#define PAGES 7u
#define FRAMES 3u
#define USES 16u

/* The fewest misses from use `at` on, by trying all evictions. */
static uint32_t fewest(const uint32_t *uses, uint32_t at, uint32_t here) {
    while (at < USES && (here >> uses[at] & 1) != 0)
        at++;
    if (at == USES) return 0;
    const uint32_t with = here | 1u << uses[at];
    if (__builtin_popcount(with) <= (int)FRAMES) return 1 + fewest(uses, at + 1, with);
    uint32_t best = UINT32_MAX;
    for (uint32_t page = 0; page < PAGES; page++) {
        if ((here >> page & 1) == 0) continue;
        const uint32_t misses = 1 + fewest(uses, at + 1, with & ~(1u << page));
        if (misses < best) best = misses;
    }
    return best;
}

static void bring(wpi_residency *r, uint32_t page) {
    wpi_pages one = {{0}};
    wpi_pages_add(&one, page);
    wpi_residency_plan(r, &r->chunks[0], &one);
    wpi_residency_fetch(r, &r->chunks[0], &one);
    (void)wpi_residency_arrive(r, &r->chunks[0], &one);
}

static void make_room(wpi_residency *r, const wpi_future *future) {
    const wpi_policy *policy = NULL;
    wp_error err = {0};
    const wpi_evict_question question = {.residency = r, .future = future};
    uint32_t chunk;
    wpi_pages pages;
    assert_status_ok(wpi_policy_find("evict", "oracle", &policy, &err), &err);
    assert_true(((const wpi_evict_ops *)policy->ops)->choose(&question, &chunk, &pages));
    const uint32_t count = wpi_pages_count(&pages);
    wpi_residency_evict(r, &r->chunks[chunk], &pages);
    wpi_residency_release(r, count);
}

static uint32_t misses_of_the_oracle(const uint32_t *uses) {
    wpi_foresight first, later;
    wpi_residency r;
    wp_error err = {0};
    wpi_foresight_init(&first, 1);
    wpi_foresight_note(&first);
    touch_all(&first, uses, USES);
    wpi_foresight_init(&later, 1);
    take(&later, &first);
    wpi_residency_init(&r, 0, FRAMES);
    assert_status_ok(wpi_residency_add(&r, 0, PAGES * WPI_PAGE_BYTES, &err), &err);
    uint32_t misses = 0;
    for (uint32_t i = 0; i < USES; i++) {
        (void)wpi_foresight_touch(&later, (wpi_page_number){uses[i]});
        if (wpi_pages_has(&r.chunks[0].resident, uses[i])) continue;
        if (wpi_residency_free(&r) == 0) make_room(&r, &later.future);
        bring(&r, uses[i]);
        misses++;
    }
    wpi_residency_deinit(&r);
    wpi_foresight_deinit(&first);
    wpi_foresight_deinit(&later);
    return misses;
}

static void no_eviction_has_fewer_misses_than_the_oracle(void **state) {
    (void)state;
    uint64_t random = 20261123;
    for (uint32_t round = 0; round < 100; round++) {
        uint32_t uses[USES];
        for (uint32_t i = 0; i < USES; i++)
            uses[i] = (uint32_t)(wp_random_next(&random) >> 20) % PAGES;
        assert_u64(misses_of_the_oracle(uses), fewest(uses, 0, 0));
    }
}

/* ---- files ---- */

static void notes_are_read_as_they_were_written(void **state) {
    (void)state;
    char *path, *data;
    size_t bytes;
    uint64_t random = 5;
    wp_error err = {0};
    wpi_foresight f, later;
    path = wpi_path_join(test_folder(), "future");
    wpi_foresight_init(&f, 3);
    wpi_foresight_note(&f);
    for (uint32_t i = 0; i < 5000; i++) {
        if (i % 1000 == 0) launch(&f);
        (void)wpi_foresight_touch(
            &f, (wpi_page_number){(uint32_t)(wp_random_next(&random) >> 20) % 70000});
    }
    assert_status_ok(wpi_future_write(path, &f, &err), &err);
    wpi_foresight_init(&later, 64);
    assert_status_ok(wpi_future_read(path, &later, &err), &err);
    assert_u64(later.window, 3);
    assert_u64(later.future.count, f.count);
    assert_u64(later.earlier_launches, 5);
    assert_memory_equal(later.pages, f.pages, f.count * sizeof *f.pages);
    assert_memory_equal(later.launches, f.launches, 5 * sizeof *f.launches);
    wpi_foresight_deinit(&later);

    assert_status_ok(wpi_file_read(path, &data, &bytes, &err), &err);
    for (size_t length = 0; length < bytes; length += 1 + length / 8) {
        wpi_foresight_init(&later, 64);
        assert_status_ok(wpi_file_write(path, data, length, &err), &err);
        assert_status_fails(wpi_future_read(path, &later, &err), WP_STATUS_PARSE, &err,
                            "record of page accesses");
        wpi_foresight_deinit(&later);
    }
    test_folder_remove();
    wpi_foresight_init(&later, 64);
    assert_status_fails(wpi_future_read(path, &later, &err), WP_STATUS_NOT_FOUND, &err, path);
    wpi_free(data);
    wpi_free(path);
    wpi_foresight_deinit(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_page_is_noted_once_a_window),
        cmocka_unit_test(a_launch_brings_the_run_into_step),
        cmocka_unit_test(no_eviction_has_fewer_misses_than_the_oracle),
        cmocka_unit_test(notes_are_read_as_they_were_written),
    };
    return wp_test_main(tests);
}
