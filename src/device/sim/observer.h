/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What the report says of a simulated GPU: the model's counters, by launch and for the run.
 *
 *     launch begins ─► snapshot ─┐
 *     launch ends ───► snapshot ─┴─► difference ─► recorder, by kernel
 *     the model ends, or the process ─► sums of the run ─► recorder
 *
 * Launches at the same time share the memory system: its counts are then of all of them, and the
 * record says how many launches that concerns; what SMs count is each launch's own.
 *
 * Thread rule: whoever does the executor's round, but for wpi_observer_collect: any, while the
 * model rests.
 */
#ifndef WP_DEVICE_SIM_OBSERVER_H
#define WP_DEVICE_SIM_OBSERVER_H

#include "device/sim/addresses.h"
#include "sim/sm/gpu_model.h"

typedef struct wpi_observer wpi_observer;
typedef struct wpi_observed wpi_observed; /* a launch under way */

/** NOMEM. */
/** `addresses` (of the device) must outlive it. */
WP_NODISCARD wp_status wpi_observer_create(const wpi_profile *profile,
                                           const wpi_addresses *addresses, wpi_observer **out,
                                           wp_error *err);
void wpi_observer_destroy(wpi_observer *observer); /* NULL allowed */

/** A model at rest, whose time 0 is `base_ps` of the device's. */
void wpi_observer_attach(wpi_observer *observer, wpi_engine *engine, wpi_gpu *gpu,
                         wpi_memory *memory, wpi_time_ps base_ps);
/** The model goes: what it has counted is kept. Nothing, if none is attached. */
void wpi_observer_detach(wpi_observer *observer);

/** NULL (memory is out) is accepted by wpi_observer_end. */
wpi_observed *wpi_observer_begin(wpi_observer *observer, const char *kernel);
/** A launch has ended; `numbers` NULL: it failed, and is not counted. True: it was selected for the
 *  report. */
bool wpi_observer_end(wpi_observer *observer, wpi_observed *observed, const char *kernel,
                      const wpi_launch_numbers *numbers);
/** Thread instructions that the report counts so far. */
uint64_t wpi_observer_instructions(const wpi_observer *observer);
/** Hands the sums so far to the recorder. */
void wpi_observer_collect(wpi_observer *observer);

#endif
