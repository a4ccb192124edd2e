/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tlb_sharing.h"

static bool stores(const wpi_tlb_sharing_answer *answer) {
    (void)answer;
    return true;
}

static const wpi_tlb_sharing_ops ops = {.next = wpi_tlb_sharing_by_directory,
                                        .stores = stores,
                                        .uses_directory = true,
                                        .neighbours = 1};

const wpi_policy wpi_policy_tlb_sharing_neidty = {
    .kind = "tlb_sharing",
    .name = "neidty",
    .keys = "tlb_sharing.neighbours, tlb_sharing.directory_entries, tlb_sharing.tag_bits",
    .doc = "a directory names the neighbour TLB that holds the page; a translation from a "
           "neighbour is stored",
    .source = "NeiDty, Section III-B",
    .ops = &ops};
