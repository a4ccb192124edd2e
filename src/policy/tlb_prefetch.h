/* SPDX-License-Identifier: Apache-2.0 */
/** TLB prefetch policy: which translations the last TLB level prefetches after a miss. */
#ifndef WP_POLICY_TLB_PREFETCH_H
#define WP_POLICY_TLB_PREFETCH_H

#include <stdint.h>

#include "policy/policy.h"

#define WPI_TLB_PREFETCH_MAX 16u

/** A page was missed, or a prefetched page is used for the first time. */
typedef struct wpi_tlb_prefetch_question {
    uint32_t uses;  /* such events in the page's region since it is in the table, with this one */
    int64_t stride; /* distance from the previous one in its region, in pages; 0: none */
    uint32_t threshold; /* tlb_prefetch.threshold */
    uint32_t degree;    /* tlb_prefetch.degree: the most pages; at most WPI_TLB_PREFETCH_MAX */
} wpi_tlb_prefetch_question;

typedef struct wpi_tlb_prefetch_ops {
    /* Fills in the pages to prefetch, relative to the missed one; returns how many. NULL: none. */
    uint32_t (*choose)(const wpi_tlb_prefetch_question *question,
                       int64_t offsets[WPI_TLB_PREFETCH_MAX]);
} wpi_tlb_prefetch_ops;

#endif
