/* SPDX-License-Identifier: Apache-2.0 */
#include "base/roff.h"

#include "wp_test.h"

static void text_appears_as_it_is_written(void **state) {
    (void)state;
    wpi_text page = {0};
    wpi_roff_line(&page, "--a \\n 'b' `c` \"d\" ^~ … é");
    assert_string_equal(wpi_text_string(&page), "\\-\\-a \\en \\(aqb\\(aq \\(gac\\(ga \\(dqd\\(dq "
                                                "\\(ha\\(ti \\[u2026] \\[u00E9]\n");
    wpi_text_deinit(&page);
}

static void no_line_of_text_is_a_request(void **state) {
    (void)state;
    wpi_text page = {0};
    wpi_roff_line(&page, ".a\n'b\nc.d");
    wpi_roff_verbatim(&page, "x  \n\n.y");
    assert_string_equal(wpi_text_string(&page), "\\&.a\n\\&\\(aqb\nc.d\n.nf\nx\n.sp\n\\&.y\n.fi\n");
    wpi_text_deinit(&page);
}

static void malformed_characters_are_question_marks(void **state) {
    (void)state;
    wpi_text page = {0};
    wpi_roff_line(&page, "a\x80"
                         "b\xe2\x80");
    assert_string_equal(wpi_text_string(&page), "a?b?\n");
    wpi_text_deinit(&page);
}

static void items_have_a_term_an_argument_and_a_meaning(void **state) {
    (void)state;
    wpi_text page = {0};
    wpi_roff_item(&page, "-o", "FILE", "write there");
    wpi_roff_item(&page, "-rdc", "=true", "yes");
    wpi_roff_item(&page, "-c", NULL, "compile");
    assert_string_equal(wpi_text_string(&page), ".TP\n\\fB\\-o\\fR \\fIFILE\\fR\nwrite there\n"
                                                ".TP\n\\fB\\-rdc\\fR\\fI=true\\fR\nyes\n"
                                                ".TP\n\\fB\\-c\\fR\ncompile\n");
    wpi_text_deinit(&page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_appears_as_it_is_written),
        cmocka_unit_test(no_line_of_text_is_a_request),
        cmocka_unit_test(malformed_characters_are_question_marks),
        cmocka_unit_test(items_have_a_term_an_argument_and_a_meaning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
