/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and its relatives, which tests can make fail. */
#include "base/alloc.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t fail_countdown; /* 0: never fail; 1: the next allocation fails */

static bool is_denied(void) {
    uint64_t left = atomic_load_explicit(&fail_countdown, memory_order_relaxed);
    while (left != 0) {
        if (atomic_compare_exchange_weak_explicit(&fail_countdown, &left, left - 1,
                                                  memory_order_relaxed, memory_order_relaxed))
            return left == 1;
    }
    return false;
}

void wpi_alloc_fail_at(uint64_t n) {
    atomic_store_explicit(&fail_countdown, n, memory_order_relaxed);
}

void *wpi_malloc(size_t size_bytes) {
    return is_denied() ? NULL : malloc(size_bytes != 0 ? size_bytes : 1);
}

void *wpi_calloc(size_t count, size_t item_bytes) {
    if (count == 0 || item_bytes == 0) count = item_bytes = 1;
    size_t size_bytes;
    if (is_denied() || !wpi_mul_size(count, item_bytes, &size_bytes)) return NULL;
    return calloc(count, item_bytes);
}

void *wpi_realloc(void *memory, size_t size_bytes) {
    return is_denied() ? NULL : realloc(memory, size_bytes != 0 ? size_bytes : 1);
}

void *wpi_malloc_aligned(size_t alignment_bytes, size_t size_bytes) {
    const size_t rest = size_bytes % alignment_bytes;
    const size_t whole =
        rest == 0 && size_bytes != 0 ? size_bytes : size_bytes + alignment_bytes - rest;
    return is_denied() || whole < size_bytes ? NULL : aligned_alloc(alignment_bytes, whole);
}

void wpi_free(void *memory) {
    free(memory);
}

char *wpi_strdup(const char *text) {
    return wpi_strndup(text, strlen(text));
}

char *wpi_strndup(const char *text, size_t length_max) {
    const size_t length = strnlen(text, length_max);
    char *copy = wpi_malloc(length + 1);
    if (copy == NULL) return NULL;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

bool wpi_mul_size(size_t a, size_t b, size_t *out) {
    if (b != 0 && a > SIZE_MAX / b) return false;
    *out = a * b;
    return true;
}
