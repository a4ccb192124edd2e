/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Translation: levels of TLBs, each shared by groups of SMs, in front of the walkers.
 *
 *                        hit: after the level's latency
 *     SM ─► port ─► look-up ───────────────────────────────────► back, filling the levels before
 *                      │ miss
 *                      ├─ under way already: joins that MSHR
 *                      ├─ no MSHR free, or blocked: waits in this TLB's line ──┐ a miss ended
 *                      └─ MSHR ─► next level (latency later), … ─► walkers  ◄──┘
 *
 * An entry stands for `coverage_bytes`, of which a miss makes `fill_bytes` valid: a TLB whose
 * entries hold 16 pages may load them one by one or all at once. MSHRs are for fills, so all misses
 * on pages that one fill brings are one.
 *
 * Requests of an SM are offered in order of time; TLBs behind the first are looked up in events.
 */
#ifndef WP_SIM_TLB_H
#define WP_SIM_TLB_H

#include "sim/engine/engine.h"
#include "sim/engine/statistics.h"
#include "sim/paging/access_watch.h"
#include "sim/paging/paging.h"
#include "sim/tlb/tags.h"
#include "sim/tlb/walker.h"

typedef struct wpi_translation wpi_translation;

/** What has become of a request. */
typedef struct wpi_translation_answer {
    wpi_time_ps ready;     /* not before now */
    wpi_time_ps lookup_ps; /* before that: what look-ups and walk take by themselves */
    wpi_time_ps fault_ps;  /* before that: for which a far fault was waited; the rest was queues */
    bool is_remote;        /* the page is on the host, and is not in the TLBs */
    bool is_passing;       /* from another TLB: it is not stored */
    bool is_broken; /* it was a page of 2 MiB, and is not now: to be asked again, page by page */
} wpi_translation_answer;

typedef void (*wpi_translated)(void *object, uint64_t token, const wpi_translation_answer *answer);

/** A request may be translated soon: what that touches may be fetched into the host's caches.
 * `token`: the low half of the request's, or anything else. */
typedef void (*wpi_expected)(void *object, uint64_t token);

/** `engine` and `profile` must outlive it. NOMEM. */
WP_NODISCARD wp_status wpi_translation_create(wpi_engine *engine, const wpi_profile *profile,
                                              wpi_translated translated, wpi_expected expected,
                                              void *object, wpi_translation **out, wp_error *err);
void wpi_translation_destroy(wpi_translation *translation); /* NULL allowed */

/** The SM is about to ask for the page at `address`: what the host needs for that is fetched. */
void wpi_translation_prefetch(const wpi_translation *translation, uint32_t sm, uint64_t address);

/** Translates for an SM at `now`. A hit in the first level: true, and *ready. Else `translated` is
 * called with the token, from an event. */
bool wpi_translation_ask(wpi_translation *translation, uint32_t sm, uint64_t address, bool is_write,
                         uint64_t token, wpi_time_ps now, wpi_time_ps *ready);

/** The same for who has a first level of its own, the instruction TLB: asks the second level at
 * `now`, which may be later. `translated` is called with the token, from an event. */
void wpi_translation_ask_second(wpi_translation *translation, uint32_t sm, uint64_t address,
                                uint64_t token, wpi_time_ps now);

/** Behind walks to managed memory `paging` is asked, which must outlive it; NULL: nobody is. There
 * a page of the page table has 4 KiB; an entry stands for as many pages as elsewhere. */
void wpi_translation_set_paging(wpi_translation *translation, wpi_paging *paging);
/** What paging calls: a walk again, and TLBs that forget. */
void wpi_translation_replay(wpi_translation *translation, uint64_t token, bool is_held,
                            wpi_time_ps now);
void wpi_translation_forget(wpi_translation *translation, const wpi_paging_shot *shot);

/** Walks are told to `watch`; NULL: to nobody. */
void wpi_translation_set_watch(wpi_translation *translation, wpi_watch *watch);
void wpi_translation_flush(wpi_translation *translation); /* nothing may be under way */
uint64_t wpi_translation_under_way(const wpi_translation *translation);
void wpi_translation_statistics(const wpi_translation *translation, wpi_visit visit, void *object);

#endif
