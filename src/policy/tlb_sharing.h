/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Which other private TLB is asked for a page, before the next level is, and whether what it
 * answers is stored. TLBs lie in a ring; an offset names one from another's point of view:
 *
 *     …  -2   -1  asks  +1   +2  …        left: lower numbers; the first and the last adjoin
 */
#ifndef WP_POLICY_TLB_SHARING_H
#define WP_POLICY_TLB_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

/** A TLB missed a page, or another one that it asked did. */
typedef struct wpi_tlb_sharing_question {
    uint32_t tlbs;       /* in the ring, at least 2 */
    uint32_t neighbours; /* to each side that may be asked, at least 1 */
    int32_t asked;       /* who has just been asked in vain; 0: nobody was yet */
    uint64_t holders;    /* what the directory knows: wpi_tlb_sharing_offset of each bit that is set
                            should have the page */
} wpi_tlb_sharing_question;

/** Another TLB had the page. */
typedef struct wpi_tlb_sharing_answer {
    uint32_t hits;      /* with this one: as tlb_sharing.count counts them */
    uint32_t threshold; /* tlb_sharing.threshold */
} wpi_tlb_sharing_answer;

typedef struct wpi_tlb_sharing_ops {
    /* The offset of the TLB that is asked now, modulo the ring, and with it all on the way there;
     * 0: the next level is. NULL: TLBs are private. It must depend on the question alone: where no
     * directory is used it is asked once for each `asked` from 0 to tlbs - 1, before the run. */
    int32_t (*next)(const wpi_tlb_sharing_question *question);
    bool (*stores)(const wpi_tlb_sharing_answer *answer);
    bool uses_directory;
    uint32_t
        neighbours; /* to each side, unless tlb_sharing.neighbours says so; 0: the whole ring */
} wpi_tlb_sharing_ops;

#define WPI_TLB_SHARING_NEIGHBOURS_MAX 32u /* of a directory */

/** Bits 0, 1, 2, 3, … are -1, +1, -2, +2, … */
static inline int32_t wpi_tlb_sharing_offset(uint32_t bit) {
    const int32_t distance = (int32_t)(bit / 2) + 1;
    return bit % 2 == 0 ? -distance : distance;
}

/** What NeiDty's three do: the nearest that should have it, the left one of two, and no other. */
static inline int32_t wpi_tlb_sharing_by_directory(const wpi_tlb_sharing_question *question) {
    if (question->asked != 0 || question->holders == 0) return 0;
    return wpi_tlb_sharing_offset((uint32_t)__builtin_ctzll(question->holders));
}

#endif
