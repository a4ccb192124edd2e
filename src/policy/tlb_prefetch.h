/* SPDX-License-Identifier: Apache-2.0 */
/** Which translations the last TLB level fetches ahead, when one was missed there. */
#ifndef WP_POLICY_TLB_PREFETCH_H
#define WP_POLICY_TLB_PREFETCH_H

#include <stdint.h>

#include "policy/policy.h"

#define WPI_TLB_PREFETCH_MAX 16u

/** A page was missed, or had been fetched ahead and is used for the first time. */
typedef struct wpi_tlb_prefetch_question {
    uint32_t uses;      /* such ones of the page's region that the table remembers, with this one */
    int64_t stride;     /* from the one before it in its region, in pages; 0: there was none */
    uint32_t threshold; /* tlb_prefetch.threshold */
    uint32_t degree; /* tlb_prefetch.degree: at most so many, no more than WPI_TLB_PREFETCH_MAX */
} wpi_tlb_prefetch_question;

typedef struct wpi_tlb_prefetch_ops {
    /* Fills in which pages come, counted from the missed one; returns how many. NULL: none. */
    uint32_t (*choose)(const wpi_tlb_prefetch_question *question,
                       int64_t offsets[WPI_TLB_PREFETCH_MAX]);
} wpi_tlb_prefetch_ops;

#endif
