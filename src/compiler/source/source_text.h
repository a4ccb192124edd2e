/* SPDX-License-Identifier: Apache-2.0 */
/** Skips comments and literals in source text. */
#ifndef WP_COMPILER_SOURCE_TEXT_H
#define WP_COMPILER_SOURCE_TEXT_H

#include <stddef.h>

/** Length of the comment, string or character literal that begins at `p`; 0 if none does. A literal
 * that does not end on its line is only its quote. */
size_t wpi_source_skip(const char *p);

#endif
