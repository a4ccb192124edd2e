/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Host memory for code that cannot continue without it: messages, command lines, the passes of the
 * compiler. These never return NULL. When memory is out they call the program's handler, which ends
 * the process; without one they print a sentence and abort. wpi_free frees. Callable from any
 * thread.
 */
#ifndef WP_BASE_MUST_H
#define WP_BASE_MUST_H

#include "base/alloc.h"

WP_NODISCARD void *wpi_must_malloc(size_t size_bytes);
WP_NODISCARD void *wpi_must_calloc(size_t count, size_t item_bytes); /* zeroed */
WP_NODISCARD void *wpi_must_realloc(void *memory, size_t size_bytes);
WP_NODISCARD char *wpi_must_strdup(const char *text);
WP_NODISCARD char *wpi_must_strndup(const char *text, size_t length_max);

/** A program's handler for lack of memory: reports it, removes temporary files, calls _exit. It
 * must not allocate from here. One for the process, inherited by fork; NULL restores the
 * default. */
typedef void (*wpi_out_of_memory_fn)(void);
void wpi_on_out_of_memory(wpi_out_of_memory_fn handler);

/** Ends the process as above: for failed allocations by other functions. */
_Noreturn void wpi_out_of_memory(void);

#endif
