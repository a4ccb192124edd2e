/* SPDX-License-Identifier: Apache-2.0 */
/** Memory for tables, for rows on their way and for results: on huge pages where it is large. */
#ifndef WP_OPS_CPU_MEMORY_H
#define WP_OPS_CPU_MEMORY_H

#include <stddef.h>

/** Not zeroed; pages that are never touched cost nothing. NULL: none left. Goes back with wpi_free.
 */
void *wpi_cpu_memory_alloc(size_t bytes);

#endif
