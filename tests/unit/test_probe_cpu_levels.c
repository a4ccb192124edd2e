/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/infer/cpu_levels.h"

#include "wp_test.h"

/* A processor: 96 entries of 4 KiB, of which sets of 6 let a random entry go, so that misses set in
 * slowly; a second TLB behind it; data caches that overflow; and a machine that has other work. */
typedef struct processor {
    uint32_t processors_a_tlb;
    unsigned calls;
    double noise_cycles;
} processor;

static double misses(double pages, double entries, double plateau) {
    if (pages <= entries) return 0;
    return pages >= plateau ? 1 : (pages - entries) / (plateau - entries);
}

static wp_status chase(void *object, const wpi_chase *wanted, wpi_timing *out, wp_error *err) {
    processor *p = object;
    (void)err;
    double cycles = wanted->loads > 768 ? 16 : 5;
    if (!wanted->is_control)
        cycles += 7 * misses((double)wanted->loads, 96, 120) +
                  30 * misses((double)wanted->loads, 1300, 3000);
    const bool is_disturbed = ++p->calls % 3 == 0;
    *out = (wpi_timing){.median_cycles = cycles + (is_disturbed ? p->noise_cycles : 0),
                        .rounds = wanted->repeats};
    return WP_STATUS_OK;
}

static wp_status contest(void *object, const wpi_contest *wanted, wpi_timing *out, wp_error *err) {
    const processor *p = object;
    (void)err;
    const uint32_t a = wanted->sm_timed / p->processors_a_tlb;
    const bool is_shared = a == wanted->sm_other / p->processors_a_tlb;
    *out = (wpi_timing){.median_cycles = is_shared ? 12 : 5, .rounds = wanted->repeats};
    return WP_STATUS_OK;
}

static wpi_hierarchy *read_levels(processor *p, uint64_t memory_bytes) {
    const wpi_sampler sampler = {.object = p,
                                 .memory_bytes = memory_bytes,
                                 .sm_count = 4,
                                 .chase = chase,
                                 .contest = contest};
    const wpi_infer_options options = {0};
    wpi_hierarchy *h = NULL;
    wp_error err = {0};
    assert_status_ok(wpi_cpu_levels_read(&sampler, 4096, &options, &h, &err), &err);
    return h;
}

static void the_first_tlb_is_read_off_a_busy_machine(void **state) {
    (void)state;
    processor p = {.processors_a_tlb = 2, .noise_cycles = 50};
    wpi_hierarchy *h = read_levels(&p, 1 << 30);
    assert_u64(h->level_count, 1);
    assert_within(h->levels[0].entries.value, 96, 0);
    assert_within(h->levels[0].page_bytes.value, 4096, 0);
    assert_within(h->levels[0].miss_cycles.value, 7, 1e-9);
    assert_within(h->levels[0].sharing.count.value, 2, 0);
    assert_u64(h->levels[0].sharing.group_of[1], 0);
    assert_u64(h->levels[0].sharing.group_of[2], 1);
    assert_false(h->levels[0].ways.is_known);
    assert_contains(h->levels[0].ways.reason, "not LRU");
    wpi_hierarchy_destroy(h);
}

/* A second one sets in at 1300 pages; at 1.25 times the first one's cycles it is said.
 */
static void what_lies_behind_is_said_and_not_counted(void **state) {
    (void)state;
    processor p = {.processors_a_tlb = 1};
    wpi_hierarchy *h = read_levels(&p, 1 << 30);
    assert_u64(h->level_count, 1);
    assert_contains(h->levels_known.reason, "more than 1399 "); /* 1300 + 1700 * 7 / 4 / 30 */
    wpi_hierarchy_destroy(h);
    h = read_levels(&p, 1000 * 4096);
    assert_contains(h->levels_known.reason, "no other level was found up to");
    wpi_hierarchy_destroy(h);
}

static void too_little_memory_leaves_all_unknown(void **state) {
    (void)state;
    processor p = {.processors_a_tlb = 1};
    wpi_hierarchy *h = read_levels(&p, 90 * 4096);
    assert_u64(h->level_count, 0);
    assert_contains(h->levels_known.reason, "at any number of pages");
    wpi_hierarchy_destroy(h);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_tlb_is_read_off_a_busy_machine),
        cmocka_unit_test(what_lies_behind_is_said_and_not_counted),
        cmocka_unit_test(too_little_memory_leaves_all_unknown),
    };
    return wp_test_main(tests);
}
