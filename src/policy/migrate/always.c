/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/migrate.h"

static uint64_t threshold(const wpi_migrate_question *question) {
    return question->threshold;
}

static const wpi_migrate_ops ops = {.threshold = threshold};

const wpi_policy wpi_policy_migrate_always = {
    .kind = "migrate",
    .name = "always",
    .keys = "paging.migrate_threshold",
    .doc = "migrate after a fixed number of accesses (paging.migrate_threshold)",
    .source = "Ganguly et al., IPDPS'20, section V: Always",
    .ops = &ops};
