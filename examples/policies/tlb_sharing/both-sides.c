/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a TLB-sharing policy: probes the left neighbour, then the right; no directory. */
#include "policy/tlb_sharing.h"

static int32_t next(const wpi_tlb_sharing_question *question) {
    if (question->asked == 0) return -1;
    if (question->asked == -1) return 1;
    return 0;
}

static bool stores(const wpi_tlb_sharing_answer *answer) {
    return answer->hits >= answer->threshold;
}

static const wpi_tlb_sharing_ops ops = {.next = next, .stores = stores};

const wpi_policy wpi_policy_tlb_sharing_both_sides = {.kind = "tlb_sharing",
                                                      .name = "both-sides",
                                                      .keys = "tlb_sharing.threshold",
                                                      .doc = "probes left, then right; no directory",
                                                      .source = "an example",
                                                      .ops = &ops};
