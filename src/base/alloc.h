/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Host memory. All of Warpage allocates through these functions, so that a test can make the n-th
 * allocation fail. They return NULL when memory is out (never for a size of 0). Callable from any
 * thread.
 */
#ifndef WP_BASE_ALLOC_H
#define WP_BASE_ALLOC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

WP_NODISCARD void *wpi_malloc(size_t size_bytes);
WP_NODISCARD void *wpi_calloc(size_t count, size_t item_bytes); /* zeroed; the product is checked */
/** On failure `memory` is untouched and still the caller's. */
WP_NODISCARD void *wpi_realloc(void *memory, size_t size_bytes);
/** `alignment_bytes`: a power of two. */
WP_NODISCARD void *wpi_malloc_aligned(size_t alignment_bytes, size_t size_bytes);
void wpi_free(void *memory); /* NULL allowed */

WP_NODISCARD char *wpi_strdup(const char *text);
WP_NODISCARD char *wpi_strndup(const char *text, size_t length_max);

/** *out = a * b; false if it overflows, with *out unchanged. */
WP_NODISCARD bool wpi_mul_size(size_t a, size_t b, size_t *out);

/** For tests: the n-th allocation from now on fails, once. 0 switches this off. */
void wpi_alloc_fail_at(uint64_t n);

#endif
