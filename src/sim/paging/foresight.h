/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Recording the order in which managed pages are used, so that policies of a later run of the same
 * program know the future. Time is counted in notes, by the same rule in both runs, and is
 * synchronised at each launch.
 *
 *     run 1   launch 1: A B C   launch 2: A D …     ─► file
 *     run 2   launch 1: A C     launch 2:           now = 3: what launch 1 did not use is over
 *
 * A page is noted unless it is among the last `window` notes, so a page that is in constant use is
 * noted once in `window` notes. One thread.
 */
#ifndef WP_SIM_FORESIGHT_H
#define WP_SIM_FORESIGHT_H

#include <stddef.h>

#include "base/fail.h"
#include "policy/future.h"
#include "policy/policy.h"
#include "sim/paging/page_number.h"

#define WPI_FORESIGHT_WINDOW 64u

typedef struct wpi_foresight {
    uint32_t window;
    bool is_noting, has_future;
    uint32_t count;        /* notes of this run */
    uint32_t launch_count; /* of this run */
    uint32_t *last;        /* [last_count]: 1 + the page's last note; 0: none */
    uint32_t last_count;
    /* Notes of this run if `is_noting`, else of the earlier one. */
    uint32_t *pages, *launches;
    uint32_t page_capacity, launch_capacity;
    /* Of the earlier run. */
    wpi_future future;
    uint32_t earlier_launches;
} wpi_foresight;

void wpi_foresight_init(wpi_foresight *foresight, uint32_t window);
void wpi_foresight_deinit(wpi_foresight *foresight); /* `{0}` is fine */

/** Records this run. */
void wpi_foresight_note(wpi_foresight *foresight);
/** Sets the earlier run's notes: a page each, and for each launch the number of its first note.
 * Takes ownership of both arrays (wpi_free). NOMEM. */
WP_NODISCARD wp_status wpi_foresight_take(wpi_foresight *foresight, uint32_t *pages, uint32_t count,
                                          uint32_t *launches, uint32_t launch_count, wp_error *err);

/** A page is used. Returns true if it was noted, which advances time. */
bool wpi_foresight_touch(wpi_foresight *foresight, wpi_page_number page);
/** A launch begins. INVALID: the earlier run had fewer launches. */
WP_NODISCARD wp_status wpi_foresight_launch(wpi_foresight *foresight, wp_error *err);

#endif
