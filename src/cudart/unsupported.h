/* SPDX-License-Identifier: Apache-2.0 */
/** Calls that only report that they are unimplemented. Without CUDA's types, whose prototypes would
 * differ. */
#ifndef WP_CUDART_UNSUPPORTED_H
#define WP_CUDART_UNSUPPORTED_H

#include <stdatomic.h>

#include "warpage/error.h"

/** Prints once (`is_said`) that `name` is unimplemented; returns cudaErrorNotSupported, noted, or
 * for a call of the driver API CUDA_ERROR_NOT_SUPPORTED, which is the same number. */
int wpi_unsupported(const char *name, atomic_bool *is_said);

/** Defines an exported call that does nothing else. Its arguments are ignored, so no parameters are
 * declared: by the calling conventions of the supported processors the caller owns them. */
#define WPI_UNSUPPORTED_CALL(name)                                                                 \
    WP_API int name(void);                                                                         \
    WP_API int name(void) {                                                                        \
        static atomic_bool is_said;                                                                \
        return wpi_unsupported(#name, &is_said);                                                   \
    }

#endif
