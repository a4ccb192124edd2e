/* SPDX-License-Identifier: Apache-2.0 */
/* Rent or buy: a block stays on the host until its accesses have taken the link for as long as
 * moving it does. Whatever comes after, that is at most twice what the better choice would have
 * cost. While there is room a move is one way, and displaces the less the emptier memory is; then
 * it is there and back, and as much more for each time that the block has gone back already.
 * Nobody waits for what is ordered while the link has time for accesses. */
#include "policy/migrate.h"

static uint64_t threshold(const wpi_migrate_question *q) {
    if (!q->is_oversubscribed) return q->move_bytes * q->taken_frames / q->frames;
    return 2 * q->move_bytes * (q->round_trips + (uint64_t)1);
}

static const wpi_migrate_ops ops = {
    .threshold = threshold, .counts_writes = true, .counts_bytes = true, .goes_on = true};

const wpi_policy wpi_policy_migrate_payback = {
    .kind = "migrate",
    .name = "payback",
    .keys = "",
    .doc = "as many bytes across the link as moving the block there and back takes, each time more",
    .source = "Karlin et al., Algorithmica 3, 1988: rent or buy; docs/rooms/payback.md",
    .ops = &ops};
