/* SPDX-License-Identifier: Apache-2.0 */
/**
 * TLB sharing policy: which other private TLB is queried for a missed page before the next level,
 * and whether its answer is stored. TLBs form a ring; an offset identifies one relative to another:
 *
 *     …  -2   -1  self  +1   +2  …        left: lower numbers; the first and the last adjoin
 */
#ifndef WP_POLICY_TLB_SHARING_H
#define WP_POLICY_TLB_SHARING_H

#include <stdbool.h>
#include <stdint.h>

#include "policy/policy.h"

/** A TLB missed a page, or another TLB that it queried missed it. */
typedef struct wpi_tlb_sharing_question {
    uint32_t tlbs;       /* in the ring, at least 2 */
    uint32_t neighbours; /* in each direction that may be queried, at least 1 */
    int32_t asked;       /* offset of the TLB that has just missed; 0: none was queried */
    uint64_t holders;    /* from the directory: the TLB at wpi_tlb_sharing_offset of each set bit
                            should have the page */
} wpi_tlb_sharing_question;

/** Another TLB had the page. */
typedef struct wpi_tlb_sharing_answer {
    uint32_t hits;      /* including this one, counted as tlb_sharing.count selects */
    uint32_t threshold; /* tlb_sharing.threshold */
} wpi_tlb_sharing_answer;

typedef struct wpi_tlb_sharing_ops {
    /* Returns the offset of the TLB to query next, modulo the ring; all TLBs on the way are queried
     * too. 0: the next level. NULL: TLBs are private. Must depend only on the question: without a
     * directory it is called once for each `asked` from 0 to tlbs - 1, before the run. */
    int32_t (*next)(const wpi_tlb_sharing_question *question);
    bool (*stores)(const wpi_tlb_sharing_answer *answer);
    bool uses_directory;
    uint32_t
        neighbours; /* in each direction, unless tlb_sharing.neighbours is set; 0: the whole ring */
} wpi_tlb_sharing_ops;

#define WPI_TLB_SHARING_NEIGHBOURS_MAX 32u /* of a directory */

/** Bits 0, 1, 2, 3, … are -1, +1, -2, +2, … */
static inline int32_t wpi_tlb_sharing_offset(uint32_t bit) {
    const int32_t distance = (int32_t)(bit / 2) + 1;
    return bit % 2 == 0 ? -distance : distance;
}

/** Common to NeiDty's three variants: queries only the nearest TLB that should have the page; of
 * two, the left one. */
static inline int32_t wpi_tlb_sharing_by_directory(const wpi_tlb_sharing_question *question) {
    if (question->asked != 0 || question->holders == 0) return 0;
    return wpi_tlb_sharing_offset((uint32_t)__builtin_ctzll(question->holders));
}

#endif
