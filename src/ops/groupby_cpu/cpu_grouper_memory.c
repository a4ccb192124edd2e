/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* madvise */
#include "ops/groupby_cpu/cpu_grouper_memory.h"

#include <stdbool.h>
#include <sys/mman.h>

#include "base/alloc.h"

#define HUGE_BYTES ((size_t)2 << 20)
#define LINE_BYTES ((size_t)64)

void *wpi_cpu_memory_alloc(size_t bytes) {
    const bool is_large = bytes >= HUGE_BYTES;
    void *memory = wpi_malloc_aligned(is_large ? HUGE_BYTES : LINE_BYTES, bytes);
    if (memory != NULL && is_large) /* a hint */
        (void)madvise(memory, bytes / HUGE_BYTES * HUGE_BYTES, MADV_HUGEPAGE);
    return memory;
}
