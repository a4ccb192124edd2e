/* SPDX-License-Identifier: Apache-2.0 */
/** Numbers for words, in the order in which they come: 0, 1, 2, … One thread. */
#ifndef WP_OPS_CODES_H
#define WP_OPS_CODES_H

#include <stdint.h>

#include "base/fail.h"

typedef struct wpi_codes {
    uint64_t *words; /* [count]: what a number stands for */
    uint32_t *slots; /* number + 1; 0: free */
    uint32_t mask, count, capacity;
} wpi_codes;

/** The word's number. NOMEM, also when there are 2^32 - 2 of them. `{0}` is empty. */
WP_NODISCARD wp_status wpi_codes_number(wpi_codes *codes, uint64_t word, uint32_t *out,
                                        wp_error *err);
void wpi_codes_deinit(wpi_codes *codes);

#endif
