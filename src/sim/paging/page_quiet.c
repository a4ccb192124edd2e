/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing is in flight: no page in either direction, and no access over the link. Something that
 * arrives may set off other transfers in the same cycle, so the check is an event of the next one.
 */
#include "sim/paging/page_quiet.h"

#include "sim/paging/paging_parts.h"

/* Transfers wait, pages are in flight to the device, or victims wait for the link. */
static bool is_moving(const wpi_paging *p) {
    return wpi_transfers_are_waiting(&p->transfers) || p->residency.coming != 0 ||
           !wpi_staging_is_empty(&p->staging);
}

/* With pages to the host, and accesses. */
static wpi_time_ps link_busy_until(const wpi_paging *p) {
    const wpi_time_ps accesses = wpi_link_accesses_until(p->link);
    const wpi_time_ps departures = wpi_departures_until(&p->departures);
    return accesses > departures ? accesses : departures;
}

static void check(void *object, uint64_t token, wpi_time_ps now) {
    wpi_paging *p = object;
    const wpi_event_fn quiet = p->quiet.quiet;
    (void)token;
    p->quiet.is_due = false;
    if (is_moving(p) || link_busy_until(p) > now) {
        wpi_page_quiet_check(p, now);
        return;
    }
    p->quiet.quiet = NULL;
    quiet(p->quiet.object, 0, now);
}

void wpi_page_quiet_check(wpi_paging *paging, wpi_time_ps now) {
    const wpi_time_ps cycle_ps = paging->profile->cycle_ps, busy = link_busy_until(paging);
    if (paging->quiet.quiet == NULL || paging->quiet.is_due || is_moving(paging)) return;
    paging->quiet.is_due = true;
    wpi_engine_at(paging->engine, ((busy > now ? busy : now) / cycle_ps + 1) * cycle_ps, check,
                  paging, 0);
}

bool wpi_paging_is_quiet(wpi_paging *paging, wpi_time_ps now, wpi_event_fn quiet, void *object) {
    if (!is_moving(paging) && link_busy_until(paging) <= now) return true;
    paging->quiet.quiet = quiet;
    paging->quiet.object = object;
    wpi_page_quiet_check(paging, now);
    return false;
}
