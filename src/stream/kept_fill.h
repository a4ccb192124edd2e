/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Copies host memory that is not page-locked to the device: several threads of the host take one
 * piece after the other to page-locked memory, while earlier pieces cross the link.
 *
 *     lane 0  | stage 0 | stage 4 | …          each lane has two pieces of page-locked memory, so
 *     lane 1  | stage 1 | stage 5 |            that it stages one while the other is copied
 *     link         | 0 | 1 | 2 | 3 | 4 | …
 *
 * Thread rule: a fill belongs to one thread until wpi_kept_fill_run has returned.
 */
#ifndef WP_STREAM_KEPT_FILL_H
#define WP_STREAM_KEPT_FILL_H

#include "warpage/device.h"

enum {
    WPI_KEPT_FILL_LANES = 4,
    WPI_KEPT_FILL_PIECE_BYTES = 131072 /* at most: on the link, ten times the start of a copy */
};

typedef struct wpi_kept_part {
    const char *host;
    char *to; /* on the device */
    size_t bytes;
} wpi_kept_part;

typedef struct wpi_kept_fill {
    wpi_kept_part *pieces;
    size_t count, room;
} wpi_kept_fill;

/** Adds a part, cut into pieces of at most `piece_bytes`. NOMEM. */
WP_NODISCARD wp_status wpi_kept_fill_add(wpi_kept_fill *fill, const wpi_kept_part *part,
                                         size_t piece_bytes, wp_error *err);
/** Copies all of them, and returns when they are there. `{0}` is fine. NOMEM, and what queues and
 * actors return. */
WP_NODISCARD wp_status wpi_kept_fill_run(const wpi_kept_fill *fill, wp_device *device,
                                         size_t piece_bytes, wp_error *err);
void wpi_kept_fill_deinit(wpi_kept_fill *fill); /* `{0}` is fine */
/** Bytes of a piece if so much may be page-locked (0: no limit); 0: too little. */
size_t wpi_kept_fill_piece_bytes(uint64_t pinned_bytes_max);

#endif
