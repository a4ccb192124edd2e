/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_buffers.h"

#include <string.h>

enum { SLOTS_ENOUGH = 32 };

static uint64_t round_up(uint64_t bytes) {
    return wpi_stream_round_up(bytes);
}

static uint64_t words_bytes(const wpi_stream_launch *l) {
    return round_up((uint64_t)l->set_count * WPI_STREAM_WORD * sizeof(uint32_t));
}

static uint64_t buffers_of(const wpi_stream_launch *l) {
    return (uint64_t)l->set_count * WPI_STREAM_BUFFERS;
}

static uint64_t counts_bytes(const wpi_stream_launch *l, uint32_t rows) {
    return round_up(buffers_of(l) * rows * l->half * sizeof(uint32_t));
}

/* Times, and the log behind them. */
static uint64_t times_bytes(const wpi_stream_launch *l, bool has_log) {
    const uint64_t sets = l->set_count < WPI_STREAM_LOG_SETS ? l->set_count : WPI_STREAM_LOG_SETS;
    const uint64_t logged = has_log ? sets * 2 * (WPI_STREAM_LOG_EVENTS + 1) : 0;
    return round_up(((uint64_t)l->set_count * 2 * WPI_STREAM_TIMES + logged) * sizeof(uint64_t));
}

static uint64_t patterns_bytes(const wpi_stream_launch *l) {
    return round_up(buffers_of(l) * l->row_count * WPI_STREAM_SITES * l->half *
                    sizeof(wpi_stream_stride));
}

/* Counts and patterns; addresses are in l->addresses_bytes. */
static uint64_t requests_bytes(const wpi_stream_launch *l) {
    return 3 * counts_bytes(l, l->row_count) + patterns_bytes(l) +
           round_up(buffers_of(l) * l->addresses_bytes);
}

typedef struct plan {
    wpi_stream_layout *out;
    const wpi_stream_facts *facts;
    bool is_original;
} plan;

/* Sizes for `turns` times the need. */
static wpi_stream_needs fill_layout(void *object, uint32_t sets, uint32_t turns) {
    const plan *p = object;
    const wpi_stream_facts *facts = p->facts;
    wpi_stream_layout *out = p->out;
    wpi_stream_launch *l = &out->launch;
    uint32_t slots = 0;
    l->set_count = sets;
    l->addresses_bytes = l->data_bytes = l->targets_bytes = l->values_bytes = 0;
    for (uint32_t r = 0; r < l->row_count; r++) {
        wpi_stream_class *class = &l->classes[r];
        const uint32_t k = l->rows[r].class;
        if (l->rows[r].is_index == 0) slots = facts->read_need[r] * turns;
        class->read_slots = slots; /* of an index: as many as its row, which is before it, has */
        class->write_slots = r < WPI_STREAM_CLASSES ? facts->write_need[r] * turns : 0;
        class->address_offset = l->addresses_bytes;
        class->data_offset = l->data_bytes;
        class->target_offset = l->targets_bytes;
        class->value_offset = l->values_bytes;
        const uint32_t shift = wpi_stream_line_shift(l->has_lines, k);
        const uint64_t places = wpi_stream_places(class->read_slots, shift);
        class->read_step = (p->is_original ? 1 : (uint64_t)l->half) << (k + shift);
        class->thread_step = (p->is_original ? places : 1) << (k + shift);
        const uint64_t reads = (uint64_t)class->read_slots * l->half;
        const uint64_t writes = (uint64_t)class->write_slots * l->half;
        l->addresses_bytes += round_up(reads * sizeof(uint64_t));
        if (l->rows[r].is_index == 0) l->data_bytes += round_up((places * l->half) << (k + shift));
        l->targets_bytes += round_up(writes * sizeof(uint64_t));
        l->values_bytes += round_up(writes << k);
    }
    const uint64_t buffers = buffers_of(l), words = words_bytes(l);
    const uint64_t flags = round_up(buffers * sizeof(uint32_t));
    out->device_bytes = buffers * (l->data_bytes + l->values_bytes) + (4 + l->has_flags) * words +
                        times_bytes(l, out->has_log) + round_up(sizeof *l) +
                        (out->has_fetched ? requests_bytes(l) : 0);
    out->pinned_bytes = buffers * (l->data_bytes + l->targets_bytes + l->values_bytes) +
                        requests_bytes(l) + counts_bytes(l, WPI_STREAM_CLASSES) +
                        (5 + l->has_flags + out->has_fetched) * words + (3 + l->has_flags) * flags +
                        round_up(sizeof *l) + times_bytes(l, out->has_log);
    /* A log does not change the launch that it is of. */
    const uint64_t log_bytes = times_bytes(l, out->has_log) - times_bytes(l, false);
    return (wpi_stream_needs){out->device_bytes - log_bytes, out->pinned_bytes - log_bytes};
}

static uint32_t largest_need(const wpi_stream_facts *facts) {
    uint32_t most = 1;
    for (uint32_t r = 0; r < WPI_STREAM_ROWS; r++)
        if (facts->read_need[r] > most) most = facts->read_need[r];
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++)
        if (facts->write_need[k] > most) most = facts->write_need[k];
    return most;
}

static void fill_rows(wpi_stream_launch *l, const wpi_stream_facts *facts) {
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++)
        l->rows[k] = (wpi_stream_row){.class = (uint8_t)k};
    memcpy(&l->rows[WPI_STREAM_CLASSES], facts->followed,
           facts->followed_count * sizeof *facts->followed);
    l->row_count = WPI_STREAM_CLASSES + facts->followed_count;
}

wp_status wpi_stream_layout_make(const wpi_stream_facts *facts, const wpi_stream_shape *shape,
                                 wpi_stream_layout *out, wp_error *err) {
    const wp_dim3 block = shape->block;
    const uint32_t threads = block.x * block.y * block.z, need = largest_need(facts);
    *out = (wpi_stream_layout){.has_log = shape->has_log,
                               .has_fetched = shape->has_fetched,
                               .launch = {.block_x = block.x,
                                          .block_y = block.y,
                                          .block_z = block.z,
                                          .threads = threads,
                                          .half = (threads + 31) / 32 * 32,
                                          .looks_for_patterns = shape->looks_for_patterns,
                                          .has_flags = shape->has_flags,
                                          .has_lines = facts->has_lines}};
    fill_rows(&out->launch, facts);
    const plan p = {out, facts, shape->is_original};
    const uint32_t turns = wpi_stream_fit(shape, shape->slots_max / need, SLOTS_ENOUGH / need,
                                          fill_layout, (void *)&p);
    if (turns == 0)
        return wpi_stream_no_room((wpi_stream_needs){out->device_bytes, out->pinned_bytes}, shape,
                                  err);
    out->slots = turns * need;
    return WP_STATUS_OK;
}

static wpi_stream_requests take_requests(char **at, const wpi_stream_launch *l) {
    wpi_stream_requests r;
    r.read_counts = wpi_stream_take(at, counts_bytes(l, l->row_count));
    r.pattern_reads = wpi_stream_take(at, counts_bytes(l, l->row_count));
    r.pattern_sites = wpi_stream_take(at, counts_bytes(l, l->row_count));
    r.patterns = wpi_stream_take(at, patterns_bytes(l));
    r.addresses = wpi_stream_take(at, buffers_of(l) * l->addresses_bytes);
    return r;
}

void wpi_stream_buffers_place(wpi_stream_buffers *b, const wpi_stream_memory *m,
                              const wpi_stream_layout *layout) {
    wpi_stream_launch l = layout->launch;
    const uint64_t buffers = buffers_of(&l), words = words_bytes(&l);
    const uint64_t flags = round_up(buffers * sizeof(uint32_t));
    char *pinned = m->pinned, *device = m->memory;
    l.asked = wpi_stream_take(&pinned, words);
    l.wrote = wpi_stream_take(&pinned, words);
    l.block = wpi_stream_take(&pinned, words);
    b->returned = wpi_stream_take(&pinned, words);
    b->placed = wpi_stream_take(&pinned, words);
    if (l.has_flags != 0) l.used = wpi_stream_take(&pinned, words);
    b->has_fetched = layout->has_fetched;
    b->fetched = layout->has_fetched ? wpi_stream_take(&pinned, words) : NULL;
    b->times_bytes = times_bytes(&l, layout->has_log);
    b->times = wpi_stream_take(&pinned, b->times_bytes);
    memset(m->pinned, 0, (size_t)(pinned - (char *)m->pinned));
    b->answer_flags = wpi_stream_take(&pinned, flags);
    b->store_flags = wpi_stream_take(&pinned, flags);
    l.filled = wpi_stream_take(&pinned, flags);
    b->taken_flags = l.has_flags != 0 ? wpi_stream_take(&pinned, flags) : NULL;
    l.write_counts = wpi_stream_take(&pinned, counts_bytes(&l, WPI_STREAM_CLASSES));
    b->requests = take_requests(&pinned, &l);
    b->data_copy = wpi_stream_take(&pinned, buffers * l.data_bytes);
    l.targets = wpi_stream_take(&pinned, buffers * l.targets_bytes);
    b->value_copy = wpi_stream_take(&pinned, buffers * l.values_bytes);
    b->launch_source = wpi_stream_take(&pinned, sizeof l);

    l.answered = wpi_stream_take(&device, words);
    l.stored = wpi_stream_take(&device, words);
    l.busy = wpi_stream_take(&device, words);
    l.chunks = wpi_stream_take(&device, words);
    if (l.has_flags != 0) l.taken = wpi_stream_take(&device, words);
    l.times = wpi_stream_take(&device, b->times_bytes);
    if (layout->has_log) l.log = l.times + (uint64_t)l.set_count * 2 * WPI_STREAM_TIMES;
    l.data = wpi_stream_take(&device, buffers * l.data_bytes);
    l.values = wpi_stream_take(&device, buffers * l.values_bytes);
    const wpi_stream_requests sent = layout->has_fetched ? take_requests(&device, &l) : b->requests;
    l.addresses = sent.addresses;
    l.read_counts = sent.read_counts;
    l.pattern_reads = sent.pattern_reads;
    l.pattern_sites = sent.pattern_sites;
    l.patterns = sent.patterns;
    b->launch = wpi_stream_take(&device, sizeof l);
    *b->launch_source = l;
}

void wpi_stream_buffers_words(const wpi_stream_buffers *b, const wpi_stream_memory *m, char **first,
                              uint64_t *bytes) {
    *first = m->memory;
    *bytes = (4 + b->launch_source->has_flags) * words_bytes(b->launch_source) + b->times_bytes;
}
