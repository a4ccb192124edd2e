/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of a simulated GPU: gpu_model.c (launches, CTAs on SMs), cta_swap.c (CTAs that leave
 * their SM while they wait for grids). */
#ifndef WP_SIM_GPU_PARTS_H
#define WP_SIM_GPU_PARTS_H

#include "sim/profile/floorplan.h"
#include "sim/sm/sm_parts.h"

struct wpi_gpu {
    const wpi_profile *profile;
    wpi_engine *engine;
    wpi_memory *memory;
    wpi_sm **sms;
    uint32_t sm_count;
    uint32_t last_fed;               /* SM that got the last CTA */
    uint32_t first_fed;              /* SM at which the last round of wpi_gpu_feed_all began */
    wpi_grid *launches;              /* in progress, oldest first */
    wpi_grid *ended;                 /* reported, not yet freed */
    wpi_launch_numbers past;         /* sums of launches that have ended */
    wpi_time_ps busy_ps, busy_since; /* with launches in progress */
    bool is_ending_ctas;             /* ends held CTAs; new ones start afterwards */
    wpi_time_ps quiet_ps;            /* when they last did */
    wpi_utilisation warps;
    wpi_floorplan plan;
    /* CTAs that wait for grids which they launched (cta_swap.c) */
    wpi_cta *swapped_out;     /* the grids are in progress */
    wpi_cta *due, **due_last; /* the grids are complete: oldest first */
    wpi_bus state_bus;        /* DRAM's, for their state */
    uint32_t last_vacated;    /* SM whose CTAs were last swapped out */
    bool has_start_event;
};

/* gpu_model.c */
/** Starts CTAs on all SMs with room. */
void wpi_gpu_feed_all(wpi_gpu *gpu);
/** Starts the launch's next CTA on the SM, which has room. False: the launch has failed. */
bool wpi_gpu_start_next(wpi_gpu *gpu, wpi_grid *launch, wpi_sm *sm);

/* cta_swap.c */
/** Swaps in the oldest CTA that is due and fits on the SM. False: there is none. */
bool wpi_gpu_swap_in_on(wpi_gpu *gpu, wpi_sm *sm);
/** A CTA waits for room: makes it, in an event now, by swapping out CTAs that wait for grids. */
void wpi_gpu_want_room(wpi_gpu *gpu);
void wpi_gpu_destroy_swapped(wpi_gpu *gpu);

#endif
