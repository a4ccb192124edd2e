/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/prefetch.h"

static void choose(const wpi_prefetch_question *question, wpi_pages *out) {
    (void)question;
    (void)out;
}

static const wpi_prefetch_ops ops = {choose};

const wpi_policy wpi_policy_prefetch_none = {.kind = "prefetch",
                                             .name = "none",
                                             .keys = "",
                                             .doc = "only pages that fault come",
                                             .source = "",
                                             .ops = &ops};
