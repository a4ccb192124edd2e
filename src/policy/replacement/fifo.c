/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/replacement.h"

static const wpi_replacement_ops ops = {.is_moved_by_use = false};

const wpi_policy wpi_policy_replacement_fifo = {.kind = "replacement",
                                                .name = "fifo",
                                                .keys = "",
                                                .doc = "the oldest entry of the set",
                                                .source = "",
                                                .ops = &ops};
