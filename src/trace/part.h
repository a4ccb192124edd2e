/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Parts of CTAs: a section of each warp's execution.
 *
 *     next part's number + 1 (0: none) │ warps │ bytes of each warp's section │ the sections
 */
#ifndef WP_TRACE_PART_H
#define WP_TRACE_PART_H

#include "trace/varint.h"

/* A CTA whose sections reach this begins a new part. */
#define WPI_PART_BYTES ((size_t)24 << 10)
#define WPI_PART_NONE UINT64_MAX

/* Addresses of shared and local memory in traces, independent of those when recording: above all
 * addresses of processes. */
#define WPI_TRACE_SHARED_BASE ((uint64_t)1 << 62)
#define WPI_TRACE_SHARED_BYTES ((uint64_t)1 << 32)
#define WPI_TRACE_LOCAL_BASE ((uint64_t)1 << 61)
#define WPI_TRACE_LOCAL_BYTES ((uint64_t)1 << 48)

static inline void wpi_part_append_head(wpi_text *out, uint64_t next_part, uint32_t warps) {
    wpi_varint_append(out, next_part + 1);
    wpi_varint_append(out, warps);
}

/** Reads the head of part `part` and finds the section of `warp`, which may be empty. Chains only
 * go forward, so they terminate. False: damaged. */
static inline bool wpi_part_find(wpi_cursor from, uint64_t part, uint32_t warp, uint32_t warps,
                                 uint64_t *next_part, wpi_cursor *section) {
    *next_part = wpi_cursor_varint(&from) - 1;
    if (*next_part <= part || wpi_cursor_u32(&from) != warps || from.is_bad) return false;
    uint64_t before = 0, own = 0;
    for (uint32_t w = 0; w < warps; w++) {
        const uint64_t bytes = wpi_cursor_u32(&from);
        if (w < warp) before += bytes;
        if (w == warp) own = bytes;
    }
    if (wpi_cursor_bytes(&from, before) == NULL) return false;
    const uint8_t *bytes = wpi_cursor_bytes(&from, own);
    if (bytes == NULL) return false;
    *section = (wpi_cursor){.at = bytes, .outer = bytes + own};
    return true;
}

#endif
