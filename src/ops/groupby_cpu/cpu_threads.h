/* SPDX-License-Identifier: Apache-2.0 */
/** Parallel work of a few threads. */
#ifndef WP_OPS_CPU_THREADS_H
#define WP_OPS_CPU_THREADS_H

#include <stdint.h>

#define WPI_CPU_THREADS_MAX 256u

typedef void (*wpi_cpu_work)(void *object, uint32_t thread);

/** Processors that are online, at most WPI_CPU_THREADS_MAX. */
uint32_t wpi_cpu_thread_count(void);

/** Calls `work` once for each of [0, thread_count), in parallel if threads can be started, and
 * waits.
 */
void wpi_cpu_parallel(uint32_t thread_count, wpi_cpu_work work, void *object);

#endif
