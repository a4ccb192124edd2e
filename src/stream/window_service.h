/* SPDX-License-Identifier: Apache-2.0 */
/**
 * The host's side of a launch with windows: a state machine for each group of sets, driven by an
 * actor (warpage/host.h). It serves all requests that are there as one batch.
 *
 *     WAIT ─requests─► [RETURN ─values came back─►] GATHER ─► LINES ─► SEND ─► WAIT
 *
 * Requests that come while a batch is answered make the next one larger. Only answers are copied:
 * threads read what was laid out for them over the link.
 */
#ifndef WP_STREAM_WINDOW_SERVICE_H
#define WP_STREAM_WINDOW_SERVICE_H

#include "stream/reservation.h"
#include "stream/stream_actor.h"
#include "stream/window_buffers.h"

/** What a thread got last in one of its windows. */
typedef struct wpi_window_past {
    uint64_t outer, end; /* end: of its part of the data, 0: not known */
    uint32_t bytes;      /* 0: nothing yet */
} wpi_window_past;

typedef struct wpi_window_service {
    const wpi_window_buffers *buffers;
    const char *kernel_name;
    wp_queue *down, *up; /* copies to the device, and back */
    uint32_t group, state;
    uint32_t ticket;  /* of the next request */
    uint32_t batches; /* sent */
    uint32_t *batch;  /* [batch_count]: threads, numbered in the group */
    uint32_t batch_count;
    uint32_t *taken;          /* [threads]: the batch, counted from 1, that a thread was in last */
    uint32_t *write_rows;     /* [warps]: that the batch fetches */
    uint32_t *blocks;         /* [sets]: that had the set last; past is of these */
    wpi_window_past *past;    /* [windows][threads] */
    wp_host_work random_work; /* of the batch */
    uint64_t since_ns;        /* the batch's work began */
    wpi_sent_bytes *sent;     /* of the launch; may be empty */
    wpi_reservation_cursor cursors[WPI_STREAM_WINDOWS], write_cursor;
    uint64_t moved_bytes[WPI_STREAM_WINDOWS], write_moved_bytes; /* of files, that were charged */
    wpi_stream_counts counts, write_counts;
    wpi_stream_spans spans;
    atomic_bool *is_reported; /* whether a failure of the launch is in the log */
    bool has_failed;
    wp_error failure;
} wpi_window_service;

/** NOMEM. Frees what it has with _free, also after an error. */
WP_NODISCARD wp_status wpi_window_service_init(wpi_window_service *s,
                                               const wpi_window_buffers *buffers, uint32_t group,
                                               wp_error *err);
void wpi_window_service_free(wpi_window_service *s);
wp_actor_answer wpi_window_service_step(wp_actor *actor, void *service);

#endif
