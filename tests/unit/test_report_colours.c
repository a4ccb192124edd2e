/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/print/report_colours.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "wp_test.h"

static const char report[] = "\n  run of ./a on sim:x (X)\n\n"
                             "  what holds it back\n"
                             "  1. 57 % of the time waits for far faults. Work\n"
                             "     on tiles.\n"
                             "       a.cu:12  x[i] += 1;\n"
                             "\n"
                             "  pages  1. none\n"
                             "      9     0.3%            1.54k\n"
                             "     12 #  99.6% TLB        48.6k   sum += 1;\n"
                             "     13 *  12.0% TLB        48.6k";

static void headings_findings_lines_and_heat_are_coloured(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_report_colours(report, &text);
    assert_contains(wpi_text_string(&text), "\033[1m  what holds it back\033[0m\n");
    assert_contains(wpi_text_string(&text), "\033[1;31m  1.\033[0m 57 % of");
    assert_contains(wpi_text_string(&text), "\n     on tiles.\n");
    assert_contains(wpi_text_string(&text), "\033[36m       a.cu:12  x[i] += 1;\033[0m\n");
    assert_contains(wpi_text_string(&text), "\n  pages  1. none\n      9     0.3%");
    assert_contains(wpi_text_string(&text), "\033[1;31m     12 #  99.6%");
    assert_contains(wpi_text_string(&text), "\033[33m     13 *  12.0% TLB        48.6k\033[0m");
    wpi_text_deinit(&text);
}

static void without_escapes_it_is_the_report(void **state) {
    (void)state;
    wpi_text text = {0};
    wpi_report_colours(report, &text);
    char *plain = wpi_text_take(&text), *to = plain;
    for (const char *from = plain; *from != '\0'; from++) {
        if (*from != '\033')
            *to++ = *from;
        else
            from = strchr(from, 'm');
    }
    *to = '\0';
    assert_string_equal(plain, report);
    wpi_free(plain);
}

static void a_pipe_has_no_colours(void **state) {
    (void)state;
    int ends[2];
    setenv("TERM", "xterm", 1);
    assert_int_equal(pipe(ends), 0);
    assert_false(wpi_colours_are_on(ends[1]));
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headings_findings_lines_and_heat_are_coloured),
        cmocka_unit_test(without_escapes_it_is_the_report),
        cmocka_unit_test(a_pipe_has_no_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
