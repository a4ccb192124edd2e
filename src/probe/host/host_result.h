/* SPDX-License-Identifier: Apache-2.0 */
/** Measurements of a host (docs/rooms/host.md), and their forms: text, JSON, a profile. */
#ifndef WP_PROBE_HOST_RESULT_H
#define WP_PROBE_HOST_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/strings.h"
#include "base/text.h"

#define WPI_HOST_REPEATS_MAX 99u

/** Values for the host model, then those for the report only. */
typedef enum wpi_host_value {
    WPI_HOST_BANDWIDTH = 0,    /* bytes/s: all threads read in order */
    WPI_HOST_CORE_BANDWIDTH,   /* … one thread */
    WPI_HOST_RANDOM_LATENCY,   /* ns: a read whose address depends on the one before */
    WPI_HOST_RANDOM_IN_FLIGHT, /* reads that one thread has in flight */
    WPI_HOST_CALL,             /* ns: an asynchronous copy is queued */
    WPI_HOST_POLL,             /* ns: until a word that another core stores is read */
    WPI_HOST_RANDOM_ONE,       /* reads/s: independent ones, of one thread */
    WPI_HOST_RANDOM_ALL,       /* … of all threads */
    WPI_HOST_COPY_64,          /* ns: memcpy of uncached bytes, of this size */
    WPI_HOST_COPY_4K,
    WPI_HOST_COPY_256K,
    WPI_HOST_COPY_16M,
    WPI_HOST_VALUE_COUNT
} wpi_host_value;

/** One value, measured several times. */
typedef struct wpi_host_measure {
    bool is_known;
    char reason[128]; /* why it is not known */
    double median, least, most;
} wpi_host_measure;

typedef struct wpi_host_result {
    char name[128]; /* the processor's, from the system */
    uint32_t cores, threads;
    uint64_t memory_bytes; /* read and written */
    uint64_t cache_bytes;  /* the last cache's; 0: unknown */
    uint32_t repeats;
    char call_device[64]; /* the device whose queue took the copies */
    wpi_host_measure values[WPI_HOST_VALUE_COUNT];
    wpi_strings conditions; /* pairs */
} wpi_host_result;

void wpi_host_result_deinit(wpi_host_result *result);

/** `samples` are sorted in place. */
wpi_host_measure wpi_host_measure_of(double *samples, uint32_t count);

void wpi_host_result_text(const wpi_host_result *result, wpi_text *out);
/** Schema "warpage.host/1". */
void wpi_host_result_json(const wpi_host_result *result, wpi_text *out);
/** A file for configs/hosts; unknown keys keep their defaults. */
void wpi_host_result_profile(const wpi_host_result *result, wpi_text *out);

#endif
