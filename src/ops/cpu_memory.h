/* SPDX-License-Identifier: Apache-2.0 */
/** Memory for tables and for rows on their way: zeroed, on huge pages where it is large. */
#ifndef WP_OPS_CPU_MEMORY_H
#define WP_OPS_CPU_MEMORY_H

#include <stddef.h>

/** NULL: none left. Pages that are never touched cost nothing. Goes back with wp_free. */
void *wpi_cpu_memory_alloc(size_t bytes);

#endif
