/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "wp_test.h"

static char *dir; /* fresh for every test */

static int make_dir(void **state) {
    (void)state;
    return wpi_temp_dir_create(&dir, NULL) == WP_STATUS_OK ? 0 : -1;
}

static int remove_dir(void **state) {
    (void)state;
    wpi_temp_dir_remove(dir);
    const bool is_gone = !wpi_file_exists(dir);
    wpi_free(dir);
    return is_gone ? 0 : -1;
}

static void what_is_written_is_read_back(void **state) {
    (void)state;
    wp_error err = {0};
    char *path = wpi_path_join(dir, "data");
    const size_t size_bytes = 100000; /* more than one read */
    char *data = wpi_malloc(size_bytes);
    assert_non_null(data);
    for (size_t i = 0; i < size_bytes; i++)
        data[i] = (char)(i * 31);
    assert_status_ok(wpi_file_write(path, data, size_bytes, &err), &err);
    char *back = NULL;
    size_t back_bytes = 0;
    assert_status_ok(wpi_file_read(path, &back, &back_bytes, &err), &err);
    assert_u64(back_bytes, size_bytes);
    assert_memory_equal(back, data, size_bytes);
    assert_int_equal(back[back_bytes], 0);
    wpi_free(back);
    wpi_free(data);
    wpi_free(path);
}

static void an_empty_file_is_a_file(void **state) {
    (void)state;
    wp_error err = {0};
    char *path = wpi_path_join(dir, "empty");
    assert_status_ok(wpi_file_write(path, NULL, 0, &err), &err);
    char *data = NULL;
    size_t size_bytes = 7;
    assert_status_ok(wpi_file_read(path, &data, &size_bytes, &err), &err);
    assert_u64(size_bytes, 0);
    assert_string_equal(data, "");
    wpi_free(data);
    wpi_free(path);
}

static void files_without_a_size_are_read_to_their_end(void **state) {
    (void)state;
    wp_error err = {0};
    char *data = NULL;
    size_t size_bytes = 0;
    assert_status_ok(wpi_file_read("/proc/self/maps", &data, &size_bytes, &err), &err);
    assert_true(size_bytes > 0);
    wpi_free(data);
}

static void a_missing_file_is_not_found_by_name(void **state) {
    (void)state;
    wp_error err = {0};
    char *data = NULL;
    size_t size_bytes = 0;
    assert_status_fails(wpi_file_read("/nowhere/at-all", &data, &size_bytes, &err),
                        WP_STATUS_NOT_FOUND, &err, "/nowhere/at-all");
    assert_null(data);
    assert_status_fails(wpi_file_read(dir, &data, &size_bytes, &err), WP_STATUS_IO, &err, dir);
}

static void a_failed_write_leaves_the_old_file_and_nothing_else(void **state) {
    (void)state;
    wp_error err = {0};
    assert_status_fails(wpi_file_write("/nowhere/at-all", "x", 1, &err), WP_STATUS_NOT_FOUND, &err,
                        "/nowhere/at-all");
    /* A folder in the way: the rename fails after the data were written. */
    char *path = wpi_path_join(dir, "folder");
    assert_status_ok(wpi_dir_create(path, &err), &err);
    assert_status_fails(wpi_file_write(path, "x", 1, &err), WP_STATUS_IO, &err, path);
    assert_true(wpi_dir_exists(path));
    assert_int_equal(rmdir(path), 0);
    wpi_free(path);
    assert_int_equal(rmdir(dir), 0); /* only possible when nothing was left behind */
    assert_int_equal(mkdir(dir, 0700), 0);
}

static void rewriting_keeps_the_mode(void **state) {
    (void)state;
    wp_error err = {0};
    char *path = wpi_path_join(dir, "script");
    assert_status_ok(wpi_file_write(path, "1", 1, &err), &err);
    assert_int_equal(chmod(path, 0751), 0);
    assert_status_ok(wpi_file_write(path, "2", 1, &err), &err);
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0751);
    assert_true(wpi_file_is_executable(path));
    wpi_free(path);
}

static void device_nodes_are_written_in_place(void **state) {
    (void)state;
    wp_error err = {0};
    assert_status_ok(wpi_file_write("/dev/null", "x", 1, &err), &err);
    struct stat info;
    assert_int_equal(stat("/dev/null", &info), 0);
    assert_true(S_ISCHR(info.st_mode));
}

static void running_out_of_memory_is_reported(void **state) {
    (void)state;
    wp_error err = {0};
    char *data = NULL;
    size_t size_bytes = 0;
    wpi_alloc_fail_at(1);
    assert_status_fails(wpi_file_read("/proc/self/maps", &data, &size_bytes, &err), WP_STATUS_NOMEM,
                        &err, "/proc/self/maps");
    assert_null(data);
}

static void folders_are_created_along_the_way(void **state) {
    (void)state;
    wp_error err = {0};
    char *path = wpi_path_join(dir, "a/b/c");
    assert_status_ok(wpi_dir_create(path, &err), &err);
    assert_status_ok(wpi_dir_create(path, &err), &err);
    assert_true(wpi_dir_exists(path));
    char *file = wpi_path_join(path, "file");
    assert_status_ok(wpi_file_write(file, "x", 1, &err), &err);
    char *below = wpi_path_join(file, "below");
    assert_status_fails(wpi_dir_create(below, &err), WP_STATUS_IO, &err, "cannot create");
    wpi_free(below);
    wpi_free(file);
    wpi_free(path);
}

static void removal_does_not_follow_links(void **state) {
    (void)state;
    wp_error err = {0};
    char *outside = wpi_path_join(dir, "outside");
    char *kept = wpi_path_join(outside, "kept");
    char *inside = wpi_path_join(dir, "inside");
    char *link = wpi_path_join(inside, "link");
    assert_status_ok(wpi_dir_create(outside, &err), &err);
    assert_status_ok(wpi_dir_create(inside, &err), &err);
    assert_status_ok(wpi_file_write(kept, "x", 1, &err), &err);
    assert_int_equal(symlink(outside, link), 0);
    wpi_temp_dir_remove(inside);
    assert_false(wpi_file_exists(inside));
    assert_true(wpi_file_exists(kept));
    wpi_free(link);
    wpi_free(inside);
    wpi_free(kept);
    wpi_free(outside);
}

static void check_path(char *(*function)(const char *), const char *path, const char *wanted) {
    char *result = function(path);
    assert_string_equal(result, wanted);
    wpi_free(result);
}

static void paths_come_apart_and_together(void **state) {
    (void)state;
    check_path(wpi_path_dir, "a/b.c", "a");
    check_path(wpi_path_dir, "b.c", ".");
    check_path(wpi_path_dir, "/b.c", "/");
    check_path(wpi_path_base, "a/b.c", "b.c");
    check_path(wpi_path_base, "b", "b");
    check_path(wpi_path_extension, "a.d/b", "");
    check_path(wpi_path_extension, "a/b.tar.gz", ".gz");
    check_path(wpi_path_extension, ".hidden", "");
    check_path(wpi_path_stem, "a/b.tar.gz", "b.tar");
    check_path(wpi_path_stem, ".hidden", ".hidden");
    char *joined = wpi_path_join("a", "b");
    assert_string_equal(joined, "a/b");
    wpi_free(joined);
    joined = wpi_path_join("a/", "b");
    assert_string_equal(joined, "a/b");
    wpi_free(joined);
    joined = wpi_path_join("a", "/b");
    assert_string_equal(joined, "/b");
    wpi_free(joined);
}

static void programs_are_found_as_the_shell_does(void **state) {
    (void)state;
    char *sh = wpi_program_find("sh");
    assert_non_null(sh);
    assert_true(wpi_file_is_executable(sh));
    wpi_free(sh);
    assert_null(wpi_program_find("no-such-program-anywhere"));
    assert_null(wpi_program_find("/etc/passwd"));
}

static void a_program_knows_its_own_file(void **state) {
    (void)state;
    wp_error err = {0};
    char *path = NULL;
    assert_status_ok(wpi_self_path(&path, &err), &err);
    assert_contains(path, "test_file");
    wpi_free(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_is_written_is_read_back, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(an_empty_file_is_a_file, make_dir, remove_dir),
        cmocka_unit_test(files_without_a_size_are_read_to_their_end),
        cmocka_unit_test_setup_teardown(a_missing_file_is_not_found_by_name, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(a_failed_write_leaves_the_old_file_and_nothing_else,
                                        make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(rewriting_keeps_the_mode, make_dir, remove_dir),
        cmocka_unit_test(device_nodes_are_written_in_place),
        cmocka_unit_test(running_out_of_memory_is_reported),
        cmocka_unit_test_setup_teardown(folders_are_created_along_the_way, make_dir, remove_dir),
        cmocka_unit_test_setup_teardown(removal_does_not_follow_links, make_dir, remove_dir),
        cmocka_unit_test(paths_come_apart_and_together),
        cmocka_unit_test(programs_are_found_as_the_shell_does),
        cmocka_unit_test(a_program_knows_its_own_file),
    };
    return wp_test_main(tests);
}
