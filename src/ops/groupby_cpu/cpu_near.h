/* SPDX-License-Identifier: Apache-2.0 */
/**
 * All groups of dense keys (cpu_span.h), by parts of their span: each part is an array that fits a
 * cache, and threads that work on different parts need no lock. NULL has a part of its own, the
 * last one. Small spans need no exchange: each thread has an array of the whole span.
 */
#ifndef WP_OPS_CPU_NEAR_H
#define WP_OPS_CPU_NEAR_H

#include "ops/groupby_cpu/cpu_array.h"
#include "ops/groupby_cpu/cpu_partition.h"
#include "ops/groupby_cpu/cpu_span.h"
#include "ops/grouper.h"

typedef struct wpi_cpu_near {
    wpi_cpu_span span; /* without bits: keys are not dense */
    const wpi_cpu_layout *layout;
    bool is_local; /* threads have arrays of their own; else the exchange has offsets of 16 bits */
    uint32_t part_bits; /* an offset's bits above these are its part */
    uint32_t part_count;
    wpi_cpu_array *parts; /* [part_count]; made with their first row */
    uint8_t *memory;      /* of all parts: untouched pages cost nothing */
    wpi_cpu_exchange exchange;
} wpi_cpu_near;

/** NOMEM. */
WP_NODISCARD wp_status wpi_cpu_near_init(wpi_cpu_near *near, const wpi_cpu_span *span,
                                         const wpi_cpu_layout *layout, wp_error *err);
void wpi_cpu_near_deinit(wpi_cpu_near *near); /* `{0}` is fine */

/** The array of a part, made if missing. One thread per part. */
wpi_cpu_array *wpi_cpu_near_part(wpi_cpu_near *near, uint32_t part);

/** Adds the groups of an array of the whole span, or of several consecutive ones. */
void wpi_cpu_near_absorb(wpi_cpu_near *near, const wpi_cpu_array *all);
/** The layout has changed and was `from`. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_near_convert(wpi_cpu_near *near, const wpi_cpu_layout *from,
                                            wp_error *err);

uint64_t wpi_cpu_near_bytes(const wpi_cpu_near *near); /* at most */
/** Passes a part's groups to the sink, from index `first` on. NOMEM. */
WP_NODISCARD wp_status wpi_cpu_near_emit(const wpi_cpu_near *near, uint32_t part, uint64_t first,
                                         wpi_group_sink sink, void *object, wp_error *err);

#endif
