/* SPDX-License-Identifier: Apache-2.0 */
/** Measures this machine for the host model: memory, a call, a read of a word that another core
 * wrote. */
#ifndef WP_PROBE_HOST_MEASURE_H
#define WP_PROBE_HOST_MEASURE_H

#include "probe/host/host_result.h"

typedef struct wpi_host_request {
    const char *call_device; /* whose queue takes the copies: "cpu", "cuda:0" */
    uint64_t memory_bytes;   /* to read and write; 0: 1 GiB, at most half of free memory */
    uint32_t repeats;        /* of each measurement; up to WPI_HOST_REPEATS_MAX */
    void (*progress)(void *object, const char *what, uint32_t done, uint32_t all); /* or NULL */
    void *object;
} wpi_host_request;

/** NOMEM, and the errors of opening a device. */
WP_NODISCARD wp_status wpi_host_measure_all(const wpi_host_request *request, wpi_host_result *out,
                                            wp_error *err);

#endif
