/* SPDX-License-Identifier: Apache-2.0 */
/** Internals of the memory system: memory_access.c (issue), memory_translation.c (TLBs),
 * memory_lines.c (caches and stores), memory_system.c (records and answers).
 *
 * An access has a record until its answer, and a part for each line it touches. A part is in one
 * place at a time:
 *
 *     LSU ─► translation ─┬─ load ──► L1 ─► (stalled) ─► MSHR ─► L2 ─► answer
 *                         ├─ load, not cached in L1 ───────────► L2 ─► answer
 *                         ├─ atomic ───────────────────────────► L2 ─► answer
 *                         └─ store, reduction ─► (line of stores) ─ answer ─► L2 ─► done
 *
 * Parts on one page are chained while they wait for its translation, parts on one line while they
 * wait for it in L1. Records and parts are numbers in pools, so pools may move when they grow. */
#ifndef WP_SIM_MEMORY_PARTS_H
#define WP_SIM_MEMORY_PARTS_H

#include "sim/engine/fifo.h"
#include "sim/engine/ledger.h"
#include "sim/engine/slab.h"
#include "sim/memory/l2.h"
#include "sim/memory/memory_system.h"
#include "sim/paging/paging.h"
#include "sim/tlb/itlb.h"
#include "sim/tlb/tlb.h"

/** No record, no part, no MSHR. */
#define WPI_MEMORY_NONE WPI_FIFO_NONE

typedef struct wpi_memory_record {
    wpi_access_done done;
    wpi_access_performed performed;
    void *object;
    uint64_t token;
    wpi_time_ps issued;
    wpi_ledger last;   /* of the part that answered last */
    uint64_t target;   /* of a fence: number of stores to wait for */
    wpi_time_ps begun; /* of a copy */
    uint32_t parts;    /* without an answer */
    uint32_t next;     /* next fence of the SM */
    uint8_t kind;      /* wpi_record_kind */
} wpi_memory_record;

/* Kinds of accesses first, as in wp_trace_access. */
typedef enum wpi_record_kind {
    WPI_RECORD_FENCE = WP_TRACE_ACCESS_COUNT,
    WPI_RECORD_COPY,
    WPI_RECORD_COUNT
} wpi_record_kind;

typedef struct wpi_memory_part {
    wpi_ledger ledger;
    wpi_l2_request request;
    uint32_t record; /* NONE: an answered store, or a line evicted from L1 */
    uint32_t next;   /* on the same page, line, or stalled */
    uint32_t place;  /* in L1 */
    uint32_t lanes;  /* notified when it is performed */
    uint8_t lacks;   /* in L1's MSHR: sectors not fetched yet */
    bool is_l1;      /* may be cached there */
    bool is_held;    /* its page may not be evicted */
} wpi_memory_part;

typedef struct wpi_memory_l1_mshr {
    wpi_fifo waiting;
    uint32_t next_free;
} wpi_memory_l1_mshr;

typedef struct wpi_memory_sm {
    wpi_bus lsu;
    wpi_cache l1;
    wpi_index under_way; /* line -> MSHR */
    wpi_memory_l1_mshr *mshrs;
    uint32_t free_mshr;
    wpi_fifo stalled; /* loads without an MSHR or a place in L1 */
    wpi_fifo stores;  /* stores beyond lsu_stores */
    uint32_t stores_under_way;
    uint32_t stores_waiting; /* lines of stores before that: in translation, or in `stores` */
    uint64_t stores_issued, stores_performed;
    wpi_fifo fences; /* records */
} wpi_memory_sm;

typedef struct wpi_memory_counters {
    uint64_t accesses[WP_TRACE_ACCESS_COUNT];
    uint64_t lanes[WP_TRACE_ACCESS_COUNT];
    uint64_t lines[WP_TRACE_ACCESS_COUNT];
    uint64_t sectors[WP_TRACE_ACCESS_COUNT];
    uint64_t pages[WP_TRACE_ACCESS_COUNT];
    wpi_histogram latency_ps[WP_TRACE_ACCESS_COUNT];
    uint64_t spent_ps[WPI_SPENT_COUNT];
    uint64_t l1_stalls, store_stalls;
    wpi_time_ps l1_wait_ps; /* of loads, for an MSHR or a place */
} wpi_memory_counters;

struct wpi_memory {
    wpi_engine *engine;
    const wpi_profile *profile;
    wpi_translation *translation;
    wpi_paging *paging; /* NULL: there is no managed memory */
    wpi_itlb itlb;
    wpi_l2 l2;
    wpi_memory_sm *sms;
    uint32_t page_bits;
    wpi_time_ps to_l2_ps, from_l2_ps;
    wpi_time_ps replay_ps;     /* replay time of a line that waited for its page; 0: none */
    wpi_watch *watch;          /* or NULL */
    wpi_page_history *history; /* or NULL */
    wpi_pool records, parts;
    uint64_t under_way;
    wpi_memory_counters counters;
};

static inline wpi_memory_part *wpi_part_of(const wpi_memory *m, uint64_t number) {
    return &((wpi_memory_part *)m->parts.items)[number];
}

static inline wpi_memory_record *wpi_record_of(const wpi_memory *m, uint64_t number) {
    return &((wpi_memory_record *)m->records.items)[number];
}

static inline uint32_t wpi_part_take(wpi_memory *m) {
    return wpi_pool_take(&m->parts, sizeof(wpi_memory_part));
}

static inline wpi_fifo_links wpi_memory_parts(const wpi_memory *m) {
    return WPI_FIFO_LINKS(m->parts.items, wpi_memory_part, next);
}

static inline wpi_fifo_links wpi_memory_records(const wpi_memory *m) {
    return WPI_FIFO_LINKS(m->records.items, wpi_memory_record, next);
}

static inline bool wpi_memory_is_write(uint8_t kind) {
    return kind != WP_TRACE_LOAD;
}

static inline bool wpi_memory_is_managed(const wpi_memory *m, uint64_t address) {
    return m->paging != NULL && wpi_paging_has(m->paging, address);
}

/** Bit of a translation's token: an instruction fetch. */
#define WPI_MEMORY_TOKEN_CODE ((uint64_t)1 << 32)

/* ---- memory_translation.c ---- */

/** Translates the page of a chain of parts. `now` is not before the engine's time. True: a hit in
 * the first TLB, and the parts have continued. */
bool wpi_memory_translate(wpi_memory *m, uint32_t first, wpi_time_ps now);
/** The TLBs' answer to a chain, or to an instruction fetch. */
void wpi_memory_translated(void *object, uint64_t first, const wpi_translation_answer *answer);

/* ---- memory_system.c ---- */

/** Makes a record of an access, a fence or a copy. Returns its number. */
uint32_t wpi_memory_make_record(wpi_memory *m, uint8_t kind, uint32_t parts, wpi_time_ps now,
                                wpi_access_done done, void *object, uint64_t token);
/** Answers the part at its ledger's time. */
void wpi_memory_answer(wpi_memory *m, uint32_t part);
/** An event: the record has all its answers. */
void wpi_memory_complete(void *object, uint64_t record, wpi_time_ps now);

/* ---- memory_lines.c ---- */

WP_NODISCARD wp_status wpi_memory_sm_init(wpi_memory_sm *at, const wpi_profile *profile,
                                          wp_error *err);
void wpi_memory_sm_deinit(wpi_memory_sm *at); /* `{0}` is fine */
/** The part's page is known: continues with L1 or L2. */
void wpi_memory_go_on(wpi_memory *m, uint32_t part);
/** Completes fences whose stores have all been performed. */
void wpi_memory_complete_fences(wpi_memory *m, wpi_memory_sm *at, wpi_time_ps now);
/** The part will be used soon (wpi_announce_fn's sense). */
void wpi_memory_expect_part(void *object, uint64_t part);
void wpi_memory_l1_statistics(const wpi_memory *m, wpi_visit visit, void *object);

#endif
