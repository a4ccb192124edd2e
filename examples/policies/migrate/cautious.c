/* SPDX-License-Identifier: Apache-2.0 */
/* An example of a policy: as long as a quarter of memory is free the first access brings a page, then
 * a fixed number does, twice as many for each time that the page went back. */
#include "policy/migrate.h"

static uint64_t threshold(const wpi_migrate_question *question) {
    if (question->taken_frames < question->frames / 4 * 3) return 1;
    return (uint64_t)question->threshold << question->round_trips;
}

static const wpi_migrate_ops ops = {.threshold = threshold};

const wpi_policy wpi_policy_migrate_cautious = {.kind = "migrate",
                                                .name = "cautious",
                                                .keys = "paging.migrate_threshold",
                                                .doc = "more accesses each time a page comes",
                                                .source = "an example",
                                                .ops = &ops};
