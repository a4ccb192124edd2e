/* SPDX-License-Identifier: Apache-2.0 */
/** Kernel launches written with spaces, `k<< <grid, block>> >(…)`: nvcc takes them, clang does not,
 * and formatters that do not know CUDA make them. Files that have them are read through an overlay
 * in which they are joined; names, lines and columns stay. */
#ifndef WP_COMPILER_LAUNCH_SYNTAX_H
#define WP_COMPILER_LAUNCH_SYNTAX_H

#include "compiler/job.h"

/** Looks at `source` and the files it includes by quotes (beside the including file, or in `-I`
 * folders). When any needs it, writes the overlay to the temporary folder; `*overlay` (the caller
 * frees it) stays NULL otherwise. */
WP_NODISCARD wp_status wpi_launch_syntax_overlay(wp_job *job, const char *source, char **overlay,
                                                 wp_error *err);

/** Joins the launches of `text` in place; true if there were any. */
bool wpi_launch_syntax_join(char *text);

#endif
