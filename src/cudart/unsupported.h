/* SPDX-License-Identifier: Apache-2.0 */
/** Calls that only report that they are unimplemented. Without CUDA's types, whose prototypes would
 * differ. */
#ifndef WP_CUDART_UNSUPPORTED_H
#define WP_CUDART_UNSUPPORTED_H

#include <stdatomic.h>

/** Prints once (`is_said`) that `name` is unimplemented; returns cudaErrorNotSupported, noted, or
 * for a call of the driver API CUDA_ERROR_NOT_SUPPORTED, which is the same number. */
int wpi_unsupported(const char *name, atomic_bool *is_said);

#endif
