/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/kept_fill.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "device/device.h"

enum { LANES = WPI_KEPT_FILL_LANES, BUFFERS = 2, ALIGNMENT = 4096, WORD_BYTES = 256 };
enum { STAGE, SEND };

typedef struct lane {
    const wpi_kept_fill *fill;
    atomic_size_t *next; /* piece, of all lanes */
    wp_queue *queue;
    char *buffers;
    size_t piece_bytes, piece; /* piece: the one that is staged */
    uint32_t *copied;          /* pinned: pieces of this lane that are on the device */
    uint32_t sent;
    int state;
    wp_status status;
    wp_error failure;
} lane;

size_t wpi_kept_fill_piece_bytes(uint64_t pinned_bytes_max) {
    const uint64_t room = pinned_bytes_max / (LANES * BUFFERS + 1) / ALIGNMENT * ALIGNMENT;
    return pinned_bytes_max == 0 || room > WPI_KEPT_FILL_PIECE_BYTES ? WPI_KEPT_FILL_PIECE_BYTES
                                                                     : (size_t)room;
}

wp_status wpi_kept_fill_add(wpi_kept_fill *fill, const wpi_kept_part *part, size_t piece_bytes,
                            wp_error *err) {
    for (size_t at = 0; at < part->bytes; at += piece_bytes) {
        const size_t left = part->bytes - at;
        if (fill->count == fill->room) {
            const size_t room = 2 * fill->room + LANES;
            wpi_kept_part *more = wpi_realloc(fill->pieces, room * sizeof *more);
            if (more == NULL) return WP_FAIL(err, NOMEM, "data that are kept on the device");
            fill->pieces = more;
            fill->room = room;
        }
        fill->pieces[fill->count++] = (wpi_kept_part){part->host + at, part->to + at,
                                                      left < piece_bytes ? left : piece_bytes};
    }
    return WP_STATUS_OK;
}

void wpi_kept_fill_deinit(wpi_kept_fill *fill) {
    wpi_free(fill->pieces);
    *fill = (wpi_kept_fill){0};
}

/* ---- a lane ---- */

static char *buffer_of(const lane *l) {
    return l->buffers + l->sent % BUFFERS * l->piece_bytes;
}

static wp_actor_answer fail(lane *l, wp_status status) {
    l->status = status;
    return WP_ACTOR_ENDS;
}

/* Ends when all that it sent is there: then its buffers are free. */
static wp_actor_answer stage(wp_actor *actor, lane *l) {
    const wpi_kept_fill *fill = l->fill;
    const uint32_t copied = __atomic_load_n(l->copied, __ATOMIC_ACQUIRE);
    if (l->sent - copied == BUFFERS) {
        wp_actor_watch(actor, l->copied, copied);
        return WP_ACTOR_GOES_ON;
    }
    if (l->piece == SIZE_MAX) l->piece = atomic_fetch_add(l->next, 1);
    if (l->piece >= fill->count) {
        if (l->sent == copied) return WP_ACTOR_ENDS;
        wp_actor_watch(actor, l->copied, copied);
        return WP_ACTOR_GOES_ON;
    }
    const wpi_kept_part *part = &fill->pieces[l->piece];
    const wp_host_work work = {.read_bytes = part->bytes, .written_bytes = part->bytes};
    memcpy(buffer_of(l), part->host, part->bytes);
    l->state = SEND;
    const wp_status status = wp_device_host_work(actor->device, &work, &l->failure);
    return status == WP_STATUS_OK ? WP_ACTOR_GOES_ON : fail(l, status);
}

static wp_status send(lane *l) {
    const wpi_kept_part *part = &l->fill->pieces[l->piece];
    WP_TRY(wp_queue_copy(l->queue, part->to, buffer_of(l), part->bytes, &l->failure));
    return wp_queue_fill(l->queue, l->copied, l->sent + 1, sizeof *l->copied, 1, &l->failure);
}

static wp_actor_answer step(wp_actor *actor, void *object) {
    lane *l = object;
    if (l->state == STAGE) return stage(actor, l);
    const wp_status status = send(l);
    if (status != WP_STATUS_OK) return fail(l, status);
    l->sent++;
    l->piece = SIZE_MAX;
    l->state = STAGE;
    return WP_ACTOR_GOES_ON;
}

/* ---- all of them ---- */

static wp_status run_lanes(lane *lanes, size_t count, wp_device *device, wp_error *err) {
    wp_actor *actors[LANES] = {0};
    wp_status first = WP_STATUS_OK;
    for (size_t i = 0; i < count && first == WP_STATUS_OK; i++)
        first = wp_actor_start(device, "copying data that stay on the device", step, &lanes[i],
                               &actors[i], err);
    for (size_t i = 0; i < count; i++) {
        if (actors[i] == NULL) continue;
        const wp_status status = wp_actor_wait(actors[i], first == WP_STATUS_OK ? err : NULL);
        if (first == WP_STATUS_OK) first = status;
        wp_actor_destroy(actors[i]);
        if (first != WP_STATUS_OK || lanes[i].status == WP_STATUS_OK) continue;
        first = lanes[i].status;
        if (err != NULL) *err = lanes[i].failure;
    }
    return first;
}

wp_status wpi_kept_fill_run(const wpi_kept_fill *fill, wp_device *device, size_t piece_bytes,
                            wp_error *err) {
    const size_t count = fill->count < LANES ? fill->count : LANES;
    lane lanes[LANES] = {0};
    atomic_size_t next = 0;
    wp_queue *queue = NULL;
    void *pinned = NULL;
    wp_status status;
    if (count == 0) return WP_STATUS_OK;
    WP_TRY_GOTO(wp_queue_create(device, false, &queue, err), done);
    WP_TRY_GOTO(wp_memory_alloc(device, WP_MEMORY_PINNED,
                                count * (WORD_BYTES + BUFFERS * piece_bytes), 0, &pinned, err),
                done);
    memset(pinned, 0, count * WORD_BYTES);
    for (size_t i = 0; i < count; i++)
        lanes[i] =
            (lane){.fill = fill,
                   .next = &next,
                   .queue = queue,
                   .buffers = (char *)pinned + count * WORD_BYTES + i * BUFFERS * piece_bytes,
                   .piece_bytes = piece_bytes,
                   .piece = SIZE_MAX,
                   .copied = (uint32_t *)(void *)((char *)pinned + i * WORD_BYTES)};
    status = run_lanes(lanes, count, device, err);
    if (status == WP_STATUS_OK) status = wp_queue_wait(queue, err);
done:
    wp_queue_destroy(queue);
    if (pinned != NULL) {
        const wp_status ignored = wp_memory_free(device, pinned, NULL);
        (void)ignored;
    }
    return status;
}
