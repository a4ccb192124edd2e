/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The instruction TLB of an SM (NeiDty, Section II-A: beside the TLB of its data, in front of the
 * same second level).
 *
 *     warp enters a block ─► has its pages: continues, no time is lost (fetch runs ahead of issue)
 *                         └► lacks one: asks the second TLB level, itlb.latency later, and waits
 *
 * Code addresses: a program's blocks are consecutive, with itlb.instruction_bytes for each
 * instruction. Each program starts on a new page, in the order of first launches.
 */
#ifndef WP_SIM_ITLB_H
#define WP_SIM_ITLB_H

#include "base/trace_abi.h"
#include "sim/engine/engine.h"
#include "sim/engine/slab.h"
#include "sim/engine/statistics.h"
#include "sim/tlb/tags.h"

#define WPI_CODE_FIRST UINT64_C(0x080000000000)
#define WPI_CODE_BYTES UINT64_C(0x080000000000)

/** Where the blocks of a program lie: block i in [places[i], places[i + 1]). */
typedef struct wpi_code {
    struct wpi_code *next;
    const wp_trace_tables *tables;
    uint32_t block_count; /* other tables may be loaded at the same address later */
    uint64_t places[];
} wpi_code;

/** The SM has the translation of `address` at `now`. Called from an event. */
typedef void (*wpi_fetched)(void *object, uint64_t address, wpi_time_ps now);
/** Requests a translation from the second TLB level, which calls wpi_itlb_translated with the
 * token. */
typedef void (*wpi_itlb_ask)(void *translation, uint32_t sm, uint64_t address, uint64_t token,
                             wpi_time_ps now);

typedef struct wpi_itlb {
    const wpi_profile *profile;
    wpi_engine *engine;
    wpi_itlb_ask ask;
    void *translation;
    wpi_tags *tags; /* one for each SM; NULL: there are no instruction TLBs */
    uint32_t page_bits;
    wpi_pool misses;
    wpi_code *codes;
    uint64_t next_place;
    uint64_t hit_count, miss_count;
    wpi_time_ps wait_ps;
} wpi_itlb;

WP_NODISCARD wp_status wpi_itlb_init(wpi_itlb *itlb, wpi_engine *engine, const wpi_profile *profile,
                                     wpi_itlb_ask ask, void *translation, wp_error *err);
void wpi_itlb_deinit(wpi_itlb *itlb);

/** Returns the addresses of a program's code; NULL: there are no instruction TLBs. NOMEM. */
WP_NODISCARD wp_status wpi_itlb_place(wpi_itlb *itlb, const wp_trace_tables *tables,
                                      const wpi_code **out, wp_error *err);
/** Returns whether the SM's instruction TLB has the page; if not, `done` is called when it does. */
bool wpi_itlb_fetch(wpi_itlb *itlb, uint32_t sm, uint64_t address, wpi_time_ps now,
                    wpi_fetched done, void *object);
void wpi_itlb_translated(wpi_itlb *itlb, uint64_t token, wpi_time_ps ready);
void wpi_itlb_flush(wpi_itlb *itlb);
void wpi_itlb_statistics(const wpi_itlb *itlb, wpi_visit visit, void *object);

#endif
