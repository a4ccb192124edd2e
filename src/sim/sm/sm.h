/* SPDX-License-Identifier: Apache-2.0 */
/**
 * An SM: the CTAs it holds, their warps, and the schedulers that issue for them.
 *
 * A warp executes the steps of the blocks of code that its source returns:
 *
 *            ┌──────────────── ISSUE: its slots and pipes, or the chain's latency ┐
 *     READY ─┤ ACCESS: one slot, then the memory answers the site when it can    ├─► READY …
 *            └ WAIT for a site ─► WAITS ─► answered ────────────────────────────┘
 *              barrier ─► its lanes are blocked until all threads of the CTA are there
 *
 * A step costs one event, whatever the number of instructions of an ISSUE: its scheduler is
 * reserved for their slots, and each pipe for as long as its units take, behind earlier ones. Other
 * warps issue meanwhile.
 */
#ifndef WP_SIM_SM_H
#define WP_SIM_SM_H

#include "sim/engine/reserve.h"
#include "sim/sm/gpu_model.h"

typedef struct wpi_sm wpi_sm;
typedef struct wpi_grid wpi_grid;
typedef struct wpi_cta wpi_cta;

/** Calls of an SM to its GPU. */
typedef struct wpi_sm_parent {
    void (*cta_ended)(void *object, wpi_sm *sm, wpi_grid *launch);
    void (*failed)(void *object, wpi_grid *launch);
    /** A CTA's warps have ended. False: it stays until wpi_sm_end_ctas. */
    bool (*may_end_cta)(void *object, wpi_time_ps now);
    /** A CTA's threads are at the grid barrier, but those that have returned; wpi_sm_release_grid
     * releases them. */
    void (*at_grid)(void *object, wpi_grid *launch);
    /** All threads of a CTA wait for grids that some of them launched. */
    void (*cta_waits)(void *object);
    void *object;
    wpi_utilisation *warps; /* utilisation by resident warps */
} wpi_sm_parent;

/** A launch, as its SMs see it. */
struct wpi_grid {
    wpi_grid *next;
    wpi_gpu *gpu;
    wpi_warp_source *source;
    const wpi_code *code; /* NULL: instruction fetches are not simulated */
    wpi_launch_numbers numbers;
    uint64_t next_cta, ended_ctas;
    wpi_cta **by_slot; /* [slot_count]: by their numbers in the source, if its threads may wait for
                          grids */
    uint32_t slot_count;
    uint64_t swapped_out;            /* CTAs that are */
    struct wpi_cta_cluster *cluster; /* that its next CTA joins; NULL: it begins one */
    wpi_bus distributor;             /* starts a CTA every gpu.cta_interval */
    uint64_t ctas_at_grid;
    uint32_t sms_storing; /* after the last CTA: SMs with stores in flight */
    wpi_launch_end_fn end;
    void *object;
};

WP_NODISCARD wp_status wpi_sm_create(const wpi_profile *profile, uint32_t number,
                                     wpi_engine *engine, wpi_memory *memory,
                                     const wpi_sm_parent *parent, wpi_sm **out, wp_error *err);
void wpi_sm_destroy(wpi_sm *sm); /* NULL allowed */
/** Divides an SM's memory between L1 and shared memory for a launch, as the driver would: sets the
 * two sizes in `source`, and clears its prefers_l1 if that has no effect. */
void wpi_sm_share_l1(const wpi_profile *profile, wpi_warp_source *source);
/** Whether a CTA of `source` fits beside the resident ones; and on an empty SM (*what: the resource
 * that lacks). */
bool wpi_sm_has_room(const wpi_sm *sm, const wpi_warp_source *source);
bool wpi_sm_can_ever_hold(const wpi_profile *profile, const wpi_warp_source *source,
                          const char **what);
/** How many more CTAs of `source` fit, beside its L1. */
uint32_t wpi_sm_room(const wpi_sm *sm, const wpi_warp_source *source);
uint32_t wpi_sm_room_when_empty(const wpi_profile *profile, const wpi_warp_source *source);
/** Starts CTA number `cta`, whose warps begin at `when`, not before now; there is room. */
WP_NODISCARD wp_status wpi_sm_start_cta(wpi_sm *sm, wpi_grid *launch, uint64_t cta,
                                        wpi_time_ps when, wp_error *err);
/** The grids that threads of the resident CTA waited for are complete: they continue. */
void wpi_cta_continue(wpi_cta *cta, wpi_time_ps now);
/** Registers and shared memory that a CTA of `source` occupies. */
uint64_t wpi_sm_state_bytes(const wpi_profile *profile, const wpi_warp_source *source);
/** Ends the CTAs that may_end_cta held. */
void wpi_sm_end_ctas(wpi_sm *sm);
/** Releases the launch's threads, which are all at the grid barrier. */
void wpi_sm_release_grid(wpi_sm *sm, const wpi_grid *launch);
uint32_t wpi_sm_number(const wpi_sm *sm);
/** Describes where the oldest warp is and what it waits for; false: there is none. `moving`: only a
 * warp that can continue, as in a spin loop. */
bool wpi_sm_describe_wait(const wpi_sm *sm, bool moving, char *out, size_t out_bytes);
uint32_t wpi_sm_warp_count(const wpi_sm *sm);

#endif
