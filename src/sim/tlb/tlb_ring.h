/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Private TLBs of the first level that query each other before the second level.
 *
 *     miss ─► policy (with the directory): next TLB? ── none ─────────────────► next level
 *                            │                                                        ▲
 *                            ▼                                                        │
 *              buffer of the port ─► slot ─► look-ups on its way ── not there ─► policy: next TLB?
 *                                                  │
 *                                                  └─ there ─► slot back ─► stored, or not
 *
 * TLBs form rings, in order of their numbers. Slots circulate in both directions, and one passes a
 * TLB each cycle. A question stays in its slot, and each TLB that it passes looks it up. A port
 * accepts one question a cycle, which takes the passing slot if that is free. Otherwise it waits in
 * the port's buffer; a miss that finds the buffer full goes to the next level. So the ring never
 * blocks and cannot deadlock. Answers have separate links, which carry one a cycle.
 *
 * A page is the number of a fill (wpi_tlb_page), the same in all TLBs. One thread.
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

/** The owner of the TLBs. */
typedef struct wpi_tlb_ring_owner {
    void *object;
    /* The TLB has the page. */
    bool (*has)(void *object, uint32_t tlb, uint64_t page);
    /* The same, and the entry counts as used by the request, whose page is held until `answered`.
     */
    bool (*use)(void *object, uint32_t tlb, uint32_t token);
    /* Another TLB's answer has arrived. `lookup_ps`: the time since the miss, without queueing. */
    void (*answered)(void *object, uint32_t token, bool is_stored, wpi_time_ps lookup_ps,
                     wpi_time_ps now);
    /* No other TLB had the page: the request goes to the next level at `now`. */
    void (*passed)(void *object, uint32_t token, wpi_time_ps now);
} wpi_tlb_ring_owner;

/** `group_of[sm]`: the TLB of each SM. All but `owner` must outlive it. *out is NULL if TLBs do not
 * share and the census is off. NOMEM. */
WP_NODISCARD wp_status wpi_tlb_ring_create(wpi_engine *engine, const wpi_profile *profile,
                                           const wpi_floorplan *plan, const uint32_t *group_of,
                                           uint32_t tlb_count, const wpi_tlb_ring_owner *owner,
                                           wpi_tlb_ring **out, wp_error *err);
void wpi_tlb_ring_destroy(wpi_tlb_ring *sharing); /* NULL allowed */

/** A TLB that was looked up at `time` has missed. True: others are queried, and `answered` or
 * `passed` will be called. */
bool wpi_tlb_ring_ask(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page, uint32_t token,
                      wpi_time_ps time);

/** A TLB is looked up; counted by the census. */
void wpi_tlb_ring_note(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page);

/** A TLB stored the page; dropped it; all TLBs were cleared. */
void wpi_tlb_ring_learned(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page);
void wpi_tlb_ring_forgot(wpi_tlb_ring *sharing, uint32_t tlb, uint64_t page);
void wpi_tlb_ring_flush(wpi_tlb_ring *sharing);

/** What the policy adds to `tlb_count` private TLBs. All 0 with private ones; without a directory
 * its members are 0. */
typedef struct wpi_tlb_ring_storage {
    uint32_t directories, directory_entries; /* entries of each */
    uint32_t tag_bits, map_bits;          /* of an entry; a bit of the map for each TLB in reach */
    uint32_t buffers;                     /* one for each direction of each TLB */
    uint64_t directory_bits, buffer_bits; /* of all; an entry has a valid bit, too */
} wpi_tlb_ring_storage;

wpi_tlb_ring_storage wpi_tlb_ring_storage_of(const wpi_profile *profile, uint32_t tlb_count);

void wpi_tlb_ring_statistics(const wpi_tlb_ring *sharing, wpi_visit visit, void *object);

#endif
