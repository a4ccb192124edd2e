/* SPDX-License-Identifier: Apache-2.0 */
/* Rent or buy: a block stays on the host until its accesses have used the link for as long as its
 * migration takes. Whatever follows, the cost is at most twice that of the better choice. While
 * memory has room, a migration is charged one way, scaled by the share of frames in use; when
 * oversubscribed, there and back, and as much again for each of the last consecutive stays that did
 * not save its cost. Accesses to a block on order do not stall while the link has time for them.
 *
 * Where each remote access takes a turn of the link, reading a block once may cost more than moving
 * it there and back, with the service of its fault. Then a block is moved at its first access,
 * until a stay has not paid. */
#include "policy/migrate.h"

static uint64_t there_and_back(const wpi_migrate_question *q) {
    return 2 * q->move_bytes;
}

static bool is_paid_by_one_pass(const wpi_migrate_question *q) {
    return q->pass_bytes >= there_and_back(q) + q->service_bytes;
}

static uint64_t rent(const wpi_migrate_question *q) {
    return there_and_back(q) * (q->in_vain + (uint64_t)!is_paid_by_one_pass(q));
}

static uint64_t threshold(const wpi_migrate_question *q) {
    if (is_paid_by_one_pass(q)) return rent(q);
    return q->is_oversubscribed ? rent(q) : q->move_bytes * q->taken_frames / q->frames;
}

static bool was_in_vain(const wpi_migrate_question *q) {
    if (is_paid_by_one_pass(q)) return q->local_bytes < q->move_bytes;
    return q->local_bytes < rent(q) + there_and_back(q);
}

static const wpi_migrate_ops ops = {.threshold = threshold,
                                    .was_in_vain = was_in_vain,
                                    .spares = true,
                                    .counts_writes = true,
                                    .counts_bytes = true,
                                    .orders = true};

const wpi_policy wpi_policy_migrate_payback = {
    .kind = "migrate",
    .name = "payback",
    .keys = "",
    .doc = "migrate a block once its remote accesses have used the link as much as moving it "
           "there and back; after moves that did not pay, a multiple of that",
    .source = "Karlin et al., Algorithmica 3, 1988: rent or buy; docs/rooms/payback.md",
    .ops = &ops};
