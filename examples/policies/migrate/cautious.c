/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a policy: while a quarter of device memory is free, the first access migrates a page;
 * from then on a fixed number of accesses does, doubled with each round trip of its block. */
#include "policy/migrate.h"

static uint64_t threshold(const wpi_migrate_question *question) {
    if (question->taken_frames < question->frames / 4 * 3) return 1;
    return (uint64_t)question->threshold << question->round_trips;
}

static const wpi_migrate_ops ops = {.threshold = threshold};

const wpi_policy wpi_policy_migrate_cautious = {.kind = "migrate",
                                                .name = "cautious",
                                                .keys = "paging.migrate_threshold",
                                                .doc = "threshold doubles with each round trip",
                                                .source = "an example",
                                                .ops = &ops};
