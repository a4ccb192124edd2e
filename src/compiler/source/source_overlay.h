/* SPDX-License-Identifier: Apache-2.0 */
/** What nvcc takes and clang does not, where the meaning is plain: see launch_syntax.h,
 * asm_syntax.h. Files that have it are read through an overlay; names and lines stay. */
#ifndef WP_COMPILER_SOURCE_OVERLAY_H
#define WP_COMPILER_SOURCE_OVERLAY_H

#include "compiler/driver/job.h"

/** Looks at `source` and the files it includes by quotes (beside the including file, or in `-I`
 * folders). When any needs it, writes the overlay to the temporary folder; `*overlay` (the caller
 * frees it) stays NULL otherwise. */
WP_NODISCARD wp_status wpi_source_overlay(wpi_compile_job *job, const char *source, char **overlay,
                                          wp_error *err);

#endif
