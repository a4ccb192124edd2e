/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"

#include "base/alloc.h"
#include "wp_test.h"

static void an_empty_text_is_an_empty_string(void **state) {
    (void)state;
    wpi_text text = {0};
    assert_string_equal(wpi_text_string(&text), "");
    char *taken = wpi_text_take(&text);
    assert_string_equal(taken, "");
    wpi_free(taken);
    wpi_text_deinit(&text);
}

static void appending_keeps_everything_and_the_terminator(void **state) {
    (void)state;
    wpi_text text = {0};
    for (int i = 0; i < 1000; i++)
        wpi_text_appendf(&text, "%03d,", i);
    wpi_text_append(&text, "end");
    wpi_text_append_n(&text, "!!!", 1);
    assert_u64(text.length, 4000 + 4);
    assert_u64(strlen(text.data), text.length);
    assert_memory_equal(text.data + 4 * 999, "999,end!", 9);
    wpi_text_deinit(&text);
    assert_null(text.data);
}

static void bytes_may_be_nul(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_text_append_n(&text, "a\0b", 3);
    assert_u64(text.length, 3);
    assert_memory_equal(text.data, "a\0b", 4);
    wpi_text_deinit(&text);
}

static void taking_leaves_an_empty_text(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_text_append(&text, "mine");
    char *taken = wpi_text_take(&text);
    assert_string_equal(taken, "mine");
    assert_null(text.data);
    assert_u64(text.length, 0);
    wpi_text_append(&text, "new");
    assert_string_equal(taken, "mine");
    wpi_free(taken);
    wpi_text_deinit(&text);
}

static void clearing_keeps_the_memory(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_text_append(&text, "gone");
    const size_t capacity = text.capacity;
    wpi_text_clear(&text);
    assert_string_equal(wpi_text_string(&text), "");
    assert_u64(text.capacity, capacity);
    wpi_text_deinit(&text);
}

static void format_gives_a_heap_string(void **state) {
    (void)state;
    char *text = wpi_format("%s-%d", "x", 5);
    assert_string_equal(text, "x-5");
    wpi_free(text);
}

static void markup_is_escaped_for_html(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_text_append_html(&text, "a<b> & \"c\"");
    assert_string_equal(wpi_text_string(&text), "a&lt;b&gt; &amp; &quot;c&quot;");
    wpi_text_deinit(&text);
}

static void bytes_that_are_not_utf8_are_replaced(void **state) {
    (void)state;
    static const struct {
        const char *given, *expected;
    } cases[] = {
        {"", ""},
        {"a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z", "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80z"},
        {"\xff"
         "a\xfe",
         "\xef\xbf\xbd"
         "a\xef\xbf\xbd"},
        {"\xc3", "\xef\xbf\xbd"},                                 /* cut short */
        {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                 /* too long for '/' */
        {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}, /* half a pair */
        {"\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        wpi_text text = {0};
        wpi_text_append_utf8(&text, cases[i].given);
        assert_string_equal(wpi_text_string(&text), cases[i].expected);
        wpi_text_deinit(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(markup_is_escaped_for_html),
        cmocka_unit_test(bytes_that_are_not_utf8_are_replaced),
        cmocka_unit_test(an_empty_text_is_an_empty_string),
        cmocka_unit_test(appending_keeps_everything_and_the_terminator),
        cmocka_unit_test(bytes_may_be_nul),
        cmocka_unit_test(taking_leaves_an_empty_text),
        cmocka_unit_test(clearing_keeps_the_memory),
        cmocka_unit_test(format_gives_a_heap_string),
    };
    return wp_test_main(tests);
}
