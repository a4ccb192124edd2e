/* SPDX-License-Identifier: Apache-2.0 */
/** Memory for tables, rows in transit and results: on huge pages if it is large. */
#ifndef WP_OPS_CPU_MEMORY_H
#define WP_OPS_CPU_MEMORY_H

#include <stddef.h>

/** Not zeroed; untouched pages cost nothing. NULL: out of memory. Free with wpi_free.
 */
void *wpi_cpu_memory_alloc(size_t bytes);

#endif
