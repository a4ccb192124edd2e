/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/migrate.h"

static uint64_t threshold(const wpi_migrate_question *question) {
    (void)question;
    return UINT64_MAX;
}

static const wpi_migrate_ops ops = {.threshold = threshold, .counts_writes = true};

const wpi_policy wpi_policy_migrate_zero_copy = {
    .kind = "migrate",
    .name = "zero-copy",
    .keys = "",
    .doc = "never migrate; access pages remotely on the host",
    .source = "Ganguly et al., IPDPS'20, section III-C",
    .ops = &ops};
