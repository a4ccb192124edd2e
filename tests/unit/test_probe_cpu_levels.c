/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/cpu_levels.h"

#include "wp_test.h"

/* A TLB of 96 pages of 4 KiB that lets a random entry go: no ramp in whole numbers. */
static wp_status chase(void *object, const wpi_chase *wanted, wpi_timing *out, wp_error *err) {
    (void)object, (void)err;
    const bool is_full = !wanted->is_control && wanted->loads > 96;
    *out = (wpi_timing){.median_cycles = is_full ? 12 : 5, .rounds = wanted->repeats};
    return WP_STATUS_OK;
}

static const wpi_sampler sampler = {.memory_bytes = 1 << 30, .sm_count = 1, .chase = chase};

static void entries_follow_from_reach_and_pages(void **state) {
    (void)state;
    static wpi_hierarchy h;
    wp_error err = {0};
    h = (wpi_hierarchy){.level_count = 1};
    h.levels[0].reach_bytes = (wpi_number){.is_known = true, .value = 393216, .confidence = 1};
    assert_status_ok(wpi_cpu_levels_complete(&sampler, 4096, &h, &err), &err);
    assert_within(h.levels[0].entries.value, 96, 0);
    assert_within(h.levels[0].page_bytes.value, 4096, 0);
    assert_within(h.levels[0].miss_cycles.value, 7, 1e-9);
    assert_true(h.levels[0].entries.confidence < 1);
    assert_contains(h.levels[0].page_bytes.reason, "the system's page");
}

static void what_does_not_fit_stays_unknown(void **state) {
    (void)state;
    static wpi_hierarchy h;
    wp_error err = {0};
    h = (wpi_hierarchy){.level_count = 1};
    h.levels[0].reach_bytes = (wpi_number){.is_known = true, .value = 65536, .confidence = 1};
    assert_status_ok(wpi_cpu_levels_complete(&sampler, 4096, &h, &err), &err); /* no step there */
    assert_false(h.levels[0].entries.is_known);
    h.levels[0].reach_bytes.is_known = false;
    assert_status_ok(wpi_cpu_levels_complete(&sampler, 4096, &h, &err), &err);
    assert_false(h.levels[0].entries.is_known);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(entries_follow_from_reach_and_pages),
        cmocka_unit_test(what_does_not_fit_stays_unknown),
    };
    return wp_test_main(tests);
}
