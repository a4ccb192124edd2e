/* SPDX-License-Identifier: Apache-2.0 */
/* Issue: ready warps are kept in order of age, and a policy selects one. */
#include "sim/sm/sm_parts.h"

static void enter(wpi_scheduler *s, wpi_warp_run *warp) {
    wpi_ready **place = &s->ready;
    while (*place != NULL && (*place)->age < warp->ready.age)
        place = &(*place)->next;
    warp->ready.next = *place;
    *place = &warp->ready;
    wpi_warp_set_state(warp, WPI_WARP_READY);
}

static wpi_warp_run *leave(wpi_scheduler *s) {
    wpi_ready **place = s->sm->policy->pick(&s->ready, s->last != NULL ? &s->last->ready : NULL);
    wpi_warp_run *warp = (wpi_warp_run *)(void *)*place;
    *place = warp->ready.next;
    wpi_warp_set_state(warp, WPI_WARP_BUSY);
    return warp;
}

static void issue(wpi_warp_run *warp, wpi_time_ps now) {
    wpi_warp_spent(warp, WPI_WARP_TIME_NOT_SELECTED, now);
    wpi_warp_issue(warp, now);
}

static void turn(void *object, uint64_t token, wpi_time_ps now);

static void ask_for_turn(wpi_scheduler *s) {
    if (s->ready == NULL || s->has_event) return;
    s->has_event = true;
    wpi_engine_at(s->sm->engine, s->free_at, turn, s, 0);
}

static void turn(void *object, uint64_t token, wpi_time_ps now) {
    wpi_scheduler *s = object;
    (void)token;
    s->has_event = false;
    while (s->ready != NULL && s->free_at <= now)
        issue(leave(s), now);
    ask_for_turn(s);
}

void wpi_scheduler_want(wpi_scheduler *s, wpi_warp_run *warp, wpi_time_ps now) {
    if (s->ready == NULL && s->free_at <= now) {
        wpi_warp_set_state(warp, WPI_WARP_BUSY);
        wpi_warp_issue(warp, now);
        return;
    }
    enter(s, warp);
    if (s->free_at < now) s->free_at = now;
    ask_for_turn(s);
}

void wpi_scheduler_take(wpi_scheduler *s, wpi_warp_run *warp, wpi_time_ps now,
                        wpi_time_ps slots_ps) {
    s->last = warp;
    s->free_at = now + slots_ps;
    warp->cta->launch->numbers.issue_ps += slots_ps;
}
