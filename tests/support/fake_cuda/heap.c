/* SPDX-License-Identifier: Apache-2.0 */
/* The heap that kernels allocate from, and what they print. */
#include "fake.h"

/* ---- the heap: blocks one behind the other, each with its size before it ---- */

typedef struct block {
    size_t bytes; /* with this header */
    size_t is_used;
} block;

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static char *heap;
static size_t heap_bytes;

static bool prepare(void) {
    if (heap != NULL) return true;
    heap_bytes = fake.limits[WPI_CU_LIMIT_HEAP] / sizeof(block) * sizeof(block);
    heap = heap_bytes >= sizeof(block) ? aligned_alloc(sizeof(block), heap_bytes) : NULL;
    if (heap != NULL) *(block *)(void *)heap = (block){heap_bytes, false};
    return heap != NULL;
}

static block *next_of(block *b) {
    return (block *)(void *)((char *)b + b->bytes);
}

static void join(block *b) {
    while (!b->is_used && (char *)next_of(b) < heap + heap_bytes && !next_of(b)->is_used)
        b->bytes += next_of(b)->bytes;
}

void *fake_heap_alloc(void *context, size_t bytes) {
    (void)context;
    void *found = NULL;
    pthread_mutex_lock(&heap_lock);
    const size_t needed = bytes < heap_bytes || heap == NULL
                              ? (bytes + 2 * sizeof(block) - 1) / sizeof(block) * sizeof(block)
                              : SIZE_MAX;
    if (bytes != 0 && prepare()) {
        for (block *b = (block *)(void *)heap; (char *)b < heap + heap_bytes; b = next_of(b)) {
            join(b);
            if (b->is_used || b->bytes < needed) continue;
            if (b->bytes > needed) {
                block *rest = (block *)(void *)((char *)b + needed);
                *rest = (block){b->bytes - needed, false};
                b->bytes = needed;
            }
            b->is_used = true;
            found = b + 1;
            break;
        }
    }
    pthread_mutex_unlock(&heap_lock);
    return found;
}

void fake_heap_free(void *context, void *memory) {
    (void)context;
    if (memory == NULL) return;
    pthread_mutex_lock(&heap_lock);
    ((block *)memory)[-1].is_used = false;
    pthread_mutex_unlock(&heap_lock);
}

bool fake_heap_range(pm_range *out) {
    pthread_mutex_lock(&heap_lock);
    const bool is_there = prepare();
    if (is_there) *out = (pm_range){(uintptr_t)heap, (uintptr_t)heap + heap_bytes};
    pthread_mutex_unlock(&heap_lock);
    return is_there;
}

void fake_heap_end(void) {
    free(heap);
    heap = NULL;
    heap_bytes = 0;
}

/* ---- printing: kept until the host waits for something; more than the limit goes out at once ----
 */

static pthread_mutex_t print_lock = PTHREAD_MUTEX_INITIALIZER;
static char *printed;
static size_t printed_bytes, printed_capacity;

static void flush_locked(void) {
    if (printed_bytes != 0) {
        (void)fwrite(printed, 1, printed_bytes, stdout);
        (void)fflush(stdout);
    }
    printed_bytes = 0;
}

void fake_print(void *context, const char *text, size_t bytes) {
    (void)context;
    pthread_mutex_lock(&print_lock);
    if (printed_bytes + bytes > fake.limits[WPI_CU_LIMIT_PRINTF_FIFO]) flush_locked();
    if (printed_bytes + bytes > printed_capacity) {
        printed_capacity = 2 * (printed_bytes + bytes);
        printed = realloc(printed, printed_capacity);
        if (printed == NULL) abort();
    }
    memcpy(printed + printed_bytes, text, bytes);
    printed_bytes += bytes;
    pthread_mutex_unlock(&print_lock);
}

void fake_print_flush(void) {
    pthread_mutex_lock(&print_lock);
    flush_locked();
    pthread_mutex_unlock(&print_lock);
}
