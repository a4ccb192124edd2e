/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Policies against thrashing: whether a page that both processors (host and device) access migrates
 * to the one that faults. The simulator reports migrations, and calls the policy at each fault:
 *
 *     MIGRATE    the page migrates
 *     THROTTLE   not now: the device faults again, or the host sleeps until `until`
 *     PIN        the page stays on, or migrates to, `location` for a while; the other processor
 *                accesses it over the link
 *
 * The simulator owns the state: a wpi_thrash with a wpi_thrash_chunk for each chunk, zeroed
 * initially. One thread.
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

/** How the lapse adapts. */
typedef enum wpi_lapse_votes {
    WPI_LAPSE_AS_WRITTEN = 0, /* as the driver's code computes it */
    WPI_LAPSE_AS_INTENDED,    /* as its comments describe it */
    WPI_LAPSE_FIXED,
    WPI_LAPSE_COUNT /* must be last */
} wpi_lapse_votes;

typedef struct wpi_thrash_page {
    wpi_time_ps moved;        /* last move; WPI_THRASH_NEVER */
    wpi_time_ps throttled_to; /* end of the period that throttles all but the exempt; 0: none */
    wpi_time_ps pinned_to;
    uint8_t events;                /* moves within a lapse of the previous one */
    uint8_t throttles;             /* since it was last pinned */
    uint8_t processors, throttled; /* bits 1 << wpi_processor */
    uint8_t exempt, pinned_on;     /* wpi_processor */
} wpi_thrash_page;

#define WPI_THRASH_NEVER WP_TIME_NEVER

typedef struct wpi_thrash_chunk {
    wpi_thrash_page *pages;      /* [WPI_CHUNK_PAGES]; NULL: nothing thrashes */
    wpi_time_ps moved, thrashed; /* last move, by `mover`; last thrashing */
    uint8_t mover;               /* wpi_processor; NONE: no move yet */
    uint8_t resets;
    bool has_thrashed, was_pinned;
} wpi_thrash_chunk;

typedef struct wpi_thrash {
    uint32_t threshold;     /* events at which a page thrashes */
    uint32_t pin_threshold; /* throttles at which it is pinned */
    uint32_t max_resets;    /* of a chunk */
    uint32_t votes_needed;  /* to change the lapse */
    wpi_lapse_votes votes;
    wpi_time_ps lapse_ps; /* longest time between moves that counts as an event; adapts */
    wpi_time_ps nap_ps, epoch_ps,
        pin_ps; /* of a period; without thrashing, before a reset; of a pin, 0: unlimited */
    int8_t vote;
    wpi_thrash_chunk *chunks; /* [chunk_count] */
    uint32_t chunk_count;
} wpi_thrash;

typedef enum wpi_thrash_answer {
    WPI_THRASH_MIGRATE,
    WPI_THRASH_THROTTLE,
    WPI_THRASH_PIN
} wpi_thrash_answer;

/** A processor, HOST or DEVICE, needs a page. */
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
    /* Pages of a chunk migrated to a processor that accessed them, or by prefetching; not by
     * eviction.
     */
    void (*moved)(wpi_thrash *thrash, uint32_t chunk, const wpi_pages *pages, wpi_processor to,
                  wpi_time_ps now);
    wpi_thrash_hint (*ask)(wpi_thrash *thrash, const wpi_thrash_question *question);
} wpi_thrash_ops;

/** Where the page is pinned, or NONE. A page whose pin has expired is reset. */
wpi_processor wpi_thrash_pinned(wpi_thrash *thrash, uint32_t chunk, uint32_t page, wpi_time_ps now);
/** The chunk's pages that thrash: they are not prefetched. */
wpi_pages wpi_thrash_pages(const wpi_thrash *thrash, uint32_t chunk);
/** Resets the chunk's state. */
void wpi_thrash_forget(wpi_thrash *thrash, uint32_t chunk);
/** Resets a page's state. */
void wpi_thrash_reset(wpi_thrash_page *page);

#endif
