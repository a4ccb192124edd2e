/* SPDX-License-Identifier: Apache-2.0 */
/* Ready warps are in order of age. Greedy-then-oldest (GTO) gives the turn to the warp that issued
 * last if it is ready, else to the oldest; round robin (RR) to the one behind the last. */
#include "sim/sm_parts.h"

static void enter(wpi_scheduler *s, wpi_warp_run *warp) {
    wpi_warp_run **place = &s->ready;
    while (*place != NULL && (*place)->age < warp->age)
        place = &(*place)->next;
    warp->next = *place;
    *place = warp;
    warp->state = WPI_WARP_READY;
}

static wpi_warp_run **greedy_then_oldest(wpi_scheduler *s) {
    wpi_warp_run **place = &s->ready;
    while (*place != NULL && *place != s->last)
        place = &(*place)->next;
    return *place != NULL ? place : &s->ready;
}

static wpi_warp_run **round_robin(wpi_scheduler *s) {
    wpi_warp_run **place = &s->ready;
    const uint64_t last_age = s->last != NULL ? s->last->age : 0;
    while (*place != NULL && (*place)->age <= last_age)
        place = &(*place)->next;
    return *place != NULL ? place : &s->ready;
}

static wpi_warp_run *leave(wpi_scheduler *s) {
    wpi_warp_run **place = s->sm->is_greedy ? greedy_then_oldest(s) : round_robin(s);
    wpi_warp_run *warp = *place;
    *place = warp->next;
    warp->next = NULL;
    warp->state = WPI_WARP_BUSY;
    return warp;
}

static void turn(void *object, uint64_t token, wp_time_ps now);

static void ask_for_turn(wpi_scheduler *s) {
    if (s->ready == NULL || s->has_event) return;
    s->has_event = true;
    wpi_engine_at(s->sm->engine, s->free_at, turn, s, 0);
}

static void turn(void *object, uint64_t token, wp_time_ps now) {
    wpi_scheduler *s = object;
    (void)token;
    s->has_event = false;
    while (s->ready != NULL && s->free_at <= now)
        wpi_warp_issue(leave(s), now);
    ask_for_turn(s);
}

void wpi_scheduler_want(wpi_scheduler *s, wpi_warp_run *warp, wp_time_ps now) {
    if (s->ready == NULL && s->free_at <= now) {
        warp->state = WPI_WARP_BUSY;
        wpi_warp_issue(warp, now);
        return;
    }
    enter(s, warp);
    if (s->free_at < now) s->free_at = now;
    ask_for_turn(s);
}

void wpi_scheduler_take(wpi_scheduler *s, wpi_warp_run *warp, wp_time_ps now, wp_time_ps slots_ps) {
    s->last = warp;
    s->free_at = now + slots_ps;
}
