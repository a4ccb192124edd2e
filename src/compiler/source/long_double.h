/* SPDX-License-Identifier: Apache-2.0 */
/** `long double` has 8 bytes on a GPU and 16 on the host, and clang compiles it in kernels without
 * a warning. Files that mention it are compiled again with debug information, which shows where
 * device code declares one. */
#ifndef WP_COMPILER_LONG_DOUBLE_H
#define WP_COMPILER_LONG_DOUBLE_H

#include <stdbool.h>

#include "warpage/error.h"

/** True if the text of `path` has the words `long double` outside comments and literals. */
bool wpi_long_double_is_mentioned(const char *path);

/** Searches IR text with debug information; UNSUPPORTED with file and line of the first variable,
 * member or parameter of that type. `source`: the file, if the information lacks it. */
WP_NODISCARD wp_status wpi_long_double_check(const char *ir, const char *source, wp_error *err);

#endif
