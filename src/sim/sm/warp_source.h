/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Where the SMs get their work from: running threads (device/sim) or a recorded trace. A source
 * hands out, warp by warp, the blocks of code that a warp executes (base/trace_abi.h), with the
 * lanes that take part and their addresses.
 */
#ifndef WP_SIM_WARP_SOURCE_H
#define WP_SIM_WARP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/trace_abi.h"

#define WPI_LANES 32u

/** One execution of a block by a warp. Valid until the warp's next call. */
typedef struct wpi_warp_block {
    uint32_t block;            /* in the tables */
    uint32_t mask;             /* lanes that take part; never 0 */
    const uint64_t *addresses; /* [word][WPI_LANES]: of each access the address, of an open barrier
                                  its word; of lanes outside the mask: undefined */
    uint32_t exited;           /* lanes that have returned; set with every answer but FAILED */
} wpi_warp_block;

/** Addresses that are not in global memory, of one CTA. */
typedef struct wpi_windows {
    uint64_t shared, shared_bytes;
    uint64_t local, local_bytes;
} wpi_windows;

typedef enum wpi_source_answer {
    WPI_SOURCE_BLOCK = 0, /* *out is set */
    WPI_SOURCE_EXIT,      /* all lanes have returned */
    WPI_SOURCE_WAIT,  /* its lanes wait for other warps, or are blocked: ask again when one has gone
                         on */
    WPI_SOURCE_SPIN,  /* … for a store of another CTA: ask again later */
    WPI_SOURCE_FAILED /* the kernel failed; the source has kept the error */
} wpi_source_answer;

typedef struct wpi_warp_source wpi_warp_source;

typedef struct wpi_warp_source_ops {
    /** CTA number `cta` starts on SM `sm`; `slot`: by what number it is called until it is
     * finished. Called in order of `cta`. */
    wp_status (*start)(wpi_warp_source *source, uint64_t cta, uint32_t sm, uint32_t *slot,
                       wpi_windows *windows, wp_error *err);
    /** What warp `warp` of the slot does next. All steps of its last block are done, but for lanes
     * in `blocked`, which wait at a barrier. */
    wpi_source_answer (*next)(wpi_warp_source *source, uint32_t slot, uint32_t warp,
                              uint32_t blocked, wpi_warp_block *out);
    /** `lanes` of the warp are at the CLOCK step, or (in step) make the access, that ends their
     * last block; they have done so when this returns. False: the kernel failed. */
    bool (*reach)(wpi_warp_source *source, uint32_t slot, uint32_t warp, uint32_t lanes,
                  uint64_t cycles, uint64_t time_ns);
    /** All warps of the slot have exited, or the launch was given up. */
    void (*finish)(wpi_warp_source *source, uint32_t slot);
} wpi_warp_source_ops;

/** A launch. */
struct wpi_warp_source {
    const wpi_warp_source_ops *ops;
    const wp_trace_tables *tables;
    const char *name; /* of the kernel, for messages; NULL: unknown */
    uint64_t cta_count;
    uint32_t warps_per_cta;
    uint32_t threads_per_cta;
    uint32_t shared_bytes_per_cta;
    uint32_t registers_per_thread;
    bool is_in_step;    /* each access ends its block, and is made when the model says so (reach) */
    uint64_t run_count; /* grows when threads ran: a warp that waits may have words now */
};

/** Where block `number` is in the source: " at file.cu:12", " at line 12", or "" where the program
 * carries no line information. */
void wpi_describe_place(const wp_trace_tables *tables, uint32_t number, char *out,
                        size_t out_bytes);

#endif
