/* SPDX-License-Identifier: Apache-2.0 */
#include "probe/result.h"

#include <jansson.h>

#include "base/alloc.h"
#include "probe/measure/budget.h"
#include "wp_test.h"

static wpi_number sure(double value) {
    return (wpi_number){.is_known = true, .value = value, .confidence = 1};
}

static wpi_number unknown(const char *reason) {
    wpi_number n = {0};
    (void)snprintf(n.reason, sizeof n.reason, "%s", reason);
    return n;
}

/* Two levels, the second with unknown entries and sharing. */
static wpi_probe_result example(void) {
    wpi_hierarchy *h = wpi_calloc(1, sizeof *h);
    assert_non_null(h);
    *h = (wpi_hierarchy){.level_count = 2, .sm_count = 3, .base_cycles = sure(268)};
    h->levels[0] = (wpi_level){.entries = sure(16),
                               .page_bytes = sure(131072),
                               .reach_bytes = sure(2097152),
                               .miss_cycles = sure(9.25)};
    h->levels[0].sharing =
        (wpi_sharing_groups){.count = sure(2), .sm_count = 3, .group_of = {0, 1, 0}};
    h->levels[1] = (wpi_level){.entries = unknown("too little memory"), .miss_cycles = sure(55)};
    h->levels[1].sharing.count = unknown("the same");
    wpi_probe_result result = {.spec = "sim:x", .name = "X", .sm_count = 3, .tlbs = h};
    wpi_strings_add(&result.conditions, "clock");
    wpi_strings_add(&result.conditions, "1 MHz");
    return result;
}

static void json_has_null_and_a_reason_for_what_is_unknown(void **state) {
    (void)state;
    wpi_probe_result result = example();
    wpi_text text = {0};
    wpi_probe_result_json(&result, &text);
    json_t *root = json_loads(wpi_text_string(&text), 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "schema")), "warpage.probe/1");
    const json_t *levels = json_object_get(root, "levels");
    const json_t *first = json_array_get(levels, 0), *second = json_array_get(levels, 1);
    assert_u64((uint64_t)json_integer_value(json_object_get(first, "page_bytes")), 131072);
    assert_within(json_real_value(json_object_get(first, "miss_cycles")), 9.25, 1e-9);
    assert_u64(json_array_size(json_object_get(first, "sharing_groups")), 2);
    assert_true(json_is_null(json_object_get(second, "entries")));
    assert_true(json_is_null(json_object_get(second, "sharing_groups")));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(second, "reasons"), "entries")),
        "too little memory");
    assert_within(json_number_value(json_object_get(second, "confidence")), 0, 1e-9);
    assert_within(json_number_value(json_object_get(first, "confidence")), 1, 1e-9);
    json_decref(root);
    wpi_text_deinit(&text);
    wpi_probe_result_deinit(&result);
}

static void text_has_a_question_mark_and_the_reason(void **state) {
    (void)state;
    wpi_probe_result result = example();
    wpi_text text = {0};
    wpi_probe_result_text(&result, &text);
    assert_contains(wpi_text_string(&text), "Entries                       16             ?\n");
    assert_contains(wpi_text_string(&text), "+9.25 cycles");
    assert_contains(wpi_text_string(&text), "1 to 2 SMs");
    assert_contains(wpi_text_string(&text), "  L2 entries: too little memory\n");
    assert_contains(wpi_text_string(&text), "  clock            1 MHz\n");
    wpi_text_deinit(&text);
    wpi_probe_result_deinit(&result);
}

static void values_are_those_that_are_known(void **state) {
    (void)state;
    wpi_probe_result result = example();
    wpi_text text = {0};
    wpi_probe_result_values(&result, &text);
    assert_string_equal(wpi_text_string(&text),
                        "base_cycles 268\nlevels 2\nl1.entries 16\nl1.page_bytes 131072\n"
                        "l1.reach_bytes 2097152\nl1.miss_cycles 9.25\nl1.groups 2\n"
                        "l1.groups_of_1 1\nl1.groups_of_2 1\nl2.miss_cycles 55\nmissing_sms 0\n");
    wpi_text_deinit(&text);
    wpi_probe_result_deinit(&result);
}

static void bytes_are_whole_in_their_unit(void **state) {
    (void)state;
    char out[32];
    assert_string_equal(wpi_whole_bytes(2064.0 * 1048576, out), "2064 MiB");
    assert_string_equal(wpi_whole_bytes(2147483648.0, out), "2 GiB");
    assert_string_equal(wpi_whole_bytes(1000, out), "1000 B");
}

static wp_status answer(void *object, const wpi_chase *chase, wpi_timing *out, wp_error *err) {
    (void)chase, (void)err;
    ++*(unsigned *)object;
    *out = (wpi_timing){0};
    return WP_STATUS_OK;
}

static void a_spent_budget_refuses_and_stays_spent(void **state) {
    (void)state;
    unsigned asked = 0;
    wpi_budget budget;
    wpi_timing timing;
    wp_error err = {0};
    const wpi_chase chase = {0};
    const wpi_sampler inner = {.object = &asked, .chase = answer};
    wpi_sampler sampler = wpi_budget_start(&budget, &inner, 0);
    assert_status_ok(sampler.chase(sampler.object, &chase, &timing, &err), &err);
    assert_null(sampler.contest);
    sampler = wpi_budget_start(&budget, &inner, 1);
    assert_status_fails(sampler.chase(sampler.object, &chase, &timing, &err), WP_STATUS_UNSUPPORTED,
                        &err, "the budget of 1 ns is spent");
    assert_true(budget.is_spent);
    assert_u64(asked, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_has_null_and_a_reason_for_what_is_unknown),
        cmocka_unit_test(text_has_a_question_mark_and_the_reason),
        cmocka_unit_test(values_are_those_that_are_known),
        cmocka_unit_test(bytes_are_whole_in_their_unit),
        cmocka_unit_test(a_spent_budget_refuses_and_stays_spent),
    };
    return wp_test_main(tests);
}
