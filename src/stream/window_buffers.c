/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/window_buffers.h"

#include <string.h>

enum {
    GROUPS_MAX = 4, /* host threads that serve a launch */
    WINDOW_BYTES = 512,
    ENOUGH_BYTES = 128, /* of a window: then more blocks are better than larger windows */
    PIECES_BYTES = 2 * WPI_WINDOW_PIECE, /* what a thread takes at a time */
    WRITES_MAX = 32
};

static uint64_t threads_of(const wpi_window_launch *l) {
    return (uint64_t)l->set_count * l->threads;
}

static uint64_t words_bytes(uint32_t count) {
    return wpi_stream_round_up((uint64_t)count * WPI_STREAM_WORD * sizeof(uint32_t));
}

static uint64_t counts_bytes(const wpi_window_launch *l) {
    return wpi_stream_round_up(threads_of(l) * sizeof(uint32_t));
}

static uint64_t wants_bytes(const wpi_window_launch *l) {
    return wpi_stream_round_up(threads_of(l) * sizeof(uint64_t));
}

static uint64_t rings_bytes(const wpi_window_launch *l) {
    return wpi_stream_round_up(((uint64_t)l->group_count << l->ring_shift) * sizeof(uint32_t));
}

static uint64_t times_bytes(const wpi_window_launch *l) {
    return wpi_stream_round_up((uint64_t)l->set_count * WPI_STREAM_TIMES * sizeof(uint64_t));
}

static uint64_t data_bytes(const wpi_window_launch *l) {
    return wpi_stream_round_up(l->windows * threads_of(l) / WPI_WINDOW_LANES * l->region_bytes);
}

static uint64_t targets_bytes(const wpi_window_launch *l) {
    return wpi_stream_round_up(threads_of(l) * l->write_slots * sizeof(uint64_t));
}

static uint64_t values_bytes(const wpi_window_launch *l) {
    return wpi_stream_round_up(threads_of(l) * l->write_slots << l->value_class);
}

/* Words that are 0 at the launch: these four, and times. */
static uint64_t device_words_bytes(const wpi_window_launch *l) {
    return words_bytes(l->group_count) + words_bytes(l->set_count) + counts_bytes(l) +
           times_bytes(l);
}

static uint32_t least(uint32_t a, uint32_t b) {
    return a < b ? a : b;
}

static void set_groups(wpi_window_launch *l, uint32_t sets, uint32_t groups_max) {
    const uint32_t most = least(sets, groups_max);
    l->set_count = sets;
    l->sets_per_group = (sets + most - 1) / most;
    l->group_count = (sets + l->sets_per_group - 1) / l->sets_per_group;
    l->group_threads = l->sets_per_group * l->threads;
    l->ring_shift = 0;
    while (UINT64_C(1) << l->ring_shift < l->group_threads)
        l->ring_shift++;
}

static wpi_stream_needs fill_layout(void *object, uint32_t sets, uint32_t turns) {
    wpi_window_layout *out = object;
    wpi_window_launch *l = &out->launch;
    set_groups(l, sets, out->groups_max);
    l->granules = turns * (PIECES_BYTES >> l->granule);
    if (l->write_slots != 0) l->write_slots = least(l->granules, WRITES_MAX);
    l->step = out->is_original ? 1 : WPI_WINDOW_LANES;
    l->lane_step = out->is_original ? l->granules : 1;
    l->region_bytes = (uint64_t)WPI_WINDOW_LANES * turns * PIECES_BYTES;
    out->device_bytes =
        device_words_bytes(l) + data_bytes(l) + values_bytes(l) + wpi_stream_round_up(sizeof *l);
    out->pinned_bytes = rings_bytes(l) + words_bytes(l->set_count) +
                        2 * words_bytes(l->group_count) + times_bytes(l) + 3 * counts_bytes(l) +
                        wants_bytes(l) + targets_bytes(l) + data_bytes(l) + values_bytes(l) +
                        wpi_stream_round_up(sizeof *l);
    return (wpi_stream_needs){out->device_bytes, out->pinned_bytes};
}

wp_status wpi_window_layout_make(const wpi_stream_facts *facts, const wpi_stream_shape *shape,
                                 wpi_window_layout *out, wp_error *err) {
    const uint32_t threads = shape->block.x * shape->block.y * shape->block.z;
    const uint32_t served = shape->host_threads;
    *out = (wpi_window_layout){.is_original = shape->is_original,
                               .groups_max = served != 0 ? least(served, GROUPS_MAX) : GROUPS_MAX,
                               .launch = {.threads = (threads + 31) / 32 * 32,
                                          .windows = facts->windows,
                                          .granule = facts->granule,
                                          .value_class = facts->value_class}};
    for (int k = 0; k < WPI_STREAM_CLASSES; k++)
        out->launch.write_slots |= facts->write_need[k]; /* 1: some; the layout says how many */
    const uint32_t granules = PIECES_BYTES >> facts->granule;
    const uint32_t most = shape->slots_max != 0 ? (shape->slots_max + granules - 1) / granules
                                                : WINDOW_BYTES / PIECES_BYTES;
    if (wpi_stream_fit(shape, most, ENOUGH_BYTES / PIECES_BYTES, fill_layout, out) == 0)
        return wpi_stream_no_room((wpi_stream_needs){out->device_bytes, out->pinned_bytes}, shape,
                                  err);
    return WP_STATUS_OK;
}

void wpi_window_buffers_place(wpi_window_buffers *b, const wpi_stream_memory *m,
                              const wpi_window_layout *layout) {
    wpi_window_launch l = layout->launch;
    char *pinned = m->pinned, *device = m->memory;
    l.ring = wpi_stream_take(&pinned, rings_bytes(&l));
    l.block = wpi_stream_take(&pinned, words_bytes(l.set_count));
    b->sent = wpi_stream_take(&pinned, words_bytes(l.group_count));
    b->returned = wpi_stream_take(&pinned, words_bytes(l.group_count));
    b->times = wpi_stream_take(&pinned, times_bytes(&l));
    l.write_counts = wpi_stream_take(&pinned, counts_bytes(&l));
    b->answers = wpi_stream_take(&pinned, 2 * counts_bytes(&l));
    memset(m->pinned, 0, (size_t)(pinned - (char *)m->pinned));
    l.wants = wpi_stream_take(&pinned, wants_bytes(&l));
    l.targets = wpi_stream_take(&pinned, targets_bytes(&l));
    l.source = wpi_stream_take(&pinned, data_bytes(&l));
    b->value_copy = wpi_stream_take(&pinned, values_bytes(&l));
    b->launch_source = wpi_stream_take(&pinned, sizeof l);

    l.tickets = wpi_stream_take(&device, words_bytes(l.group_count));
    l.busy = wpi_stream_take(&device, words_bytes(l.set_count));
    l.answers = wpi_stream_take(&device, counts_bytes(&l));
    l.times = wpi_stream_take(&device, times_bytes(&l));
    l.data = wpi_stream_take(&device, data_bytes(&l));
    l.values = wpi_stream_take(&device, values_bytes(&l));
    b->launch = wpi_stream_take(&device, sizeof l);
    *b->launch_source = l;
}

void wpi_window_buffers_words(const wpi_window_buffers *b, const wpi_stream_memory *m, char **first,
                              uint64_t *bytes) {
    *first = m->memory;
    *bytes = device_words_bytes(b->launch_source);
}

void wpi_window_buffers_rings(const wpi_window_buffers *b, uint32_t **first, size_t *count) {
    const wpi_window_launch *l = b->launch_source;
    *first = l->ring;
    *count = (size_t)l->group_count << l->ring_shift;
}
