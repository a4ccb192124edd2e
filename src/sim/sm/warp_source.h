/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The source of the SMs' work: running threads (device/sim) or a recorded trace. A source returns,
 * warp by warp, the blocks of code that a warp executes (base/trace_abi.h), with the active lanes
 * and their addresses.
 */
#ifndef WP_SIM_WARP_SOURCE_H
#define WP_SIM_WARP_SOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/trace_abi.h"
#include "sim/engine/line_counts.h"

#define WPI_LANES 32u

/** One execution of a block by a warp. Valid until the warp's next call. */
typedef struct wpi_warp_block {
    uint32_t block;            /* in the tables */
    uint32_t mask;             /* active lanes; never 0 */
    const uint64_t *addresses; /* [word][WPI_LANES]: the address of each access, the word of a
                                  barrier known at run time; undefined for lanes outside the mask */
    uint32_t exited;           /* lanes that have returned; set by every answer but FAILED */
} wpi_warp_block;

/** Address ranges of a CTA's shared and local memory. */
typedef struct wpi_windows {
    uint64_t shared, shared_bytes;
    uint64_t local, local_bytes;
    uint64_t cluster, cluster_bytes; /* shared memory of all blocks of its cluster; 0 bytes: none */
} wpi_windows;

typedef enum wpi_source_answer {
    WPI_SOURCE_BLOCK = 0, /* *out is set */
    WPI_SOURCE_EXIT,      /* all lanes have returned */
    WPI_SOURCE_WAIT,      /* its lanes wait for other warps, or are blocked: ask again when one has
                             continued */
    WPI_SOURCE_SPIN,      /* … for a store of another CTA: ask again later */
    WPI_SOURCE_FAILED     /* the kernel failed; the source has kept the error */
} wpi_source_answer;

typedef struct wpi_warp_source wpi_warp_source;

/** Threads that wait for grids which they launched (wpi_gpu_grids_done). */
typedef struct wpi_source_waits {
    /** Whether threads of the slot do; NULL: none of the launch ever does. */
    bool (*awaits_grids)(void *object, uint32_t slot);
    /** These grids are complete: the threads continue, on SM `sm`. False: the kernel failed. */
    bool (*grids_done)(void *object, uint32_t slot, uint32_t sm);
    void *object;
} wpi_source_waits;

typedef struct wpi_warp_source_ops {
    /** CTA number `cta` starts on SM `sm`; `*slot` identifies it until `finish`. Called in order of
     * `cta`. */
    wp_status (*start)(wpi_warp_source *source, uint64_t cta, uint32_t sm, uint32_t *slot,
                       wpi_windows *windows, wp_error *err);
    /** Returns the next block of warp `warp` of the slot. All steps of its last block are done,
     * except for lanes in `blocked`, which wait at a barrier. */
    wpi_source_answer (*next)(wpi_warp_source *source, uint32_t slot, uint32_t warp,
                              uint32_t blocked, wpi_warp_block *out);
    /** `lanes` of the warp have reached the CLOCK step, or (in step) the access, that ends their
     * last block; it is performed when this returns. False: the kernel failed. */
    bool (*reach)(wpi_warp_source *source, uint32_t slot, uint32_t warp, uint32_t lanes,
                  uint64_t cycles, uint64_t time_ns);
    /** All warps of the slot have exited, or the launch was aborted. */
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
    uint32_t cluster_size; /* CTAs of a cluster, which have consecutive numbers; at least 1 */
    uint32_t registers_per_thread;
    wpi_source_waits waits;
    bool is_nested;          /* launched by a kernel, whose threads may wait for it */
    bool prefers_l1;         /* as wp_launch's; wpi_gpu_launch clears it where that has no effect */
    uint8_t shared_carveout; /* preferred: 1 + percent of the most shared memory; 0: none */
    uint64_t shared_bytes_per_sm, l1_bytes; /* set by wpi_gpu_launch: wpi_sm_share_l1 */
    bool is_in_step;        /* each access ends its block, and is performed by `reach` */
    uint64_t run_count;     /* incremented when threads ran: a waiting warp may continue */
    wpi_line_counts *lines; /* counts of the kernel's code, by the tables; NULL: not counted */
};

/** The source location of block `number`: " at file.cu:12", " at line 12", or "" if the program has
 * no line information. */
void wpi_describe_place(const wp_trace_tables *tables, uint32_t number, char *out,
                        size_t out_bytes);

#endif
