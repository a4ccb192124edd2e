/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Private TLBs of the first level that ask each other before the second level is asked.
 *
 *     miss ─► policy (with the directory): whom? ── nobody ──────────────────────► next level
 *                            │                                                        ▲
 *                            ▼                                                        │
 *              buffer of the port ─► slot ─► look-ups on its way ── not there ─► policy: whom now?
 *                                                  │
 *                                                  └─ there ─► slot back ─► stored, or not
 *
 * TLBs lie in rings, in order of their numbers. To each side slots go round, one of which passes a
 * TLB each cycle; a question stays in its slot, and each TLB that it comes by looks it up. Who
 * wants to send one comes to his port, one a cycle, and takes the slot that passes if it is free.
 * If not, he waits in the port's buffer for the next, and where that is full asks the next level.
 * So nothing on a ring waits for anything, and it cannot lock up. Answers have links of their own,
 * which carry one a cycle.
 *
 * Pages are numbers that name one fill of a TLB, the same in all of them. One thread.
 *
 * Sources: NeiDty, Section III; for Valkyrie's ring Sections IV-A and V.
 */
#ifndef WP_SIM_TLB_RING_H
#define WP_SIM_TLB_RING_H

#include "sim/engine/engine.h"
#include "sim/engine/statistics.h"
#include "sim/profile/floorplan.h"
#include "sim/profile/profile.h"

typedef struct wpi_tlb_ring wpi_tlb_ring;

/** Who has the TLBs. */
typedef struct wpi_tlb_ring_owner {
    void *object;
    /* The TLB has the page. */
    bool (*has)(void *object, uint32_t tlb, uint64_t page);
    /* The same; and then it was used for the request, whose page must not leave until `answered`.
     */
    bool (*use)(void *object, uint32_t tlb, uint32_t token);
    /* Another TLB's answer is here. `lookup_ps`: of the time since the miss, what was no queue. */
    void (*answered)(void *object, uint32_t token, bool is_stored, wpi_time_ps lookup_ps,
                     wpi_time_ps now);
    /* No other TLB had it; `now` the next level may be asked. */
    void (*passed)(void *object, uint32_t token, wpi_time_ps now);
} wpi_tlb_ring_owner;

/** `group_of[sm]`: the TLB of each SM. All but `owner` must outlive it. *out is NULL where TLBs are
 * private and nobody wants the census. NOMEM. */
WP_NODISCARD wp_status wpi_tlb_ring_create(wpi_engine *engine, const wpi_profile *profile,
                                           const wpi_floorplan *plan, const uint32_t *group_of,
                                           uint32_t tlb_count, const wpi_tlb_ring_owner *owner,
                                           wpi_tlb_ring **out, wp_error *err);
void wpi_tlb_ring_destroy(wpi_tlb_ring *sharing); /* NULL allowed */

/** A TLB that was looked up at `time` has missed. True: others are asked, and `answered` or
 * `passed` will be called. */
bool wpi_tlb_ring_ask(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page, uint32_t token,
                      wpi_time_ps time);

/** A TLB is looked up: for the census. */
void wpi_tlb_ring_note(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page);

/** A TLB has the page now; no longer; all have nothing. */
void wpi_tlb_ring_learned(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page);
void wpi_tlb_ring_forgot(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page);
void wpi_tlb_ring_flush(wpi_tlb_ring *sharing);

void wpi_tlb_ring_statistics(const wpi_tlb_ring *sharing, wpi_visit visit, void *object);

#endif
