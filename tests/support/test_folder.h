/* SPDX-License-Identifier: Apache-2.0 */
/** A folder for a test's files that is gone when the program ends, also where a test fails half
 * way. */
#ifndef TEST_FOLDER_H
#define TEST_FOLDER_H

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/file.h"

static char *test_folder_path;

static inline void test_folder_remove(void) {
    wpi_temp_dir_remove(test_folder_path);
    wpi_free(test_folder_path);
    test_folder_path = NULL;
}

/** The same one whenever it is asked for. Ends the program where there can be none. */
static inline const char *test_folder(void) {
    wp_error err = {0};
    if (test_folder_path != NULL) return test_folder_path;
    if (wpi_temp_dir_create(&test_folder_path, &err) != WP_STATUS_OK ||
        atexit(test_folder_remove) != 0) {
        (void)fprintf(stderr, "a folder for the test: %s\n", err.message);
        exit(1);
    }
    return test_folder_path;
}

#endif
