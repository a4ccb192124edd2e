/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Page-view count with a table that may be larger than device memory (warpage/table.h): its entries
 * in device memory, in several passes or in one; in page-locked host memory; or in managed memory.
 *
 * A line is a unit of work that inserts (URL, 1); equal URLs are added up. The log stays in host
 * memory. Two buffers of a chunk each take turns: while the kernel counts one chunk, the next one is
 * copied. A pass skips chunks whose lines were all counted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <warpage/cudart.h>
#include <warpage/host.h>
#include <warpage/table.h>

#include "common/report.h"
#include "pvc/pvc.h"

#define THREADS 256
#define CHUNK_BYTES ((uint64_t)16 << 20)

typedef struct buffer {
    char *pinned, *device; /* line starts, then the text */
    cudaStream_t stream;
    cudaEvent_t start, copied, counted; /* around the copy, and behind the kernel */
    bool is_under_way;
} buffer;

typedef struct counter {
    app_device *device;
    const app_weblog *log;
    wp_table *table;
    buffer buffers[2];
    unsigned turn;
    uint64_t chunk_lines, starts_bytes;
    unsigned long long *without_url;
    int is_table, is_query_cut;
    cudaEvent_t last_counted, moved; /* the pass's last kernel; the table's move to the host */
} counter;

static wp_table *table;

__global__ void count_chunk(wp_table_view table, wp_units units, const char *text,
                            const uint64_t *line_start, uint64_t first, uint64_t outer,
                            int is_table, int is_query_cut, unsigned long long *without_url) {
    const uint64_t line = first + (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (line >= outer || wp_units_is_done(&units, line)) {
        return;
    }
    const uint64_t base = line_start[0];
    uint64_t start;
    const uint32_t length = find_url(text, line_start[line - first] - base,
                                     line_start[line - first + 1] - base, is_table, is_query_cut,
                                     &start);
    wp_attempt attempt = wp_attempt_begin(&units, line);
    if (length != 0) {
        const uint64_t one = 1;
        wp_table_emit(&table, &attempt, text + start, length, &one, sizeof one);
    } else {
        atomicAdd(without_url, 1ull);
    }
    wp_attempt_end(&attempt);
}

static void check_status(wp_status status, const wp_error *err) {
    if (status != WP_STATUS_OK) {
        app_fail("%s", err->message);
    }
}

static double seconds_between(cudaEvent_t start, cudaEvent_t stop) {
    float elapsed_ms = 0;
    app_cuda_check(cudaEventElapsedTime(&elapsed_ms, start, stop), "cudaEventElapsedTime", "a timer",
                   0);
    return 1e-3 * (double)elapsed_ms;
}

static void record(cudaEvent_t event, cudaStream_t stream) {
    app_cuda_check(cudaEventRecord(event, stream), "cudaEventRecord", "a timer", 0);
}

/* What the buffer did last has ended; its times are added up. */
static void wait_for(counter *c, buffer *b) {
    app_cuda_check(cudaStreamSynchronize(b->stream), "wait", "a chunk", 0);
    if (!b->is_under_way) {
        return;
    }
    c->device->to_device_s += seconds_between(b->start, b->copied);
    c->device->kernels_s += seconds_between(b->copied, b->counted);
    b->is_under_way = false;
}

/* Copies a chunk and counts it, behind what its buffer did before. */
static wp_status process(void *object, const wp_units *units, uint64_t first, uint64_t outer,
                         wp_error *err) {
    counter *c = (counter *)object;
    const app_weblog *log = c->log;
    buffer *b = &c->buffers[c->turn++ % 2u];
    const uint64_t text_bytes = log->start[outer] - log->start[first];
    const uint64_t starts_bytes = (outer - first + 1) * sizeof(uint64_t);
    wait_for(c, b);
    memcpy(b->pinned, log->start + first, starts_bytes);
    memcpy(b->pinned + c->starts_bytes, log->text + log->start[first], text_bytes);
    const wp_host_work work = {text_bytes + starts_bytes, text_bytes + starts_bytes,
                               WP_HOST_SEQUENTIAL, 0, 0};
    const wp_status status = wp_device_host_work(wp_cudart_device(), &work, err);
    if (status != WP_STATUS_OK) {
        return status;
    }
    record(b->start, b->stream);
    app_cuda_check(cudaMemcpyAsync(b->device, b->pinned, c->starts_bytes + text_bytes,
                                   cudaMemcpyHostToDevice, b->stream),
                   "cudaMemcpyAsync", "a chunk", text_bytes);
    record(b->copied, b->stream);
    count_chunk<<<app_blocks(outer - first, THREADS), THREADS, 0, b->stream>>>(
        wp_table_get_view(c->table), *units, b->device + c->starts_bytes,
        (const uint64_t *)(const void *)b->device, first, outer, c->is_table, c->is_query_cut,
        c->without_url);
    app_cuda_check(cudaGetLastError(), "launch", "count_chunk", 0);
    record(b->counted, b->stream);
    record(c->last_counted, b->stream);
    b->is_under_way = true;
    c->device->to_device_bytes += c->starts_bytes + text_bytes;
    c->device->launches++;
    return WP_STATUS_OK;
}

static void print_pass(const counter *c, const wp_postpone_facts *facts) {
    fprintf(stderr, "  pass %-10" PRIu64 " %12s   %s lines counted, %s postponed, %s chunks\n",
            facts->pass, app_time(1e-9 * (double)facts->pass_ns), app_count(facts->served),
            app_count(facts->postponed_units), app_count(facts->chunks));
}

/* A pass has ended, and what leaves the device has left it. */
static void end_pass(counter *c) {
    for (int i = 0; i < 2; i++) {
        wait_for(c, &c->buffers[i]);
    }
    record(c->moved, 0);
    app_cuda_check(cudaEventSynchronize(c->moved), "cudaEventSynchronize", "a timer", 0);
    c->device->to_host_s += seconds_between(c->last_counted, c->moved);
}

static bool retries(void *object, const wp_postpone_facts *facts) {
    print_pass((const counter *)object, facts);
    end_pass((counter *)object);
    return true;
}

/* Lines of a chunk, a multiple of 32 as units come, and the bytes of the longest one's text. */
static uint64_t size_chunks(counter *c, uint64_t chunk_bytes) {
    const app_weblog *log = c->log;
    const double line_bytes = (double)log->text_bytes / (double)log->line_count + sizeof(uint64_t);
    uint64_t lines = (uint64_t)((double)chunk_bytes / line_bytes) & ~(uint64_t)31;
    uint64_t longest = 0;
    if (lines == 0) {
        lines = 32;
    }
    if (lines > log->line_count) {
        lines = (log->line_count + 31) & ~(uint64_t)31;
    }
    for (uint64_t i = 0; i < log->line_count; i += lines) {
        const uint64_t outer = i + lines < log->line_count ? i + lines : log->line_count;
        const uint64_t bytes = log->start[outer] - log->start[i];
        longest = bytes > longest ? bytes : longest;
    }
    c->chunk_lines = lines;
    c->starts_bytes = (lines + 1) * sizeof(uint64_t);
    return longest;
}

static void make_buffers(counter *c, uint64_t text_bytes) {
    const uint64_t bytes = c->starts_bytes + text_bytes;
    for (int i = 0; i < 2; i++) {
        buffer *b = &c->buffers[i];
        app_cuda_check(cudaMallocHost((void **)&b->pinned, bytes), "cudaMallocHost", "a chunk",
                       bytes);
        app_cuda_check(cudaMalloc((void **)&b->device, bytes), "cudaMalloc", "a chunk", bytes);
        app_cuda_check(cudaStreamCreate(&b->stream), "cudaStreamCreate", "a chunk", 0);
        app_cuda_check(cudaEventCreate(&b->start), "cudaEventCreate", "a timer", 0);
        app_cuda_check(cudaEventCreate(&b->copied), "cudaEventCreate", "a timer", 0);
        app_cuda_check(cudaEventCreate(&b->counted), "cudaEventCreate", "a timer", 0);
        c->device->peak_bytes += bytes;
    }
    app_cuda_check(cudaEventCreate(&c->last_counted), "cudaEventCreate", "a timer", 0);
    app_cuda_check(cudaEventCreate(&c->moved), "cudaEventCreate", "a timer", 0);
    app_cuda_check(cudaMalloc((void **)&c->without_url, sizeof *c->without_url), "cudaMalloc",
                   "counters", sizeof *c->without_url);
    app_cuda_check(cudaMemset(c->without_url, 0, sizeof *c->without_url), "cudaMemset", "counters",
                   sizeof *c->without_url);
}

static void free_buffers(counter *c) {
    for (int i = 0; i < 2; i++) {
        app_cuda_check(cudaFreeHost(c->buffers[i].pinned), "cudaFreeHost", "a chunk", 0);
        app_cuda_check(cudaFree(c->buffers[i].device), "cudaFree", "a chunk", 0);
        app_cuda_check(cudaStreamDestroy(c->buffers[i].stream), "cudaStreamDestroy", "a chunk", 0);
        app_cuda_check(cudaEventDestroy(c->buffers[i].start), "cudaEventDestroy", "a timer", 0);
        app_cuda_check(cudaEventDestroy(c->buffers[i].copied), "cudaEventDestroy", "a timer", 0);
        app_cuda_check(cudaEventDestroy(c->buffers[i].counted), "cudaEventDestroy", "a timer", 0);
    }
    app_cuda_check(cudaEventDestroy(c->last_counted), "cudaEventDestroy", "a timer", 0);
    app_cuda_check(cudaEventDestroy(c->moved), "cudaEventDestroy", "a timer", 0);
    app_cuda_check(cudaFree(c->without_url), "cudaFree", "counters", 0);
}

static pvc_view *read_views(uint64_t *view_count) {
    wp_table_cursor cursor = {0, 0, 0};
    wp_table_pair pair;
    uint64_t count = 0;
    pvc_view *views =
        (pvc_view *)app_allocate(wp_table_pair_count(table), sizeof *views, "the result");
    while (wp_table_next(table, &cursor, &pair)) {
        views[count].url = (const char *)pair.key;
        views[count].length = (uint32_t)pair.key_bytes;
        views[count++].count = *(const uint64_t *)pair.value;
    }
    *view_count = count;
    return views;
}

static void print_table(void) {
    wp_table_report r;
    wp_table_get_report(table, &r);
    fprintf(stderr, "  table           %12s   %s of heap in %s pages, %s passes\n",
            app_bytes(r.table_bytes), app_bytes(r.heap_bytes), app_count(r.pages),
            app_count(r.passes));
    fprintf(stderr, "  not used        %12s   ends of the heap's pages, sum over passes\n",
            app_bytes(r.unused_bytes));
    fprintf(stderr, "  buckets         %12s   %s groups\n", app_count(r.bucket_count),
            app_count(r.groups));
    if (r.file_bytes != 0) {
        fprintf(stderr, "  in a file       %12s   %s in host memory\n", app_bytes(r.file_bytes),
                app_bytes(r.host_bytes));
    }
}

/* A heap on the host has room for all: as if each line had a URL of its own, as long as the line; with
 * ends of pages that stay unused. */
static uint64_t default_heap_bytes(const app_weblog *log, int heap_kind) {
    if (heap_kind == WP_TABLE_HEAP_SEPO || heap_kind == WP_TABLE_HEAP_MEMORY) {
        return 0; /* what is left */
    }
    const uint64_t entries = log->text_bytes + log->line_count * (sizeof(wp_table_entry) + 16u);
    return entries + entries / 4 + ((uint64_t)1 << 20);
}

pvc_view *pvc_sepo_count(app_device *device, const app_weblog *log, bool is_query_cut,
                         const pvc_sepo_options *options, uint64_t *view_count,
                         uint64_t *without_url) {
    counter c;
    wp_error err = WP_ERROR_INIT;
    wp_postpone *postpone;
    wp_postpone_facts facts;
    wp_table_report report;
    memset(&c, 0, sizeof c);
    c.device = device;
    c.log = log;
    c.is_table = log->form == APP_WEBLOG_TABLE;
    c.is_query_cut = is_query_cut;
    make_buffers(&c, size_chunks(&c, options->chunk_bytes != 0 ? options->chunk_bytes
                                                               : CHUNK_BYTES));
    wp_device *const on = wp_cudart_device();
    if (on == NULL) {
        app_fail("there is no device");
    }
    const wp_postpone_spec units = {log->line_count, c.chunk_lines, 1, 0};
    check_status(wp_postpone_create(on, &units, &postpone, &err), &err);

    wp_table_spec spec = WP_TABLE_SPEC_INIT; /* last, so that the heap is what is left */
    spec.organisation = WP_TABLE_COMBINING;
    spec.combiner = WP_TABLE_ADD;
    spec.bucket_count = options->bucket_count;
    spec.buckets_per_group = options->buckets_per_group;
    spec.heap_kind = (wp_table_heap_kind)options->heap_kind;
    spec.heap_bytes = options->heap_bytes != 0 ? options->heap_bytes
                                               : default_heap_bytes(log, options->heap_kind);
    spec.page_bytes = options->page_bytes;
    spec.host_bytes = options->host_bytes;
    check_status(wp_table_create(on, &spec, &table, &err), &err);
    c.table = table;
    const wp_requester requester = {&c, process, retries};
    memset(&facts, 0, sizeof facts);
    const wp_status status = wp_table_run(table, postpone, &requester, &facts, &err);
    if ((status == WP_STATUS_DEVICE_NOMEM || status == WP_STATUS_NOMEM) &&
        spec.heap_kind != WP_TABLE_HEAP_SEPO && facts.postponed_units != 0) {
        wp_table_get_report(table, &report);
        app_fail("the table's heap of %s is full, and %s of %s lines are left; use a larger --heap, or "
                 "--table sepo",
                 app_bytes(report.heap_bytes), app_count(facts.postponed_units),
                 app_count(log->line_count));
    }
    check_status(status, &err);
    print_pass(&c, &facts);
    if (facts.pass != 0) {
        end_pass(&c);
    }
    print_table();
    wp_table_get_report(table, &report);
    device->to_host_bytes += report.to_host_bytes;
    device->to_device_bytes += report.to_device_bytes;
    device->peak_bytes += report.bucket_count * sizeof(uint64_t);
    if (spec.heap_kind != WP_TABLE_HEAP_PINNED) {
        device->peak_bytes += report.heap_bytes;
    }
    app_cuda_check(cudaMemcpy(without_url, c.without_url, sizeof *without_url,
                              cudaMemcpyDeviceToHost),
                   "cudaMemcpy to the host", "counters", sizeof *without_url);
    wp_postpone_destroy(postpone);
    free_buffers(&c);
    return read_views(view_count);
}

void pvc_sepo_end(void) {
    wp_table_close(table);
    table = NULL;
}
