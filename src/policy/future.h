/* SPDX-License-Identifier: Apache-2.0 */
/**
 * When pages will be used, as an earlier run of the same program noted it. Time is counted in
 * notes; one is that a page was used, and had not been among the last few that were noted:
 *
 *     notes   A B C A D …      of page A: 0, 3      now = 2: two were made in this run,
 *             0 1 2 3 4                                       A's next use is 3, B's NEVER
 *
 * Pages have numbers: chunk times WPI_CHUNK_PAGES and the place there. Policies only read.
 */
#ifndef WP_POLICY_FUTURE_H
#define WP_POLICY_FUTURE_H

#include <stddef.h>

#include "policy/pages.h"

#define WPI_FUTURE_NEVER UINT32_MAX

typedef struct wpi_future {
    uint32_t *pages; /* [count]: of each note, in order */
    uint32_t count;
    uint32_t page_count; /* pages from this number on are not used */
    uint32_t *first;     /* [page_count + 1]: where a page's notes begin in `times` */
    uint32_t *times;     /* [count]: of each page in turn, rising */
    uint32_t *cursors;   /* [page_count]: the first of a page's that was not over */
    uint32_t now;        /* only grows */
} wpi_future;

/** When the page is used next, now or later; NEVER. NULL, before a launch: of no page is known. */
static inline uint32_t wpi_future_next(const wpi_future *future, uint32_t page) {
    if (future == NULL || page >= future->page_count) return WPI_FUTURE_NEVER;
    uint32_t *at = &future->cursors[page];
    while (*at != future->first[page + 1] && future->times[*at] < future->now)
        ++*at;
    return *at != future->first[page + 1] ? future->times[*at] : WPI_FUTURE_NEVER;
}

#endif
