/* SPDX-License-Identifier: Apache-2.0 */
/**
 * A thread of the host that serves a launch: one or more of its state machines, in turn. The word
 * that each waits for decides which is next.
 */
#ifndef WP_STREAM_STREAM_SERVER_H
#define WP_STREAM_STREAM_SERVER_H

#include "stream/stream_actor.h"

typedef struct wpi_stream_server {
    wpi_stream_side **sides; /* [count]; not owned */
    uint32_t count;
    uint32_t at; /* the one that is looked at first */
} wpi_stream_server;

/** A step of its actor. */
wp_actor_answer wpi_stream_server_step(wp_actor *actor, void *server);

#endif
