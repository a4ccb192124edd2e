/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include "policy/tlb_prefetch.h"

static const wpi_tlb_prefetch_ops ops = {.choose = NULL};

const wpi_policy wpi_policy_tlb_prefetch_none = {.kind = "tlb_prefetch",
                                                 .name = WPI_POLICY_NONE,
                                                 .keys = "",
                                                 .doc =
                                                     "no prefetching; only missed pages are walked",
                                                 .source = "",
                                                 .ops = &ops};
