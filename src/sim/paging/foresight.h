/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What is noted of the use of managed pages, for a later run, and what an earlier one noted: the
 * future, as far as the program does the same again. Both runs count notes by the same rule, and
 * launches bring the later one back into step.
 *
 *     run 1   launch 1: A B C   launch 2: A D …     ─► file
 *     run 2   launch 1: A C     launch 2:           now = 3: what launch 1 did not use is over
 *
 * A page is noted if it is not among the `window` notes made last, so that a page in use all the
 * time is one of each of so many. One thread.
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
    /* Noted by this run, if it is noting, or by the earlier one. */
    uint32_t *pages, *launches;
    uint32_t page_capacity, launch_capacity;
    /* The earlier run's. */
    wpi_future future;
    uint32_t earlier_launches;
} wpi_foresight;

void wpi_foresight_init(wpi_foresight *foresight, uint32_t window);
void wpi_foresight_deinit(wpi_foresight *foresight); /* `{0}` is fine */

/** This run is noted. */
void wpi_foresight_note(wpi_foresight *foresight);
/** What was noted before: `pages` and `launches`, at which notes these began, are taken over
 * (wpi_free). NOMEM. */
WP_NODISCARD wp_status wpi_foresight_take(wpi_foresight *foresight, uint32_t *pages, uint32_t count,
                                          uint32_t *launches, uint32_t launch_count, wp_error *err);

/** A page is used. True: time went on. */
bool wpi_foresight_touch(wpi_foresight *foresight, wpi_page_number page);
/** A launch begins. INVALID: the earlier run had fewer. */
WP_NODISCARD wp_status wpi_foresight_launch(wpi_foresight *foresight, wp_error *err);

#endif
