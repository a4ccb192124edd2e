/* SPDX-License-Identifier: Apache-2.0 */
/* Two policies of different kinds. */
#include "table.h"

static uint64_t threshold(const wpi_migrate_question *question) {
    return question->threshold;
}

static const wpi_migrate_ops migrate_ops = {.threshold = threshold};
static const wpi_replacement_ops replacement_ops = {.is_moved_by_use = true};
static const wpi_policy migrate = POLICY("migrate", "from-file", &migrate_ops);
static const wpi_policy replacement = POLICY("replacement", "from-file", &replacement_ops);
static const wpi_policy *const policies[] = {&migrate, &replacement, NULL};
static const uint32_t sizes[] = WPI_POLICY_SIZES;

TABLE(WPI_POLICY_ABI, sizes, policies);
