/* SPDX-License-Identifier: Apache-2.0 */
#include "base/subprocess.h"

#include "base/alloc.h"
#include "base/file.h"
#include "test_folder.h"
#include "wp_test.h"

static int run(const char *script, const wpi_subprocess_options *options) {
    wp_error err = {0};
    int exit_code = -1;
    const char *const argv[] = {"sh", "-c", script, NULL};
    assert_status_ok(wpi_subprocess_run(argv, options, &exit_code, &err), &err);
    return exit_code;
}

static void the_exit_code_comes_through(void **state) {
    (void)state;
    assert_int_equal(run("exit 0", NULL), 0);
    assert_int_equal(run("exit 42", NULL), 42);
}

static void a_signal_is_128_plus_its_number(void **state) {
    (void)state;
    assert_int_equal(run("kill -9 $$", NULL), 128 + 9);
    assert_int_equal(run("kill -SEGV $$", NULL), 128 + 11);
}

static void both_outputs_are_captured_apart(void **state) {
    (void)state;
    wpi_text out = {0}, errors = {0};
    const wpi_subprocess_options options = {.stdout_text = &out, .stderr_text = &errors};
    assert_int_equal(run("echo one; echo two >&2", &options), 0);
    assert_string_equal(wpi_text_string(&out), "one\n");
    assert_string_equal(wpi_text_string(&errors), "two\n");
    wpi_text_deinit(&out);
    wpi_text_deinit(&errors);
}

static void both_outputs_can_share_a_text_in_order(void **state) {
    (void)state;
    wpi_text both = {0};
    const wpi_subprocess_options options = {.stdout_text = &both, .stderr_text = &both};
    assert_int_equal(run("echo one; echo two >&2; echo three", &options), 0);
    assert_string_equal(wpi_text_string(&both), "one\ntwo\nthree\n");
    wpi_text_deinit(&both);
}

static void much_output_on_both_sides_does_not_block(void **state) {
    (void)state;
    wpi_text out = {0}, errors = {0};
    const wpi_subprocess_options options = {.stdout_text = &out, .stderr_text = &errors};
    assert_int_equal(run("i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890; "
                         "echo 0123456789012345678901234567890 >&2; i=$((i+1)); done",
                         &options),
                     0);
    assert_u64(out.length, 3000 * 32);
    assert_u64(errors.length, 3000 * 32);
    wpi_text_deinit(&out);
    wpi_text_deinit(&errors);
}

static void files_can_stand_for_the_streams(void **state) {
    (void)state;
    wp_error err = {0};
    const char *dir = test_folder();
    char *in = wpi_path_join(dir, "in");
    char *out = wpi_path_join(dir, "out");
    assert_status_ok(wpi_file_write(in, "read me", 7, &err), &err);
    const wpi_subprocess_options options = {.stdin_path = in, .stdout_path = out};
    assert_int_equal(run("cat", &options), 0);
    char *data = NULL;
    size_t size_bytes = 0;
    assert_status_ok(wpi_file_read(out, &data, &size_bytes, &err), &err);
    assert_string_equal(data, "read me");
    wpi_free(data);
    wpi_free(in);
    wpi_free(out);
}

static void environment_rows_add_and_replace(void **state) {
    (void)state;
    assert_int_equal(setenv("WP_TEST_A", "old", 1), 0);
    assert_int_equal(setenv("WP_TEST_AB", "kept", 1), 0);
    wpi_text out = {0};
    const char *const rows[] = {"WP_TEST_A=new", "WP_TEST_C=more", NULL};
    const wpi_subprocess_options options = {.stdout_text = &out, .environment = rows};
    assert_int_equal(run("echo $WP_TEST_A $WP_TEST_AB $WP_TEST_C", &options), 0);
    assert_string_equal(wpi_text_string(&out), "new kept more\n");
    wpi_text_deinit(&out);
}

static void the_folder_is_the_programs(void **state) {
    (void)state;
    wpi_text out = {0};
    const wpi_subprocess_options options = {.stdout_text = &out, .directory = "/usr"};
    assert_int_equal(run("pwd", &options), 0);
    assert_string_equal(wpi_text_string(&out), "/usr\n");
    wpi_text_deinit(&out);
}

static void a_missing_program_is_named(void **state) {
    (void)state;
    wp_error err = {0};
    int exit_code = 0;
    assert_status_fails(wpi_subprocess_run((const char *const[]){"no-such-program-anywhere", NULL},
                                           NULL, &exit_code, &err),
                        WP_STATUS_NOT_FOUND, &err, "no-such-program-anywhere");
    assert_status_fails(
        wpi_subprocess_run((const char *const[]){"./nowhere", NULL}, NULL, &exit_code, &err),
        WP_STATUS_NOT_FOUND, &err, "./nowhere");
    assert_status_fails(
        wpi_subprocess_run((const char *const[]){"/etc/passwd", NULL}, NULL, &exit_code, &err),
        WP_STATUS_IO, &err, "not an executable");
}

static void what_fails_before_the_program_starts_is_named(void **state) {
    (void)state;
    wp_error err = {0};
    int exit_code = 0;
    const char *const argv[] = {"true", NULL};
    const wpi_subprocess_options bad_dir = {.directory = "/nowhere"};
    assert_status_fails(wpi_subprocess_run(argv, &bad_dir, &exit_code, &err), WP_STATUS_NOT_FOUND,
                        &err, "/nowhere");
    const wpi_subprocess_options bad_input = {.stdin_path = "/nowhere/in"};
    assert_status_fails(wpi_subprocess_run(argv, &bad_input, &exit_code, &err), WP_STATUS_NOT_FOUND,
                        &err, "/nowhere/in");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_exit_code_comes_through),
        cmocka_unit_test(a_signal_is_128_plus_its_number),
        cmocka_unit_test(both_outputs_are_captured_apart),
        cmocka_unit_test(both_outputs_can_share_a_text_in_order),
        cmocka_unit_test(much_output_on_both_sides_does_not_block),
        cmocka_unit_test(files_can_stand_for_the_streams),
        cmocka_unit_test(environment_rows_add_and_replace),
        cmocka_unit_test(the_folder_is_the_programs),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(what_fails_before_the_program_starts_is_named),
    };
    return wp_test_main(tests);
}
