/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Time of host work: cores that do it, and the memory bus they share.
 *
 *     work ─► one share a thread ─► waits for a core ─► slices, each: core time and bus time ─►
 * done └──── others wait: back to the end of the line ◄──┘
 *
 * Core time of sequential work is bytes / host.core_bandwidth. Of random reads it is one miss a
 * piece, host.random_in_flight of them at a time, and the piece's further lines in order. The bus
 * carries host.bandwidth for all cores together. Written lines are read first, so they count twice.
 * A slice is 256 KiB, or 1/4096 of a share if that is more, so work that comes later shares cores
 * and bus with work under way.
 *
 * One thread; everything happens in events of the engine.
 */
#ifndef WP_SIM_HOST_MODEL_H
#define WP_SIM_HOST_MODEL_H

#include "sim/engine/engine.h"
#include "sim/profile/profile.h"
#include "warpage/host.h"

typedef struct wpi_host_model wpi_host_model;

/** What the host did, for the report. */
typedef struct wpi_host_numbers {
    uint64_t works, read_bytes, written_bytes;
    wpi_time_ps core_ps; /* that cores were taken, all added up */
    wpi_time_ps bus_ps;  /* that the memory bus was */
} wpi_host_numbers;

/** NOMEM. Engine and profile must stay. */
WP_NODISCARD wp_status wpi_host_model_create(wpi_engine *engine, const wpi_host_profile *profile,
                                             wpi_host_model **out, wp_error *err);
void wpi_host_model_destroy(wpi_host_model *model); /* NULL allowed; work under way is dropped */

/** Starts work now; `done(object, token, time)` is called when its last thread has ended, from an
 * event. When the host has no memory for it the process ends (WP_CHECK). */
void wpi_host_model_work(wpi_host_model *model, const wp_host_work *work, wpi_event_fn done,
                         void *object, uint64_t token);

const wpi_host_numbers *wpi_host_model_numbers(const wpi_host_model *model);

#endif
