/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/tlb_sharing.h"

static const wpi_tlb_sharing_ops ops = {0};

const wpi_policy wpi_policy_tlb_sharing_private = {
    .kind = "tlb_sharing",
    .name = "private",
    .keys = "",
    .doc = "no sharing; misses go to the next TLB level",
    .source = "NeiDty, baseline",
    .ops = &ops};
