/* SPDX-License-Identifier: Apache-2.0 */
/* Policy files: what is loaded is found like the library's own policies, what is wrong is refused
 * as a whole. The files are modules that the build makes of tests/support/policy_files. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "policy/load.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "wp_test.h"

#define FILES WP_TEST_BUILD_DIR "/tests/policy_"

static void policies_of_a_file_are_found_by_kind_and_name(void **state) {
    (void)state;
    wp_error err = {0};
    const wpi_policy *migrate = NULL, *replacement = NULL, *own = NULL;
    assert_int_equal(wpi_policy_find("migrate", "from-file", &migrate, &err), WP_STATUS_NOT_FOUND);
    assert_status_ok(wpi_policy_file_load(FILES "two.so", &err), &err);
    assert_status_ok(wpi_policy_find("migrate", "from-file", &migrate, &err), &err);
    assert_status_ok(wpi_policy_find("replacement", "from-file", &replacement, &err), &err);
    assert_ptr_not_equal(migrate, replacement);
    assert_status_ok(wpi_policy_find("migrate", "adaptive", &own, &err), &err);
    assert_int_equal(wpi_policy_find("evict", "from-file", &own, &err), WP_STATUS_NOT_FOUND);
    assert_int_equal(wpi_policy_find("migrate", "from-fil", &own, &err), WP_STATUS_NOT_FOUND);
    assert_non_null(strstr(err.message, "did you mean 'from-file'?"));
}

static void a_file_is_loaded_once(void **state) {
    (void)state;
    wp_error err = {0};
    char *real = realpath(FILES "two.so", NULL), *data = NULL;
    size_t bytes = 0;
    const char *path = NULL;
    uint64_t hash = 0;
    assert_status_ok(wpi_policy_files_load(FILES "two.so:" FILES "two.so::" FILES "two.so", &err),
                     &err);
    assert_true(wpi_policy_file_at(0, &path, &hash));
    assert_string_equal(path, real);
    assert_status_ok(wpi_file_read(FILES "two.so", &data, &bytes, &err), &err);
    assert_u64(hash, wpi_hash64(data, bytes, 1));
    assert_false(wpi_policy_file_at(1, &path, &hash));
    assert_non_null(wpi_policy_loaded_at(1));
    assert_null(wpi_policy_loaded_at(2));
    wpi_free(data);
    free(real);
}

/* The message has both words, and nothing is added. */
static void refuses(const char *path, wp_status status, const char *first, const char *second) {
    wp_error err = {0};
    size_t before = 0, after = 0;
    while (wpi_policy_loaded_at(before) != NULL)
        before++;
    assert_int_equal(wpi_policy_file_load(path, &err), status);
    if (strstr(err.message, first) == NULL || strstr(err.message, second) == NULL)
        fail_msg("%s", err.message);
    while (wpi_policy_loaded_at(after) != NULL)
        after++;
    assert_u64(after, before);
}

static void files_for_another_interface_are_refused(void **state) {
    (void)state;
    refuses(FILES "other_version.so", WP_STATUS_INVALID, "policy_other_version.so was built for",
            "of Warpage 0.0.0");
    refuses(FILES "other_sizes.so", WP_STATUS_INVALID, "policy_other_sizes.so was built for",
            "wpcc --policy");
}

static void one_bad_policy_refuses_the_file(void **state) {
    (void)state;
    refuses(FILES "twice.so", WP_STATUS_INVALID, "policy_twice.so has two replacement policies",
            "'same-name'");
    refuses(WP_TEST_BUILD_DIR "/tests/policy_none.so", WP_STATUS_NOT_FOUND, "policy_none.so",
            "no such policy file");
    refuses(WP_TEST_BUILD_DIR, WP_STATUS_IO, "is a folder", "");
    refuses(WP_TEST_SOURCE_DIR "/README.md", WP_STATUS_INVALID, "README.md cannot be loaded",
            "wpcc --policy");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(policies_of_a_file_are_found_by_kind_and_name),
        cmocka_unit_test(a_file_is_loaded_once),
        cmocka_unit_test(files_for_another_interface_are_refused),
        cmocka_unit_test(one_bad_policy_refuses_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
