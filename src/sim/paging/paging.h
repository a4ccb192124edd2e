/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Unified memory: pages of managed memory after a walk. The GMMU finds where the page is. If the
 * GPU cannot access it there, the walk is a far fault, and the request waits until a service has
 * migrated the page.
 *
 *     walked ─► ask ─┬─ LOCAL: on the device
 *                    ├─ REMOTE: accessed on the host, over the link
 *                    └─ WAITS ─► MSHR ─► service ─► migration ─► arrived ─► replay: walk again
 *                        └ its CU may have no more faults: nacked, replayed when one has ended
 *
 * A request that gets LOCAL holds the page (wpi_paging_hold) until its access completes, so that it
 * is not evicted before. So a migrated page is used at least once, and a device memory of one page
 * suffices for progress. Batches replay later: a page that was evicted meanwhile faults again.
 *
 * Sources: Zheng et al., HPCA'16, section 3 (GMMU, MSHRs, nack and replay); Ganguly et al.,
 * IPDPS'20 (migration, eviction). One thread.
 */
#ifndef WP_SIM_PAGING_H
#define WP_SIM_PAGING_H

#include "sim/engine/line_counts.h"
#include "sim/memory/link.h"
#include "sim/paging/access_watch.h"
#include "sim/paging/foresight.h"
#include "sim/paging/page_history.h"
#include "sim/paging/page_residency.h"

typedef struct wpi_paging wpi_paging;

typedef enum wpi_paging_answer {
    WPI_PAGING_LOCAL,
    WPI_PAGING_REMOTE,
    WPI_PAGING_WAITS
} wpi_paging_answer;

/** A request for the location of a page. */
typedef struct wpi_paging_asker {
    uint64_t address;
    uint64_t token;
    uint32_t sm;
    bool is_write;
    wpi_line_count *counts; /* or NULL */
} wpi_paging_asker;

/** A shoot-down of pages of a chunk. First-level TLBs that may have page i: those whose numbers
 * modulo 64 are bits of tlbs[i]; that may have the chunk as one large page: bits of tlbs_large. */
typedef struct wpi_paging_shot {
    uint64_t address; /* of the chunk */
    const wpi_pages *pages;
    const uint64_t *tlbs; /* [WPI_CHUNK_PAGES] */
    uint64_t tlbs_large;
} wpi_paging_shot;

typedef struct wpi_paging_calls {
    /* The waiter walks again, and then asks again. `is_held`: the page is resident, and held until
     * the caller releases it. From an event. */
    void (*replay)(void *object, uint64_t token, bool is_held, wpi_time_ps now);
    void (*shoot_down)(void *object, const wpi_paging_shot *shot);
    void *object;
} wpi_paging_calls;

/** Managed memory lies from `first` on. All arguments must outlive it. NOMEM. */
WP_NODISCARD wp_status wpi_paging_create(wpi_engine *engine, const wpi_profile *profile,
                                         wpi_link *link, uint64_t first,
                                         const wpi_paging_calls *calls, wpi_paging **out,
                                         wp_error *err);
void wpi_paging_destroy(wpi_paging *paging); /* NULL allowed */

/** Adds and removes allocations, as wpi_residency_add and _remove. */
WP_NODISCARD wp_status wpi_paging_add(wpi_paging *paging, uint64_t address, uint64_t bytes,
                                      wp_error *err);
void wpi_paging_remove(wpi_paging *paging, uint64_t address, uint64_t bytes);
/** Sets the device's frames; not fewer than are taken. */
void wpi_paging_set_frames(wpi_paging *paging, uint64_t frames);

/** Events of pages are noted in `history`; NULL: not noted. */
void wpi_paging_set_history(wpi_paging *paging, wpi_page_history *history);
/** Moves of pages are counted by allocation in `watch`; NULL: not counted. */
void wpi_paging_set_watch(wpi_paging *paging, wpi_watch *watch);
/** Sets where page uses are recorded, or the future is read from. Call it before the first
 * allocation; `foresight` must outlive the paging. */
void wpi_paging_set_foresight(wpi_paging *paging, wpi_foresight *foresight);
/** A launch begins. INVALID: a policy needs the future, which is unknown or of another program. */
WP_NODISCARD wp_status wpi_paging_launch(wpi_paging *paging, wpi_time_ps now, wp_error *err);

bool wpi_paging_has(const wpi_paging *paging, uint64_t address); /* it is managed memory */

/** The page, of managed memory, is on the device. */
bool wpi_paging_is_here(const wpi_paging *paging, uint64_t address);
/** The page table has pages of 2 MiB, and the address's 2 MiB are completely resident as one page.
 */
bool wpi_paging_is_large(const wpi_paging *paging, uint64_t address);

/** An operation that a page will soon have: prefetches its data into the host's caches. The address
 * need not be managed memory. */
typedef enum wpi_paging_expected { WPI_PAGING_TOUCH, WPI_PAGING_ASK } wpi_paging_expected;
void wpi_paging_expect(const wpi_paging *paging, uint64_t address, wpi_paging_expected what);

/** An access looks its page up in the TLBs. Counted wherever the page is. */
void wpi_paging_touch(wpi_paging *paging, uint64_t address);
/** The same for a further page of a block that was already counted: only recorded for a later
 * run. */
void wpi_paging_foresee(wpi_paging *paging, uint64_t address);
/** Asks for the page after a walk. WAITS: `replay` will be called. */
wpi_paging_answer wpi_paging_ask(wpi_paging *paging, const wpi_paging_asker *asker,
                                 wpi_time_ps now);
/** First-level TLB `tlb` has stored the page, or (`is_large`) the 2 MiB page. */
void wpi_paging_known(wpi_paging *paging, uint64_t address, bool is_large, uint32_t tlb);
/** After LOCAL, or a TLB hit: the access has `bytes` bytes. */
void wpi_paging_use_local(wpi_paging *paging, uint64_t address, uint32_t bytes);
/** After REMOTE: `bytes` bytes go over the link, which may order the block's migration. */
void wpi_paging_use_remote(wpi_paging *paging, uint64_t address, uint32_t bytes, wpi_time_ps now);
/** Holds the page from LOCAL, or a TLB hit, until the access has reached memory. A write makes it
 * dirty. False: the page is not resident, although TLBs have it (paging.remote_fills); nothing is
 * held.
 */
bool wpi_paging_hold(wpi_paging *paging, uint64_t address, bool is_write);
void wpi_paging_release(wpi_paging *paging, uint64_t address, wpi_time_ps now);

/** Whether writes to the page may go over the link too. */
bool wpi_paging_keeps_writes_remote(wpi_paging *paging, uint64_t address, wpi_time_ps now);

/** Pages for which the program requests a migration; addresses outside of managed memory are
 * ignored. `done` is called from an event, when all migrations have arrived. */
typedef struct wpi_paging_range {
    uint64_t address, bytes;
} wpi_paging_range;
void wpi_paging_prefetch(wpi_paging *paging, wpi_paging_range range, bool to_device,
                         wpi_time_ps now, wpi_event_fn done, void *object);

/** A program's advice. Read-mostly pages keep a copy on the host until they are written. Pages that
 * stay on the host are accessed over the link, unless a prefetch migrates them. Pages that prefer
 * the device migrate when it uses them, under any policy, and return only when the host touches
 * them; they are never pinned. */
typedef struct wpi_paging_advice {
    bool is_read_mostly, stays_on_host, prefers_device;
} wpi_paging_advice;
void wpi_paging_advise(wpi_paging *paging, wpi_paging_range range, wpi_paging_advice advice);

/** The host has used the range's pages: those that were nowhere are now on the host. */
void wpi_paging_use_on_host(wpi_paging *paging, wpi_paging_range range);

/** The host touches pages of the chunk at `address`. The first of `touched` that is on the device
 * faults: it migrates to the host with the pages that the prefetcher adds, by *done, and these are
 * removed from `touched`. If the page is throttled, `touched` is unchanged and the host touches it
 * again at *done. False: no page of `touched` is on the device. Pages in use by kernels stay. */
bool wpi_paging_host_fault(wpi_paging *paging, uint64_t address, wpi_pages *touched,
                           wpi_time_ps now, wpi_time_ps *done);

/** The host has synchronised with the device. Returns when the pages that are written back for that
 * have arrived.
 */
wpi_time_ps wpi_paging_synchronize(wpi_paging *paging, wpi_time_ps now);

/** Whether no page is in flight in either direction, and no access over the link. If not, `quiet`
 * is called, once, when that holds. */
bool wpi_paging_is_quiet(wpi_paging *paging, wpi_time_ps now, wpi_event_fn quiet, void *object);

const wpi_residency *wpi_paging_residency(const wpi_paging *paging);
void wpi_paging_statistics(const wpi_paging *paging, wpi_visit visit, void *object);

#endif
