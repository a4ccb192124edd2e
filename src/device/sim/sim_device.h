/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The simulated device: a CPU device whose commands are executed in simulated time.
 *
 *     host threads ── queue commands, wait ──► queues (device/cpu) ──► executor ──► GPU (src/sim)
 *                                                                         └──► threads run, copies
 * are made
 *
 * Host code takes no simulated time: what it queues between two waits is queued at the same moment.
 * Simulated time passes only while a host thread waits (pace.h); so what a program sees depends
 * on nothing but the program.
 */
#ifndef WP_DEVICE_SIM_SIM_DEVICE_H
#define WP_DEVICE_SIM_SIM_DEVICE_H

#include "device/cpu/queue.h"
#include "device/sim/in_step.h"
#include "device/sim/managed_pages.h"
#include "sim/sm/gpu_model.h"

typedef struct wpi_sim_executor wpi_sim_executor;

typedef struct wpi_sim_device {
    wpi_cpu_device cpu; /* first */
    wpi_profile *profile;
    wpi_sim_executor *executor;
    wpi_in_step in_step;
    struct wpi_recorder *recorder; /* NULL: nothing is recorded */
    struct wpi_trace *trace;       /* that launches are replayed from (replay.c); NULL: none */
    bool counts_copies;            /* of the program into page-locked memory (host_copies.h) */
} wpi_sim_device;

WP_NODISCARD wp_status wpi_sim_executor_create(wpi_cpu_device *device, const wpi_profile *profile,
                                               wpi_sim_executor **out, wp_error *err);
void wpi_sim_executor_destroy(wpi_sim_executor *executor); /* NULL allowed */
/** Managed memory was allocated: from now on its pages move, if the profile says that they do.
 * NOMEM. */
WP_NODISCARD wp_status wpi_sim_executor_manage(wpi_sim_executor *executor, wpi_managed_range range,
                                               wp_error *err);
/** … is about to be freed, and nothing uses it any more. 0: all of it. */
void wpi_sim_executor_unmanage(wpi_sim_executor *executor, uint64_t address);
/** The host has touched pages of the chunk: what of that is on the device comes back, and time
 * passes. */
void wpi_sim_executor_host_touched(wpi_sim_executor *executor, uint64_t chunk,
                                   const wpi_pages *pages);
/** The host has waited for all that was queued: if the profile says so its pages go back, and time
 * passes. */
void wpi_sim_executor_waited(wpi_sim_executor *executor);
/** It is managed memory that the executor knows. */
bool wpi_sim_executor_has_managed(wpi_sim_executor *executor, uint64_t address);
/** Whether the system tells what the host touches. */
bool wpi_sim_executor_sees_host(const wpi_sim_executor *executor);
/** A range of managed memory is on the host, as far as nobody has used it. */
void wpi_sim_executor_use_on_host(wpi_sim_executor *executor, wpi_managed_range range);
/** The program has said something of managed memory. */
void wpi_sim_executor_advise(wpi_sim_executor *executor, wpi_managed_range range,
                             const wpi_advice *advice);
/** What has the host touched since it was asked last? Nothing, if the simulator is at work. */
void wpi_sim_executor_ask_host(wpi_sim_executor *executor);
/** A host thread begins a call. Not for steps of actors and host functions. */
void wpi_sim_executor_arrive(wpi_sim_executor *executor);
/** Host work and actors (warpage/host.h). */
WP_NODISCARD wp_status wpi_sim_executor_host_work(wpi_sim_executor *executor,
                                                  const wp_host_work *work, wp_error *err);
WP_NODISCARD wp_status wpi_sim_executor_start_actor(wpi_sim_executor *executor,
                                                    const wp_actor *actor, wp_actor **out,
                                                    wp_error *err);
/** The calling thread is in a host function or in an actor's step. */
bool wpi_sim_executor_calls_host(wpi_sim_executor *executor);
/** In a step of an actor: simulated time. */
wpi_time_ps wpi_sim_executor_step_time(wpi_sim_executor *executor);
void wpi_sim_executor_await_actor(wpi_sim_executor *executor, const wp_actor *actor);
void wpi_sim_executor_free_actor(wpi_sim_executor *executor, wp_actor *actor);
wpi_executor *wpi_sim_executor_base(wpi_sim_executor *executor);

#endif
