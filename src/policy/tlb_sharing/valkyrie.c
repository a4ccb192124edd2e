/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tlb_sharing.h"

/* Asks all TLBs of the ring in turn. */
static int32_t next(const wpi_tlb_sharing_question *question) {
    const uint32_t asked = (uint32_t)question->asked;
    const bool is_last = asked + 1 == question->tlbs || asked == question->neighbours;
    return is_last ? 0 : question->asked + 1;
}

static bool stores(const wpi_tlb_sharing_answer *answer) {
    (void)answer;
    return true;
}

static const wpi_tlb_sharing_ops ops = {.next = next, .stores = stores};

const wpi_policy wpi_policy_tlb_sharing_valkyrie = {
    .kind = "tlb_sharing",
    .name = "valkyrie",
    .keys = "tlb_sharing.neighbours, tlb_sharing.scope, tlb_sharing.hop",
    .doc = "a miss is sent around a ring of TLBs, one after another, before the next level",
    .source = "Baruah et al.: Valkyrie, PACT 2020, as described in NeiDty, Sections IV-A and V",
    .ops = &ops};
