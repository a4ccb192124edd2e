/* SPDX-License-Identifier: Apache-2.0 */
/** Writes a file that has clang read others in place of some files (-ivfsoverlay). */
#ifndef WP_COMPILER_OVERLAY_FILE_H
#define WP_COMPILER_OVERLAY_FILE_H

#include <jansson.h>
#include <stdbool.h>

#include "base/fail.h"

/** An overlay with the entries of `roots`, which stays the caller's. `keeps_names`: messages and
 * line information name the files that were asked for, not those that are read. IO. */
WP_NODISCARD wp_status wpi_overlay_write(const char *path, json_t *roots, bool keeps_names,
                                         wp_error *err);

#endif
