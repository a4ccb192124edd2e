/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/stream_actor.h"

#include <string.h>

#include "base/fail.h"
#include "base/log.h"
#include "device/device.h"
#include "stream/stream_reads.h"

uint32_t *wpi_stream_word(uint32_t *words, uint32_t set) {
    return words + (uint64_t)set * WPI_STREAM_WORD;
}

uint64_t wpi_stream_buffer(const wpi_stream_side *side) {
    return (uint64_t)side->set * WPI_STREAM_BUFFERS + side->chunk % WPI_STREAM_BUFFERS;
}

static const wpi_stream_launch *launch_of(const wpi_stream_side *side) {
    return side->buffers->launch_source;
}

wp_actor_answer wpi_stream_await(wpi_stream_side *side, const uint32_t *word, uint32_t value) {
    side->awaited = word;
    side->awaited_value = value;
    return WP_ACTOR_GOES_ON;
}

const uint32_t *wpi_stream_counts_of(const wpi_stream_side *side, bool is_write, uint32_t r) {
    const wpi_stream_launch *l = launch_of(side);
    const uint32_t rows = is_write ? WPI_STREAM_CLASSES : l->row_count;
    return (is_write ? l->write_counts : side->buffers->requests.read_counts) +
           (wpi_stream_buffer(side) * rows + r) * l->half;
}

static const uint64_t *targets_of(const wpi_stream_side *side, uint32_t k) {
    const wpi_stream_launch *l = launch_of(side);
    return (const uint64_t *)(const void *)(l->targets +
                                            wpi_stream_buffer(side) * l->targets_bytes +
                                            l->classes[k].target_offset);
}

/* Threads take turns: each line is a miss; it stays for as long as its thread writes to it. */
static void count_writes(wpi_stream_side *side, uint32_t k, uint32_t thread, uint32_t count) {
    const uint64_t *targets = targets_of(side, k) + thread;
    uint64_t last = UINT64_MAX;
    for (uint32_t n = 0; n < count; n++) {
        const uint64_t line = targets[(uint64_t)n * launch_of(side)->half] / WPI_STREAM_LINE_BYTES;
        side->lines += line != last;
        last = line;
    }
    side->words += count;
}

static void count_row(wpi_stream_side *side, bool is_write, uint32_t r) {
    const wpi_stream_launch *l = launch_of(side);
    const uint32_t *counts = wpi_stream_counts_of(side, is_write, r);
    side->slots[r] = 0;
    if ((is_write ? l->classes[r].write_slots : l->classes[r].read_slots) == 0) return;
    for (uint32_t t = 0; t < l->half; t++) {
        if (counts[t] == 0) continue;
        (is_write ? count_writes : wpi_stream_count_reads)(side, r, t, counts[t]);
        if (l->rows[r].is_index != 0) continue;
        if (counts[t] > side->slots[r]) side->slots[r] = counts[t];
        side->accesses += counts[t];
        side->bytes += (uint64_t)counts[t] << l->rows[r].class;
    }
}

void wpi_stream_count_chunk(wpi_stream_side *side, bool is_write) {
    const uint32_t rows = is_write ? WPI_STREAM_CLASSES : launch_of(side)->row_count;
    side->words = side->accesses = side->bytes = side->lines = side->lines_in_order = 0;
    for (uint32_t r = 0; r < rows; r++)
        count_row(side, is_write, r);
    side->counts.chunks++;
    side->counts.accesses += side->accesses;
    side->counts.words += side->words;
    side->counts.useful_bytes += side->bytes;
}

void wpi_stream_count_filled(wpi_stream_side *side) {
    const wpi_stream_launch *l = launch_of(side);
    memset(side->slots, 0, sizeof side->slots);
    side->words = side->accesses = side->bytes = side->lines = side->lines_in_order = 0;
    for (uint32_t k = 0; k < WPI_STREAM_CLASSES; k++) {
        const uint32_t *counts = wpi_stream_counts_of(side, false, k);
        if (l->classes[k].read_slots == 0) continue;
        side->words += l->half / 2; /* counts have 4 bytes */
        for (uint32_t t = 0; t < l->half; t++) {
            side->counts.accesses += counts[t];
            side->counts.useful_bytes += (uint64_t)counts[t] << k;
        }
    }
    side->counts.chunks++;
}

/* Thread by thread: what one thread reads lies together (4.3.2). */
static bool visit_reads(wpi_stream_side *side, uint32_t r, char *places, wpi_stream_visit visit) {
    const wpi_stream_launch *l = launch_of(side);
    const uint32_t *counts = wpi_stream_counts_of(side, false, r);
    const uint32_t class = l->rows[r].class, shift = wpi_stream_line_shift(l->has_lines, class);
    const uint32_t last = (1u << shift) - 1;
    for (uint32_t t = 0; t < l->half && side->slots[r] != 0; t++) {
        if (counts[t] == 0) continue;
        wpi_stream_reads reads;
        side->thread = t;
        wpi_stream_reads_begin(side, r, t, &reads);
        for (uint32_t slot = 0; slot < counts[t]; slot++) {
            char *place = places + (slot >> shift) * l->classes[r].read_step +
                          t * l->classes[r].thread_step + ((uint64_t)(slot & last) << class);
            uint64_t address;
            if (!wpi_stream_reads_next(side, &reads, &address) ||
                !visit(side, class, address, place))
                return false;
        }
    }
    return true;
}

/* In the order of the slots. */
static bool visit_writes(wpi_stream_side *side, uint32_t k, char *places, wpi_stream_visit visit) {
    const uint32_t half = launch_of(side)->half;
    const uint32_t *counts = wpi_stream_counts_of(side, true, k);
    const uint64_t *targets = targets_of(side, k);
    for (uint32_t slot = 0; slot < side->slots[k]; slot++) {
        for (uint32_t t = 0; t < half; t++) {
            const uint64_t at = (uint64_t)slot * half + t;
            side->thread = t;
            if (slot < counts[t] && !visit(side, k, targets[at], places + (at << k))) return false;
        }
    }
    return true;
}

bool wpi_stream_visit_chunk(wpi_stream_side *side, bool is_write, char *places,
                            wpi_stream_visit visit) {
    const wpi_stream_launch *l = launch_of(side);
    const uint32_t rows = is_write ? WPI_STREAM_CLASSES : l->row_count;
    for (uint32_t r = 0; r < rows; r++) {
        const bool is_done = is_write
                                 ? visit_writes(side, r, places + l->classes[r].value_offset, visit)
                                 : visit_reads(side, r, places + l->classes[r].data_offset, visit);
        if (!is_done) return false;
    }
    return true;
}

wp_status wpi_stream_copy_classes(wpi_stream_side *side, bool is_write, char *dst, const char *src,
                                  wp_queue *queue) {
    const wpi_stream_launch *l = launch_of(side);
    const uint32_t rows = is_write ? WPI_STREAM_CLASSES : l->row_count;
    for (uint32_t r = 0; r < rows; r++) {
        const wpi_stream_class *class = &l->classes[r];
        const uint64_t offset = is_write ? class->value_offset : class->data_offset;
        const uint32_t k = l->rows[r].class;
        const uint32_t shift = is_write ? 0 : wpi_stream_line_shift(l->has_lines, k);
        const uint64_t places = wpi_stream_places(side->slots[r], shift);
        const uint64_t width = UINT64_C(1) << (k + shift);
        const uint64_t bytes = places * l->half * width;
        if (bytes == 0) continue;
        if (!is_write && class->read_step == width) /* a thread's lie together */
            WP_TRY(wp_queue_copy_2d(queue, dst + offset, class->thread_step, src + offset,
                                    class->thread_step, places * width, l->half, &side->failure));
        else
            WP_TRY(wp_queue_copy(queue, dst + offset, src + offset, bytes, &side->failure));
        side->counts.copied_bytes += bytes;
    }
    return WP_STATUS_OK;
}

void wpi_stream_add_file_work(const wpi_reservation_cursor *cursor, uint64_t *moved_bytes,
                              wp_host_work *work) {
    const uint64_t all = cursor->counts.read_bytes + cursor->counts.written_bytes;
    work->read_bytes += all - *moved_bytes;
    work->written_bytes += all - *moved_bytes;
    *moved_bytes = all;
}

/* Element: of an array of values of this width. */
void wpi_stream_fail_outside(wp_error *err, const wpi_reservation_cursor *cursor,
                             const char *kernel_name, uint32_t block, uint32_t thread,
                             bool is_write, uint32_t bytes, uint64_t address) {
    void *base = NULL;
    size_t size_bytes = 0;
    wp_status ignored;
    if (cursor->failure.status != WP_STATUS_OK)
        ignored = WP_FAIL(err, IO, "kernel %s: block %u: %s", kernel_name, block,
                          cursor->failure.message);
    else if (wpi_reservation_nearest(address, &base, &size_bytes))
        ignored = WP_FAIL(
            err, INVALID,
            "kernel %s: block %u, thread %u %s %u bytes at offset %llu (element %llu) of the "
            "streaming reservation %p (%zu bytes), where nothing is mapped",
            kernel_name, block, thread, is_write ? "writes" : "reads", bytes,
            (unsigned long long)(address - (uintptr_t)base),
            (unsigned long long)((address - (uintptr_t)base) / bytes), base, size_bytes);
    else
        ignored =
            WP_FAIL(err, INVALID,
                    "kernel %s: block %u, thread %u %s %u bytes at 0x%llx, which is not mapped",
                    kernel_name, block, thread, is_write ? "writes" : "reads", bytes,
                    (unsigned long long)address);
    (void)ignored;
}

void wpi_stream_note_outside(wpi_stream_side *side, const wpi_reservation_cursor *cursor,
                             bool is_write, uint32_t bytes, uint64_t address) {
    wpi_stream_fail_outside(&side->failure, cursor, side->kernel_name,
                            *wpi_stream_word(launch_of(side)->block, side->set), side->thread,
                            is_write, bytes, address);
}

void wpi_stream_note_worked(const wp_actor *actor, wpi_stream_side *side) {
    const uint64_t now_ns = wpi_actor_now_ns(actor);
    side->counts.worked_ns += now_ns - side->since_ns;
    wpi_stream_spans_add(&side->spans, side->since_ns, now_ns);
}

void wpi_stream_report(atomic_bool *is_reported, const wp_error *failure) {
    if (failure->message[0] != '\0' && !atomic_exchange(is_reported, true))
        wpi_log(WP_LOG_ERROR, "stream", "%s", failure->message);
}

/* The kernel waits for one of the two words, or will. */
wp_actor_answer wpi_stream_fail(wpi_stream_side *side) {
    const wpi_stream_launch *l = launch_of(side);
    uint32_t *words[] = {l->answered, l->stored};
    side->has_failed = true;
    wpi_stream_report(side->is_reported, &side->failure);
    for (int i = 0; i < 2; i++) {
        const wp_status ignored = wp_queue_fill(side->down, wpi_stream_word(words[i], side->set),
                                                WPI_STREAM_END, sizeof(uint32_t), 1, NULL);
        (void)ignored; /* the device has failed, and with it the kernel */
    }
    return WP_ACTOR_ENDS;
}

/* By width: a copy of a constant number of bytes is one instruction. */
void wpi_stream_copy(uint32_t class, void *to, const void *from) {
    switch (class) {
    case 0: memcpy(to, from, 1); break;
    case 1: memcpy(to, from, 2); break;
    case 2: memcpy(to, from, 4); break;
    case 3: memcpy(to, from, 8); break;
    default: memcpy(to, from, 16); break;
    }
}

wp_host_work wpi_stream_lines(const wpi_stream_side *side) {
    return (wp_host_work){.read_bytes = side->lines * WPI_STREAM_LINE_BYTES,
                          .pattern = WP_HOST_RANDOM,
                          .access_bytes = WPI_STREAM_LINE_BYTES};
}

wp_actor_answer wpi_stream_spend(wp_actor *actor, wpi_stream_side *side, const wp_host_work *work) {
    if (wp_device_host_work(actor->device, work, &side->failure) == WP_STATUS_OK)
        return WP_ACTOR_GOES_ON;
    return wpi_stream_fail(side);
}
