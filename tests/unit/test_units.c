/* SPDX-License-Identifier: Apache-2.0 */
#include "base/units.h"
#include "wp_test.h"

static void bytes_are(const char *text, uint64_t wanted) {
    wp_error err = {0};
    uint64_t bytes = 1;
    assert_status_ok(wpi_parse_bytes(text, &bytes, &err), &err);
    assert_u64(bytes, wanted);
}

static void bytes_take_binary_and_decimal_units(void **state) {
    (void)state;
    bytes_are("0", 0);
    bytes_are("17B", 17);
    bytes_are("64KiB", 65536);
    bytes_are("1.5GiB", 3 * WP_GIB / 2);
    bytes_are("2 MiB", 2 * WP_MIB);
    bytes_are("3kB", 3000);
    bytes_are("1TB", 1000000000000u);
    bytes_are("18446744073709551615B", UINT64_MAX);
}

static void bytes_refuse(const char *text, const char *part) {
    wp_error err = {0};
    uint64_t bytes = 1;
    assert_status_fails(wpi_parse_bytes(text, &bytes, &err), WP_STATUS_PARSE, &err, part);
    assert_u64(bytes, 0);
}

static void bare_numbers_and_nonsense_are_refused_by_name(void **state) {
    (void)state;
    bytes_refuse("64", "lacks a unit");
    bytes_refuse("", "not a quantity");
    bytes_refuse("-1GiB", "not a quantity");
    bytes_refuse("GiB", "not a quantity");
    bytes_refuse("5GB/s", "unknown unit 'GB/s'");
    bytes_refuse("5Gib", "unknown unit 'Gib'");
    bytes_refuse("18446744073709551616B", "too large");
    bytes_refuse("99999999999TiB", "too large");
}

static void durations_have_their_own_units(void **state) {
    (void)state;
    wp_error err = {0};
    uint64_t ns = 0;
    assert_status_ok(wpi_parse_duration_ns("350ns", &ns, &err), &err);
    assert_u64(ns, 350);
    assert_status_ok(wpi_parse_duration_ns("1.5ms", &ns, &err), &err);
    assert_u64(ns, 1500000);
    assert_status_ok(wpi_parse_duration_ns("2min", &ns, &err), &err);
    assert_u64(ns, 120000000000u);
    assert_status_fails(wpi_parse_duration_ns("3MiB", &ns, &err), WP_STATUS_PARSE, &err, "MiB");
}

static void counts_are_digits_only(void **state) {
    (void)state;
    wp_error err = {0};
    uint64_t count = 0;
    assert_status_ok(wpi_parse_count("12", &count, &err), &err);
    assert_u64(count, 12);
    assert_status_fails(wpi_parse_count("12x", &count, &err), WP_STATUS_PARSE, &err, "12x");
    assert_status_fails(wpi_parse_count("-1", &count, &err), WP_STATUS_PARSE, &err, "-1");
    assert_status_fails(wpi_parse_count("", &count, &err), WP_STATUS_PARSE, &err, "''");
    assert_status_fails(wpi_parse_count("99999999999999999999", &count, &err), WP_STATUS_PARSE,
                        &err, "too large");
}

static void people_get_short_forms(void **state) {
    (void)state;
    char out[32];
    assert_string_equal(wpi_format_bytes(0, out), "0 B");
    assert_string_equal(wpi_format_bytes(1023, out), "1023 B");
    assert_string_equal(wpi_format_bytes(WP_GIB * 3 / 2, out), "1.50 GiB");
    assert_string_equal(wpi_format_bytes(UINT64_MAX, out), "16777216.00 TiB");
    assert_string_equal(wpi_format_duration(350, out), "350 ns");
    assert_string_equal(wpi_format_duration(1500000, out), "1.50 ms");
    assert_string_equal(wpi_format_duration(90000000000u, out), "90.00 s");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_take_binary_and_decimal_units),
        cmocka_unit_test(bare_numbers_and_nonsense_are_refused_by_name),
        cmocka_unit_test(durations_have_their_own_units),
        cmocka_unit_test(counts_are_digits_only),
        cmocka_unit_test(people_get_short_forms),
    };
    return wp_test_main(tests);
}
