/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Mapped data that stay on the device from one launch to the next (streamingKeep).
 *
 * A reservation has one kept range at most. The first launch that passes the reservation copies the
 * range to the device, before its kernel, and takes as long as that in the calling thread, unless
 * the host memory is page-locked; the kernel, and those of later launches, read it there,
 * and write to it what they send to the host, so that both have the same bytes.
 *
 * Thread rule: any thread. Ranges that a launch uses must not be changed meanwhile.
 */
#ifndef WP_STREAM_KEPT_DATA_H
#define WP_STREAM_KEPT_DATA_H

#include <stdbool.h>

#include "base/stream_abi.h"
#include "warpage/device.h"

/** Keeps the bytes from `address` on, in place of what was kept of the reservation; 0 bytes: none.
 * A range ends at a multiple of 16 bytes or where the reservation ends; the rest is not kept.
 * INVALID: not within a reservation, not a multiple of 16, or a file is mapped; DEVICE_NOMEM. */
WP_NODISCARD wp_status wpi_kept_data_set(wp_device *device, void *address, size_t size_bytes,
                                         wp_error *err);
/** Host memory behind these addresses has changed: the next launch copies what is kept of them. */
void wpi_kept_data_forget(const void *address, size_t size_bytes);
/** Whether something of the reservation that `address` is in is kept. */
bool wpi_kept_data_has(const void *address);
/** Keeps nothing of this reservation, or of all, any more. */
void wpi_kept_data_free(const void *base);
void wpi_kept_data_free_all(void);

/** What a launch finds on the device. */
typedef struct wpi_kept_use {
    wpi_stream_kept ranges[WPI_STREAM_KEPT];
    uint32_t count;
    uint64_t bytes, sent_bytes; /* in the ranges; copied there for this launch */
    uint64_t pinned_bytes_max;  /* set by the caller: for the copies, 0: no limit */
} wpi_kept_use;

/** Adds what is kept of the reservation that `address` is in, and queues what has to come before
 * the launch. `is_written`: the kernel writes to it. INVALID: some of the range is not mapped. */
WP_NODISCARD wp_status wpi_kept_data_use(wp_queue *queue, const void *address, bool is_written,
                                         wpi_kept_use *use, wp_error *err);

#endif
