/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The simulated device: a CPU device whose commands are executed in simulated time.
 *
 *     host threads ── queue commands, wait ──► queues (device/cpu) ──► executor ──► GPU (src/sim)
 *                                                                         └──► functional execution
 *
 * Host code takes no simulated time: commands queued between two waits are queued at the same
 * simulated time. Simulated time passes only while a host thread waits (pace.h), so results depend
 * only on the program.
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
    wpi_variant ahead, stepped;    /* kernels that run ahead of simulated time, and in step */
    struct wpi_recorder *recorder; /* NULL: nothing is recorded */
    struct wpi_trace *trace;       /* from which launches are replayed (replay.c); NULL: none */
    bool counts_copies;            /* counts copies into page-locked memory (host_copies.h) */
} wpi_sim_device;

/** `lead`: the executor of the first device, whose time is this one's, too; NULL: it has its own.
 */
WP_NODISCARD wp_status wpi_sim_executor_create(wpi_cpu_device *device, const wpi_profile *profile,
                                               wpi_sim_executor *lead, wpi_sim_executor **out,
                                               wp_error *err);
void wpi_sim_executor_destroy(wpi_sim_executor *executor); /* NULL allowed */
/** Managed memory was allocated: its pages migrate from now on, if the profile enables it.
 * NOMEM. */
WP_NODISCARD wp_status wpi_sim_executor_manage(wpi_sim_executor *executor, wpi_managed_range range,
                                               wp_error *err);
/** Managed memory is about to be freed, and is not in use. 0: all of it. */
void wpi_sim_executor_unmanage(wpi_sim_executor *executor, uint64_t address);
/** The host has touched pages of the chunk: those on the device migrate to the host, and time
 * passes. */
void wpi_sim_executor_host_touched(wpi_sim_executor *executor, uint64_t chunk,
                                   const wpi_pages *pages);
/** The host has synchronised with the device: pages return to the host if the profile says so, and
 * time passes. */
void wpi_sim_executor_waited(wpi_sim_executor *executor);
/** Whether the executor manages the memory. */
bool wpi_sim_executor_has_managed(wpi_sim_executor *executor, uint64_t address);
/** Whether the system reports the pages that the host touches. */
bool wpi_sim_executor_sees_host(const wpi_sim_executor *executor);
/** Places the unused pages of a range on the host. */
void wpi_sim_executor_use_on_host(wpi_sim_executor *executor, wpi_managed_range range);
/** The program advises on managed memory. */
void wpi_sim_executor_advise(wpi_sim_executor *executor, wpi_managed_range range,
                             const wpi_advice *advice);
/** Migrates the pages that the host has touched since the last check. No effect while the simulator
 * runs. */
void wpi_sim_executor_ask_host(wpi_sim_executor *executor);
/** A host thread begins a call. Not for steps of actors and host functions. */
void wpi_sim_executor_arrive(wpi_sim_executor *executor);
/** Host work and actors (warpage/host.h). */
WP_NODISCARD wp_status wpi_sim_executor_host_work(wpi_sim_executor *executor,
                                                  const wp_host_work *work, wp_error *err);
WP_NODISCARD wp_status wpi_sim_executor_start_actor(wpi_sim_executor *executor,
                                                    const wp_actor *actor, wp_actor **out,
                                                    wp_error *err);
/** Whether the calling thread is in a host function or in an actor's step. */
bool wpi_sim_executor_calls_host(wpi_sim_executor *executor);
/** In an actor's step: simulated time. */
wpi_time_ps wpi_sim_executor_step_time(wpi_sim_executor *executor);
void wpi_sim_executor_await_actor(wpi_sim_executor *executor, const wp_actor *actor);
void wpi_sim_executor_free_actor(wpi_sim_executor *executor, wp_actor *actor);
/** Whether kernels may use memory of device `peer` from now on. No kernel runs. */
void wpi_sim_executor_set_peer(wpi_sim_executor *executor, uint32_t peer, bool is_on);
/** What the device's queues use. */
wpi_executor *wpi_sim_executor_base(wpi_sim_executor *executor);

#endif
