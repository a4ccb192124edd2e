/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Simulated time and its events. An event is a function to be called at a time; events run in order
 * of (time, sequence), where the sequence is the order in which they were scheduled. So a run
 * depends only on its input.
 *
 *     now                            8 to 17 us                0.5 s
 *      |  near  |  |  |  | buckets |  |   windows   |   |   |   |   far
 *      1024 lists,  a list without     a queue for each 8 us        heap of what nothing
 *      one for      order for each                                  covers yet
 *      each ps      1024 ps
 *
 * A window's events are moved to its buckets, and a bucket's to the near lists, as time advances.
 * So an event costs two or three list insertions and no comparison; nothing is allocated once the
 * pool is large enough.
 *
 * One thread. Times are picoseconds (base/time.h).
 */
#ifndef WP_SIM_ENGINE_H
#define WP_SIM_ENGINE_H

#include <stdbool.h>

#include "base/fail.h"
#include "base/time.h"

/** `now` is the event's time, which is also wpi_engine_now(). */
typedef void (*wpi_event_fn)(void *object, uint64_t token, wpi_time_ps now);

typedef struct wpi_engine wpi_engine;

/** An engine at time 0 without events. NOMEM. */
WP_NODISCARD wp_status wpi_engine_create(wpi_engine **out, wp_error *err);
void wpi_engine_destroy(wpi_engine *engine); /* NULL allowed; events that are left are dropped */

/** Calls `fn(object, token, time)` at `time`, which must not lie before now. Ends the process if
 * the pool of events cannot grow (WP_CHECK). */
void wpi_engine_at(wpi_engine *engine, wpi_time_ps time, wpi_event_fn fn, void *object,
                   uint64_t token);

/** An event is due soon: the function may prefetch the event's data into the host's caches, and
 * must change nothing. `is_near`: about a nanosecond ahead; otherwise some nanoseconds earlier. */
typedef void (*wpi_announce_fn)(void *object, uint64_t token, bool is_near);

/** The same with an announcement, which may be omitted or be made twice. */
void wpi_engine_at_announced(wpi_engine *engine, wpi_time_ps time, wpi_event_fn fn,
                             wpi_announce_fn announce, void *object, uint64_t token);

/** Runs events until none is left, or one of them called wpi_engine_stop. */
void wpi_engine_run(wpi_engine *engine);
/** Runs the events at or before `time`; afterwards it is `time`, unless stopped. */
void wpi_engine_run_until(wpi_engine *engine, wpi_time_ps time);
/** The run in progress returns after the current event; later runs continue from there. */
void wpi_engine_stop(wpi_engine *engine);

wpi_time_ps wpi_engine_now(const wpi_engine *engine);
uint64_t wpi_engine_pending(const wpi_engine *engine);    /* events scheduled, not yet run */
uint64_t wpi_engine_events_run(const wpi_engine *engine); /* since creation */

#endif
