/* SPDX-License-Identifier: Apache-2.0 */
#include "policy/migrate.h"

static uint64_t threshold(const wpi_migrate_question *question) {
    if (!question->is_oversubscribed)
        return question->threshold * question->taken_frames / question->frames + 1;
    return question->threshold * (question->round_trips + (uint64_t)1) * question->penalty;
}

static const wpi_migrate_ops ops = {.threshold = threshold};

const wpi_policy wpi_policy_migrate_adaptive = {
    .kind = "migrate",
    .name = "adaptive",
    .keys = "paging.migrate_threshold paging.migrate_penalty",
    .doc = "migrate after a number of accesses that grows with device occupancy and, once "
           "oversubscribed, with the block's round trips",
    .source = "Ganguly et al., IPDPS'20, equation 1",
    .ops = &ops};
