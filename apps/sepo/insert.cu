/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table that a program's own kernel fills. Records stay in host memory. Two buffers of a chunk
 * each take turns: while the kernel works on one chunk, the next one is copied. A pass skips chunks
 * whose records are all done.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/host.h>

#include "common/report.h"
#include "sepo/sepo.h"
#include "sepo/threads.h"

#define CHUNKS_OF_MEMORY 32
#define CHUNK_BYTES_MIN ((uint64_t)64 << 10)
#define CHUNK_BYTES_MAX ((uint64_t)8 << 20)

typedef struct buffer {
    char *host, *device; /* starts of records, where they differ in length; then the records */
    cudaStream_t stream;
    cudaEvent_t start, copied, inserted; /* around the copy, and behind the kernel */
    bool is_under_way;
} buffer;

typedef struct inserter {
    app_device *device;
    const app_sepo_options *options;
    const app_sepo_records *input;
    wp_table *table;
    uint64_t *skipped;
    buffer buffers[2];
    unsigned turn;
    uint64_t chunk_records, starts_bytes;
    cudaEvent_t last_inserted, moved; /* the pass's last kernel; the heap's move to the host */
    uint64_t sent_bytes, sent_again_bytes;
    uint64_t pass, done; /* passes so far, and records that are done */
} inserter;

static uint64_t offset_of(const app_sepo_records *input, uint64_t record) {
    return input->starts != NULL ? input->starts[record] : record * input->record_bytes;
}

static const char *name_of(const app_sepo_records *input) {
    return input->name != NULL ? input->name : "records";
}

/* Room for all pairs, as if each had a key of its own, and for ends of pages that stay unused. */
static uint64_t enough_bytes(const app_sepo_records *input) {
    const uint64_t bytes = offset_of(input, input->count);
    const uint64_t pairs =
        bytes + input->count * input->pairs * (sizeof(wp_table_entry) + sizeof(wp_table_value) + 16u);
    return (4 * bytes > pairs ? 4 * bytes : pairs) + ((uint64_t)4 << 20);
}

static void check_status(wp_status status, const wp_error *err) {
    if (status != WP_STATUS_OK) {
        app_fail("%s", err->message);
    }
}

static double seconds_between(cudaEvent_t start, cudaEvent_t stop) {
    float elapsed_ms = 0;
    app_cuda_check(cudaEventElapsedTime(&elapsed_ms, start, stop), "cudaEventElapsedTime",
                   "a timer", 0);
    return 1e-3 * (double)elapsed_ms;
}

static void record(cudaEvent_t event, cudaStream_t stream) {
    app_cuda_check(cudaEventRecord(event, stream), "cudaEventRecord", "a timer", 0);
}

/* What the buffer did last has ended; its times are added up. */
static void wait_for(inserter *in, buffer *b) {
    app_cuda_check(cudaStreamSynchronize(b->stream), "wait", "a chunk", 0);
    if (!b->is_under_way) {
        return;
    }
    in->device->to_device_s += seconds_between(b->start, b->copied);
    in->device->kernels_s += seconds_between(b->copied, b->inserted);
    b->is_under_way = false;
}

/* Copies a chunk and starts the kernel for it, behind what its buffer did before. */
static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err) {
    inserter *in = (inserter *)object;
    const app_sepo_records *input = in->input;
    buffer *b = &in->buffers[in->turn++ % 2u];
    const uint64_t from = offset_of(input, first), bytes = offset_of(input, outer) - from;
    const uint64_t starts_bytes = input->starts != NULL ? (outer - first + 1) * sizeof(uint64_t) : 0;
    wait_for(in, b);
    if (in->options->memory == APP_MEMORY_MANAGED) { /* many GPUs let the host use it only then */
        wait_for(in, &in->buffers[in->turn % 2u]);
    }
    if (input->starts != NULL) {
        memcpy(b->host, input->starts + first, starts_bytes);
    }
    memcpy(b->host + in->starts_bytes, (const char *)input->records + from, bytes);
    const wp_host_work work = {bytes + starts_bytes, bytes + starts_bytes, WP_HOST_SEQUENTIAL, 0, 0};
    const wp_status status = wp_device_host_work(wp_cudart_device(), &work, err);
    if (status != WP_STATUS_OK) {
        return status;
    }
    record(b->start, b->stream);
    if (b->device != b->host) {
        app_cuda_check(cudaMemcpyAsync(b->device, b->host, in->starts_bytes + bytes,
                                       cudaMemcpyHostToDevice, b->stream),
                       "cudaMemcpyAsync", "a chunk", bytes);
    }
    record(b->copied, b->stream);
    const app_sepo_chunk chunk = {
        wp_table_get_view(in->table), *units, b->device + in->starts_bytes,
        input->starts != NULL ? (const uint64_t *)(const void *)b->device : NULL,
        input->record_bytes, first, outer, in->skipped};
    input->kernel.launch(&chunk, input->argument, (unsigned)in->options->block, b->stream);
    app_cuda_check(cudaGetLastError(), "launch", "the kernel", 0);
    record(b->inserted, b->stream);
    record(in->last_inserted, b->stream);
    b->is_under_way = true;
    in->sent_bytes += in->starts_bytes + bytes;
    in->sent_again_bytes += in->pass != 0 ? in->starts_bytes + bytes : 0;
    in->device->launches++;
    return WP_STATUS_OK;
}

static void end_pass(inserter *in, const wp_postpone_facts *facts) {
    fprintf(stderr, "  pass %-10" PRIu64 " %12s   %s %s done, %s postponed, %s chunks\n", facts->pass,
            app_time(1e-9 * (double)facts->pass_ns), app_count(facts->done_units - in->done),
            name_of(in->input), app_count(facts->postponed_units), app_count(facts->chunks));
    for (int i = 0; i < 2; i++) {
        wait_for(in, &in->buffers[i]);
    }
    record(in->moved, 0);
    app_cuda_check(cudaEventSynchronize(in->moved), "cudaEventSynchronize", "a timer", 0);
    const double heap_s = seconds_between(in->last_inserted, in->moved);
    in->device->to_host_s += heap_s;
    app_sepo_note_pass(facts->pass, (double)facts->pass_ns + 1e9 * heap_s);
    in->pass = facts->pass;
    in->done = facts->done_units;
}

static bool retries(void *object, const wp_postpone_facts *facts) {
    end_pass((inserter *)object, facts);
    return true;
}

/* Records of a chunk, a multiple of 32 as units come; returns the bytes of the longest chunk. */
static uint64_t size_chunks(inserter *in, uint64_t chunk_bytes) {
    const app_sepo_records *input = in->input;
    size_t free_bytes = 0, total_bytes = 0;
    if (chunk_bytes == 0) {
        app_cuda_check(cudaMemGetInfo(&free_bytes, &total_bytes), "cudaMemGetInfo", "the device", 0);
        chunk_bytes = free_bytes / CHUNKS_OF_MEMORY;
        chunk_bytes = chunk_bytes < CHUNK_BYTES_MIN ? CHUNK_BYTES_MIN : chunk_bytes;
        chunk_bytes = chunk_bytes > CHUNK_BYTES_MAX ? CHUNK_BYTES_MAX : chunk_bytes;
    }
    const double record_bytes = (double)offset_of(input, input->count) / (double)input->count +
                                (input->starts != NULL ? sizeof(uint64_t) : 0);
    uint64_t records = (uint64_t)((double)chunk_bytes / record_bytes) & ~(uint64_t)31;
    const uint64_t all = (input->count + 31) & ~(uint64_t)31;
    records = records == 0 ? 32 : records > all ? all : records;
    uint64_t longest = 0;
    for (uint64_t i = 0; i < input->count; i += records) {
        const uint64_t outer = i + records < input->count ? i + records : input->count;
        const uint64_t bytes = offset_of(input, outer) - offset_of(input, i);
        longest = bytes > longest ? bytes : longest;
    }
    in->chunk_records = records;
    in->starts_bytes = input->starts != NULL ? (records + 1) * sizeof(uint64_t) : 0;
    return longest;
}

static void make_buffers(inserter *in, uint64_t record_bytes) {
    const uint64_t bytes = in->starts_bytes + record_bytes;
    const int memory = in->options->memory;
    for (int i = 0; i < 2; i++) {
        buffer *b = &in->buffers[i];
        if (memory == APP_MEMORY_MANAGED) {
            app_cuda_check(cudaMallocManaged((void **)&b->host, bytes), "cudaMallocManaged",
                           "a chunk", bytes);
        } else {
            app_cuda_check(cudaMallocHost((void **)&b->host, bytes), "cudaMallocHost", "a chunk",
                           bytes);
        }
        b->device = b->host;
        if (memory == APP_MEMORY_COPY) {
            app_cuda_check(cudaMalloc((void **)&b->device, bytes), "cudaMalloc", "a chunk", bytes);
        }
        app_cuda_check(cudaStreamCreate(&b->stream), "cudaStreamCreate", "a chunk", 0);
        app_cuda_check(cudaEventCreate(&b->start), "cudaEventCreate", "a timer", 0);
        app_cuda_check(cudaEventCreate(&b->copied), "cudaEventCreate", "a timer", 0);
        app_cuda_check(cudaEventCreate(&b->inserted), "cudaEventCreate", "a timer", 0);
        in->device->peak_bytes += memory == APP_MEMORY_ZEROCOPY ? 0 : bytes;
    }
    app_cuda_check(cudaEventCreate(&in->last_inserted), "cudaEventCreate", "a timer", 0);
    app_cuda_check(cudaEventCreate(&in->moved), "cudaEventCreate", "a timer", 0);
}

static void free_buffers(inserter *in) {
    for (int i = 0; i < 2; i++) {
        buffer *b = &in->buffers[i];
        if (b->device != b->host) {
            app_cuda_check(cudaFree(b->device), "cudaFree", "a chunk", 0);
        }
        app_cuda_check(in->options->memory == APP_MEMORY_MANAGED ? cudaFree(b->host)
                                                                 : cudaFreeHost(b->host),
                       "cudaFree", "a chunk", 0);
        app_cuda_check(cudaStreamDestroy(b->stream), "cudaStreamDestroy", "a chunk", 0);
        app_cuda_check(cudaEventDestroy(b->start), "cudaEventDestroy", "a timer", 0);
        app_cuda_check(cudaEventDestroy(b->copied), "cudaEventDestroy", "a timer", 0);
        app_cuda_check(cudaEventDestroy(b->inserted), "cudaEventDestroy", "a timer", 0);
    }
    app_cuda_check(cudaEventDestroy(in->last_inserted), "cudaEventDestroy", "a timer", 0);
    app_cuda_check(cudaEventDestroy(in->moved), "cudaEventDestroy", "a timer", 0);
}

static void print_table(const inserter *in, const wp_table_report *r) {
    fprintf(stderr, "  table           %12s   %s of heap in %s pages, %s passes\n",
            app_bytes(r->table_bytes), app_bytes(r->heap_bytes), app_count(r->pages),
            app_count(r->passes));
    fprintf(stderr, "  not used        %12s   ends of the heap's pages, sum over passes\n",
            app_bytes(r->unused_bytes));
    fprintf(stderr, "  buckets         %12s   %s groups\n", app_count(r->bucket_count),
            app_count(r->groups));
    fprintf(stderr, "  sent again      %12s   of %s\n", app_bytes(in->sent_again_bytes),
            app_bytes(in->sent_bytes));
    if (r->file_bytes != 0) {
        fprintf(stderr, "  in a file       %12s   %s in host memory\n", app_bytes(r->file_bytes),
                app_bytes(r->host_bytes));
    }
}

static void make_counter(inserter *in) {
    app_cuda_check(cudaMalloc((void **)&in->skipped, sizeof *in->skipped), "cudaMalloc",
                   "a counter", sizeof *in->skipped);
    app_cuda_check(cudaMemset(in->skipped, 0, sizeof *in->skipped), "cudaMemset", "a counter", 0);
}

static void take_counter(inserter *in, uint64_t *skipped) {
    app_cuda_check(cudaMemcpy(skipped, in->skipped, sizeof *skipped, cudaMemcpyDeviceToHost),
                   "cudaMemcpy to the host", "a counter", sizeof *skipped);
    app_cuda_check(cudaFree(in->skipped), "cudaFree", "a counter", 0);
}

wp_table *app_sepo_insert(app_device *device, const app_sepo_options *options,
                          app_sepo_records *input) {
    inserter in = {};
    wp_error err = WP_ERROR_INIT;
    wp_postpone *postpone;
    wp_postpone_facts facts = {};
    wp_table_report report;
    wp_table_spec spec = input->table;
    app_sepo_set_table(&spec, options, enough_bytes(input));
    if (options->table == APP_SEPO_THREADS) {
        return app_sepo_insert_on_host(&spec, options, input);
    }
    in.device = device;
    in.options = options;
    in.input = input;
    make_buffers(&in, size_chunks(&in, options->chunk.value));
    make_counter(&in);
    const wp_postpone_spec units = {input->count, in.chunk_records, input->pairs, 0};
    check_status(wp_postpone_create(wp_cudart_device(), &units, &postpone, &err), &err);
    /* Last, so that the heap is what is left. */
    check_status(wp_table_create(wp_cudart_device(), &spec, &in.table, &err), &err);
    const wp_requester requester = {&in, process, retries};
    const wp_status status = wp_table_run(in.table, postpone, &requester, &facts, &err);
    if ((status == WP_STATUS_DEVICE_NOMEM || status == WP_STATUS_NOMEM) &&
        spec.heap_kind != WP_TABLE_HEAP_SEPO && facts.postponed_units != 0) {
        wp_table_get_report(in.table, &report);
        app_fail("the table's heap of %s is full, and %s of %s %s are left; use a larger --heap, or "
                 "--table sepo",
                 app_bytes(report.heap_bytes), app_count(facts.postponed_units),
                 app_count(input->count), name_of(input));
    }
    if (status != WP_STATUS_OK) {
        app_sepo_fail(status, &err);
    }
    end_pass(&in, &facts);
    wp_table_get_report(in.table, &report);
    print_table(&in, &report);
    device->to_device_bytes += in.sent_bytes;
    app_sepo_add_table(device, options, &report);
    take_counter(&in, &input->skipped);
    wp_postpone_destroy(postpone);
    free_buffers(&in);
    return in.table;
}
