/* SPDX-License-Identifier: Apache-2.0 */
/** Services for kernel code (base/abi.h): output, failures, memory, clocks. Textures:
 * texture_fetch.c. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/abi.h"
#include "base/clock.h"
#include "device/cpu/cpu.h"

/* The worker on this thread. Kernel code always runs on one. */
static wpi_worker *worker_here(void) {
    wpi_worker *worker = wpi_worker_current;
    WP_CHECK(worker != NULL);
    return worker;
}

int32_t wp_rt_vprintf(const char *format, const void *packed) {
    wpi_worker *worker = worker_here();
    wpi_text *text = &worker->printed;
    wpi_text_clear(text); /* a bad %s may have aborted the last one */
    const int count = wpi_printf_format(text, format, packed);
    if (text->length != 0) wpi_output_append(worker->device->output, text->data, text->length);
    return count;
}

void wp_rt_assert_fail(const char *expression, const char *file, uint32_t line,
                       const char *function) {
    wpi_worker *worker = worker_here();
    const wp_cpu_block *b = wp_rt_block;
    wpi_output_flush(worker->device->output); /* earlier output comes first */
    fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
            file, line, function, b->block_idx[0], b->block_idx[1], b->block_idx[2], b->tid[0],
            b->tid[1], b->tid[2], expression);
    wpi_worker_fail(worker, WP_STATUS_KERNEL_ASSERT, true, "assertion `%s` failed at %s:%u",
                    expression, file, line);
}

void wp_rt_trap(void) {
    wpi_worker_fail(worker_here(), WP_STATUS_KERNEL_TRAP, wp_rt_block->thread != 0,
                    "executed a trap");
}

/* The heap, created at the first request. */
static wpi_heap *heap_of(wpi_cpu_device *device) {
    wpi_heap *heap = atomic_load(&device->heap);
    if (heap != NULL) return heap;
    wpi_heap *made;
    if (wpi_heap_create(atomic_load(&device->heap_bytes), device->has_fixed_addresses,
                        device->base.number, &made, NULL) != WP_STATUS_OK)
        return NULL;
    if (atomic_compare_exchange_strong(&device->heap, &heap, made)) return made;
    wpi_heap_destroy(made); /* another worker created it first */
    return heap;
}

void *wp_rt_malloc(uint64_t bytes) {
    wpi_heap *heap = heap_of(worker_here()->device);
    return heap != NULL ? wpi_heap_alloc(heap, bytes) : NULL;
}

void wp_rt_free(void *pointer) {
    if (pointer == NULL) return;
    wpi_worker *worker = worker_here();
    wpi_heap *heap = atomic_load(&worker->device->heap);
    if (heap != NULL && wpi_heap_free(heap, pointer)) return;
    wpi_worker_fail(worker, WP_STATUS_KERNEL_ADDRESS, false,
                    "freed %p, which is not a live allocation made by malloc in a kernel", pointer);
}

uint64_t wp_rt_clock64(void) {
    return __builtin_ia32_rdtsc();
}

uint64_t wp_rt_globaltimer(void) {
    return wpi_clock_ns();
}

void wp_rt_nanosleep(uint32_t ns) {
    if (ns != 0) sched_yield();
}
