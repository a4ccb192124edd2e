/* SPDX-License-Identifier: Apache-2.0 */
/** Calls that exist only to say that they do not. Without CUDA's types, whose prototypes would
 * differ. */
#ifndef WP_CUDART_UNSUPPORTED_H
#define WP_CUDART_UNSUPPORTED_H

#include <stdatomic.h>

/** Says once (`is_said`) that `name` is missing; returns cudaErrorNotSupported, noted. */
int wpi_unsupported(const char *name, atomic_bool *is_said);

#endif
