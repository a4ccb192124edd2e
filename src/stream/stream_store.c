/* SPDX-License-Identifier: Apache-2.0 */
/* Values to addresses. */
#include "device/device.h"
#include "stream/stream_actor.h"

enum { WAIT, RETURN, LINES, TELL };

static bool copy_out(wpi_stream_side *side, uint32_t k, uint64_t address, void *place) {
    void *to = wpi_reservation_host(&side->cursor, address, 1u << k, true);
    if (to == NULL) {
        wpi_stream_note_outside(side, &side->cursor, true, 1u << k, address);
        return false;
    }
    wpi_stream_copy(k, to, place);
    return true;
}

/* What the chunk wrote is copied back; behind it, the word that says so. */
static bool fetch(wpi_stream_side *side) {
    const wpi_stream_buffers *b = side->buffers;
    const wpi_stream_launch *l = b->launch_source;
    const uint64_t at = wpi_stream_buffer(side) * l->values_bytes;
    return wpi_stream_copy_classes(side, true, b->value_copy + at, l->values + at, side->up) ==
               WP_STATUS_OK &&
           wp_queue_fill(side->up, wpi_stream_word(b->returned, side->set), side->chunk + 1,
                         sizeof(uint32_t), 1, &side->failure) == WP_STATUS_OK;
}

static bool tell(wpi_stream_side *side) {
    const wpi_stream_launch *l = side->buffers->launch_source;
    uint32_t *flag = &side->buffers->store_flags[wpi_stream_buffer(side)];
    *flag = side->chunk + 1;
    return wp_queue_copy(side->down, wpi_stream_word(l->stored, side->set), flag, sizeof *flag,
                         &side->failure) == WP_STATUS_OK;
}

wp_actor_answer wpi_stream_store_step(wp_actor *actor, wpi_stream_side *side) {
    const wpi_stream_buffers *b = side->buffers;
    const wpi_stream_launch *l = b->launch_source;
    uint32_t *const words = side->state == RETURN ? b->returned : l->wrote;
    const uint32_t *word = wpi_stream_word(words, side->set);
    const uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    char *values = b->value_copy + wpi_stream_buffer(side) * l->values_bytes;
    wp_host_work work = {0};
    if ((side->state == WAIT || side->state == RETURN) && value <= side->chunk)
        return wpi_stream_await(side, word, value);
    switch (side->state) {
    case WAIT:
        if (value == WPI_STREAM_END) return WP_ACTOR_ENDS;
        wpi_stream_count_chunk(side, true);
        if (!fetch(side)) return wpi_stream_fail(side);
        side->state = RETURN;
        return WP_ACTOR_GOES_ON;
    case RETURN:
        side->since_ns = wpi_actor_now_ns(actor);
        if (!wpi_stream_visit_chunk(side, true, values, copy_out)) return wpi_stream_fail(side);
        __atomic_store_n(wpi_stream_word(b->placed, side->set), side->chunk + 1, __ATOMIC_RELEASE);
        work.read_bytes = side->accesses * sizeof(uint64_t) + side->bytes;
        wpi_stream_add_file_work(&side->cursor, &side->moved_bytes, &work);
        side->state = LINES;
        break;
    case LINES:
        work = wpi_stream_lines(side);
        side->state = TELL;
        break;
    default:
        if (!tell(side)) return wpi_stream_fail(side);
        wpi_stream_note_worked(actor, side);
        side->chunk++;
        side->state = WAIT;
        return WP_ACTOR_GOES_ON;
    }
    return wpi_stream_spend(actor, side, &work);
}
