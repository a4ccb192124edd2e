/* SPDX-License-Identifier: Apache-2.0 */
/** Splits text to words as a shell does, and expands the command line.
 */
#ifndef WP_COMPILER_WORDS_H
#define WP_COMPILER_WORDS_H

#include "base/strings.h"
#include "warpage/error.h"

/** Appends the words of `text`, separated by any of `separators`; quotes group characters, a
 * backslash quotes the next one. */
void wpi_words_split(const char *text, const char *separators, wpi_strings *out);

/** All arguments but the program's name: NVCC_PREPEND_FLAGS, argv, NVCC_APPEND_FLAGS, with the
 * content of response files (@file, --options-file file, -optf file) in their place. */
WP_NODISCARD wp_status wpi_words_gather(int argc, char **argv, wpi_strings *out, wp_error *err);

#endif
