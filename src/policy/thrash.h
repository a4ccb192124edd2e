/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Whether a page that a processor wants, and that others want as well, comes to it now. Two
 * processors there are: the host and the device. The mechanism tells what moved, and asks at each
 * fault:
 *
 *     MIGRATE    the page comes
 *     THROTTLE   not now: the fault comes again, or the host sleeps until `until`
 *     PIN        the page stays at, or comes to, `location` for a while; from elsewhere it is
 * reached across the link
 *
 * State is the mechanism's, a wpi_thrash with a wpi_thrash_chunk for each chunk, zeroed at first.
 * One thread.
 */
#ifndef WP_POLICY_THRASH_H
#define WP_POLICY_THRASH_H

#include "base/time.h"
#include "policy/pages.h"
#include "policy/policy.h"

typedef enum wpi_processor {
    WPI_PROCESSOR_NONE = 0,
    WPI_PROCESSOR_HOST,
    WPI_PROCESSOR_DEVICE
} wpi_processor;

/** How the lapse follows what happens. */
typedef enum wpi_lapse_votes {
    WPI_LAPSE_AS_WRITTEN = 0, /* as the driver's arithmetic has it */
    WPI_LAPSE_AS_INTENDED,    /* as its comments have it */
    WPI_LAPSE_FIXED,
    WPI_LAPSE_COUNT /* must be last */
} wpi_lapse_votes;

typedef struct wpi_thrash_page {
    wpi_time_ps moved;        /* last; WPI_THRASH_NEVER */
    wpi_time_ps throttled_to; /* the end of a period in which all but the exempt are throttled; 0 */
    wpi_time_ps pinned_to;
    uint8_t events;                /* moves that followed one another within a lapse */
    uint8_t throttles;             /* since it was pinned last */
    uint8_t processors, throttled; /* bits 1 << wpi_processor */
    uint8_t exempt, pinned_on;     /* wpi_processor */
} wpi_thrash_page;

#define WPI_THRASH_NEVER WP_TIME_NEVER

typedef struct wpi_thrash_chunk {
    wpi_thrash_page *pages;      /* [WPI_CHUNK_PAGES]; NULL: nothing thrashes */
    wpi_time_ps moved, thrashed; /* last; of `mover` */
    uint8_t mover;               /* wpi_processor; NONE: nothing moved yet */
    uint8_t resets;
    bool has_thrashed, was_pinned;
} wpi_thrash_chunk;

typedef struct wpi_thrash {
    uint32_t threshold;     /* events from which on a page thrashes */
    uint32_t pin_threshold; /* throttles from which on it is pinned */
    uint32_t max_resets;    /* of a chunk */
    uint32_t votes_needed;  /* to change the lapse */
    wpi_lapse_votes votes;
    wpi_time_ps lapse_ps; /* between two moves that count; follows the votes */
    wpi_time_ps nap_ps, epoch_ps,
        pin_ps; /* of a period; of quiet, to a reset; pinned, 0: for ever */
    int8_t vote;
    wpi_thrash_chunk *chunks; /* [chunk_count] */
    uint32_t chunk_count;
} wpi_thrash;

typedef enum wpi_thrash_answer {
    WPI_THRASH_MIGRATE,
    WPI_THRASH_THROTTLE,
    WPI_THRASH_PIN
} wpi_thrash_answer;

/** Who wants what, when; and where it is: HOST or DEVICE. */
typedef struct wpi_thrash_question {
    uint32_t chunk, page;
    wpi_processor processor;
    wpi_time_ps now;
    bool prefers_device; /* its preferred location is the device: it is not pinned */
} wpi_thrash_question;

typedef struct wpi_thrash_hint {
    wpi_thrash_answer answer;
    wpi_time_ps until;      /* THROTTLE */
    wpi_processor location; /* PIN */
} wpi_thrash_hint;

typedef struct wpi_thrash_ops {
    /* Pages of a chunk moved to a processor that wanted them, or by prefetching; not by eviction.
     */
    void (*moved)(wpi_thrash *thrash, uint32_t chunk, const wpi_pages *pages, wpi_processor to,
                  wpi_time_ps now);
    wpi_thrash_hint (*ask)(wpi_thrash *thrash, const wpi_thrash_question *question);
} wpi_thrash_ops;

/** Where the page is pinned; NONE. When its time is over it is as if it had never moved. */
wpi_processor wpi_thrash_pinned(wpi_thrash *thrash, uint32_t chunk, uint32_t page, wpi_time_ps now);
/** The chunk's pages that thrash: they are not prefetched. */
wpi_pages wpi_thrash_pages(const wpi_thrash *thrash, uint32_t chunk);
/** The chunk's state is as at first. */
void wpi_thrash_forget(wpi_thrash *thrash, uint32_t chunk);
/** A page's is. */
void wpi_thrash_reset(wpi_thrash_page *page);

#endif
