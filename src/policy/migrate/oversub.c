/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/migrate.h"

static uint64_t threshold(const wpi_migrate_question *question) {
    return question->is_oversubscribed ? question->threshold : 1;
}

static const wpi_migrate_ops ops = {.threshold = threshold};

const wpi_policy wpi_policy_migrate_oversub = {
    .kind = "migrate",
    .name = "oversub",
    .keys = "paging.migrate_threshold",
    .doc = "migrate on the first access until device memory has been full once, then as "
           "always",
    .source = "Ganguly et al., IPDPS'20, section V: Oversub",
    .ops = &ops};
