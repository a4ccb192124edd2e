/* SPDX-License-Identifier: Apache-2.0 */
#include "device/sim/progress.h"

#include <stdlib.h>

#include "wp_test.h"

#define SECOND ((uint64_t)1000000000)

static wpi_progress progress_that_is(const char *value) {
    wpi_progress progress;
    setenv("WARPAGE_PROGRESS", value, 1);
    wpi_progress_init(&progress);
    return progress;
}

static void a_long_launch_is_shown_with_rate_and_rest(void **state) {
    (void)state;
    wpi_progress p = progress_that_is("on");
    wpi_progress_state at = {"add", 7, 0, 4096, 1000};
    char line[200];
    wpi_progress_update(&p, &at, 5 * SECOND, line, sizeof line);
    assert_string_equal(line, "");
    at.ctas_ended = 1024;
    at.thread_instructions = 1000 + 20000000;
    wpi_progress_update(&p, &at, 5 * SECOND + SECOND / 2, line, sizeof line);
    assert_string_equal(line, ""); /* not yet long */
    wpi_progress_update(&p, &at, 7 * SECOND, line, sizeof line);
    assert_string_equal(line, "\r\033[Kwarpage: add: CTA 1024 of 4096, 10.0 M thread "
                              "instructions/s, 6 s left");
    wpi_progress_update(&p, &at, 7 * SECOND + SECOND / 10, line, sizeof line);
    assert_string_equal(line, ""); /* not that often */
    wpi_progress_update(&p, NULL, 8 * SECOND, line, sizeof line);
    assert_string_equal(line, "\r\033[K");
    wpi_progress_update(&p, NULL, 9 * SECOND, line, sizeof line);
    assert_string_equal(line, "");
}

static void the_next_launch_begins_anew(void **state) {
    (void)state;
    wpi_progress p = progress_that_is("on");
    wpi_progress_state at = {"a", 1, 1, 4, 10};
    char line[200];
    wpi_progress_update(&p, &at, SECOND, line, sizeof line);
    wpi_progress_update(&p, &at, 3 * SECOND, line, sizeof line);
    assert_contains(line, "CTA 1 of 4");
    at.launch = 2;
    wpi_progress_update(&p, &at, 4 * SECOND, line, sizeof line);
    assert_string_equal(line, "\r\033[K");
    at.thread_instructions = 10 + 7200000;
    at.ctas = 7201;
    wpi_progress_update(&p, &at, 6 * SECOND, line, sizeof line);
    assert_contains(line, "3.6 M thread instructions/s, 4 h 0 min left");
}

static void off_means_silent(void **state) {
    (void)state;
    wpi_progress p = progress_that_is("off");
    wpi_progress_state at = {"a", 1, 1, 4, 10};
    char line[200];
    wpi_progress_update(&p, &at, SECOND, line, sizeof line);
    wpi_progress_update(&p, &at, 100 * SECOND, line, sizeof line);
    assert_string_equal(line, "");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_long_launch_is_shown_with_rate_and_rest),
        cmocka_unit_test(the_next_launch_begins_anew),
        cmocka_unit_test(off_means_silent),
    };
    return wp_test_main(tests);
}
