/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reserved addresses and the host memory that they are tied to. A reservation is a range of
 * addresses without memory, so an access by mistake faults.
 *
 * Thread rule: any thread. Mapping a range that a launch reads is the caller's mistake.
 */
#ifndef WP_STREAM_RESERVATION_H
#define WP_STREAM_RESERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "warpage/error.h"

/** INVALID: 0 bytes; NOMEM: no addresses left. */
WP_NODISCARD wp_status wpi_reservation_create(size_t size_bytes, void **out, wp_error *err);
/** INVALID: not the start of a reservation. */
WP_NODISCARD wp_status wpi_reservation_free(void *base, wp_error *err);
/** INVALID: not within one reservation. What was mapped there is replaced. */
WP_NODISCARD wp_status wpi_reservation_map(void *address, void *host, size_t size_bytes,
                                           wp_error *err);

/** Cheap where there is none: one load. */
bool wpi_reservation_any(void);
/** True if `address` is in a reservation; its start, size and mapped bytes are optional. */
bool wpi_reservation_find(const void *address, void **base, size_t *size_bytes,
                          uint64_t *mapped_bytes);

/** Looks addresses up one after the other. `{0}` is a fresh one. One thread. */
typedef struct wpi_reservation_cursor {
    uintptr_t first, outer; /* of the part found last */
    char *host;
} wpi_reservation_cursor;

/** The host memory of `bytes` bytes from `address` on; NULL if not all of them are mapped. */
void *wpi_reservation_host(wpi_reservation_cursor *cursor, uint64_t address, uint32_t bytes);

#endif
