/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Future page uses, as recorded in an earlier run of the same program. Time is counted in notes; a
 * note is a use of a page that was not among the last few noted:
 *
 *     notes   A B C A D …      of page A: 0, 3      now = 2: two were made in this run,
 *             0 1 2 3 4                                       A's next use is 3, B's NEVER
 *
 * Page numbers are chunk * WPI_CHUNK_PAGES + index. Policies only read.
 */
#ifndef WP_POLICY_FUTURE_H
#define WP_POLICY_FUTURE_H

#include <stddef.h>

#include "policy/pages.h"

#define WPI_FUTURE_NEVER UINT32_MAX

typedef struct wpi_future {
    uint32_t *pages; /* [count]: the page of each note, in order */
    uint32_t count;
    uint32_t page_count; /* pages from this number on are not used */
    uint32_t *first;     /* [page_count + 1]: start of a page's notes in `times` */
    uint32_t *times;     /* [count]: note times of each page, ascending */
    uint32_t *cursors;   /* [page_count]: each page's first note that is not past */
    uint32_t now;        /* only grows */
} wpi_future;

/** The page's next use, now or later, or NEVER. `future` is NULL before a launch: NEVER. */
static inline uint32_t wpi_future_next(const wpi_future *future, uint32_t page) {
    if (future == NULL || page >= future->page_count) return WPI_FUTURE_NEVER;
    uint32_t *at = &future->cursors[page];
    while (*at != future->first[page + 1] && future->times[*at] < future->now)
        ++*at;
    return *at != future->first[page + 1] ? future->times[*at] : WPI_FUTURE_NEVER;
}

#endif
