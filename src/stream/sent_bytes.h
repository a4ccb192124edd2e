/* SPDX-License-Identifier: Apache-2.0 */
/** Which bytes of mapped data a launch has sent, so that its report says how many were sent more
 * than once. One bit a byte. Thread rule: notes from any threads. */
#ifndef WP_STREAM_SENT_BYTES_H
#define WP_STREAM_SENT_BYTES_H

#include <stddef.h>
#include <stdint.h>

enum { WPI_SENT_RANGES = 8 };

typedef struct wpi_sent_range {
    uintptr_t first, outer;
    uint64_t *bits; /* atomic */
} wpi_sent_range;

/** `{0}` notes nothing. */
typedef struct wpi_sent_bytes {
    wpi_sent_range ranges[WPI_SENT_RANGES];
    uint32_t count;
} wpi_sent_bytes;

/** Notes bytes of this range from now on, unless it is there, is too large (1 GiB), or memory is
 * out.
 */
void wpi_sent_bytes_add(wpi_sent_bytes *sent, const void *first, size_t size_bytes);
void wpi_sent_bytes_deinit(wpi_sent_bytes *sent);
/** Returns how many of them had been sent before. */
uint64_t wpi_sent_bytes_note(wpi_sent_bytes *sent, uint64_t address, uint64_t bytes);

#endif
