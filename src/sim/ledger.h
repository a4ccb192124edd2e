/* SPDX-License-Identifier: Apache-2.0 */
/** Where a request's time went: an account that is always closed, because each entry reaches from
 * the last one to a new time. So the parts add up to the whole by construction. */
#ifndef WP_SIM_LEDGER_H
#define WP_SIM_LEDGER_H

#include "sim/memory.h"

typedef struct wpi_ledger {
    wp_time_ps at; /* accounted for until then */
    wp_time_ps spent_ps[WPI_SPENT_COUNT];
} wpi_ledger;

/** The time since the last entry went to `spent`. A time that is not later adds nothing. */
static inline void wpi_ledger_until(wpi_ledger *ledger, wpi_spent spent, wp_time_ps time) {
    if (time <= ledger->at) return;
    ledger->spent_ps[spent] += time - ledger->at;
    ledger->at = time;
}

/** Of the time until `time`, the last `work_ps` went to `spent` and what was before them to
 * waiting. */
static inline void wpi_ledger_work(wpi_ledger *ledger, wpi_spent spent, wp_time_ps work_ps,
                                   wp_time_ps time) {
    wpi_ledger_until(ledger, WPI_SPENT_QUEUE, time > work_ps ? time - work_ps : 0);
    wpi_ledger_until(ledger, spent, time);
}

#endif
