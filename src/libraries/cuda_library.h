/* SPDX-License-Identifier: Apache-2.0 */
/** What all libraries have: the message of a call without an implementation, and the host's own
 * libraries. */
#ifndef WP_LIBRARIES_CUDA_LIBRARY_H
#define WP_LIBRARIES_CUDA_LIBRARY_H

#include <stdatomic.h>

#include "warpage/error.h"

/** Prints once (`is_said`) that `name` has no implementation and returns `status`. */
void wpi_library_missing(const char *library, const char *name, const char *status,
                         atomic_bool *is_said);

/** Defines an exported call that does so, whatever its parameters. `type` is that of `status`. */
#define WPI_LIBRARY_MISSING(library, type, status, name)                                           \
    WP_API type name(void);                                                                        \
    WP_API type name(void) {                                                                       \
        static atomic_bool is_said;                                                                \
        wpi_library_missing(library, #name, #status, &is_said);                                    \
        return status;                                                                             \
    }

/** The host's library by the first of `names` that loads; NULL if none does, or the parameter
 * host-libraries is off, or the program's accesses are checked, which needs kernels. */
void *wpi_host_library(const char *const *names);

#endif
