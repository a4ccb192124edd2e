/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counters of a simulated GPU for the report, by launch and for the run.
 *
 *     launch begins ─► snapshot ─┐
 *     launch ends ───► snapshot ─┴─► difference ─► recorder, by kernel
 *     the model ends, or the process ─► sums of the run ─► recorder
 *
 * Concurrent launches share the memory system, whose counters then include all of them; the record
 * says how many launches overlapped. Counters of SMs are each launch's own.
 *
 * Thread rule: the thread that runs the executor's round; wpi_observer_collect: any thread, while
 * the model is at rest.
 */
#ifndef WP_DEVICE_SIM_OBSERVER_H
#define WP_DEVICE_SIM_OBSERVER_H

#include "device/sim/addresses.h"
#include "sim/sm/gpu_model.h"

typedef struct wpi_observer wpi_observer;
typedef struct wpi_observed wpi_observed; /* a launch in progress */

/** NOMEM. */
/** `addresses` (of the device) must outlive it. */
WP_NODISCARD wp_status wpi_observer_create(const wpi_profile *profile,
                                           const wpi_addresses *addresses, wpi_observer **out,
                                           wp_error *err);
void wpi_observer_destroy(wpi_observer *observer); /* NULL allowed */

/** Attaches a model, which is at rest; its time 0 is `base_ps` of the device. */
void wpi_observer_attach(wpi_observer *observer, wpi_engine *engine, wpi_gpu *gpu,
                         wpi_memory *memory, wpi_time_ps base_ps);
/** Detaches the model, if one is attached, and keeps its counts. */
void wpi_observer_detach(wpi_observer *observer);

/** A launch begins. NULL: out of memory; wpi_observer_end accepts it. */
wpi_observed *wpi_observer_begin(wpi_observer *observer, const char *kernel);
/** The counts by line of a launch that has begun, of code with these tables; NULL: not wanted. */
wpi_line_counts *wpi_observer_lines(const wpi_observer *observer, const wpi_observed *observed,
                                    const char *kernel, const wp_trace_tables *tables);
/** A launch has ended; `numbers` NULL: it failed, and is not counted. True: it was selected for the
 *  report. */
bool wpi_observer_end(wpi_observer *observer, wpi_observed *observed, const char *kernel,
                      const wpi_launch_numbers *numbers);
/** Thread instructions that the report counts so far. */
uint64_t wpi_observer_instructions(const wpi_observer *observer);
/** Passes the sums so far of all devices to the recorder: all have the same profile. Allocations,
 * pages and lines are those of the first. */
void wpi_observer_collect(wpi_observer *const *observers, size_t count);

#endif
