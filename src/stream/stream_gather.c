/* SPDX-License-Identifier: Apache-2.0 */
/* Data for addresses. */
#include "device/device.h"
#include "stream/stream_actor.h"

enum { WAIT, COUNTS, ADDRESSES, LINES, SEND };

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

/* The addresses are read: their buffer can be filled again. */
static bool send_taken(wpi_stream_side *side) {
    uint32_t *flag = side->buffers->taken_flags;
    if (flag == NULL) return true;
    flag += wpi_stream_buffer(side);
    *flag = side->chunk + 1;
    return wp_queue_copy(side->down,
                         wpi_stream_word(side->buffers->launch_source->taken, side->set), flag,
                         sizeof *flag, &side->failure) == WP_STATUS_OK;
}

static bool send(wpi_stream_side *side) {
    const wpi_stream_buffers *b = side->buffers;
    const wpi_stream_launch *l = b->launch_source;
    const uint64_t buffer = wpi_stream_buffer(side), at = buffer * l->data_bytes;
    uint32_t *flag = &b->answer_flags[buffer];
    if (!send_taken(side) || wpi_stream_copy_classes(side, false, l->data + at, b->data_copy + at,
                                                     side->down) != WP_STATUS_OK)
        return false;
    *flag = side->chunk + 1;
    return wp_queue_copy(side->down, wpi_stream_word(l->answered, side->set), flag, sizeof *flag,
                         &side->failure) == WP_STATUS_OK;
}

/* Not NULL: the word to wait for, and what it is now, before the chunk can be gathered. */
static const uint32_t *unready(const wpi_stream_side *side, uint32_t *value) {
    const wpi_stream_buffers *b = side->buffers;
    const wpi_stream_launch *l = b->launch_source;
    const uint32_t *words[] = {side->reads_own ? b->placed : NULL, l->used};
    for (int i = 0; i < 2 && side->chunk >= WPI_STREAM_BUFFERS; i++) {
        if (words[i] == NULL) continue;
        const uint32_t *word = words[i] + (uint64_t)side->set * WPI_STREAM_WORD;
        *value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (*value + WPI_STREAM_BUFFERS <= side->chunk) return word;
    }
    return NULL;
}

static wp_actor_answer gather_chunk(wp_actor *actor, wpi_stream_side *side) {
    const wpi_stream_buffers *b = side->buffers;
    wp_host_work work = {0};
    side->since_ns = wpi_actor_now_ns(actor);
    if (is_filled(side)) {
        wpi_stream_count_filled(side);
        work.read_bytes = side->words * sizeof(uint64_t);
        side->state = SEND;
        return wpi_stream_spend(actor, side, &work);
    }
    if (!gather(side, b->data_copy + wpi_stream_buffer(side) * b->launch_source->data_bytes))
        return wpi_stream_fail(side);
    work.read_bytes = side->words * sizeof(uint64_t) + side->lines_in_order * 64;
    work.written_bytes = side->bytes;
    wpi_stream_add_file_work(&side->cursor, &side->moved_bytes, &work);
    wpi_stream_add_file_work(&side->index_cursor, &side->index_moved_bytes, &work);
    side->state = LINES;
    return wpi_stream_spend(actor, side, &work);
}

static wp_actor_answer begin_chunk(wp_actor *actor, wpi_stream_side *side) {
    const uint32_t *word = wpi_stream_word(side->buffers->launch_source->asked, side->set);
    uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (value == WPI_STREAM_END) return WP_ACTOR_ENDS;
    if (value <= side->chunk) return wpi_stream_await(side, word, value);
    word = is_filled(side) ? NULL : unready(side, &value);
    if (word != NULL) return wpi_stream_await(side, word, value);
    if (!side->buffers->has_fetched) return gather_chunk(actor, side);
    side->state = COUNTS;
    return wpi_stream_fetch_counts(side) ? WP_ACTOR_GOES_ON : wpi_stream_fail(side);
}

static wp_actor_answer end_fetch(wp_actor *actor, wpi_stream_side *side) {
    const uint32_t *word = wpi_stream_word(side->buffers->fetched, side->set);
    const uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    if (value != side->fetches) return wpi_stream_await(side, word, value);
    if (side->state == ADDRESSES || is_filled(side)) return gather_chunk(actor, side);
    side->state = ADDRESSES;
    return wpi_stream_fetch_addresses(side) ? WP_ACTOR_GOES_ON : wpi_stream_fail(side);
}

wp_actor_answer wpi_stream_gather_step(wp_actor *actor, wpi_stream_side *side) {
    wp_host_work work;
    switch (side->state) {
    case WAIT: return begin_chunk(actor, side);
    case COUNTS:
    case ADDRESSES: return end_fetch(actor, side);
    case LINES:
        work = wpi_stream_lines(side);
        side->state = SEND;
        return wpi_stream_spend(actor, side, &work);
    default:
        if (!send(side)) return wpi_stream_fail(side);
        wpi_stream_note_worked(actor, side);
        side->chunk++;
        side->state = WAIT;
        return WP_ACTOR_GOES_ON;
    }
}
