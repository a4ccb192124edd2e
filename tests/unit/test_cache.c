/* SPDX-License-Identifier: Apache-2.0 */
#include "base/cache_dir.h"

#include <pwd.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <utime.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/text.h"
#include "test_folder.h"
#include "wp_test.h"

static char *in_folder(const char *name) {
    return wpi_path_join(test_folder(), name);
}

static void set(const char *name, const char *value) {
    assert_int_equal(value != NULL ? setenv(name, value, 1) : unsetenv(name), 0);
}

static void assert_path(const char *wanted) {
    char *path = wpi_cache_path();
    assert_string_equal(path, wanted);
    wpi_free(path);
}

static void place_follows_the_environment_in_order(void **state) {
    (void)state;
    set("WARPAGE_CACHE", "/one");
    set("XDG_CACHE_HOME", "/two");
    set("HOME", "/three");
    assert_path("/one");
    set("WARPAGE_CACHE", "");
    assert_path("/two/warpage");
    set("XDG_CACHE_HOME", "relative"); /* as its specification says: to be ignored */
    assert_path("/three/.cache/warpage");
    set("XDG_CACHE_HOME", NULL);
    assert_path("/three/.cache/warpage");
}

static void without_home_the_place_is_never_below_the_root_folder(void **state) {
    (void)state;
    static const char *const homes[] = {NULL, "", "/", "//", "relative"};
    set("WARPAGE_CACHE", NULL);
    set("XDG_CACHE_HOME", NULL);
    set("TMPDIR", "/some/tmp");
    const struct passwd *user = getpwuid(geteuid());
    const bool has_home = user != NULL && user->pw_dir[1] != '\0' && wpi_dir_exists(user->pw_dir);
    char *wanted = has_home ? wpi_path_join(user->pw_dir, ".cache/warpage")
                            : wpi_format("/some/tmp/warpage-%u", (unsigned)geteuid());
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        set("HOME", homes[i]);
        assert_path(wanted);
    }
    wpi_free(wanted);
    set("TMPDIR", NULL);
}

static void folder_is_created_for_its_user_only(void **state) {
    (void)state;
    char *wanted = in_folder("above/cache"), *dir = NULL;
    wp_error err = {0};
    struct stat info;
    const mode_t mask = umask(0);
    set("WARPAGE_CACHE", wanted);
    assert_status_ok(wpi_cache_open(&dir, &err), &err);
    (void)umask(mask);
    assert_int_equal(stat(dir, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0700);
    wpi_free(dir);
    assert_int_equal(chmod(wanted, 0770), 0);
    assert_status_fails(wpi_cache_open(&dir, &err), WP_STATUS_INVALID, &err, "chmod go-w");
    assert_null(dir);
    assert_int_equal(chmod(wanted, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(wanted, 4711, 0), 0);
        assert_status_fails(wpi_cache_open(&dir, &err), WP_STATUS_INVALID, &err, "user id 4711");
        assert_int_equal(chown(wanted, 0, 0), 0);
    }
    set("WARPAGE_CACHE", "/dev/null/cache");
    assert_status_fails(wpi_cache_open(&dir, &err), WP_STATUS_IO, &err, "/dev/null");
    wpi_free(wanted);
}

static void damage_of_any_byte_and_any_length_is_noticed(void **state) {
    (void)state;
    static const char text[] = "all that was written";
    const size_t bytes = sizeof text - 1;
    char *path = in_folder("kept.so"), *all = NULL, *data = NULL;
    size_t all_bytes = 0, got = 0;
    wp_error err = {0};
    assert_status_ok(wpi_cache_write(path, text, bytes, &err), &err);
    assert_status_ok(wpi_cache_read(path, &data, &got, &err), &err);
    assert_u64(got, bytes);
    assert_string_equal(data, text);
    wpi_free(data);
    assert_status_ok(wpi_file_read(path, &all, &all_bytes, &err), &err);
    for (size_t i = 0; i < all_bytes; i++) {
        assert_status_ok(wpi_file_write(path, all, i, &err), &err);
        assert_status_fails(wpi_cache_read(path, &data, &got, &err), WP_STATUS_PARSE, &err,
                            "damaged");
        assert_null(data);
        all[i] ^= 1;
        assert_status_ok(wpi_file_write(path, all, all_bytes, &err), &err);
        assert_status_fails(wpi_cache_read(path, &data, &got, &err), WP_STATUS_PARSE, &err,
                            "damaged");
        all[i] ^= 1;
    }
    wpi_free(all);
    wpi_free(path);
}

static void file_that_others_can_write_is_not_read(void **state) {
    (void)state;
    char *path = in_folder("kept.txt"), *link = in_folder("link.txt"), *data = NULL;
    size_t bytes = 0;
    wp_error err = {0};
    struct stat info;
    const mode_t mask = umask(0);
    assert_status_ok(wpi_cache_write(path, "x", 1, &err), &err);
    (void)umask(mask);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(chmod(path, 0620), 0);
    assert_status_fails(wpi_cache_read(path, &data, &bytes, &err), WP_STATUS_INVALID, &err,
                        "chmod go-w");
    assert_int_equal(chmod(path, 0600), 0);
    assert_int_equal(symlink(path, link), 0);
    assert_status_fails(wpi_cache_read(link, &data, &bytes, &err), WP_STATUS_INVALID, &err,
                        "not a plain file");
    if (geteuid() == 0) {
        assert_int_equal(chown(path, 4711, 0), 0);
        assert_status_fails(wpi_cache_read(path, &data, &bytes, &err), WP_STATUS_INVALID, &err,
                            "user id 4711");
        /* Written anew, it is ours again. */
        assert_status_ok(wpi_cache_write(path, "x", 1, &err), &err);
        assert_status_ok(wpi_cache_read(path, &data, &bytes, &err), &err);
        wpi_free(data);
    }
    wpi_free(link);
    wpi_free(path);
}

static void sweeping_removes_old_unfinished_files_only(void **state) {
    (void)state;
    static const char *const names[] = {"a.so.Xy12zZ", "b.pch.4711", "c.txt.abcdef",
                                        "d.so",        "e.pch",      "f.so.new"};
    char *dir = in_folder("swept");
    assert_int_equal(mkdir(dir, 0700), 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = wpi_path_join(dir, names[i]);
        const struct utimbuf old = {time(NULL) - 7200, time(NULL) - 7200};
        assert_int_equal(wpi_file_write(path, "x", 1, NULL), WP_STATUS_OK);
        if (i < 5) assert_int_equal(utime(path, &old), 0);
        wpi_free(path);
    }
    wpi_cache_sweep(dir);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char *path = wpi_path_join(dir, names[i]);
        assert_int_equal(wpi_file_exists(path), i >= 3);
        wpi_free(path);
    }
    wpi_free(dir);
}

int main(void) {
    (void)test_folder();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(place_follows_the_environment_in_order),
        cmocka_unit_test(without_home_the_place_is_never_below_the_root_folder),
        cmocka_unit_test(folder_is_created_for_its_user_only),
        cmocka_unit_test(damage_of_any_byte_and_any_length_is_noticed),
        cmocka_unit_test(file_that_others_can_write_is_not_read),
        cmocka_unit_test(sweeping_removes_old_unfinished_files_only),
    };
    return wp_test_main(tests);
}
