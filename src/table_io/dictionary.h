/* SPDX-License-Identifier: Apache-2.0 */
/** Strings and their codes, in order of insertion: 1, 2, … Code 0 is NULL. One thread. */
#ifndef WP_TABLE_IO_DICTIONARY_H
#define WP_TABLE_IO_DICTIONARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/** A string in memory of another owner. */
typedef struct wpi_slice {
    const char *text;
    uint32_t length;
    uint32_t hash;
} wpi_slice;

typedef struct wpi_dictionary {
    wpi_slice *strings; /* [count]: of code i + 1 */
    uint32_t *slots;    /* code; 0: free */
    uint32_t mask, count, capacity;
    bool is_owner; /* copies strings */
    char **pages;  /* the copies */
    size_t page_count, page_used_bytes, page_bytes;
} wpi_dictionary;

/** The string's code; 8 bytes after it must be readable. If the dictionary does not own its
 * strings, `text` must stay valid. `{0}` is empty. NOMEM. */
WP_NODISCARD wp_status wpi_dictionary_code(wpi_dictionary *dictionary, const char *text,
                                           uint32_t length, uint32_t *out, wp_error *err);
/** The same, for a slice of another dictionary. */
WP_NODISCARD wp_status wpi_dictionary_slice_code(wpi_dictionary *dictionary, const wpi_slice *slice,
                                                 uint32_t *out, wp_error *err);
void wpi_dictionary_clear(wpi_dictionary *dictionary); /* keeps memory; not for owners */
void wpi_dictionary_deinit(wpi_dictionary *dictionary);

/** ranks[code]: the code's place among all, sorted by bytes; ranks[0], of NULL, is the last. [count
 * + 1] */
WP_NODISCARD wp_status wpi_dictionary_rank(const wpi_dictionary *dictionary, uint32_t **ranks,
                                           wp_error *err);

#endif
