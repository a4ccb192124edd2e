/* SPDX-License-Identifier: Apache-2.0 */
/** Contents of a trace besides warps and host operations: program, device, launches, totals.
 */
#ifndef WP_TRACE_CONTENT_H
#define WP_TRACE_CONTENT_H

#include "base/device_query.h"
#include "base/strings.h"
#include "trace/places.h"
#include "trace/varint.h"

/** Where the trace comes from. */
typedef struct wpi_origin {
    char *version;                 /* of Warpage */
    char *device;                  /* "sim:p100"; "" when it was imported */
    wpi_strings program;           /* argv */
    uint64_t info[WPI_INFO_COUNT]; /* the device's properties */
} wpi_origin;

void wpi_origin_deinit(wpi_origin *origin);

#define WPI_LAUNCH_COOPERATIVE 1u
#define WPI_LAUNCH_IN_STEP 2u /* not recorded: depends on time */
#define WPI_LAUNCH_PREFERS_L1 4u
#define WPI_LAUNCH_CARVEOUT_SHIFT 24 /* the source's shared_carveout */

/** A launch, without its warps. */
typedef struct wpi_trace_launch {
    uint32_t tables; /* number of the module's tables */
    uint32_t kernel; /* in these */
    uint32_t flags;
    uint32_t grid[3], block[3];
    uint32_t shared_static_bytes, shared_dynamic_bytes;
    uint32_t registers;  /* a thread */
    uint64_t first_part; /* number of the first CTA's first part; the others' follow */
    /* Recorded totals. */
    uint64_t ctas;
    uint64_t blocks;   /* of code, executed by warps */
    uint64_t accesses; /* warp instructions that access memory */
    uint64_t bytes;    /* of all parts, before zstd */
} wpi_trace_launch;

void wpi_trace_launch_append(wpi_text *out, const wpi_trace_launch *launch);
bool wpi_trace_launch_read(wpi_cursor *from, wpi_trace_launch *launch);

static inline uint64_t wpi_trace_launch_cta_count(const wpi_trace_launch *launch) {
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

static inline uint32_t wpi_trace_launch_threads(const wpi_trace_launch *launch) {
    return launch->block[0] * launch->block[1] * launch->block[2];
}

/** The root, at the end of a trace, from which everything else is found. */
typedef struct wpi_trace_root {
    wpi_origin origin;
    wpi_places_root ops; /* blocks of host operations */
    wpi_places_root launches, parts;
    uint64_t op_count, accesses, warp_bytes;
    uint32_t tables_count;
    struct {
        uint64_t offset, bytes;
    } *tables;
} wpi_trace_root;

void wpi_trace_root_append(wpi_text *out, const wpi_trace_root *root);
/** False: not written by wpi_trace_root_append. Deinit in any case. */
bool wpi_trace_root_read(wpi_cursor *from, wpi_trace_root *root);
void wpi_trace_root_deinit(wpi_trace_root *root);

#endif
