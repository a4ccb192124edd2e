/* SPDX-License-Identifier: Apache-2.0 */
#include "base/variant.h"

#include "base/alloc.h"
#include "wp_test.h"

static wpi_variant parsed(const char *text) {
    wp_error err = {0};
    wpi_variant variant;
    assert_status_ok(wpi_variant_parse(text, &variant, &err), &err);
    return variant;
}

static void every_variant_is_printed_as_it_is_read(void **state) {
    (void)state;
    static const char *const words[] = {"check", "trace", "instep"};
    static const char *const rewrites[] = {"", "+counted", "+stream:_Z4sumPiS_:5",
                                           "+stream:a$counted:1+counted"};
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        for (size_t r = 0; r < sizeof rewrites / sizeof *rewrites; r++) {
            char given[100];
            snprintf(given, sizeof given, "%s%s", words[w], rewrites[r]);
            wpi_variant variant = parsed(given);
            char *text = wpi_variant_text(&variant);
            assert_string_equal(text, given);
            assert_string_equal(wpi_variant_word(&variant), words[w]);
            wpi_free(text);
            wpi_variant_deinit(&variant);
        }
    }
}

static void an_architecture_is_part_of_the_name(void **state) {
    (void)state;
    wpi_variant ahead = parsed("trace@60"), stepped = parsed("instep@86+counted");
    char *text = wpi_variant_text(&stepped);
    assert_int_equal(ahead.machine_arch, 60);
    assert_string_equal(text, "instep@86+counted");
    assert_string_equal(wpi_variant_word(&stepped), "instep");
    wpi_variant plain = parsed("trace");
    assert_false(wpi_variant_equals(&ahead, &plain));
    wpi_free(text);
    wpi_variant_deinit(&ahead);
    wpi_variant_deinit(&stepped);
    wpi_variant_deinit(&plain);
}

static void the_parts_of_a_name_are_found(void **state) {
    (void)state;
    wpi_variant streamed = parsed("trace+stream:k:1"), cached = parsed("instep+a+b");
    assert_int_equal(streamed.kind, WP_VARIANT_TRACE);
    assert_false(streamed.is_in_step);
    assert_u64(streamed.rewrites.count, 1);
    assert_string_equal(streamed.rewrites.items[0], "stream:k:1");
    assert_int_equal(cached.kind, WP_VARIANT_TRACE);
    assert_true(cached.is_in_step);
    assert_u64(cached.rewrites.count, 2);
    assert_string_equal(cached.rewrites.items[1], "b");
    wpi_variant_deinit(&streamed);
    wpi_variant_deinit(&cached);
}

static void variants_are_equal_when_all_parts_are(void **state) {
    (void)state;
    static const char *const texts[] = {"check",     "trace",     "instep",     "trace+a",
                                        "trace+a+b", "trace+b+a", "instep+a+b", "trace+ab"};
    enum { COUNT = sizeof texts / sizeof *texts };
    for (size_t a = 0; a < COUNT; a++) {
        for (size_t b = 0; b < COUNT; b++) {
            wpi_variant first = parsed(texts[a]), second = parsed(texts[b]);
            assert_int_equal(wpi_variant_equals(&first, &second), a == b);
            wpi_variant_deinit(&first);
            wpi_variant_deinit(&second);
        }
    }
}

static void an_unknown_variant_is_refused_by_name(void **state) {
    (void)state;
    static const char *const texts[] = {"",         "traced",    "trac",   "+counted",
                                        "own",      "check@60",  "trace@", "trace@060",
                                        "trace@6x", "trace@1000"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        wp_error err = {0};
        wpi_variant variant;
        assert_int_equal(wpi_variant_parse(texts[i], &variant, &err), WP_STATUS_INVALID);
        assert_non_null(
            strstr(err.message, "unknown; the variants are: copy, check, races, trace, instep"));
    }
}

static void a_rewrite_without_a_name_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {"trace+", "trace++counted", "trace+counted+"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        wp_error err = {0};
        wpi_variant variant;
        assert_int_equal(wpi_variant_parse(texts[i], &variant, &err), WP_STATUS_INVALID);
        assert_non_null(strstr(err.message, texts[i]));
        assert_u64(variant.rewrites.count, 0);
    }
}

static void the_own_code_has_no_name(void **state) {
    (void)state;
    const wpi_variant own = {0};
    char *text = wpi_variant_text(&own);
    assert_string_equal(text, "");
    assert_int_equal(own.kind, WP_VARIANT_OWN);
    wpi_free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_variant_is_printed_as_it_is_read),
        cmocka_unit_test(an_architecture_is_part_of_the_name),
        cmocka_unit_test(the_parts_of_a_name_are_found),
        cmocka_unit_test(variants_are_equal_when_all_parts_are),
        cmocka_unit_test(an_unknown_variant_is_refused_by_name),
        cmocka_unit_test(a_rewrite_without_a_name_is_refused),
        cmocka_unit_test(the_own_code_has_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
