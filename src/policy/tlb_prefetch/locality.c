/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tlb_prefetch.h"

/* Prefetches at the stride between the last two misses of a region, whichever SMs they are from,
 * once the region has enough uses. */
static uint32_t choose(const wpi_tlb_prefetch_question *question,
                       int64_t offsets[WPI_TLB_PREFETCH_MAX]) {
    if (question->uses < question->threshold || question->stride == 0) return 0;
    for (uint32_t i = 0; i < question->degree; i++)
        offsets[i] = question->stride * (int64_t)(i + 1);
    return question->degree;
}

static const wpi_tlb_prefetch_ops ops = {.choose = choose};

const wpi_policy wpi_policy_tlb_prefetch_locality = {
    .kind = "tlb_prefetch",
    .name = "locality",
    .keys = "tlb_prefetch.table, tlb_prefetch.region, tlb_prefetch.threshold, tlb_prefetch.degree, "
            "tlb_prefetch.buffer",
    .doc = "prefetch translations at the stride of the last two misses in a region",
    .source = "after Baruah et al.: Valkyrie, PACT 2020 (a locality detection table)",
    .ops = &ops};
