/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The interface of measurement and inference: the table is filled by kernels on a GPU, a simulated
 * one, or a file with curves; the inference uses nothing else.
 *
 *     address i of a chase:    i * stride_bytes  (+ a cache line's offset that stays in the stride)
 *                              └─ i < loads ───── visited in order, shuffled, or in halves ─┘
 *
 * The buffer's first byte is aligned to the largest page that the device has, at least. Offsets
 * within the stride are chosen so that sets of data caches fill evenly: a chase over n addresses
 * and its control, the same n cache lines side by side, hit and miss data caches alike. Subtracting
 * the control's time leaves translation.
 */
#ifndef WP_PROBE_SAMPLER_H
#define WP_PROBE_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"

#define WPI_SM_ANY UINT32_MAX
#define WPI_CHASE_LINE_BYTES 128u /* between neighbours of a control chase */

typedef enum wpi_chase_order {
    WPI_ORDER_STRIDED,
    WPI_ORDER_SHUFFLED,
    WPI_ORDER_HALVES, /* all even numbers, then all odd ones */
    WPI_ORDER_REUSE   /* hot pages, cold ones, the hot ones again, other cold ones */
} wpi_chase_order;

/** One thread's dependent loads: a first round over all addresses, then timed ones. The first round
 * is long enough that earlier contents of TLBs do not matter. */
typedef struct wpi_chase {
    uint64_t stride_bytes; /* between neighbouring addresses */
    uint64_t loads;        /* addresses of a round; loads * stride_bytes is the distance */
    wpi_chase_order order;
    uint64_t seed;    /* of the shuffle */
    uint64_t hot;     /* WPI_ORDER_REUSE: pages 0 … hot - 1 are visited twice, in two lines, with
                         loads / 2 - hot cold pages after each time */
    bool is_control;  /* the same number of cache lines in as few pages as hold them */
    uint32_t sm;      /* the SM that loads; or WPI_SM_ANY */
    uint32_t repeats; /* timed rounds requested; not 0 */
} wpi_chase;

/** The places that a chase visits, from the first on. */
static inline uint64_t wpi_chase_places(const wpi_chase *chase) {
    const bool is_reuse = chase->order == WPI_ORDER_REUSE && !chase->is_control;
    return is_reuse ? chase->loads - chase->hot : chase->loads;
}

/** Per load. */
typedef struct wpi_timing {
    double mean_cycles;   /* over all timed rounds */
    double median_cycles; /* of the rounds' means: robust to outliers */
    double
        spread_cycles; /* of the rounds' means: 1.4826 * median absolute deviation; 0: no noise */
    uint32_t rounds;   /* timed: fewer than requested if there is no noise */
} wpi_timing;

/** The three stages of sharing: `sm_timed` loads its pages, `sm_other` loads its own (elsewhere),
 * `sm_timed` loads again and is timed. */
typedef struct wpi_contest {
    uint32_t sm_timed, sm_other;
    uint64_t stride_bytes;
    uint64_t loads_timed, loads_other;
    uint32_t repeats;
} wpi_contest;

typedef struct wpi_sampler {
    void *object;
    uint64_t memory_bytes; /* the largest distance that can be measured */
    uint32_t sm_count;
    /** NOT_FOUND: this point was not measured and cannot be (curves from files); UNSUPPORTED: the
     * budget is spent. Both end a search early without being a failure of it. */
    wp_status (*chase)(void *object, const wpi_chase *chase, wpi_timing *out, wp_error *err);
    /** NULL: sharing cannot be measured. A contest of an SM with itself is allowed. */
    wp_status (*contest)(void *object, const wpi_contest *contest, wpi_timing *out, wp_error *err);
} wpi_sampler;

#endif
