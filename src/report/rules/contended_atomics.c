/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes of a warp, or many warps, update one address: the L2 performs these updates one by one. */
#include <inttypes.h>

#include "base/text.h"
#include "report/rules/rules.h"

static bool find(const wpi_rule_facts *f, wpi_finding *out) {
    const double busy = wpi_fact_atomic_pct(f);
    const uint64_t accesses =
        wpi_fact_count(f, "memory_atomic_accesses") + wpi_fact_count(f, "memory_reduce_accesses");
    if (busy < 30 || accesses == 0) return false;
    const uint64_t turns = wpi_fact_count(f, "l2_atomic_turns");
    out->weight = f->share * busy / 100;
    out->line_times = WPI_LINE_TIME(L2);
    out->evidence = wpi_format("Atomics update few addresses: an access of a warp takes %.1f turns "
                               "at the L2, as its lanes meet at the same address, and %" PRIu64
                               " turns of a cycle are %.0f %% of its time",
                               (double)turns / (double)accesses, turns, busy);
    out->remedy = wpi_format("Add up in registers (__reduce_add_sync, __shfl_down_sync) or in "
                             "shared memory first, and make one atomic a warp or block; or use "
                             "several copies of the address");
    out->ideal = wpi_format("l2.atomic_interval=0cycles");
    out->ideal_name = "atomics that take no turns";
    return true;
}

const wpi_rule wpi_rule_contended_atomics = {.name = "contended-atomics", .find = find};
