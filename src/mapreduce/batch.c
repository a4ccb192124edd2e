/* SPDX-License-Identifier: Apache-2.0 */
/* Chunks of records on the device. Two buffers take turns:
 *
 *     host      gather 1  gather 2  look at 1, gather 3  look at 2 …
 *     copies              1         2                    3
 *     kernels                       1                    2
 *
 * A chunk is what the host gathers of records that are not done: of all in the first pass; later of
 * those that were postponed, however far apart they are. The host keeps, of each of these, the
 * number and digest of its pairs and a bit for each pair that is in the table, and sends them
 * along, so that the device has state for two chunks only.
 *
 * In the first pass a record's bits are taken on the device: for as many pairs as are expected of
 * its bytes, and once more if it emitted others. A record that finds no room for them comes back,
 * untried or tried in part, and is sent again in the same pass: all pairs must be tried in each
 * pass (docs/rooms/table.md). */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "mapreduce/mapreduce_job.h"
#include "warpage/host.h"
#include "warpage/report.h"

#define CHUNK_BYTES_MIN ((uint64_t)64 << 10)
#define CHUNK_BYTES_MAX ((uint64_t)8 << 20)
#define CHUNKS_OF_MEMORY 32u
#define BYTES_PER_RECORD 32u /* a chunk has room for records of this length */
#define THREADS 256u
#define HEAD_BYTES wp_table_align(sizeof(wp_map_control))
#define ATTACH_GLOBAL 1u /* cudaMemAttachGlobal: any kernel may access it */

/* ---- memory ---------------------------------------------------------------------------------- */

static uint64_t words_of(uint64_t pairs) {
    return (pairs + 31) / 32;
}

static wp_status choose_sizes(wp_mapreduce *job, wp_error *err) {
    const uint64_t longest = wp_table_align(job->longest_bytes);
    uint64_t bytes = job->spec.chunk_bytes, free_bytes, total_bytes;
    if (bytes == 0) {
        wp_memory_info(job->device, &free_bytes, &total_bytes);
        bytes = free_bytes / CHUNKS_OF_MEMORY;
        if (bytes < CHUNK_BYTES_MIN) bytes = CHUNK_BYTES_MIN;
        if (bytes > CHUNK_BYTES_MAX) bytes = CHUNK_BYTES_MAX;
        if (bytes < longest) bytes = longest;
    }
    if (bytes > UINT32_MAX / 2)
        return WP_FAIL(err, INVALID,
                       "mapreduce: chunks of %" PRIu64 " bytes; at most 2^31 are possible", bytes);
    bytes = wp_table_align(bytes);
    if (longest > bytes) {
        char name[320];
        uint64_t i = 0;
        while (job->records[i].bytes != job->longest_bytes)
            i++;
        wpi_record_name(job, i, name, sizeof name);
        return WP_FAIL(err, INVALID,
                       "mapreduce: %s has %" PRIu64 " bytes, more than a chunk of %" PRIu64
                       "; raise chunk_bytes",
                       name, job->longest_bytes, bytes);
    }
    job->chunk_bytes = bytes;
    job->records_max = bytes / BYTES_PER_RECORD < 32 ? 32 : bytes / BYTES_PER_RECORD;
    if (job->records_max > job->record_count) job->records_max = job->record_count;
    job->words_max = job->records_max + bytes / 32;
    if (job->words_max < words_of(job->spec.pairs_max))
        job->words_max = words_of(job->spec.pairs_max);
    job->buffer_bytes = HEAD_BYTES + bytes +
                        job->records_max * (sizeof(wp_map_piece) + 2 * sizeof(wp_map_state)) +
                        wp_table_align(job->words_max * 4);
    return WP_STATUS_OK;
}

/* Host and kernels use the same memory. */
static bool is_shared(const wp_mapreduce *job) {
    return job->spec.chunk_memory != WP_MEMORY_DEVICE;
}

static wp_status make_buffer(wp_mapreduce *job, wpi_buffer *b, wp_error *err) {
    const bool is_managed = job->spec.chunk_memory == WP_MEMORY_MANAGED;
    WP_TRY(wp_memory_alloc(job->device, is_managed ? WP_MEMORY_MANAGED : WP_MEMORY_PINNED,
                           job->buffer_bytes, is_managed ? ATTACH_GLOBAL : 0, (void **)&b->host,
                           err));
    if (is_shared(job))
        b->device = b->host;
    else
        WP_TRY(wp_memory_alloc(job->device, WP_MEMORY_DEVICE, job->buffer_bytes, 0,
                               (void **)&b->device, err));
    WP_TRY(wp_event_create(job->device, &b->copy_start, err));
    WP_TRY(wp_event_create(job->device, &b->copied, err));
    WP_TRY(wp_event_create(job->device, &b->map_start, err));
    WP_TRY(wp_event_create(job->device, &b->mapped, err));
    b->numbers = wpi_calloc(job->records_max, sizeof *b->numbers);
    if (b->numbers == NULL)
        return WP_FAIL(err, NOMEM, "mapreduce: no host memory for chunks of %" PRIu64 " records",
                       job->records_max);
    return WP_STATUS_OK;
}

wp_status wpi_buffers_create(wp_mapreduce *job, wp_error *err) {
    WP_TRY(choose_sizes(job, err));
    job->queue = wp_device_default_queue(job->device);
    WP_TRY(wp_queue_create(job->device, false, &job->copies, err));
    WP_TRY(wp_queue_create(job->device, false, &job->clock, err));
    WP_TRY(wp_event_create(job->device, &job->tick, err));
    WP_TRY(make_buffer(job, &job->buffers[0], err));
    WP_TRY(make_buffer(job, &job->buffers[1], err));
    job->report.chunk_bytes = job->chunk_bytes;
    job->report.device_bytes =
        job->spec.chunk_memory == WP_MEMORY_PINNED ? 0 : 2 * job->buffer_bytes;
    return WP_STATUS_OK;
}

static void give(wp_device *device, void *memory) {
    const wp_status ignored = memory == NULL ? WP_STATUS_OK : wp_memory_free(device, memory, NULL);
    (void)ignored; /* fails only where the device has freed it */
}

void wpi_buffers_destroy(wp_mapreduce *job) {
    for (int i = 0; i < 2; i++) {
        wpi_buffer *b = &job->buffers[i];
        if (b->device != b->host) give(job->device, b->device);
        give(job->device, b->host);
        wp_event_destroy(b->copy_start);
        wp_event_destroy(b->copied);
        wp_event_destroy(b->map_start);
        wp_event_destroy(b->mapped);
        wpi_free(b->numbers);
        *b = (wpi_buffer){0};
    }
    wp_event_destroy(job->tick);
    wp_queue_destroy(job->copies);
    wp_queue_destroy(job->clock);
    wpi_free(job->again.items);
    wpi_free(job->bits);
    job->tick = NULL;
    job->copies = job->clock = NULL;
    job->again = (wpi_list){0};
    job->bits = NULL;
}

/* ---- what came back -------------------------------------------------------------------------- */

static wp_status say_fault(wp_mapreduce *job, const wpi_buffer *b, const wp_map_control *control,
                           wp_error *err) {
    char name[320];
    const uint64_t number = b->numbers[control->fault_record];
    wpi_record_name(job, number, name, sizeof name);
    if (control->fault == WP_MAP_FAULT_TOO_MANY)
        return WP_FAIL(err, INVALID,
                       "mapreduce: %s: map emitted %u pairs, more than the %u of pairs_max", name,
                       control->fault_is, job->spec.pairs_max);
    if (control->fault_was != control->fault_is)
        return WP_FAIL(
            err, INVALID,
            "mapreduce: %s: map emitted %u pairs, and %u when it ran again; it must emit "
            "the same pairs each time",
            name, control->fault_was, control->fault_is);
    return WP_FAIL(
        err, INVALID,
        "mapreduce: %s: map emitted other pairs when it ran again; it must emit the same "
        "pairs each time",
        name);
}

static wp_status room_for_bits(wp_mapreduce *job, uint64_t words, wp_error *err) {
    while (job->bits_count + words > job->bits_capacity)
        WP_TRY(
            wpi_grow(&job->bits, job->bits_capacity, &job->bits_capacity, sizeof *job->bits, err));
    return WP_STATUS_OK;
}

/* A record that is not done. */
static wp_status keep(wp_mapreduce *job, wpi_buffer *b, const wp_map_state *left,
                      const uint32_t *bits, wp_error *err) {
    const uint64_t number = b->numbers[left->record], words = words_of(left->pairs);
    wpi_record *record = &job->records[number];
    const bool has_run = left->bits != WP_MAP_NO_BITS;
    const bool is_part = has_run && (left->bits & WP_MAP_BITS_PART) != 0;
    const uint64_t known = is_part ? words_of(WP_MAP_PAIRS_EXPECTED(record->bytes)) : words;
    if (words > job->words_max) {
        char name[320];
        wpi_record_name(job, number, name, sizeof name);
        return WP_FAIL(err, INVALID,
                       "mapreduce: %s: map emits %u pairs; a chunk of %" PRIu64
                       " bytes allows %" PRIu64 "; raise chunk_bytes",
                       name, left->pairs, job->chunk_bytes, job->words_max * 32);
    }
    if (has_run) {
        if (!b->was_tried) {
            WP_TRY(room_for_bits(job, words, err));
            record->bits = job->bits_count;
            record->pairs = left->pairs;
            record->digest = left->digest;
            job->bits_count += words;
            memset(job->bits + record->bits, 0, words * sizeof *bits);
        }
        memcpy(job->bits + record->bits, bits + (left->bits & ~WP_MAP_BITS_PART),
               known * sizeof *bits);
    } else {
        record->bits = WPI_RECORD_NEW;
    }
    if (!has_run || is_part) {
        WP_TRY(wpi_grow(&job->again.items, job->again.count, &job->again.capacity,
                        sizeof *job->again.items, err));
        job->again.items[job->again.count++] = number;
        return WP_STATUS_OK;
    }
    job->pass.pairs_postponed += left->pairs;
    for (uint64_t i = 0; i < words; i++)
        job->pass.pairs_postponed -= (uint64_t)__builtin_popcount(job->bits[record->bits + i]);
    return WP_STATUS_OK;
}

static void show_progress(wp_mapreduce *job) {
    if (job->spec.progress == NULL) return;
    const wp_mapreduce_progress progress = {.pass = job->pass_count + 1,
                                            .records = job->record_count,
                                            .records_done =
                                                job->records_done + job->pass.records_done,
                                            .pairs_postponed = job->pass.pairs_postponed};
    job->spec.progress(job->spec.progress_object, &progress);
}

/* Waits for the batch of a buffer, and notes which of its records are done. */
static wp_status look_at(wp_mapreduce *job, wpi_buffer *b, wp_error *err) {
    if (!b->is_busy) return WP_STATUS_OK;
    b->is_busy = false;
    const wp_map_control *control = (const wp_map_control *)(void *)b->host;
    WP_TRY(wp_event_wait(b->mapped, err));
    job->pass.map_ns += wp_event_time_ns(b->mapped) - wp_event_time_ns(b->map_start);
    job->pass.copy_ns += wp_event_time_ns(b->copied) - wp_event_time_ns(b->copy_start);
    if (control->fault == WP_MAP_FAULT_REFUSED)
        job->refused_record = b->numbers[control->fault_record]; /* the table says why, later */
    else if (control->fault != WP_MAP_FAULT_NONE)
        return say_fault(job, b, control, err);
    uint64_t served = 0;
    for (unsigned i = 0; i < WP_MAP_COUNTERS; i++)
        served += control->served[i];
    job->pass.pairs_done += served;
    wp_postpone_add_served(job->postpone, served);
    const uint64_t left = control->left;
    const uint64_t words = b->was_tried                          ? b->words
                           : control->bits_used > job->words_max ? job->words_max
                                                                 : control->bits_used;
    if (left != 0 && !is_shared(job)) {
        WP_TRY(wp_queue_copy(job->copies, b->host + b->bits_at, b->device + b->bits_at, words * 4,
                             err));
        WP_TRY(wp_queue_copy(job->copies, b->host + b->left_at, b->device + b->left_at,
                             left * sizeof(wp_map_state), err));
        WP_TRY(wp_queue_wait(job->copies, err));
    }
    for (uint64_t i = 0; !b->was_tried && i < b->count; i++)
        job->records[b->numbers[i]].bits = WPI_RECORD_DONE;
    const wp_map_state *states = (const wp_map_state *)(void *)(b->host + b->left_at);
    if (b->was_tried) { /* those that are not left are done; their bits are needed until then */
        for (uint64_t i = 0; i < left; i++)
            job->records[b->numbers[states[i].record]].reserved = 1;
        for (uint64_t i = 0; i < b->count; i++) {
            wpi_record *record = &job->records[b->numbers[i]];
            if (record->reserved == 0) record->bits = WPI_RECORD_DONE;
            record->reserved = 0;
        }
    }
    for (uint64_t i = 0; i < left; i++)
        WP_TRY(keep(job, b, &states[i], (const uint32_t *)(void *)(b->host + b->bits_at), err));
    job->pass.records_done += b->count - left;
    show_progress(job);
    return WP_STATUS_OK;
}

/* ---- what goes there ------------------------------------------------------------------------- */

wp_status wpi_clock_read(wp_mapreduce *job, uint64_t *ns, wp_error *err) {
    WP_TRY(wp_event_record(job->tick, job->clock, err));
    WP_TRY(wp_event_wait(job->tick, err));
    *ns = wp_event_time_ns(job->tick);
    return WP_STATUS_OK;
}

/* Copies the records to the buffer, each to a multiple of 8 bytes; places follow the numbers. */
static wp_status gather(wp_mapreduce *job, wpi_buffer *b, wp_error *err) {
    uint64_t before, after, at = 0, words = 0;
    WP_TRY(wpi_clock_read(job, &before, err));
    wp_map_piece *pieces = (wp_map_piece *)(void *)(b->host + HEAD_BYTES);
    b->text_at = HEAD_BYTES + b->count * sizeof *pieces;
    b->states_at = b->text_at + b->text_bytes;
    b->bits_at = b->states_at + (b->was_tried ? b->count * sizeof(wp_map_state) : 0);
    b->left_at = b->bits_at + wp_table_align((b->was_tried ? b->words : job->words_max) * 4);
    wp_map_state *states = (wp_map_state *)(void *)(b->host + b->states_at);
    memset(b->host, 0, HEAD_BYTES);
    for (uint64_t i = 0; i < b->count; i++) {
        const wpi_record *record = &job->records[b->numbers[i]];
        pieces[i] = (wp_map_piece){(uint32_t)at, record->bytes};
        if (record->bytes != 0) memcpy(b->host + b->text_at + at, record->text, record->bytes);
        at += wp_table_align(record->bytes);
        if (!b->was_tried) continue;
        states[i] = (wp_map_state){(uint32_t)(b->numbers[i] - b->numbers[0]), record->pairs,
                                   record->digest, (uint32_t)words};
        memcpy(b->host + b->bits_at + words * 4, job->bits + record->bits,
               words_of(record->pairs) * 4);
        words += words_of(record->pairs);
    }
    const wp_host_work work = {.read_bytes = b->text_bytes, .written_bytes = b->bits_at};
    WP_TRY(wp_device_host_work(job->device, &work, err));
    WP_TRY(wpi_clock_read(job, &after, err));
    job->pass.host_ns += after - before;
    wp_timeline_phase("host", "gather records", before, after);
    return WP_STATUS_OK;
}

static wp_status launch(wp_mapreduce *job, const wp_units *units, wpi_buffer *b, wp_error *err) {
    WP_TRY(gather(job, b, err));
    const uint64_t bytes = b->bits_at + (b->was_tried ? b->words * 4 : 0);
    WP_TRY(wp_event_record(b->copy_start, job->copies, err));
    if (!is_shared(job)) WP_TRY(wp_queue_copy(job->copies, b->device, b->host, bytes, err));
    WP_TRY(wp_event_record(b->copied, job->copies, err));
    WP_TRY(wp_queue_wait_event(job->queue, b->copied, err));
    WP_TRY(wp_event_record(b->map_start, job->queue, err));
    const wp_map_batch batch = {
        .table = wp_table_get_view(job->table),
        .control = (wp_map_control *)(void *)b->device,
        .text = b->device + b->text_at,
        .pieces = (const wp_map_piece *)(void *)(b->device + HEAD_BYTES),
        .states = b->was_tried ? (const wp_map_state *)(void *)(b->device + b->states_at) : NULL,
        .bits = (uint32_t *)(void *)(b->device + b->bits_at),
        .left = (wp_map_state *)(void *)(b->device + b->left_at),
        .done = units->done,
        .argument = job->spec.argument,
        .first = b->numbers[0],
        .bits_words = b->was_tried ? b->words : job->words_max,
        .count = (uint32_t)b->count,
        .threads = job->spec.threads == 0 ? THREADS : job->spec.threads,
        .pairs_max = job->spec.pairs_max};
    WP_TRY(job->spec.program->launch(&batch, err));
    if (!is_shared(job))
        WP_TRY(wp_queue_copy(job->queue, b->host, b->device, sizeof(wp_map_control), err));
    WP_TRY(wp_event_record(b->mapped, job->queue, err));
    job->pass.sent_bytes += bytes;
    job->pass.chunks++;
    b->is_busy = true;
    return WP_STATUS_OK;
}

static wp_status flush(wp_mapreduce *job, const wp_units *units, wp_error *err) {
    wpi_buffer *b = &job->buffers[job->turn % 2];
    if (b->count == 0) return WP_STATUS_OK;
    WP_TRY(launch(job, units, b, err));
    /* Many GPUs let the host use managed memory only while no kernel runs. */
    if (job->spec.chunk_memory == WP_MEMORY_MANAGED) WP_TRY(look_at(job, b, err));
    job->turn++;
    b = &job->buffers[job->turn % 2];
    WP_TRY(look_at(job, b, err));
    b->count = 0;
    return WP_STATUS_OK;
}

/* Adds a record to the chunk that is being made, or to the next one. */
static wp_status add(wp_mapreduce *job, const wp_units *units, uint64_t number, wp_error *err) {
    const wpi_record *record = &job->records[number];
    const bool was_tried = record->bits != WPI_RECORD_NEW;
    const uint64_t words = was_tried ? words_of(record->pairs) : 0;
    const uint64_t bytes = wp_table_align(record->bytes);
    wpi_buffer *b = &job->buffers[job->turn % 2];
    if (b->count != 0 &&
        (b->count == job->records_max || b->text_bytes + bytes > job->chunk_bytes ||
         b->words + words > job->words_max || b->was_tried != was_tried || number < b->numbers[0] ||
         number - b->numbers[0] > UINT32_MAX ||
         (!was_tried && number != b->numbers[b->count - 1] + 1))) {
        WP_TRY(flush(job, units, err));
        b = &job->buffers[job->turn % 2];
    }
    if (b->count == 0) {
        b->text_bytes = b->words = 0;
        b->was_tried = was_tried;
    }
    b->numbers[b->count++] = number;
    b->text_bytes += bytes;
    b->words += words;
    return WP_STATUS_OK;
}

/* All that is under way; records that come back untried go once more. */
static wp_status finish(wp_mapreduce *job, const wp_units *units, wp_error *err) {
    for (;;) {
        WP_TRY(flush(job, units, err));
        WP_TRY(look_at(job, &job->buffers[0], err));
        WP_TRY(look_at(job, &job->buffers[1], err));
        job->buffers[0].count = job->buffers[1].count = 0;
        if (job->again.count == 0) return WP_STATUS_OK;
        wpi_list again = job->again;
        wp_status status = WP_STATUS_OK;
        job->again = (wpi_list){0};
        for (uint64_t i = 0; status == WP_STATUS_OK && i < again.count; i++)
            status = add(job, units, again.items[i], err);
        wpi_free(again.items);
        WP_TRY(status);
    }
}

wp_status wpi_map_records(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                          wp_error *err) {
    wp_mapreduce *job = object;
    for (uint64_t i = first; i < outer; i++)
        if (job->records[i].bits != WPI_RECORD_DONE) WP_TRY(add(job, units, i, err));
    return finish(job, units, err);
}
