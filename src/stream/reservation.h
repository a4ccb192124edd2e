/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Reserved addresses and the host memory, or the files, that they are tied to. A reservation is a
 * range of addresses without memory, so an access by mistake faults.
 *
 * Thread rule: any thread. Mapping a range that a launch reads is the caller's mistake.
 */
#ifndef WP_STREAM_RESERVATION_H
#define WP_STREAM_RESERVATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stream/file_blocks.h"
#include "warpage/error.h"

/** INVALID: 0 bytes; NOMEM: no addresses left. */
WP_NODISCARD wp_status wpi_reservation_create(size_t size_bytes, void **out, wp_error *err);
/** INVALID: not the start of a reservation. `keeps`: files that were written appear; IO: one does
 * not. The reservation is gone then, too. */
WP_NODISCARD wp_status wpi_reservation_free(void *base, bool keeps, wp_error *err);
/** Launches that used them have failed: files that are being written will not appear. */
void wpi_reservations_spoil(void);
/** Frees all; no file appears. */
void wpi_reservations_free(void);
/** INVALID: not within one reservation. What was mapped there is replaced. */
WP_NODISCARD wp_status wpi_reservation_map(void *address, void *host, size_t size_bytes,
                                           wp_error *err);

/** The same for bytes of a file from `offset` on (mapped_file.h). INVALID: address or offset is not
 * a multiple of 16, too; others as wpi_file_blocks_open. */
WP_NODISCARD wp_status wpi_reservation_map_file(void *address, const char *source,
                                                const char *target, uint64_t offset,
                                                uint64_t size_bytes, wp_error *err);

/** Cheap where there is none: one load. */
bool wpi_reservation_any(void);
/** True if `address` is in a reservation; its start, size and mapped bytes are optional. */
bool wpi_reservation_find(const void *address, void **base, size_t *size_bytes,
                          uint64_t *mapped_bytes);

/** The reservation that begins at the greatest address up to this one: for messages. False: there
 * is none. */
bool wpi_reservation_nearest(uint64_t address, void **base, size_t *size_bytes);
/** Whether the reservation that `address` is in has a file. */
bool wpi_reservation_has_file(const void *address);

/** Whether two addresses are of one reservation. */
bool wpi_reservation_is_same(const void *address, const void *other);
/** Whether two addresses are of two reservations that are tied to the same host memory somewhere.
 */
bool wpi_reservation_shares(const void *address, const void *other);

/** Looks addresses up one after the other. `{0}` is a fresh one. One thread. */
typedef struct wpi_reservation_cursor {
    uintptr_t first, outer; /* of the part found last; of a file: of its block */
    char *host;
    wpi_file_block *block; /* held */
    bool is_written;       /* the block */
    wpi_file_counts counts;
    wp_error failure; /* of a file */
} wpi_reservation_cursor;

/** The host memory of `bytes` bytes from `address` on, until the next call; NULL if not all of them
 * are mapped, or a file failed: then `failure` says so. Of a file, it waits for the disk. */
void *wpi_reservation_host(wpi_reservation_cursor *cursor, uint64_t address, uint32_t bytes,
                           bool is_write);
/** Gives up what the cursor holds; it can be used again. */
void wpi_reservation_leave(wpi_reservation_cursor *cursor);

#endif
