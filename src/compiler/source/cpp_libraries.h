/* SPDX-License-Identifier: Apache-2.0 */
/** Finds NVIDIA's C++ libraries (CCCL: Thrust, CUB, libcu++) for sources that include them. The
 * folder is searched after those of the command line and before the system's. */
#ifndef WP_COMPILER_CPP_LIBRARIES_H
#define WP_COMPILER_CPP_LIBRARIES_H

#include "compiler/driver/job.h"

/** Sets job->libraries: the folder of --cuda-path, else of a toolkit that -I or -isystem names,
 * else the one that `warpage doctor --install cccl` wrote; NULL if there is none. If the folder has
 * a toolkit's other headers too, which must not mix with ours, job->libraries is a folder that
 * exists only in the overlay job->libraries_overlay. job->libraries_first: a folder of headers that
 * take the place of the libraries' own, or NULL. INVALID: --cuda-path has no such libraries. */
WP_NODISCARD wp_status wpi_cpp_libraries_find(wpi_compile_job *job, wp_error *err);

#endif
