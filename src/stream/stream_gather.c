/* SPDX-License-Identifier: Apache-2.0 */
/* Data for addresses. */
#include "device/device.h"
#include "stream/stream_actor.h"

enum { WAIT, LINES, SEND };

static bool copy_in(wpi_stream_side *side, uint32_t k, uint64_t address, void *place) {
    const void *from = wpi_reservation_host(&side->cursor, address, 1u << k, false);
    if (from == NULL) {
        wpi_stream_note_outside(side, &side->cursor, false, 1u << k, address);
        return false;
    }
    if (side->sent != NULL)
        side->counts.repeated_bytes += wpi_sent_bytes_note(side->sent, address, UINT64_C(1) << k);
    wpi_stream_copy(k, place, from);
    return true;
}

static bool gather(wpi_stream_side *side, char *places) {
    wpi_stream_count_chunk(side, false);
    return wpi_stream_visit_chunk(side, false, places, copy_in);
}

/* The address threads found all of the chunk on the device. */
static bool is_filled(const wpi_stream_side *side) {
    const wpi_stream_launch *l = side->buffers->launch_source;
    return l->kept_count != 0 &&
           __atomic_load_n(&l->filled[wpi_stream_buffer(side)], __ATOMIC_ACQUIRE) != 0;
}

static bool send(wpi_stream_side *side) {
    const wpi_stream_buffers *b = side->buffers;
    const wpi_stream_launch *l = b->launch_source;
    const uint64_t buffer = wpi_stream_buffer(side), at = buffer * l->data_bytes;
    uint32_t *flag = &b->answer_flags[buffer];
    if (wpi_stream_copy_classes(side, false, l->data + at, b->data_copy + at, side->down) !=
        WP_STATUS_OK)
        return false;
    *flag = side->chunk + 1;
    return wp_queue_copy(side->down, wpi_stream_word(l->answered, side->set), flag, sizeof *flag,
                         &side->failure) == WP_STATUS_OK;
}

wp_actor_answer wpi_stream_gather_step(wp_actor *actor, void *object) {
    wpi_stream_side *side = object;
    const wpi_stream_buffers *b = side->buffers;
    const wpi_stream_launch *l = b->launch_source;
    const uint32_t *word = wpi_stream_word(l->asked, side->set);
    const uint32_t asked = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    wp_host_work work = {0};
    switch (side->state) {
    case WAIT:
        if (asked == WPI_STREAM_END) return WP_ACTOR_ENDS;
        if (asked <= side->chunk) {
            wp_actor_watch(actor, word, asked);
            return WP_ACTOR_GOES_ON;
        }
        if (is_filled(side)) {
            side->since_ns = wpi_actor_now_ns(actor);
            wpi_stream_count_filled(side);
            work.read_bytes = side->words * sizeof(uint64_t);
            side->state = SEND;
            break;
        }
        if (side->reads_own && side->chunk >= WPI_STREAM_BUFFERS) {
            const uint32_t *placed = wpi_stream_word(b->placed, side->set);
            const uint32_t count = __atomic_load_n(placed, __ATOMIC_ACQUIRE);
            if (count + WPI_STREAM_BUFFERS <= side->chunk) {
                wp_actor_watch(actor, placed, count);
                return WP_ACTOR_GOES_ON;
            }
        }
        side->since_ns = wpi_actor_now_ns(actor);
        if (!gather(side, b->data_copy + wpi_stream_buffer(side) * l->data_bytes))
            return wpi_stream_fail(side);
        work.read_bytes = side->words * sizeof(uint64_t) + side->lines_in_order * 64;
        work.written_bytes = side->bytes;
        wpi_stream_add_file_work(&side->cursor, &side->moved_bytes, &work);
        wpi_stream_add_file_work(&side->index_cursor, &side->index_moved_bytes, &work);
        side->state = LINES;
        break;
    case LINES:
        work = wpi_stream_lines(side);
        side->state = SEND;
        break;
    default:
        if (!send(side)) return wpi_stream_fail(side);
        wpi_stream_note_worked(actor, side);
        side->chunk++;
        side->state = WAIT;
        return WP_ACTOR_GOES_ON;
    }
    return wpi_stream_spend(actor, side, &work);
}
