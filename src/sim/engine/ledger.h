/* SPDX-License-Identifier: Apache-2.0 */
/** Breakdown of a request's time. Components enter the time that they took; the rest is queueing,
 * so the parts add up to the whole by construction. */
#ifndef WP_SIM_LEDGER_H
#define WP_SIM_LEDGER_H

#include "sim/memory/memory_system.h"

typedef struct wpi_ledger {
    wpi_time_ps at;                      /* the time that the request has reached */
    uint32_t spent_ps[WPI_SPENT_QUEUE];  /* at most 4 ms each */
    uint32_t queued_ps[WPI_SPENT_QUEUE]; /* the rest, by what the request queued for; likewise */
} wpi_ledger;

static inline void wpi_ledger_add(uint32_t *to, wpi_time_ps took) {
    const wpi_time_ps sum = *to + took;
    *to = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
}

/** The request queues until `time`, at the component whose time is `spent`. A time that is not
 * later changes nothing. */
static inline void wpi_ledger_wait(wpi_ledger *ledger, wpi_spent spent, wpi_time_ps time) {
    if (time <= ledger->at) return;
    wpi_ledger_add(&ledger->queued_ps[spent], time - ledger->at);
    ledger->at = time;
}

/** Enters the time until `time` as `spent`. */
static inline void wpi_ledger_until(wpi_ledger *ledger, wpi_spent spent, wpi_time_ps time) {
    if (time <= ledger->at) return;
    wpi_ledger_add(&ledger->spent_ps[spent], time - ledger->at);
    ledger->at = time;
}

/** Enters the last `work_ps` before `time` as `spent`, and the time before as queueing. */
static inline void wpi_ledger_work(wpi_ledger *ledger, wpi_spent spent, wpi_time_ps work_ps,
                                   wpi_time_ps time) {
    wpi_ledger_wait(ledger, spent, time > work_ps ? time - work_ps : 0);
    wpi_ledger_until(ledger, spent, time);
}

#endif
