/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time of host work: cores, and the memory bus that they share.
 *
 *     work ─► one share a thread ─► waits for a core ─► slice: core time and bus time ─► done
 *                                          ▲                  │
 *                                          └─ others wait ◄───┘
 *
 * Sequential work takes core time of bytes / host.core_bandwidth. Random reads take one miss per
 * piece, with host.random_in_flight misses at a time, and then the piece's further lines in order.
 * All cores share the bus's host.bandwidth. Written lines are read first, so they count twice. A
 * slice is 256 KiB, or 1/4096 of a share if that is more, so that later work shares cores and bus
 * with work in progress.
 *
 * One thread; all work is done in events of the engine.
 */
#ifndef WP_SIM_HOST_MODEL_H
#define WP_SIM_HOST_MODEL_H

#include "sim/engine/engine.h"
#include "sim/profile/profile.h"
#include "warpage/host.h"

typedef struct wpi_host_model wpi_host_model;

/** Counters of the host, for the report. */
typedef struct wpi_host_numbers {
    uint64_t works, read_bytes, written_bytes;
    wpi_time_ps core_ps; /* core time, summed over cores */
    wpi_time_ps bus_ps;  /* busy time of the memory bus */
} wpi_host_numbers;

/** `engine` and `profile` must outlive it. NOMEM. */
WP_NODISCARD wp_status wpi_host_model_create(wpi_engine *engine, const wpi_host_profile *profile,
                                             wpi_host_model **out, wp_error *err);
void wpi_host_model_destroy(wpi_host_model *model); /* NULL allowed; work in progress is dropped */

/** Starts work now; `done(object, token, time)` is called from an event when its last thread has
 * ended. Ends the process if memory is exhausted (WP_CHECK). */
void wpi_host_model_work(wpi_host_model *model, const wp_host_work *work, wpi_event_fn done,
                         void *object, uint64_t token);

const wpi_host_numbers *wpi_host_model_numbers(const wpi_host_model *model);

#endif
