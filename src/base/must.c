/* SPDX-License-Identifier: Apache-2.0 */
#include "base/must.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static _Atomic(wpi_out_of_memory_fn) program_handler;

void wpi_on_out_of_memory(wpi_out_of_memory_fn handler) {
    atomic_store(&program_handler, handler);
}

_Noreturn void wpi_out_of_memory(void) {
    wpi_out_of_memory_fn handler = atomic_load(&program_handler);
    if (handler != NULL) handler();
    static const char sentence[] = "warpage: error: out of host memory\n";
    if (write(STDERR_FILENO, sentence, sizeof sentence - 1) < 0) _exit(1);
    abort();
}

static void *checked(void *memory) {
    if (memory == NULL) wpi_out_of_memory();
    return memory;
}

void *wpi_must_malloc(size_t size_bytes) {
    return checked(wpi_malloc(size_bytes));
}

void *wpi_must_calloc(size_t count, size_t item_bytes) {
    return checked(wpi_calloc(count, item_bytes));
}

void *wpi_must_realloc(void *memory, size_t size_bytes) {
    return checked(wpi_realloc(memory, size_bytes));
}

char *wpi_must_strdup(const char *text) {
    return checked(wpi_strdup(text));
}

char *wpi_must_strndup(const char *text, size_t length_max) {
    return checked(wpi_strndup(text, length_max));
}
