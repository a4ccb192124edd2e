/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The cached form of a kernel, which `wpcc --cache` put into the program (docs/rooms/cache.md), and
 * what its launches did. Any thread; but a code is destroyed when nothing uses it.
 */
#ifndef WP_CACHE_CACHE_CODE_H
#define WP_CACHE_CACHE_CODE_H

#include <stdbool.h>

#include "base/cache_abi.h"
#include "warpage/device.h"

/** What a launch got. */
typedef struct wpi_cache_plan {
    const char *reason; /* the plain kernel runs, and why; NULL: the cached form */
    uint32_t lines;     /* of a thread: CLN */
    uint32_t cacheable; /* structures that get lines */
    uint32_t lines_offset_bytes, shared_dynamic_bytes;
    uint32_t blocks_per_sm, threads_per_sm;
    uint64_t shared_left_bytes; /* of an SM */
    bool prefers_l1;            /* the plain kernel runs with the hardware's L1 */
} wpi_cache_plan;

typedef struct wpi_cache_code wpi_cache_code;
struct wpi_cache_code {
    wp_device *device;
    wp_kernel *plain;
    wp_kernel *cached; /* NULL: there is none, and facts.reason says why */
    wpi_cache_facts facts;
    wpi_cache_counts *counts; /* on the device */
    uint32_t shared_max_bytes, hits_pct, threshold;
    uint32_t may_be_cached; /* bits: structures */
    bool caches_together;   /* also what lanes access side by side */
    bool counts_are_on;
    bool has_runs;   /* loops that need no lines */
    bool may_use_l1; /* the hardware's, for launches of the plain kernel */
    bool is_checked; /* `--check`: the plain kernel runs */
    /* What the report will say. */
    uint64_t launches, plain_launches, l1_launches;
    wpi_cache_plan last;
    const char *plain_reason; /* of the last plain launch */
    wpi_cache_code *next;
};

/** `*out` is NULL if the program was compiled without --cache. */
WP_NODISCARD wp_status wpi_cache_code_create(wp_device *device, wp_module *module, const char *name,
                                             wp_kernel *plain, wpi_cache_code **out, wp_error *err);
/** Notes a launch for the report. */
void wpi_cache_code_note(wpi_cache_code *code, const wpi_cache_plan *plan);
/** Reports what the launches so far did. No kernel is running. */
void wpi_cache_collect(void);
/** Reports and forgets; NULL is fine. */
void wpi_cache_code_destroy(wpi_cache_code *code);

#endif
