/* SPDX-License-Identifier: Apache-2.0 */
#include "stream/window_service.h"

#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/log.h"
#include "device/device.h"

enum { WAIT, RETURN, GATHER, LINES, SEND };
enum {
    LINE_BYTES = 64,
    FIRST_BYTES = 512 /* of a window: doubled while reads go on, a line after a jump */
};

static const wpi_window_launch *launch_of(const wpi_window_service *s) {
    return s->buffers->launch_source;
}

static uint64_t launch_threads(const wpi_window_launch *l) {
    return (uint64_t)l->set_count * l->threads;
}

/* The last group may have fewer sets. */
static uint32_t group_threads(const wpi_window_service *s) {
    const wpi_window_launch *l = launch_of(s);
    const uint32_t left = l->set_count - s->group * l->sets_per_group;
    return (left < l->sets_per_group ? left : l->sets_per_group) * l->threads;
}

static uint32_t group_warps(const wpi_window_service *s) {
    return group_threads(s) / WPI_WINDOW_LANES;
}

/* Of the group's first thread, in arrays of the launch. */
static uint64_t base_of(const wpi_window_service *s) {
    const wpi_window_launch *l = launch_of(s);
    return (uint64_t)s->group * l->sets_per_group * l->threads;
}

static uint32_t *word_of(uint32_t *words, uint32_t group) {
    return words + (uint64_t)group * WPI_STREAM_WORD;
}

wp_status wpi_window_service_init(wpi_window_service *s, const wpi_window_buffers *buffers,
                                  uint32_t group, wp_error *err) {
    const wpi_window_launch *l = buffers->launch_source;
    s->buffers = buffers;
    s->group = group;
    const size_t threads = group_threads(s), warps = group_warps(s);
    s->batch = wpi_calloc(threads, sizeof *s->batch);
    s->write_rows = wpi_calloc(warps, sizeof *s->write_rows);
    s->taken = wpi_calloc(threads, sizeof *s->taken);
    s->blocks = wpi_calloc(l->sets_per_group, sizeof *s->blocks);
    s->past = wpi_calloc(l->windows * threads, sizeof *s->past);
    if (s->batch == NULL || s->write_rows == NULL || s->taken == NULL || s->blocks == NULL ||
        s->past == NULL)
        return WP_FAIL(err, NOMEM, "a streamed launch");
    return wpi_stream_spans_init(&s->spans, group, err);
}

void wpi_window_service_free(wpi_window_service *s) {
    for (uint32_t w = 0; w < WPI_STREAM_WINDOWS; w++)
        wpi_reservation_leave(&s->cursors[w]);
    wpi_reservation_leave(&s->write_cursor);
    wpi_free(s->batch);
    wpi_free(s->write_rows);
    wpi_free(s->taken);
    wpi_free(s->blocks);
    wpi_free(s->past);
    wpi_stream_spans_deinit(&s->spans);
    *s = (wpi_window_service){0};
}

/* ---- requests ---- */

/* All that are there; false: the launch is over. */
static bool take_requests(wpi_window_service *s, const uint32_t **next, uint32_t *value) {
    const wpi_window_launch *l = launch_of(s);
    const uint32_t *ring = l->ring + ((uint64_t)s->group << l->ring_shift);
    for (s->batch_count = 0;; s->ticket++) {
        const uint32_t lap = s->ticket >> l->ring_shift;
        *next = &ring[s->ticket - (lap << l->ring_shift)];
        *value = __atomic_load_n(*next, __ATOMIC_ACQUIRE);
        if (*value == WPI_STREAM_END) return s->batch_count != 0;
        if ((*value & 1) == (lap & 1)) return true;
        s->taken[*value >> 1] = s->batches + 1;
        s->batch[s->batch_count++] = *value >> 1;
    }
}

static bool outside(wpi_window_service *s, const wpi_reservation_cursor *cursor, uint32_t number,
                    bool is_write, uint32_t bytes, uint64_t address) {
    const wpi_window_launch *l = launch_of(s);
    const uint32_t set = s->group * l->sets_per_group + number / l->threads;
    wpi_stream_fail_outside(&s->failure, cursor, s->kernel_name, *word_of(l->block, set),
                            number % l->threads, is_write, bytes, address);
    return false;
}

/* ---- writes ---- */

static bool has_writes(wpi_window_service *s) {
    const wpi_window_launch *l = launch_of(s);
    bool any = false;
    if (l->write_slots == 0) return false;
    memset(s->write_rows, 0, group_warps(s) * sizeof *s->write_rows);
    for (uint32_t i = 0; i < s->batch_count; i++) {
        const uint32_t count = l->write_counts[base_of(s) + s->batch[i]];
        uint32_t *rows = &s->write_rows[s->batch[i] / WPI_WINDOW_LANES];
        if (count > *rows) *rows = count;
        any |= count != 0;
    }
    return any;
}

static uint64_t values_region(const wpi_window_launch *l) {
    return (uint64_t)l->write_slots * WPI_WINDOW_LANES << l->value_class;
}

/* The first slots of the warps' regions; regions side by side are one copy. */
static wp_status copy_values(wpi_window_service *s, wpi_stream_counts *counts) {
    const wpi_window_launch *l = launch_of(s);
    const uint64_t region_bytes = values_region(l);
    const uint64_t row_bytes = (uint64_t)WPI_WINDOW_LANES << l->value_class;
    const uint64_t base = base_of(s) / WPI_WINDOW_LANES * region_bytes;
    const uint32_t *rows = s->write_rows, warps = group_warps(s);
    for (uint32_t first = 0, outer; first < warps; first = outer) {
        uint32_t most = 0;
        for (outer = first; outer < warps && rows[outer] != 0; outer++)
            if (rows[outer] > most) most = rows[outer];
        if (outer == first) {
            outer++;
            continue;
        }
        const uint64_t at = base + first * region_bytes, bytes = most * row_bytes;
        WP_TRY(wp_queue_copy_2d(s->up, s->buffers->value_copy + at, region_bytes, l->values + at,
                                region_bytes, bytes, outer - first, &s->failure));
        counts->copied_bytes += bytes * (outer - first);
    }
    return WP_STATUS_OK;
}

static bool fetch(wpi_window_service *s) {
    return copy_values(s, &s->write_counts) == WP_STATUS_OK &&
           wp_queue_fill(s->up, word_of(s->buffers->returned, s->group), s->batches + 1,
                         sizeof(uint32_t), 1, &s->failure) == WP_STATUS_OK;
}

/* In the thread's order. */
static bool store_thread(wpi_window_service *s, uint32_t number, uint64_t *last_line) {
    const wpi_window_launch *l = launch_of(s);
    const uint64_t index = base_of(s) + number;
    const uint32_t count = l->write_counts[index];
    uint64_t slot =
        index / WPI_WINDOW_LANES * l->write_slots * WPI_WINDOW_LANES + index % WPI_WINDOW_LANES;
    for (uint32_t n = 0; n < count; n++, slot += WPI_WINDOW_LANES) {
        const uint64_t target = l->targets[slot], address = target & WPI_WINDOW_ADDRESS;
        const uint32_t class = (uint32_t)(target >> WPI_WINDOW_BYTES_SHIFT), bytes = 1u << class;
        void *to = wpi_reservation_host(&s->write_cursor, address, bytes, true);
        if (to == NULL) return outside(s, &s->write_cursor, number, true, bytes, address);
        wpi_stream_copy(class, to, s->buffers->value_copy + (slot << l->value_class));
        s->write_counts.useful_bytes += bytes;
        if (address / LINE_BYTES == *last_line) continue;
        *last_line = address / LINE_BYTES;
        s->random_work.read_bytes += LINE_BYTES;
    }
    s->write_counts.accesses += count;
    s->write_counts.words += count;
    l->write_counts[index] = 0;
    return true;
}

static bool store(wpi_window_service *s) {
    uint64_t last_line = UINT64_MAX;
    for (uint32_t i = 0; i < s->batch_count; i++)
        if (!store_thread(s, s->batch[i], &last_line)) return false;
    return true;
}

/* ---- windows ---- */

static uint64_t want_of(const wpi_window_service *s, uint32_t number) {
    return launch_of(s)->wants[base_of(s) + number];
}

/* Threads that begin side by side share data out: this one's part ends where the next one's
 * begins. 0: not known. */
static uint64_t end_of_part(const wpi_window_service *s, uint32_t number, uint64_t want) {
    const uint32_t next = number + 1;
    if (next == group_threads(s) || s->taken[next] != s->batches + 1) return 0;
    const uint64_t other = want_of(s, next);
    const bool is_same = other >> WPI_WINDOW_NUMBER_SHIFT == want >> WPI_WINDOW_NUMBER_SHIFT;
    const uint64_t end = other & WPI_WINDOW_ADDRESS;
    return is_same && end > (want & WPI_WINDOW_ADDRESS) ? end : 0;
}

/* A thread that reads on gets twice as much as before, as disk caches read ahead; at the end of its
 * part a line more. */
static uint32_t bytes_ahead(const wpi_window_service *s, uint32_t number, uint64_t want,
                            wpi_window_past *past) {
    const wpi_window_launch *l = launch_of(s);
    const uint32_t most = l->granules << l->granule;
    const uint64_t first = (want & WPI_WINDOW_ADDRESS) >> l->granule << l->granule;
    uint64_t bytes = FIRST_BYTES;
    if (past->bytes == 0)
        past->end = end_of_part(s, number, want);
    else if (first + past->bytes >= past->outer && first < past->outer + most)
        bytes = 2 * (uint64_t)past->bytes;
    else
        bytes = LINE_BYTES;
    if (past->end > first && past->end - first + LINE_BYTES < bytes)
        bytes = past->end - first + LINE_BYTES;
    if (past->end != 0 && past->end <= first) bytes = LINE_BYTES;
    return bytes < most ? (uint32_t)bytes : most;
}

/* A block that has just taken a set begins anew. */
static void forget_other_blocks(wpi_window_service *s, uint32_t number) {
    const wpi_window_launch *l = launch_of(s);
    const uint32_t set = number / l->threads;
    const uint32_t block = *word_of(l->block, s->group * l->sets_per_group + set);
    if (s->blocks[set] == block) return;
    s->blocks[set] = block;
    for (uint32_t w = 0; w < l->windows; w++)
        memset(s->past + (uint64_t)w * group_threads(s) + (uint64_t)set * l->threads, 0,
               l->threads * sizeof *s->past);
}

/* The bytes that there are from the address on, in pieces of the lanes side by side. */
static void lay_out(const wpi_window_service *s, uint32_t number, uint32_t w, uint64_t first,
                    uint32_t bytes) {
    enum { ROW = WPI_WINDOW_LANES * WPI_WINDOW_PIECE };
    const wpi_window_launch *l = launch_of(s);
    const wpi_reservation_cursor *cursor = &s->cursors[w];
    const uint64_t warps = launch_threads(l) / WPI_WINDOW_LANES;
    const uint64_t warp = (base_of(s) + number) / WPI_WINDOW_LANES;
    char *to = l->source + (w * warps + warp) * l->region_bytes +
               (uint64_t)(number % WPI_WINDOW_LANES) * WPI_WINDOW_PIECE;
    const uint32_t before = first < cursor->first ? (uint32_t)(cursor->first - first) : 0;
    const char *from = cursor->host + (first + before - cursor->first) - before;
    for (uint32_t at = 0; at < bytes; at += WPI_WINDOW_PIECE, to += ROW) {
        const uint32_t skip = at < before ? before : 0; /* in the first piece */
        const uint32_t left = bytes - at, end = left < WPI_WINDOW_PIECE ? left : WPI_WINDOW_PIECE;
        memcpy(to + skip, from + at + skip, end - skip);
    }
}

/* `*bytes`: of the window, from the wanted address on. */
static bool fill_window(wpi_window_service *s, uint32_t number, uint64_t want, uint32_t *bytes,
                        wp_host_work *work) {
    const wpi_window_launch *l = launch_of(s);
    const uint32_t w = (uint32_t)(want >> WPI_WINDOW_NUMBER_SHIFT);
    const uint32_t read_bytes = (uint32_t)(want >> WPI_WINDOW_BYTES_SHIFT) & 0xff;
    const uint64_t address = want & WPI_WINDOW_ADDRESS, first = address >> l->granule << l->granule;
    wpi_reservation_cursor *cursor = &s->cursors[w];
    wpi_window_past *past = &s->past[(uint64_t)w * group_threads(s) + number];
    if (wpi_reservation_host(cursor, address, read_bytes, false) == NULL)
        return outside(s, cursor, number, false, read_bytes, address);
    *bytes = bytes_ahead(s, number, want, past);
    if (cursor->outer - first < *bytes) *bytes = (uint32_t)(cursor->outer - first);
    past->outer = first + *bytes;
    past->bytes = *bytes;
    lay_out(s, number, w, first, *bytes);
    s->random_work.read_bytes += LINE_BYTES;
    work->read_bytes += (*bytes - 1) / LINE_BYTES * LINE_BYTES;
    work->written_bytes += *bytes;
    wpi_stream_add_file_work(cursor, &s->moved_bytes[w], work);
    s->counts.useful_bytes += *bytes;
    s->counts.copied_bytes += (*bytes + WPI_WINDOW_PIECE - 1) / WPI_WINDOW_PIECE * WPI_WINDOW_PIECE;
    if (s->sent != NULL) s->counts.repeated_bytes += wpi_sent_bytes_note(s->sent, first, *bytes);
    s->counts.accesses++;
    return true;
}

/* Of the group's threads: what the batch answers, and what the one before it did. */
static uint32_t *answers_of(const wpi_window_service *s, uint32_t batch) {
    return s->buffers->answers + (batch % 2) * launch_threads(launch_of(s)) + base_of(s);
}

static bool gather(wpi_window_service *s, wp_host_work *work) {
    uint32_t *now = answers_of(s, s->batches);
    memcpy(now, answers_of(s, s->batches + 1), group_threads(s) * sizeof *now);
    for (uint32_t i = 0; i < s->batch_count; i++) {
        const uint32_t number = s->batch[i];
        const uint64_t want = want_of(s, number);
        uint32_t bytes = 0;
        forget_other_blocks(s, number);
        if (want != 0 && !fill_window(s, number, want, &bytes, work)) return false;
        now[number] = bytes << 1 | (~now[number] & 1);
    }
    work->read_bytes += s->batch_count * (sizeof(uint64_t) + sizeof(uint32_t));
    s->counts.words += 2 * (uint64_t)s->batch_count;
    return true;
}

/* The answers: those between are sent again, as they were. */
static bool send(wpi_window_service *s) {
    const wpi_window_launch *l = launch_of(s);
    uint32_t first = s->batch[0], last = s->batch[0];
    for (uint32_t i = 1; i < s->batch_count; i++) {
        if (s->batch[i] < first) first = s->batch[i];
        if (s->batch[i] > last) last = s->batch[i];
    }
    const uint32_t *now = answers_of(s, s->batches);
    s->batches++;
    s->counts.chunks++;
    return wp_queue_copy(s->down, l->answers + base_of(s) + first, now + first,
                         (last - first + 1) * sizeof *now, &s->failure) == WP_STATUS_OK &&
           wp_queue_fill(s->down, word_of(s->buffers->sent, s->group), s->batches, sizeof(uint32_t),
                         1, &s->failure) == WP_STATUS_OK;
}

/* ---- the machine ---- */

/* The kernel's threads wait for their counts, or will: they trap. */
static wp_actor_answer fail(wpi_window_service *s) {
    const wpi_window_launch *l = launch_of(s);
    s->has_failed = true;
    wpi_stream_report(s->is_reported, &s->failure);
    const wp_status ignored = wp_queue_fill(s->down, l->answers, WPI_STREAM_END, sizeof(uint32_t),
                                            launch_threads(l), NULL);
    (void)ignored; /* the device has failed, and with it the kernel */
    return WP_ACTOR_ENDS;
}

static wp_actor_answer watch(wp_actor *actor, const uint32_t *word, uint32_t value) {
    wp_actor_watch(actor, word, value);
    return WP_ACTOR_GOES_ON;
}

static wp_actor_answer spend(wp_actor *actor, wpi_window_service *s, const wp_host_work *work,
                             uint32_t next) {
    s->state = next;
    if (wp_device_host_work(actor->device, work, &s->failure) != WP_STATUS_OK) return fail(s);
    return WP_ACTOR_GOES_ON;
}

static wp_actor_answer begin(wp_actor *actor, wpi_window_service *s) {
    const uint32_t *next, *sent = word_of(s->buffers->sent, s->group);
    const uint32_t arrived = __atomic_load_n(sent, __ATOMIC_ACQUIRE);
    uint32_t value;
    if (s->batches != arrived) return watch(actor, sent, arrived);
    if (!take_requests(s, &next, &value)) return WP_ACTOR_ENDS;
    if (s->batch_count == 0) return watch(actor, next, value);
    s->since_ns = wpi_actor_now_ns(actor);
    s->random_work = (wp_host_work){.pattern = WP_HOST_RANDOM, .access_bytes = LINE_BYTES};
    s->state = has_writes(s) ? RETURN : GATHER;
    return s->state == GATHER || fetch(s) ? WP_ACTOR_GOES_ON : fail(s);
}

static void note_worked(const wp_actor *actor, wpi_window_service *s) {
    const uint64_t now_ns = wpi_actor_now_ns(actor);
    s->counts.worked_ns += now_ns - s->since_ns;
    wpi_stream_spans_add(&s->spans, s->since_ns, now_ns);
}

wp_actor_answer wpi_window_service_step(wp_actor *actor, void *object) {
    wpi_window_service *s = object;
    wp_host_work work = {0};
    switch (s->state) {
    case WAIT: return begin(actor, s);
    case RETURN: {
        const uint32_t *word = word_of(s->buffers->returned, s->group);
        const uint32_t value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
        if (value != s->batches + 1) return watch(actor, word, value);
        if (!store(s)) return fail(s);
        work.read_bytes = s->batch_count * sizeof(uint64_t);
        wpi_stream_add_file_work(&s->write_cursor, &s->write_moved_bytes, &work);
        return spend(actor, s, &work, GATHER);
    }
    case GATHER:
        if (!gather(s, &work)) return fail(s);
        return spend(actor, s, &work, LINES);
    case LINES: return spend(actor, s, &s->random_work, SEND);
    default:
        if (!send(s)) return fail(s);
        note_worked(actor, s);
        s->state = WAIT;
        return WP_ACTOR_GOES_ON;
    }
}
