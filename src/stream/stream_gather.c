/* SPDX-License-Identifier: Apache-2.0 */
/* Data for addresses. */
#include <string.h>

#include "device/device.h"
#include "stream/stream_actor.h"

enum { WAIT, LINES, SEND };

static bool copy_in(wpi_stream_side *side, uint32_t k, uint64_t address, void *place) {
    const void *from = wpi_reservation_host(&side->cursor, address, 1u << k);
    if (from == NULL) {
        wpi_stream_note_outside(side, false, 1u << k, address);
        return false;
    }
    wpi_stream_copy(k, place, from);
    return true;
}

/* ---- windows ---- */

/* What there is from `address` on, row by row, behind a row with the bytes that there are. */
static bool fill_window(wpi_stream_side *side, uint64_t want, char *row) {
    const wpi_stream_launch *l = side->buffers->launch_source;
    const uint32_t granule = side->granule, bytes = (uint32_t)(want >> WPI_STREAM_RUN_SHIFT);
    const uint64_t address = want & ((UINT64_C(1) << WPI_STREAM_RUN_SHIFT) - 1);
    const uint64_t first = address >> granule << granule;
    const uint64_t row_bytes = (uint64_t)l->half << granule;
    uint32_t left = l->window_granules << granule;
    if (wpi_reservation_host(&side->cursor, address, bytes) == NULL) {
        wpi_stream_note_outside(side, false, bytes, address);
        return false;
    }
    const uint64_t behind = side->cursor.outer - first;
    if (behind < left) left = (uint32_t)behind;
    memcpy(row, &left, sizeof left);
    side->bytes += left;
    side->lines++;
    side->lines_in_order += (left + 63) / 64 - 1;
    const uint64_t before = first < side->cursor.first ? side->cursor.first - first : 0;
    const char *from = side->cursor.host - before + (first + before - side->cursor.first);
    for (uint32_t at = 0; at < left; at += 1u << granule) {
        const uint32_t skip = at < before ? (uint32_t)before : 0; /* in the first granule */
        const uint32_t end = left - at < 1u << granule ? left - at : 1u << granule;
        row += row_bytes;
        memcpy(row + skip, from + at + skip, end - skip);
    }
    return true;
}

/* A chunk in which no thread wants anything is answered, too. */
static bool gather_windows(wpi_stream_side *side, char *places) {
    const wpi_stream_launch *l = side->buffers->launch_source;
    const uint32_t granule = side->granule;
    const uint64_t *wants =
        (const uint64_t *)(const void *)(l->addresses +
                                         wpi_stream_buffer(side) * l->addresses_bytes);
    char *data = places + l->classes[granule].data_offset;
    side->words = (uint64_t)side->windows * l->half;
    side->accesses = side->bytes = side->lines = side->lines_in_order = 0;
    for (uint32_t w = 0; w < side->windows; w++) {
        char *rows = data + (((uint64_t)w * (l->window_granules + 1) * l->half) << granule);
        for (uint32_t t = 0; t < l->half; t++) {
            const uint64_t want = wants[(uint64_t)w * l->half + t];
            if (want == 0) continue;
            if (!fill_window(side, want, rows + ((uint64_t)t << granule))) return false;
            side->accesses++;
        }
    }
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++)
        side->slots[k] = side->accesses != 0 ? l->classes[k].read_slots : 0;
    side->counts.chunks++;
    side->counts.accesses += side->accesses;
    side->counts.words += side->words;
    side->counts.useful_bytes += side->bytes;
    return true;
}

static bool gather(wpi_stream_side *side, char *places) {
    if (side->windows != 0) return gather_windows(side, places);
    wpi_stream_count_chunk(side, false);
    return wpi_stream_visit_chunk(side, false, places, copy_in);
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
        side->state = LINES;
        break;
    case LINES:
        work = wpi_stream_lines(side);
        side->state = SEND;
        break;
    default:
        if (!send(side)) return wpi_stream_fail(side);
        side->counts.worked_ns += wpi_actor_now_ns(actor) - side->since_ns;
        side->chunk++;
        side->state = WAIT;
        return WP_ACTOR_GOES_ON;
    }
    return wpi_stream_spend(actor, side, &work);
}
