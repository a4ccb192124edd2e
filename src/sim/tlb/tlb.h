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
 * An entry covers `coverage_bytes`, of which a miss makes `fill_bytes` valid: a TLB whose entries
 * cover 16 pages may load them one by one or all at once. An MSHR stands for a fill: misses on
 * pages of the same fill merge.
 *
 * Requests of an SM are offered in order of time; TLBs behind the first are looked up in events.
 */
#ifndef WP_SIM_TLB_H
#define WP_SIM_TLB_H

#include "sim/engine/engine.h"
#include "sim/engine/line_counts.h"
#include "sim/engine/statistics.h"
#include "sim/paging/access_watch.h"
#include "sim/paging/paging.h"
#include "sim/tlb/tags.h"
#include "sim/tlb/walker.h"

typedef struct wpi_translation wpi_translation;

/** The result of a request. */
typedef struct wpi_translation_answer {
    wpi_time_ps ready;     /* not before now */
    wpi_time_ps lookup_ps; /* of the time before: look-ups and walk, without queues */
    wpi_time_ps fault_ps;  /* of the time before: waiting for a far fault; the rest is queueing */
    bool is_remote;        /* the page is on the host; its translation is not stored in TLBs */
    bool is_passing;       /* from another TLB, and not stored in this one */
    bool is_broken;        /* the page of 2 MiB was split meanwhile: ask again, by small pages */
} wpi_translation_answer;

typedef void (*wpi_translated)(void *object, uint64_t token, const wpi_translation_answer *answer);

/** A request may be translated soon: the owner may prefetch its data into the host's caches.
 * `token`: the low half of the request's token; it may be of no request. */
typedef void (*wpi_expected)(void *object, uint64_t token);

/** `engine` and `profile` must outlive it. NOMEM. */
WP_NODISCARD wp_status wpi_translation_create(wpi_engine *engine, const wpi_profile *profile,
                                              wpi_translated translated, wpi_expected expected,
                                              void *object, wpi_translation **out, wp_error *err);
void wpi_translation_destroy(wpi_translation *translation); /* NULL allowed */

/** The SM is about to translate `address`: prefetches the entries into the host's caches. */
void wpi_translation_prefetch(const wpi_translation *translation, uint32_t sm, uint64_t address);

typedef struct wpi_translation_asker {
    uint64_t address, token;
    uint32_t sm;
    bool is_write;
    wpi_line_count *counts; /* or NULL */
} wpi_translation_asker;

/** Translates an address for an SM at `now`. Returns true and sets *ready on a hit in the first
 * level; otherwise `translated` is called with the token, from an event. */
bool wpi_translation_ask(wpi_translation *translation, const wpi_translation_asker *asker,
                         wpi_time_ps now, wpi_time_ps *ready);

/** The same for a requester with a first level of its own, the instruction TLB: looks the second
 * level up at `now`, which may lie in the future. `translated` is called with the token, from an
 * event. */
void wpi_translation_ask_second(wpi_translation *translation, uint32_t sm, uint64_t address,
                                uint64_t token, wpi_time_ps now);

/** Walks to managed memory ask `paging`, which must outlive the translation, for the page; NULL:
 * there is no managed memory. Its page table has pages of 4 KiB; an entry covers as many of them as
 * of other pages. */
void wpi_translation_set_paging(wpi_translation *translation, wpi_paging *paging);
/** Called by paging: repeats a walk; invalidates TLB entries. */
void wpi_translation_replay(wpi_translation *translation, uint64_t token, bool is_held,
                            wpi_time_ps now);
void wpi_translation_forget(wpi_translation *translation, const wpi_paging_shot *shot);

/** Walks are counted by `watch`; NULL: not counted. */
void wpi_translation_set_watch(wpi_translation *translation, wpi_watch *watch);
void wpi_translation_flush(wpi_translation *translation); /* nothing may be under way */
uint64_t wpi_translation_under_way(const wpi_translation *translation);
void wpi_translation_statistics(const wpi_translation *translation, wpi_visit visit, void *object);

#endif
