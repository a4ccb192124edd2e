/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/replacement.h"

static const wpi_replacement_ops ops = {.is_moved_by_use = true};

const wpi_policy wpi_policy_replacement_lru = {.kind = "replacement",
                                               .name = "lru",
                                               .keys = "",
                                               .doc = "the least recently used entry of the set",
                                               .source = "",
                                               .ops = &ops};
