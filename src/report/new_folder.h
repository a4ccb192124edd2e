/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A folder of results that is written atomically: under a temporary name beside its place, and then
 * renamed; an earlier one is exchanged for it and removed. A folder with other files is not
 * touched.
 */
#ifndef WP_REPORT_NEW_FOLDER_H
#define WP_REPORT_NEW_FOLDER_H

#include "base/fail.h"
#include "base/text.h"

typedef struct wpi_new_folder {
    const char *dir; /* temporary folder */
    wp_status status;
    wp_error *err;
} wpi_new_folder;

/** INVALID, with a message, if `dir` exists and has files with other names. `names` ends with NULL.
 */
WP_NODISCARD wp_status wpi_new_folder_check(const char *dir, const char *const *names,
                                            wp_error *err);
/** `fill` writes the files, each by wpi_new_folder_put. IO, INVALID. */
WP_NODISCARD wp_status wpi_new_folder_write(const char *dir,
                                            void (*fill)(wpi_new_folder *folder, void *object),
                                            void *object, wp_error *err);
/** Writes a file; does nothing if an earlier one failed. */
void wpi_new_folder_put(wpi_new_folder *folder, const char *name, const char *data, size_t bytes);
/** The same; the text is empty afterwards. */
void wpi_new_folder_put_text(wpi_new_folder *folder, const char *name, wpi_text *text);

#endif
