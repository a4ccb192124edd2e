/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where the SMs get their work from: running threads (device/sim) or a recorded trace. A source
 * hands out, warp by warp, the blocks of code that a warp executes (base/trace.h), with the lanes
 * that take part and their addresses.
 */
#ifndef WP_SIM_WARP_SOURCE_H
#define WP_SIM_WARP_SOURCE_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/trace.h"

#define WPI_LANES 32u

/** One execution of a block by a warp. Valid until the warp's next call. */
typedef struct wpi_warp_block {
    uint32_t block;            /* in the tables */
    uint32_t mask;             /* lanes that take part; never 0 */
    const uint64_t *addresses; /* [access][WPI_LANES]; of lanes outside the mask: undefined */
} wpi_warp_block;

typedef enum wpi_source_answer {
    WPI_SOURCE_BLOCK = 0, /* *out is set */
    WPI_SOURCE_EXIT,      /* all lanes have returned */
    WPI_SOURCE_SPIN,      /* the lanes wait for a store of another CTA: ask again later */
    WPI_SOURCE_FAILED     /* the kernel failed; the source has kept the error */
} wpi_source_answer;

typedef struct wpi_warp_source wpi_warp_source;

typedef struct wpi_warp_source_ops {
    /** CTA number `cta` gets the slot `slot` (one at a time). Called in order of `cta`. */
    wp_status (*start)(wpi_warp_source *source, uint32_t slot, uint64_t cta, wp_error *err);
    /** What warp `warp` of the slot does next. All steps of its last block are done. */
    wpi_source_answer (*next)(wpi_warp_source *source, uint32_t slot, uint32_t warp,
                              wpi_warp_block *out);
    /** The warp is at the CLOCK step, or (in step) issues the access, that ends its last block. */
    void (*reach)(wpi_warp_source *source, uint32_t slot, uint32_t warp, uint64_t cycles,
                  uint64_t time_ns);
    /** All warps of the slot have exited, or the launch was given up. */
    void (*finish)(wpi_warp_source *source, uint32_t slot);
} wpi_warp_source_ops;

/** A launch. */
struct wpi_warp_source {
    const wpi_warp_source_ops *ops;
    const wp_trace_tables *tables;
    uint64_t cta_count;
    uint32_t warps_per_cta;
    uint32_t threads_per_cta;
    uint32_t shared_bytes_per_cta;
    uint32_t registers_per_thread;
    uint64_t shared_window;       /* shared addresses: [window, window + shared bytes) in every CTA */
    uint64_t shared_window_bytes;
    bool is_in_step;
};

#endif
