/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_buffers.h"

#include <string.h>

#include "base/fail.h"

#define ALIGNMENT 256u
enum { SLOTS_ENOUGH = 32 };

static uint64_t round_up(uint64_t bytes) {
    return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static uint64_t words_bytes(const wpi_stream_launch *l) {
    return round_up((uint64_t)l->set_count * WPI_STREAM_WORD * sizeof(uint32_t));
}

static uint64_t buffers_of(const wpi_stream_launch *l) {
    return (uint64_t)l->set_count * l->buffer_count;
}

static uint64_t counts_bytes(const wpi_stream_launch *l) {
    return round_up(buffers_of(l) * WPI_STREAM_CLASSES * l->half * sizeof(uint32_t));
}

static uint64_t times_bytes(const wpi_stream_launch *l) {
    return round_up((uint64_t)l->set_count * 2 * WPI_STREAM_TIMES * sizeof(uint64_t));
}

static uint64_t patterns_bytes(const wpi_stream_launch *l) {
    return round_up(buffers_of(l) * WPI_STREAM_CLASSES * WPI_STREAM_SITES * l->half *
                    sizeof(wpi_stream_stride));
}

/* Of windows, all slots of which are of one class: a row of sizes, and granules. */
static uint32_t read_slots(const wpi_stream_facts *facts, uint32_t k, uint32_t turns) {
    if (facts->windows == 0) return facts->read_need[k] * turns;
    return k == facts->granule ? facts->windows * (turns + 1) : 0;
}

/* Sizes for `turns` times the need. */
static void fill_layout(wpi_stream_layout *out, const wpi_stream_facts *facts, uint32_t turns) {
    wpi_stream_launch *l = &out->launch;
    l->window_granules = turns;
    l->addresses_bytes = l->data_bytes = l->targets_bytes = l->values_bytes = 0;
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++) {
        wpi_stream_class *class = &l->classes[k];
        class->read_slots = read_slots(facts, k, turns);
        class->write_slots = facts->write_need[k] * turns;
        class->address_offset = l->addresses_bytes;
        class->data_offset = l->data_bytes;
        class->target_offset = l->targets_bytes;
        class->value_offset = l->values_bytes;
        const uint64_t reads = (uint64_t)class->read_slots * l->half;
        const uint64_t writes = (uint64_t)class->write_slots * l->half;
        const uint64_t words = facts->windows == 0      ? reads
                               : class->read_slots != 0 ? (uint64_t)facts->windows * l->half
                                                        : 0;
        l->addresses_bytes += round_up(words * sizeof(uint64_t));
        l->data_bytes += round_up(reads << k);
        l->targets_bytes += round_up(writes * sizeof(uint64_t));
        l->values_bytes += round_up(writes << k);
    }
    const uint64_t buffers = buffers_of(l), words = words_bytes(l);
    const uint64_t flags = round_up(buffers * sizeof(uint32_t));
    out->device_bytes = buffers * (l->data_bytes + l->values_bytes) + 4 * words + times_bytes(l) +
                        round_up(sizeof *l);
    out->pinned_bytes =
        buffers * (l->addresses_bytes + l->data_bytes + l->targets_bytes + l->values_bytes) +
        4 * counts_bytes(l) + patterns_bytes(l) + 5 * words + 2 * flags + round_up(sizeof *l) +
        times_bytes(l);
}

static uint32_t largest_need(const wpi_stream_facts *facts) {
    uint32_t most = 1;
    if (facts->windows != 0) return most;
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++) {
        if (facts->read_need[k] > most) most = facts->read_need[k];
        if (facts->write_need[k] > most) most = facts->write_need[k];
    }
    return most;
}

/* The largest multiple of the need, up to `most`, with which the buffers fit; 0: not even one. */
static uint32_t turns_that_fit(wpi_stream_layout *out, const wpi_stream_facts *facts,
                               uint64_t bytes_max, uint32_t most) {
    for (uint32_t turns = most; turns > 0; turns--) {
        fill_layout(out, facts, turns);
        if (out->device_bytes <= bytes_max) return turns;
    }
    return 0;
}

/* Each exchange of a chunk costs some microseconds: where memory is short, fewer blocks run at a
 * time, down to a quarter, so that chunks do not get too small. */
wp_status wpi_stream_layout_make(const wpi_stream_facts *facts, const wpi_stream_shape *shape,
                                 wpi_stream_layout *out, wp_error *err) {
    const wp_dim3 block = shape->block;
    const uint32_t threads = block.x * block.y * block.z, need = largest_need(facts);
    *out =
        (wpi_stream_layout){.launch = {.block_x = block.x,
                                       .block_y = block.y,
                                       .block_z = block.z,
                                       .threads = threads,
                                       .half = (threads + 31) / 32 * 32,
                                       .buffer_count = facts->windows != 0 ? 1 : WPI_STREAM_BUFFERS,
                                       .looks_for_patterns = shape->looks_for_patterns}};
    out->launch.set_count = shape->set_count_max;
    const uint32_t most = shape->slots_max / need > 1 ? shape->slots_max / need : 1;
    const uint32_t enough = most < SLOTS_ENOUGH / need ? most : SLOTS_ENOUGH / need;
    uint32_t turns = turns_that_fit(out, facts, shape->device_bytes_max, most);
    while (out->launch.set_count > 1 &&
           (turns == 0 || (turns < enough && out->launch.set_count > shape->set_count_max / 4))) {
        out->launch.set_count = (out->launch.set_count + 1) / 2;
        turns = turns_that_fit(out, facts, shape->device_bytes_max, most);
    }
    if (turns == 0)
        return WP_FAIL(err, DEVICE_NOMEM,
                       "the smallest buffers of a streamed launch take %llu bytes of device "
                       "memory, but %llu may be used",
                       (unsigned long long)out->device_bytes,
                       (unsigned long long)shape->device_bytes_max);
    out->slots = turns * need;
    return WP_STATUS_OK;
}

wp_status wpi_stream_buffers_alloc(wpi_stream_buffers *b, wp_device *device,
                                   const wpi_stream_layout *layout, wp_error *err) {
    if (b->device == device && b->pinned_bytes >= layout->pinned_bytes &&
        b->device_bytes >= layout->device_bytes)
        return WP_STATUS_OK;
    wpi_stream_buffers_free(b);
    b->device = device;
    WP_TRY(wp_memory_alloc(device, WP_MEMORY_DEVICE, layout->device_bytes, 0, &b->memory, err));
    b->device_bytes = layout->device_bytes;
    WP_TRY(wp_memory_alloc(device, WP_MEMORY_PINNED, layout->pinned_bytes, 0, &b->pinned, err));
    b->pinned_bytes = layout->pinned_bytes;
    return WP_STATUS_OK;
}

static void *take(char **at, uint64_t bytes) {
    void *taken = *at;
    *at += round_up(bytes);
    return taken;
}

void wpi_stream_buffers_place(wpi_stream_buffers *b, const wpi_stream_layout *layout) {
    wpi_stream_launch l = layout->launch;
    const uint64_t buffers = buffers_of(&l), words = words_bytes(&l);
    const uint64_t flags = round_up(buffers * sizeof(uint32_t));
    char *pinned = b->pinned, *device = b->memory;
    l.asked = take(&pinned, words);
    l.wrote = take(&pinned, words);
    l.block = take(&pinned, words);
    b->returned = take(&pinned, words);
    b->placed = take(&pinned, words);
    b->times = take(&pinned, times_bytes(&l));
    memset(b->pinned, 0, (size_t)(pinned - (char *)b->pinned));
    b->answer_flags = take(&pinned, flags);
    b->store_flags = take(&pinned, flags);
    l.read_counts = take(&pinned, counts_bytes(&l));
    l.write_counts = take(&pinned, counts_bytes(&l));
    l.pattern_reads = take(&pinned, counts_bytes(&l));
    l.pattern_sites = take(&pinned, counts_bytes(&l));
    l.patterns = take(&pinned, patterns_bytes(&l));
    l.addresses = take(&pinned, buffers * l.addresses_bytes);
    b->data_copy = take(&pinned, buffers * l.data_bytes);
    l.targets = take(&pinned, buffers * l.targets_bytes);
    b->value_copy = take(&pinned, buffers * l.values_bytes);
    b->launch_source = take(&pinned, sizeof l);

    l.answered = take(&device, words);
    l.stored = take(&device, words);
    l.busy = take(&device, words);
    l.chunks = take(&device, words);
    l.times = take(&device, times_bytes(&l));
    l.data = take(&device, buffers * l.data_bytes);
    l.values = take(&device, buffers * l.values_bytes);
    b->launch = take(&device, sizeof l);
    *b->launch_source = l;
}

void wpi_stream_buffers_words(const wpi_stream_buffers *b, char **first, uint64_t *bytes) {
    *first = b->memory;
    *bytes = 4 * words_bytes(b->launch_source) + times_bytes(b->launch_source);
}

void wpi_stream_buffers_free(wpi_stream_buffers *b) {
    for (int i = 0; i < 2; i++) {
        void *memory = i == 0 ? b->pinned : b->memory;
        if (memory == NULL) continue;
        const wp_status ignored = wp_memory_free(b->device, memory, NULL);
        (void)ignored;
    }
    *b = (wpi_stream_buffers){0};
}
