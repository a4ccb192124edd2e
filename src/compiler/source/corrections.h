/* SPDX-License-Identifier: Apache-2.0 */
/** Source that nvcc accepts and clang refuses, where only clang knows which it is: its errors name
 * the places, the text there is changed, and the front end runs again. */
#ifndef WP_COMPILER_CORRECTIONS_H
#define WP_COMPILER_CORRECTIONS_H

#include "compiler/driver/job.h"

/** Reads clang's messages; if text at their places can be changed, adds the changed files to
 * job->overlay and sets *is_changed: the front end is to run again. */
WP_NODISCARD wp_status wpi_corrections_apply(wpi_compile_job *job, const char *talk,
                                             bool *is_changed, wp_error *err);

#endif
