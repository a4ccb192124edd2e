/* SPDX-License-Identifier: Apache-2.0 */
/** Evictions: the policy's choice of victims, and frames for transfers. */
#ifndef WP_SIM_PAGE_EVICTION_H
#define WP_SIM_PAGE_EVICTION_H

#include "sim/paging/paging.h"

typedef struct wpi_evictions {
    uint64_t *notes; /* [chunk]: of the policy */
    bool is_oversubscribed;
    bool has_evicted;
    wpi_chunk_number spared_chunk; /* its last victims, as far as they were spared … */
    wpi_pages spared;              /* … (policy/migrate.h) … */
    uint64_t spared_at;            /* … at this time of the residency's clock */
} wpi_evictions;

void wpi_evictions_deinit(wpi_evictions *evictions); /* `{0}` is fine */
/** There will be `after` chunks instead of `before`. NOMEM. */
WP_NODISCARD wp_status wpi_evictions_grow(wpi_evictions *evictions, uint32_t before, uint32_t after,
                                          wp_error *err);

/** Memory was full when pages needed frames, since the host last synchronised in UVMSmart's way. */
static inline bool wpi_evictions_is_oversubscribed(const wpi_evictions *evictions) {
    return evictions->is_oversubscribed;
}
static inline void wpi_evictions_set_oversubscribed(wpi_evictions *evictions, bool is_so) {
    evictions->is_oversubscribed = is_so;
}
/** A page has been evicted. */
static inline bool wpi_evictions_have_begun(const wpi_evictions *evictions) {
    return evictions->has_evicted;
}

/** Whether pages of a chunk may leave for those that need frames. */
typedef bool (*wpi_may_leave)(const wpi_paging *paging, wpi_chunk_number chunk,
                              const wpi_pages *pages, const void *object);

/** The policy's next victims. False: nothing can be evicted now. */
bool wpi_evictions_choose(wpi_paging *paging, wpi_chunk_number *chunk, wpi_pages *pages);
/** Evicts chosen pages. */
void wpi_evictions_start(wpi_paging *paging, wpi_chunk_number chunk, const wpi_pages *pages,
                         wpi_time_ps now);
/** Makes room for so many pages by evicting what `may_leave` permits; NULL permits all. False:
 * there is no room yet, but some pages may have left. */
bool wpi_evictions_make_room(wpi_paging *paging, uint64_t pages, wpi_may_leave may_leave,
                             const void *object, wpi_time_ps now);
/** Frames that the profile keeps free (paging.free). */
uint64_t wpi_evictions_kept_frames(const wpi_paging *paging);
/** Evicts until so many are free. */
void wpi_evictions_keep_free(wpi_paging *paging, wpi_time_ps now);

#endif
