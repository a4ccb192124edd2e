/* SPDX-License-Identifier: Apache-2.0 */
/** Pages that host and device access in turn: the policy's answer between a fault, or the host's
 * touch, and the migration. */
#ifndef WP_SIM_THRASHING_H
#define WP_SIM_THRASHING_H

#include "policy/thrash.h"
#include "sim/paging/paging.h"

typedef struct wpi_thrashing {
    wpi_thrash state;            /* of the policy */
    uint64_t throttled, refused; /* faults of the device; those refused are throttled or remote */
} wpi_thrashing;

void wpi_thrashing_init(wpi_thrashing *thrashing, const wpi_profile *profile);
void wpi_thrashing_deinit(wpi_thrashing *thrashing);
/** There will be `chunk_count` chunks. NOMEM. */
WP_NODISCARD wp_status wpi_thrashing_grow(wpi_thrashing *thrashing, uint32_t chunk_count,
                                          wp_error *err);

/** Faults of the device so far that were throttled … */
static inline uint64_t wpi_thrashing_throttled(const wpi_thrashing *thrashing) {
    return thrashing->throttled;
}
/** … and that were not migrated: throttled, or answered with remote accesses. */
static inline uint64_t wpi_thrashing_refused(const wpi_thrashing *thrashing) {
    return thrashing->refused;
}

/** The policy's answer to an access of a page. */
wpi_thrash_hint wpi_thrashing_ask(wpi_paging *paging, wpi_page_number page, wpi_processor processor,
                                  wpi_time_ps now);
/** Those of the pages that faulted that may be fetched: others are throttled or pinned. */
wpi_pages wpi_thrashing_let(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *faulting,
                            wpi_time_ps now);
/** Pages migrate to a processor that accessed them, or by prefetching; evictions do not count. */
void wpi_thrashing_moved(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                         wpi_processor to, wpi_time_ps now);
/** The page is pinned on the host. */
bool wpi_thrashing_is_pinned(wpi_thrashing *thrashing, wpi_page_number page, wpi_time_ps now);
/** The chunk's pages that thrash: they are not prefetched. */
wpi_pages wpi_thrashing_pages(const wpi_thrashing *thrashing, wpi_chunk_number chunk);
/** The chunk's pages are as if they had never moved. */
void wpi_thrashing_forget(wpi_thrashing *thrashing, wpi_chunk_number chunk);
/** Only these pages are. */
void wpi_thrashing_reset(wpi_thrashing *thrashing, wpi_chunk_number chunk, const wpi_pages *pages);

#endif
