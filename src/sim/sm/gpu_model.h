/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A simulated GPU: its SMs and its memory on one engine. Callers submit launches and copies, and
 * are notified of their ends; everything in between is events.
 *
 *     launches ─► CTAs in order ─► SM with room ─► warps ─► schedulers ─► memory
 *
 * Several launches may be in progress; CTAs of older ones start first. Thread rule: one thread.
 */
#ifndef WP_SIM_GPU_H
#define WP_SIM_GPU_H

#include "sim/engine/engine.h"
#include "sim/memory/memory_system.h"
#include "sim/profile/profile.h"
#include "sim/sm/warp_source.h"

typedef struct wpi_gpu wpi_gpu;

/** What warps spend their time on, from their start to their end; in the order of
 * WP_RUN_LINE_TIMES. */
typedef enum wpi_warp_time {
    WPI_WARP_TIME_EXECUTE = 0,  /* instructions: issue slots, dependences, fetches */
    WPI_WARP_TIME_NOT_SELECTED, /* ready, while the scheduler issues for others */
    WPI_WARP_TIME_LSU,          /* it is busy with other accesses, or lacks room for a store */
    WPI_WARP_TIME_SHARED,       /* waiting for shared memory */
    WPI_WARP_TIME_BARRIER,      /* … for other warps at a barrier */
    WPI_WARP_TIME_THREADS,      /* … for other threads: spin loops, warp operations */
    WPI_WARP_TIME_FENCE,        /* … until stores have been performed */
    WPI_WARP_TIME_CODE,         /* … for the translation of an instruction fetch */
    /* waiting for an access, by the access's own time (wpi_spent), queues included: */
    WPI_WARP_TIME_TRANSLATION,
    WPI_WARP_TIME_FAULT,
    WPI_WARP_TIME_L1,
    WPI_WARP_TIME_L2,
    WPI_WARP_TIME_DRAM,
    WPI_WARP_TIME_LINK,
    WPI_WARP_TIME_DRAIN, /* returned, while loads that nothing used are in flight */
    WPI_WARP_TIME_COUNT  /* must be last */
} wpi_warp_time;

/** Counters and times of a launch. */
typedef struct wpi_launch_numbers {
    wpi_time_ps start_ps, end_ps;
    uint64_t ctas;
    uint64_t swapped_ctas; /* times that one left its SM while it waited for grids */
    uint64_t warp_instructions, thread_instructions;
    uint64_t blocks;                          /* of code, executed by warps */
    uint64_t accesses[WP_TRACE_ACCESS_COUNT]; /* warp instructions to global memory */
    uint64_t shared_accesses, shared_conflict_cycles;
    uint64_t resident_warp_ps; /* summed residence time of warps; divided by the time, occupancy */
    uint64_t warp_ps[WPI_WARP_TIME_COUNT]; /* … by what it was spent on: adds up to it */
    uint64_t issue_ps;                     /* for which schedulers were occupied */
} wpi_launch_numbers;

/** By name, in a fixed order (statistics.h); the first is the time. */
void wpi_launch_statistics(const wpi_launch_numbers *numbers, wpi_visit visit, void *object);

/** `is_good`: all CTAs have ended; otherwise the source failed. */
typedef void (*wpi_launch_end_fn)(void *object, const wpi_launch_numbers *numbers, bool is_good);

WP_NODISCARD wp_status wpi_gpu_create(const wpi_profile *profile, wpi_engine *engine,
                                      wpi_memory *memory, wpi_gpu **out, wp_error *err);
void wpi_gpu_destroy(wpi_gpu *gpu); /* NULL allowed; launches in progress are dropped */

/** Starts a launch now. LAUNCH: a CTA of it does not fit an empty SM (the message says what is too
 *  large). The source must exist until `end` has been called. */
WP_NODISCARD wp_status wpi_gpu_launch(wpi_gpu *gpu, wpi_warp_source *source, wpi_launch_end_fn end,
                                      void *object, wp_error *err);
/** The grids for which threads of this slot of the launch waited are complete (wpi_source_waits):
 * they continue, in an event now or when the CTA is back on an SM. */
void wpi_gpu_grids_done(wpi_gpu *gpu, const wpi_warp_source *source, uint32_t slot);
/** Progress of the oldest launch; false: none is in progress. */
typedef struct wpi_gpu_progress {
    void *object; /* of wpi_gpu_launch */
    uint64_t ctas_ended, ctas;
} wpi_gpu_progress;

bool wpi_gpu_get_progress(const wpi_gpu *gpu, wpi_gpu_progress *out);
/** Thread instructions executed so far, by all launches. */
uint64_t wpi_gpu_thread_instructions(const wpi_gpu *gpu);
/** Ends all launches now, as completed, with their counters so far. The GPU cannot be used
 * afterwards. */
void wpi_gpu_cut(wpi_gpu *gpu);

/** Sums over all launches, including those in progress, in the order of wpi_launch_statistics; the
 * time is that with at least one launch in progress. Then utilisation by resident warps. */
void wpi_gpu_statistics(const wpi_gpu *gpu, wpi_visit visit, void *object);
/** Describes a deadlock (no event is left, but launches are in progress): which warp waits for
 * what. */
void wpi_gpu_describe_wait(const wpi_gpu *gpu, char *out, size_t out_bytes);

#endif
