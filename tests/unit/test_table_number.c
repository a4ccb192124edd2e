/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of tables: what is read is what C's library reads, and what is written reads back. */
#include "table_io/parse_number.h"

#include <math.h>

#include "wp_random.h"
#include "wp_test.h"

static wpi_parsed integer(const char *text, bool is_signed, uint64_t *out) {
    char padded[64] = "";
    strncat(padded, text, 40);
    return wpi_integer_parse(padded, strlen(text), is_signed, out);
}

static void integers_at_the_ends_of_their_range(void **state) {
    (void)state;
    uint64_t value = 0;
    assert_int_equal(integer("9223372036854775807", true, &value), WPI_PARSED_OK);
    assert_u64(value, INT64_MAX);
    assert_int_equal(integer("-9223372036854775808", true, &value), WPI_PARSED_OK);
    assert_u64(value, (uint64_t)INT64_MIN);
    assert_int_equal(integer("18446744073709551615", false, &value), WPI_PARSED_OK);
    assert_u64(value, UINT64_MAX);
    assert_int_equal(integer("9223372036854775808", true, &value), WPI_PARSED_OUT_OF_RANGE);
    assert_int_equal(integer("-9223372036854775809", true, &value), WPI_PARSED_OUT_OF_RANGE);
    assert_int_equal(integer("18446744073709551616", false, &value), WPI_PARSED_OUT_OF_RANGE);
    assert_int_equal(integer("-1", false, &value), WPI_PARSED_OUT_OF_RANGE);
    assert_int_equal(integer(" +12 ", true, &value), WPI_PARSED_OK);
    assert_u64(value, 12);
}

static void no_integer_is_refused_at_any_length(void **state) {
    (void)state;
    static const char bad[] = "/:.-+ e\x80\xff\x01";
    char text[24];
    uint64_t value;
    for (size_t length = 1; length <= 19; length++)
        for (size_t at = 0; at < length; at++)
            for (size_t i = 0; i + 1 < sizeof bad; i++) {
                memset(text, '1', length);
                text[length] = '\0';
                text[at] = bad[i];
                const bool is_sign = at == 0 && length > 1 && strchr("-+ ", bad[i]) != NULL;
                const bool is_space = at + 1 == length && length > 1 && bad[i] == ' ';
                const bool is_fine = is_sign || is_space;
                assert_int_equal(integer(text, true, &value),
                                 is_fine ? WPI_PARSED_OK : WPI_PARSED_NO_NUMBER);
            }
    assert_int_equal(integer("", true, &value), WPI_PARSED_NO_NUMBER);
}

/* Some at once give what each gives by itself; one that is no number is noticed at any place. */
static void numbers_side_by_side(void **state) {
    (void)state;
    enum { COUNT = 13 };
    static const char odd[] = "x:/-\x80\xff";
    uint64_t random = 5, words[COUNT] = {0}, values[COUNT];
    for (size_t count = 0; count <= COUNT; count++)
        for (size_t bad = 0; bad <= count; bad++) {
            uint64_t wanted[COUNT];
            for (size_t i = 0; i < count; i++) {
                char text[32] = "";
                wanted[i] = wp_random_next(&random) % 100000000u >> wp_random_next(&random) % 27;
                const int length =
                    snprintf(text, sizeof text, "%llu", (unsigned long long)wanted[i]);
                if (i == bad) text[random % (unsigned)length] = odd[random / 8 % (sizeof odd - 1)];
                words[i] = wpi_digits_word(text, (size_t)length);
                assert_int_equal(wpi_is_digits(words[i]), i != bad);
            }
            assert_int_equal(wpi_digits_values(words, count, values), bad == count);
            for (size_t i = 0; i < count; i++)
                if (i != bad) assert_u64(values[i], wanted[i]);
        }
    assert_false(wpi_is_digits(wpi_digits_word("12345678", 0)));
    assert_false(wpi_is_digits(wpi_digits_word("123456789", 9)));
}

static void random_integers(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int i = 0; i < 200000; i++) {
        const int64_t wanted = (int64_t)(wp_random_next(&random) >> wp_random_next(&random) % 64);
        char text[32];
        uint64_t value = 0;
        (void)snprintf(text, sizeof text, "%lld", (long long)wanted);
        assert_int_equal(integer(text, true, &value), WPI_PARSED_OK);
        assert_u64(value, (uint64_t)wanted);
    }
}

static void floats_as_strtod_reads_them(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "1.5",
                                        ".5",
                                        "5.",
                                        "1e3",
                                        "-2.5E-3",
                                        "0.1",
                                        "123456789012345678901234567890",
                                        "1.7976931348623157e308",
                                        "inf",
                                        "-Infinity",
                                        "4.9e-324",
                                        "0.30000000000000004",
                                        "9007199254740993"};
    double value;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char padded[64] = "";
        double quick;
        strncat(padded, texts[i], 40);
        assert_int_equal(wpi_float_parse(padded, strlen(texts[i]), &value), WPI_PARSED_OK);
        const double wanted = strtod(texts[i], NULL);
        assert_memory_equal(&value, &wanted, sizeof value);
        if (wpi_short_decimal(padded, strlen(texts[i]), &quick))
            assert_memory_equal(&quick, &wanted, sizeof quick);
    }
    assert_int_equal(wpi_float_parse("nan", 3, &value), WPI_PARSED_OK);
    assert_true(isnan(value));
    assert_int_equal(wpi_float_parse("0x10", 4, &value), WPI_PARSED_NO_NUMBER);
    assert_int_equal(wpi_float_parse("1e999", 5, &value), WPI_PARSED_OUT_OF_RANGE);
    assert_int_equal(wpi_float_parse("1.2.3", 5, &value), WPI_PARSED_NO_NUMBER);
    assert_int_equal(wpi_float_parse("", 0, &value), WPI_PARSED_NO_NUMBER);
    assert_int_equal(wpi_float_parse(".", 1, &value), WPI_PARSED_NO_NUMBER);
}

static void every_short_decimal(void **state) {
    (void)state;
    for (unsigned digits = 0; digits < 10000; digits++)
        for (unsigned point = 0; point <= 4; point++) {
            char text[16], moved[16];
            double value = 0;
            (void)snprintf(text, sizeof text, "%04u", digits);
            (void)snprintf(moved, sizeof moved, "%.*s.%s", (int)point, text, text + point);
            assert_true(wpi_short_decimal(moved, 5, &value));
            assert_true(value == strtod(moved, NULL));
        }
    static const char none[][16] = {"12", "1.2.3", "1,5", "-1.5", "1e.5", ".", "1.5 "};
    double value;
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++)
        assert_false(wpi_short_decimal(none[i], strlen(none[i]), &value));
}

static void what_is_written_reads_back_to_the_same_bits(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 100000; i++) {
        const uint64_t bits = wp_random_next(&random);
        double wide, back = 0;
        float narrow;
        char text[WPI_NUMBER_CHARACTERS + 16] = "";
        memcpy(&wide, &bits, sizeof wide);
        memcpy(&narrow, &bits, sizeof narrow);
        if (!isfinite(wide) || !isfinite(narrow)) continue;
        const wp_column of_wide = {.type = WP_TYPE_FLOAT64, .values = &wide};
        const wp_column of_narrow = {.type = WP_TYPE_FLOAT32, .values = &narrow};
        size_t length = wpi_number_format(&of_wide, 0, false, text);
        assert_int_equal(wpi_float_parse(text, length, &back), WPI_PARSED_OK);
        assert_memory_equal(&back, &wide, sizeof back);
        length = wpi_number_format(&of_narrow, 0, true, text);
        assert_int_equal(wpi_float_parse(text, length, &back), WPI_PARSED_OK);
        assert_true((float)back == narrow);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_at_the_ends_of_their_range),
        cmocka_unit_test(no_integer_is_refused_at_any_length),
        cmocka_unit_test(numbers_side_by_side),
        cmocka_unit_test(random_integers),
        cmocka_unit_test(floats_as_strtod_reads_them),
        cmocka_unit_test(every_short_decimal),
        cmocka_unit_test(what_is_written_reads_back_to_the_same_bits)};
    return wp_test_main(tests);
}
