/* SPDX-License-Identifier: Apache-2.0 */
#define _DEFAULT_SOURCE /* madvise */
#include "ops/cpu_memory.h"

#include <stdint.h>
#include <sys/mman.h>

#include "base/alloc.h"

#define HUGE_BYTES ((uintptr_t)2 << 20)

void *wpi_cpu_memory_alloc(size_t bytes) {
    void *memory = wp_calloc(bytes, 1);
    const uintptr_t first = ((uintptr_t)memory + HUGE_BYTES - 1) & ~(HUGE_BYTES - 1);
    const uintptr_t outer = ((uintptr_t)memory + bytes) & ~(HUGE_BYTES - 1);
    if (memory != NULL && first < outer)
        (void)madvise((void *)first, outer - first, MADV_HUGEPAGE); /* a wish */
    return memory;
}
