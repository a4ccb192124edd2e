/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Actors of a simulated host (warpage/host.h): their steps are events.
 *
 *                 ┌── declared work (sim/host) ──┐
 *     STEPPING ───┼── commands queued: call time ┼──► LOOKING ─ word unchanged ─► WATCHING
 *        ▲        └──────────────────────────────┘       │                           │ a store
 *        └─────────────── changed, or none is watched ◄──┴──── host.notice ◄─────────┘
 *
 * Words are checked when they may have changed: after a kernel's store to host memory, after a
 * copy, fill, launch or host function, and before each round for stores of host threads. A step
 * queues commands at the simulated time of its event.
 *
 * Thread rule: with device->lock held, or from an event of the engine.
 */
#ifndef WP_DEVICE_SIM_HOST_ACTORS_H
#define WP_DEVICE_SIM_HOST_ACTORS_H

#include "device/cpu/queue.h"
#include "sim/host/host_model.h"

typedef struct wpi_sim_actor wpi_sim_actor;

typedef struct wpi_actors {
    const wpi_host_profile *profile;
    wpi_engine *engine; /* NULL: the model is being replaced */
    wpi_host_model *model;
    wpi_sim_actor *first;
    uint32_t live;      /* actors that have not ended */
    uint32_t under_way; /* pending events and work */
    bool has_queued;    /* a step has queued commands that no round has started yet */
    bool has_ended;     /* an actor has ended; its waiters are not woken yet */
} wpi_actors;

/** Attaches the actors to a new engine. NOMEM. */
WP_NODISCARD wp_status wpi_actors_attach(wpi_actors *actors, wpi_engine *engine,
                                         const wpi_host_profile *profile, wp_error *err);
/** Detaches the engine, which drops its work and ends all actors. */
void wpi_actors_detach(wpi_actors *actors);

WP_NODISCARD wp_status wpi_actors_start(wpi_actors *actors, const wp_actor *actor, wp_actor **out,
                                        wp_error *err);
void wpi_actor_watch_word(wp_actor *actor, const volatile uint32_t *word, uint32_t value);
/** For wpi_device_wait_until; `actor` is a wp_actor. */
bool wpi_actor_has_ended(const void *actor);
/** Ends the actor, if it has not ended, and frees it. */
void wpi_actors_free(wpi_actors *actors, wp_actor *actor);

/** Memory that actors watch may have changed. */
void wpi_actors_look(wpi_actors *actors);
/** A command was queued; counts if this thread executes a step. */
void wpi_actors_note_queued(wpi_actors *actors);
bool wpi_actors_is_stepping(const wpi_actors *actors);
/** The step that this thread executes declares work. False: it executes none. */
bool wpi_actors_declare(wpi_actors *actors, const wp_host_work *work);
/** Starts work of a queue, a host function or a host thread; calls `done` when it has ended. */
void wpi_actors_work(wpi_actors *actors, const wp_host_work *work, wpi_event_fn done, void *object);

/** Describes an actor that watches a word; false: none does. */
bool wpi_actors_describe_wait(const wpi_actors *actors, char *out, size_t out_bytes);

#endif
