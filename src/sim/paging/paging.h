/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Unified memory: what happens to a page of managed memory behind a walk. The GMMU says where the
 * page is; if nowhere the GPU can use, that is a far fault, and whoever wants the page waits until
 * a service has brought it.
 *
 *     walked ─► ask ─┬─ LOCAL: on the device
 *                    ├─ REMOTE: read where it is, across the link
 *                    └─ WAITS ─► MSHR ─► service ─► migration ─► arrived ─► replay: walk again
 *                        └ the CU has as many faults as it may: nacked, replayed when one has ended
 *
 * Who got LOCAL holds the page (wpi_paging_hold) until its access is made: it is not evicted
 * before. So a page that came is used at least once, and memory of one page is enough to go on.
 * Batches tell who waits later: what was evicted meanwhile faults again.
 *
 * Sources: Zheng et al., HPCA'16, section 3 (GMMU, MSHRs, nack and replay); Ganguly et al.,
 * IPDPS'20 (migration, eviction). One thread.
 */
#ifndef WP_SIM_PAGING_H
#define WP_SIM_PAGING_H

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

/** A page's way, as somebody asks for it. */
typedef struct wpi_paging_asker {
    uint64_t address;
    uint64_t token;
    uint32_t sm;
    bool is_write;
} wpi_paging_asker;

/** Pages of a chunk that TLBs forget. Of the first TLBs only those have a page whose numbers modulo
 * 64 are among its bits of `tlbs`; and those all 2 MiB, as one page, that are in `tlbs_large`. */
typedef struct wpi_paging_shot {
    uint64_t address; /* of the chunk */
    const wpi_pages *pages;
    const uint64_t *tlbs; /* [WPI_CHUNK_PAGES] */
    uint64_t tlbs_large;
} wpi_paging_shot;

typedef struct wpi_paging_calls {
    /* Who waited walks again, and then asks again. `is_held`: the page is there, and held until it
     * is released behind that. From an event. */
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

/** Allocations: wpi_residency_add and _remove. */
WP_NODISCARD wp_status wpi_paging_add(wpi_paging *paging, uint64_t address, uint64_t bytes,
                                      wp_error *err);
void wpi_paging_remove(wpi_paging *paging, uint64_t address, uint64_t bytes);
/** How many pages the device has room for, from now on, if not more are there. */
void wpi_paging_set_frames(wpi_paging *paging, uint64_t frames);

/** What happens to pages is told to `history`; NULL: to nobody. */
void wpi_paging_set_history(wpi_paging *paging, wpi_page_history *history);
/** How many pages of which allocation that were is told to `watch`; NULL: to nobody. */
void wpi_paging_set_watch(wpi_paging *paging, wpi_watch *watch);
/** Before the first allocation: what is used is noted there, and what is known of the future comes
 * from there. It must outlive the paging. */
void wpi_paging_set_foresight(wpi_paging *paging, wpi_foresight *foresight);
/** A launch begins. INVALID: a policy needs the future, and it is not known, or another one's. */
WP_NODISCARD wp_status wpi_paging_launch(wpi_paging *paging, wpi_time_ps now, wp_error *err);

bool wpi_paging_has(const wpi_paging *paging, uint64_t address); /* it is managed memory */

/** The page, of managed memory, is on the device. */
bool wpi_paging_is_here(const wpi_paging *paging, uint64_t address);
/** Where the page table's pages have 2 MiB: all of the address's 2 MiB is there, and is one page.
 */
bool wpi_paging_is_large(const wpi_paging *paging, uint64_t address);

/** What happens to a page soon: what that needs is fetched into the host's caches. The address need
 * not be managed memory. */
typedef enum wpi_paging_expected { WPI_PAGING_TOUCH, WPI_PAGING_ASK } wpi_paging_expected;
void wpi_paging_expect(const wpi_paging *paging, uint64_t address, wpi_paging_expected what);

/** An access looks its page up in the TLBs: it is counted, wherever the page is. */
void wpi_paging_touch(wpi_paging *paging, uint64_t address);
/** … and so it was with another page of its block, which is only noted for a later run. */
void wpi_paging_foresee(wpi_paging *paging, uint64_t address);
/** After a walk. WAITS: `replay` will be called. */
wpi_paging_answer wpi_paging_ask(wpi_paging *paging, const wpi_paging_asker *asker,
                                 wpi_time_ps now);
/** The first TLB of that number has got the page, or all of the 2 MiB. */
void wpi_paging_known(wpi_paging *paging, uint64_t address, bool is_large, uint32_t tlb);
/** After the answer LOCAL, or a TLB hit: the access has so many bytes. */
void wpi_paging_use_local(wpi_paging *paging, uint64_t address, uint32_t bytes);
/** After the answer REMOTE: so many go across the link, and may have paid for the block. */
void wpi_paging_use_remote(wpi_paging *paging, uint64_t address, uint32_t bytes, wpi_time_ps now);
/** From the answer LOCAL, or a TLB hit, until the access is at memory. A write makes it dirty.
 * False: there is nothing to hold, as TLBs know the page but it is not here (paging.remote_fills).
 */
bool wpi_paging_hold(wpi_paging *paging, uint64_t address, bool is_write);
void wpi_paging_release(wpi_paging *paging, uint64_t address, wpi_time_ps now);

/** Writes to the page may go across the link, too. */
bool wpi_paging_keeps_writes_remote(wpi_paging *paging, uint64_t address, wpi_time_ps now);

/** Pages that the program wants elsewhere; what lies outside of managed memory is left out. `done`
 * is called from an event, when all that moved is there. */
typedef struct wpi_paging_range {
    uint64_t address, bytes;
} wpi_paging_range;
void wpi_paging_prefetch(wpi_paging *paging, wpi_paging_range range, bool to_device,
                         wpi_time_ps now, wpi_event_fn done, void *object);

/** What a program says of pages. Read-mostly ones stay on the host, too, until they are written.
 * Those that stay on the host are used across the link, unless something brings them. Those that
 * prefer the device come when it uses them, whatever the policy, and only what the host touches
 * goes back; they are never pinned. */
typedef struct wpi_paging_advice {
    bool is_read_mostly, stays_on_host, prefers_device;
} wpi_paging_advice;
void wpi_paging_advise(wpi_paging *paging, wpi_paging_range range, wpi_paging_advice advice);

/** The range's pages are on the host, if they were nowhere: what wrote or read them was not the
 * device. */
void wpi_paging_use_on_host(wpi_paging *paging, wpi_paging_range range);

/** The host touches pages of the chunk at `address`. The first of `touched` that is on the device
 * faults: it goes back, with what the prefetcher adds, by *done; those pages are no longer in
 * `touched`. Or the host has to wait for its turn until *done, and touches the page again. False:
 * there is none. Pages that kernels are using stay. */
bool wpi_paging_host_fault(wpi_paging *paging, uint64_t address, wpi_pages *touched,
                           wpi_time_ps now, wpi_time_ps *done);

/** The host has waited for the device. Returns until when it goes on waiting, for what goes back.
 */
wpi_time_ps wpi_paging_synchronize(wpi_paging *paging, wpi_time_ps now);

/** No page is on its way, there or back, and no access across the link. If not, `quiet` is called,
 * once, when that is so. */
bool wpi_paging_is_quiet(wpi_paging *paging, wpi_time_ps now, wpi_event_fn quiet, void *object);

const wpi_residency *wpi_paging_residency(const wpi_paging *paging);
void wpi_paging_statistics(const wpi_paging *paging, wpi_visit visit, void *object);

#endif
