/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tlb_sharing.h"

static bool stores(const wpi_tlb_sharing_answer *answer) {
    return answer->hits >= answer->threshold;
}

static const wpi_tlb_sharing_ops ops = {.next = wpi_tlb_sharing_by_directory,
                                        .stores = stores,
                                        .uses_directory = true,
                                        .neighbours = 1};

const wpi_policy wpi_policy_tlb_sharing_neidty_twice = {
    .kind = "tlb_sharing",
    .name = "neidty-twice",
    .keys = "tlb_sharing.threshold, tlb_sharing.count, tlb_sharing.neighbours, "
            "tlb_sharing.directory_entries, "
            "tlb_sharing.tag_bits",
    .doc = "as neidty, but a translation is stored only from the neighbour's second hit on",
    .source = "NeiDty, Section III-C",
    .ops = &ops};
