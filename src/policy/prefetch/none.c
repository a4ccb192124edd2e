/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/prefetch.h"

static const wpi_prefetch_ops ops = {.choose = wpi_prefetch_nothing};

const wpi_policy wpi_policy_prefetch_none = {.kind = "prefetch",
                                             .name = WPI_POLICY_NONE,
                                             .keys = "",
                                             .doc = "nothing; only faulting pages are migrated",
                                             .source = "",
                                             .ops = &ops};
