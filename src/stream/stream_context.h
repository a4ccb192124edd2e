/* SPDX-License-Identifier: Apache-2.0 */
/**
 * What one streamed launch has for as long as it is under way: buffers, queues, actors. A context
 * is used again by later launches. Each launch has one of its own, so there is a limit to how many
 * are under way: then a launch waits for the first of them.
 */
#ifndef WP_STREAM_STREAM_CONTEXT_H
#define WP_STREAM_STREAM_CONTEXT_H

#include <stdatomic.h>

#include "stream/kept_data.h"
#include "stream/stream_server.h"
#include "stream/window_service.h"
#include "warpage/stream.h"

typedef struct wpi_stream_context {
    wp_device *device;
    wpi_stream_memory memory;
    wpi_stream_buffers buffers;
    wp_queue *down, *up;             /* copies to the device, and back */
    wp_event *began, *ended;         /* of the kernel */
    wp_event *over;                  /* of all that belongs to the launch */
    wpi_stream_side *gather, *store; /* [set_count] */
    wpi_stream_side **served;        /* of these, those that work, as servers have them */
    wpi_stream_server *servers;      /* [actor_count] */
    wpi_window_buffers window_buffers;
    wpi_window_service *services; /* [service_count]: of a launch with windows, instead */
    uint32_t set_count, service_count;
    wp_actor **actors; /* [actor_count]; NULL where there is none */
    uint32_t actor_count;
    uint64_t number; /* of the launch */
    bool is_used;
    bool is_queued; /* its launch is complete: it can be retired when that has ended */
    atomic_bool has_ended;
    atomic_bool is_reported;         /* whether a failure of the launch is in the log */
    uint64_t actors_ended_ns;        /* when that was set, on the actors' clock */
    char *name;                      /* of the kernel, mangled */
    char windows[WPI_STREAM_REASON]; /* why it has windows; "": it has not */
    wpi_sent_bytes sent;
    wpi_kept_use kept;
    streamingReport report; /* what is known at the launch */
    struct wpi_stream_context *next;
} wpi_stream_context;

/** One that is not in use, or a new one; waits where too many are. The caller queues the launch,
 * then calls wpi_stream_context_queued, or _drop if that failed. */
WP_NODISCARD wp_status wpi_stream_context_take(wp_device *device, wpi_stream_context **out,
                                               wp_error *err);
void wpi_stream_context_queued(wpi_stream_context *context);
void wpi_stream_context_drop(wpi_stream_context *context);
/** A queue's call behind the launch: it has ended. */
void wpi_stream_context_on_end(void *context);

/** Lets go of what ended launches hold. */
void wpi_stream_contexts_retire(void);
/** False: no launch has ended yet. */
bool wpi_stream_last_report(streamingReport *out);
/** Of a launch that was only planned. */
void wpi_stream_put_report(const streamingReport *report);
/** Frees all contexts. All launches have ended, or their device has failed. */
void wpi_stream_contexts_free(void);

#endif
