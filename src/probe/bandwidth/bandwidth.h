/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Bandwidth of each level of a device's memory, over blocks, threads a block and coalescing
 * (Mokhtari's thesis, 5.1.3). A rate is that of the turns by which two launches of different length
 * differ, so that what a launch costs is not in it.
 */
#ifndef WP_PROBE_BANDWIDTH_H
#define WP_PROBE_BANDWIDTH_H

#include "warpage/device.h"

typedef enum wpi_memory_level {
    WPI_LEVEL_DRAM = 0, /* no sector is read twice */
    WPI_LEVEL_L2,       /* half of L2 at most, read before, past L1 */
    WPI_LEVEL_L1,       /* each warp the same bytes again and again */
    WPI_LEVEL_SHARED,
    WPI_LEVEL_COUNT /* must be last */
} wpi_memory_level;

/** One measurement. A block has a multiple of 32 threads, at most 1024. */
typedef struct wpi_bandwidth_point {
    wpi_memory_level level;
    uint32_t blocks, threads;
    uint32_t coalesced; /* lanes that read neighbouring words: 1, 2, 4, 8, 16 or 32 */
} wpi_bandwidth_point;

typedef struct wpi_bandwidth_rate {
    double moved_bytes_per_s; /* in sectors of 32 bytes; from shared memory and L1: as used */
    double used_bytes_per_s;  /* 4 bytes a thread */
} wpi_bandwidth_rate;

typedef struct wpi_bandwidth wpi_bandwidth;

/** The device must outlive it. `repeats`: launches of each length, of whose times the shortest
 * counts. Errors: UNSUPPORTED, DEVICE_NOMEM, and those of the device. One thread at a time. */
WP_NODISCARD wp_status wpi_bandwidth_create(wp_device *device, uint32_t repeats,
                                            wpi_bandwidth **out, wp_error *err);
void wpi_bandwidth_destroy(wpi_bandwidth *b);

WP_NODISCARD wp_status wpi_bandwidth_measure(wpi_bandwidth *b, const wpi_bandwidth_point *point,
                                             wpi_bandwidth_rate *out, wp_error *err);

#endif
