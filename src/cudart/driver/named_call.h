/* SPDX-License-Identifier: Apache-2.0 */
/** Calls of the driver API by name. Without CUDA's types: prototypes of unimplemented calls differ.
 */
#ifndef WP_CUDART_DRIVER_NAMED_CALL_H
#define WP_CUDART_DRIVER_NAMED_CALL_H

#include <stddef.h>

typedef struct wpi_named_call {
    const char *name; /* in the library: cuMemAlloc_v2 */
    void (*function)(void);
} wpi_named_call;

/** The unimplemented calls (drv_unsupported.c). */
const wpi_named_call *wpi_unsupported_calls(size_t *count);

#endif
