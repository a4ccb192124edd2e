/* SPDX-License-Identifier: Apache-2.0 */
/** Syntax that nvcc accepts and clang does not: see launch_syntax.h, asm_syntax.h. Files that use
 * it are read through an overlay; names and lines do not change. */
#ifndef WP_COMPILER_SOURCE_OVERLAY_H
#define WP_COMPILER_SOURCE_OVERLAY_H

#include "compiler/driver/job.h"

/** Looks at `source` and the files it includes by quotes (beside the including file, or in `-I`
 * folders). If any needs it, writes the overlay to the temporary folder; otherwise `*overlay` (the
 * caller frees it) is NULL. */
WP_NODISCARD wp_status wpi_source_overlay(wpi_compile_job *job, const char *source, char **overlay,
                                          wp_error *err);

#endif
