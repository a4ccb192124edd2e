/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/migrate.h"

static uint64_t threshold(const wpi_migrate_question *question) {
    (void)question;
    return 1;
}

static const wpi_migrate_ops ops = {.threshold = threshold};

const wpi_policy wpi_policy_migrate_first_touch = {
    .kind = "migrate",
    .name = "first-touch",
    .keys = "",
    .doc = "migrate on the first access",
    .source = "Ganguly et al., IPDPS'20, section V: Disabled",
    .ops = &ops};
