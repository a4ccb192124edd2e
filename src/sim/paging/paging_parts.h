/* SPDX-License-Identifier: Apache-2.0 */
/** The inside of paging: paging.c (making, allocations), gmmu.c (asks, MSHRs), block_moves.c (what
 * is worth moving), page_use.c (accesses under way), page_events.h (what is counted),
 * fault_service.c and fault_batch.c (who handles faults, when), migration.c (frames, transfers,
 * eviction), host_fault.c (what the host touches), staging.c (victims chosen early), page_advice.c
 * (what the program wants where), host_synchronize.c (when the host waits), thrashing.c (pages that
 * both want). */
#ifndef WP_SIM_PAGING_PARTS_H
#define WP_SIM_PAGING_PARTS_H

#include "policy/evict.h"
#include "policy/migrate.h"
#include "policy/prefetch.h"
#include "policy/thrash.h"
#include "sim/engine/fifo.h"
#include "sim/engine/key_index.h"
#include "sim/engine/slab.h"
#include "sim/paging/page_events.h"
#include "sim/paging/paging.h"

#define WPI_PAGING_NONE WPI_FIFO_NONE

/** Somebody who wants a page. */
typedef struct wpi_paging_waiter {
    uint64_t token;
    uint32_t sm;
    bool is_counted; /* against paging.cu_faults */
    uint32_t next;   /* of the same MSHR, or nacked */
} wpi_paging_waiter;

/** A far fault: a page that somebody waits for. Most have one waiter, and tens of thousands are
 * under way: each is one line of the host's cache. */
typedef struct wpi_far_fault {
    _Alignas(64) wpi_page_number page;
    wp_time_ps raised;
    wpi_paging_waiter first;
    wpi_fifo others;
    uint32_t next; /* raised behind it, where a service replays */
} wpi_far_fault;

/** Which SMs have a waiter of a far fault, a bit each. */
typedef uint64_t wpi_fault_sms[WPI_SMS_MAX / 64];

/** In the fault buffer: a page that was wanted. It may be there when it is served. */
typedef struct wpi_fault_entry {
    wpi_page_number page;
    wp_time_ps raised;
    uint32_t next;
} wpi_fault_entry;

typedef struct wpi_paging_cu {
    uint32_t waiting; /* for pages that count against paging.cu_faults */
    wpi_fifo nacked;
} wpi_paging_cu;

/** Pages of a chunk that come in one piece. */
typedef struct wpi_transfer {
    wpi_page_run run;
    bool is_made; /* on the device: nothing comes over the link */
    uint32_t next;
    uint32_t request; /* of the program, that it is part of; NONE */
} wpi_transfer;

/** What a program asked for by cudaMemPrefetchAsync. */
typedef struct wpi_page_request {
    wpi_event_fn done;
    void *object;
    uint32_t left; /* transfers; and one until all are planned */
} wpi_page_request;

/** What a service hears of a far fault. */
typedef struct wpi_page_fault {
    wpi_page_number page;
    uint32_t sm;
    bool is_write;
} wpi_page_fault;

/** A way of serving far faults. */
typedef struct wpi_fault_service_ops {
    /* Optional; `destroy` comes behind a create that failed, too. NOMEM. */
    wp_status (*create)(wpi_paging *paging, wp_error *err);
    void (*destroy)(wpi_paging *paging);
    /* Somebody waits for the page. Who asks for it is told when the page comes; or `is_replaying`:
     * when the service says so (wpi_gmmu_replay), so then it hears of each SM that waits. */
    void (*add)(wpi_paging *paging, const wpi_page_fault *fault, wp_time_ps now);
    bool is_replaying;
    void (*arrived)(wpi_paging *paging, wp_time_ps now); /* a transfer has; optional */
    void (*statistics)(const wpi_paging *paging, wpi_visit visit, void *object); /* optional */
} wpi_fault_service_ops;

extern const wpi_fault_service_ops wpi_fault_rounds, wpi_fault_batches;

/** Whether pages of a chunk may leave for what comes. */
typedef bool (*wpi_may_leave)(const wpi_paging *paging, wpi_chunk_number chunk,
                              const wpi_pages *pages, const void *object);

struct wpi_paging {
    wpi_engine *engine;
    const wpi_profile *profile;
    wpi_link *link;
    wpi_paging_calls calls;
    wpi_residency residency;
    wpi_page_events events;
    uint64_t random;
    const wpi_fault_service_ops *service;
    /* gmmu.c */
    wpi_index fault_of; /* number of a page -> far fault */
    wpi_pages *waited;  /* [chunk]: pages with a far fault */
    wpi_pool faults, waiters;
    wpi_fifo raised;          /* far faults, where a service replays … */
    wpi_fault_sms *fault_sms; /* … [fault] */
    uint32_t fault_sms_count;
    uint32_t fault_count;
    wpi_paging_cu *cus;
    /* block_moves.c */
    uint64_t block_move_bytes; /* that SMs could have read across the link while a block is on it */
    uint64_t *ordered; /* [chunk]: a bit for each block that is to come and not served yet */
    uint64_t ordered_blocks;
    /* fault_service.c */
    wpi_pool entries;
    wpi_fifo buffer; /* not in service yet */
    wpi_fifo served; /* in service */
    bool is_serving;
    struct wpi_fault_batch *batch; /* fault_batch.c */
    /* migration.c */
    wpi_pool transfers, requests;
    wpi_fifo planned;                              /* transfers that wait for frames */
    uint64_t transfers_planned, transfers_arrived; /* so far */
    wp_time_ps last_arrival;                       /* of those under way */
    uint64_t *evict_notes;
    uint64_t *known;            /* [chunk][page]: which TLBs may have it, a bit each */
    uint64_t *known_large;      /* [chunk]: … all of it, as one page */
    uint64_t prefetch_position; /* a prefetcher's note */
    uint64_t planned_pages;     /* of those that wait for frames */
    wpi_pool staged_runs;       /* staging.c */
    wpi_fifo staged;            /* runs that leave when the link takes them */
    uint64_t staged_pages;
    uint32_t leaving_pages;    /* of the run that the link has */
    wp_time_ps last_departure; /* of those under way: when the host has it */
    wpi_event_fn quiet;        /* who waits until nothing is on its way; NULL: nobody */
    void *quiet_object;
    bool is_quiet_due; /* an event looks whether it is so */
    bool is_oversubscribed;
    bool has_evicted;
    bool was_touched; /* since a prefetcher was asked what comes next */
    /* look_ahead.c */
    wpi_foresight *foresight; /* NULL: nobody looks ahead */
    bool is_ahead_due;
    /* thrashing.c */
    wpi_thrash thrash;
    uint64_t faults_throttled, faults_refused; /* of the device; these are throttled or remote */
};

/* block_moves.c */

/** The access goes over the link, and does not start a migration. */
bool wpi_blocks_stay_remote(wpi_paging *paging, const wpi_chunk *chunk,
                            const wpi_paging_asker *asker, wp_time_ps now);
/** The block is to be migrated, but the access need not wait: it goes over the link. */
bool wpi_blocks_may_go_on(const wpi_paging *paging, const wpi_chunk *chunk,
                          const wpi_paging_asker *asker, wp_time_ps now);
/** Starts the migration of the page's block, without a waiter; once for each block. */
void wpi_blocks_order(wpi_paging *paging, wpi_page_number page, wp_time_ps now);
/** A service takes care of these pages: their blocks are ordered no more. */
void wpi_blocks_serve(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);
/** These pages are about to be evicted: was it any use that their blocks came? */
void wpi_blocks_judge(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);

/** Who waits for one of the run's pages walks again: they are resident, or will not come (gmmu.c).
 */
void wpi_gmmu_arrived(wpi_paging *paging, wpi_page_run run, wp_time_ps now);
/** They will be soon: what that looks up is fetched into the host's caches (gmmu.c). */
void wpi_gmmu_expect_arrival(const wpi_paging *paging, wpi_page_run run);
/** They will be at once. */
void wpi_gmmu_expect_release(const wpi_paging *paging, wpi_page_run run);
/** All who wait try again; of pages that are there, holding them (gmmu.c). */
void wpi_gmmu_replay(wpi_paging *paging, wp_time_ps now);
/** Far faults of one chunk, and what the prefetcher adds, will come (migration.c). Returns how many
 * of the faults were on pages that nothing had brought before. */
uint32_t wpi_migrate_in(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *faulting,
                        wp_time_ps now);
/** The pages will come, in runs; each ends behind one that faults. `request`: or NONE. */
void wpi_migrate_plan(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                      const wpi_pages *faulting, uint32_t request);
/** TLBs forget pages of the chunk (migration.c). */
void wpi_shoot_down(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);
/** A part of a request has ended (page_advice.c). */
void wpi_request_part_ended(wpi_paging *paging, uint32_t request, wp_time_ps now);
/** Resident pages that nobody is using (host_fault.c). */
wpi_pages wpi_idle_pages(const wpi_chunk *chunk);
/** Pages that are no longer resident leave; their frames get free. `copied`: those of them that go
 * over the link; when the last one is on the host is returned (migration.c). */
wp_time_ps wpi_migrate_out(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                           const wpi_pages *copied, wp_time_ps now);
/** Makes room for so many pages by evicting what `may_leave` lets go, all of it if NULL. False: not
 * now, but some may have left (migration.c). */
bool wpi_migrate_make_room(wpi_paging *paging, uint64_t pages, wpi_may_leave may_leave,
                           const void *object, wp_time_ps now);
/** The future, if it is known (look_ahead.c). */
const wpi_future *wpi_paging_future(const wpi_paging *paging);
/** Pages leave (look_ahead.c). */
void wpi_ahead_left(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);
/** Makes room for pages that are not asked for yet, by evicting what is used after them. False: not
 * now (look_ahead.c). */
bool wpi_ahead_make_room(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                         wp_time_ps now);
/** What the policy says of a page that faults (thrashing.c). */
wpi_thrash_hint wpi_thrashing_ask(wpi_paging *paging, wpi_page_number page, wpi_processor processor,
                                  wp_time_ps now);
/** Of far faults those whose pages may come: others are throttled or pinned (thrashing.c). */
wpi_pages wpi_thrashing_let(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *faulting,
                            wp_time_ps now);
/** The page is pinned on the host (thrashing.c). */
bool wpi_thrashing_is_pinned(wpi_paging *paging, wpi_page_number page, wp_time_ps now);
void wpi_thrashing_init(wpi_paging *paging);
/** There will be `chunk_count` chunks (thrashing.c). NOMEM. */
wp_status wpi_thrashing_grow(wpi_paging *paging, uint32_t chunk_count, wp_error *err);
void wpi_thrashing_deinit(wpi_paging *paging);
/** Chosen pages leave now (migration.c). */
void wpi_migrate_evict(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                       wp_time_ps now);
/** What the policy names as the next victim; false: nothing may leave now (migration.c). */
bool wpi_migrate_choose(wpi_paging *paging, wpi_chunk_number *chunk, wpi_pages *pages);
/** Victims for the transfers that wait are chosen, and set off one after the other (staging.c). */
void wpi_staging_pump(wpi_paging *paging, wp_time_ps now);
/** These pages stay: they are used, or leave another way (staging.c). */
void wpi_staging_keep(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages);
/** Transfers that wait go on if they can (migration.c). */
void wpi_migration_pump(wpi_paging *paging, wp_time_ps now);
/** If the link has nothing to bring, a prefetcher may say what comes meanwhile (migration.c). */
void wpi_migration_idle(wpi_paging *paging, wp_time_ps now);

static inline wpi_far_fault *wpi_fault_at(const wpi_paging *paging, uint32_t number) {
    return &((wpi_far_fault *)paging->faults.items)[number];
}

#endif
