/* SPDX-License-Identifier: Apache-2.0 */
/** What a header or a library of NVIDIA's toolkit is that was not found: a sentence after the
 * compiler's or the linker's own error. */
#ifndef WP_COMPILER_KNOWN_NAMES_H
#define WP_COMPILER_KNOWN_NAMES_H

#include <stdbool.h>

#include "base/text.h"

/** Appends a line to `out` for each known header that clang's messages `talk` report as not found;
 * `has_libraries`: NVIDIA's C++ libraries are at hand. */
void wpi_known_headers_explain(const char *talk, bool has_libraries, wpi_text *out);
/** The same for libraries that the linker's messages name. */
void wpi_known_libraries_explain(const char *talk, wpi_text *out);

#endif
