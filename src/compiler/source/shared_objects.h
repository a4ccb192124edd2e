/* SPDX-License-Identifier: Apache-2.0 */
/** `__shared__ T x;` where T has a constructor or destructor that does something: nvcc warns and
 * runs neither, clang refuses it. Its error has the place of the name, so that only these
 * declarations are changed, to memory without an initial value and a reference to it. */
#ifndef WP_COMPILER_SHARED_OBJECTS_H
#define WP_COMPILER_SHARED_OBJECTS_H

#include "compiler/driver/job.h"

/** Reads clang's messages; if all its errors are of this kind and each declaration can be changed,
 * adds the changed files to job->overlay and sets *is_changed: the front end is to run again. */
WP_NODISCARD wp_status wpi_shared_objects_change(wpi_compile_job *job, const char *talk,
                                                 bool *is_changed, wp_error *err);

#endif
