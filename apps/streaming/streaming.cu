/* SPDX-License-Identifier: Apache-2.0 */
#include "streaming/streaming.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <warpage/cudart.h>
#include <warpage/host.h>
#include <warpage/stream.h>

#include "common/memory.h"
#include "common/report.h"
#include "streaming/auto.h"

#define BUFFERS 2

static void check(cudaError_t result, const char *what) {
    app_cuda_check(result, what, "records", 0);
}

bool app_streaming_is_host(int variant) {
    return variant == APP_STREAMING_SERIAL || variant == APP_STREAMING_THREADS;
}

bool app_streaming_has_files(int variant) {
    return variant == APP_STREAMING_FULL || variant == APP_STREAMING_VOLUME ||
           variant == APP_STREAMING_OVERLAP;
}

void app_streaming_set(app_streaming *job, const app_streaming_options *options) {
    if (!options->buffer.is_bytes) {
        app_fail_usage("--buffer needs a unit, as in 16MiB");
    }
    if (options->pinned.value != 0 && !options->pinned.is_bytes) {
        app_fail_usage("--pinned-memory needs a unit, as in 4MiB");
    }
    job->buffer_bytes = options->buffer.value;
    job->pinned_bytes = options->pinned.value;
    job->slots = options->slots;
    job->stagers = (unsigned)options->stagers;
    job->without_patterns = options->without_patterns;
    job->with_windows = options->with_windows;
    job->without_windows = options->without_windows;
    job->fetches_addresses = options->fetches_addresses;
    job->with_flags = options->with_flags;
    job->host_threads = (unsigned)options->host_threads;
    job->is_page_locked = options->is_page_locked;
    job->explains = options->explains;
}

void app_streaming_keep(app_streaming *job, app_streaming_kept *kept,
                        const app_streaming_options *options) {
    if (options->keep.value == 0) {
        return;
    }
    if (!options->keep.is_bytes) {
        app_fail_usage("--keep needs a unit, as in 16MiB");
    }
    if ((options->variant != APP_STREAMING_DIRECT && !app_streaming_has_files(options->variant)) ||
        job->source != NULL) {
        app_fail_usage("--keep is for records in memory, and --variant direct, full, volume or "
                       "overlap");
    }
    kept->bytes = options->keep.value;
    job->kept = kept;
}

void app_streaming_let_go(app_streaming *job) {
    if (job->kept == NULL) {
        return;
    }
    check(streamingFree(job->kept->mapped), "streamingFree");
    check(cudaFree(job->kept->device), "cudaFree");
    *job->kept = {};
    job->kept = NULL;
}

/* ---- memory beside the records ---- */

void app_state_create(app_state *state, int variant, const void *content, uint64_t bytes,
                      const char *name) {
    state->bytes = bytes;
    state->name = name;
    state->is_host = app_streaming_is_host(variant);
    if (state->is_host) {
        state->data = app_allocate(bytes, 1, name);
        if (content != NULL) {
            memcpy(state->data, content, bytes);
        } else {
            memset(state->data, 0, bytes);
        }
        return;
    }
    app_cuda_check(cudaMalloc(&state->data, bytes), "cudaMalloc", name, bytes);
    if (content != NULL) {
        app_cuda_check(cudaMemcpy(state->data, content, bytes, cudaMemcpyHostToDevice), "a copy",
                       name, bytes);
    } else {
        app_cuda_check(cudaMemset(state->data, 0, bytes), "cudaMemset", name, bytes);
        /* Streams that do not block would not wait for it. */
        app_cuda_check(cudaDeviceSynchronize(), "cudaMemset", name, bytes);
    }
}

void *app_state_copy(const app_state *state) {
    void *copy = app_allocate(state->bytes, 1, state->name);
    if (state->is_host) {
        memcpy(copy, state->data, state->bytes);
    } else {
        app_cuda_check(cudaMemcpy(copy, state->data, state->bytes, cudaMemcpyDeviceToHost),
                       "a copy", state->name, state->bytes);
    }
    return copy;
}

void app_state_free(app_state *state) {
    if (state->is_host) {
        free(state->data);
    } else {
        app_cuda_check(cudaFree(state->data), "cudaFree", state->name, state->bytes);
    }
    state->data = NULL;
}

/* ---- parts of the records ---- */

/* Where record `i` begins. */
static uint64_t offset_of(const app_streaming *job, uint64_t i) {
    return job->starts != NULL ? job->starts[i] : i * job->record_bytes;
}

uint64_t app_streaming_bytes(const app_streaming *job, uint64_t first, uint64_t outer) {
    return offset_of(job, outer) - offset_of(job, first);
}

/* Of text: the end of the last line that ends at or before `outer`, at least `first`. */
static uint64_t end_of_lines(const app_streaming *job, uint64_t first, uint64_t outer) {
    const char *text = (const char *)job->records;
    while (outer > first && outer < job->count && text[outer - 1] != '\n') {
        outer--;
    }
    return outer;
}

uint64_t app_streaming_end(const app_streaming *job, uint64_t first, uint64_t bytes) {
    uint64_t outer = job->count;
    if (job->starts != NULL) {
        for (uint64_t low = first; low < outer;) { /* low fits */
            const uint64_t middle = low + (outer - low + 1) / 2;
            if (app_streaming_bytes(job, first, middle) <= bytes) {
                low = middle;
            } else {
                outer = middle - 1;
            }
        }
    } else if (outer - first > bytes / job->record_bytes) {
        outer = first + bytes / job->record_bytes;
    }
    if (job->is_text) {
        outer = end_of_lines(job, first, outer);
    }
    return outer;
}

static uint64_t piece_end(const app_streaming *job, uint64_t first, uint64_t bytes) {
    const uint64_t outer = app_streaming_end(job, first, bytes);
    if (outer == first) {
        app_fail_usage("--buffer is too small: record %s does not fit a piece of %s",
                       app_count(first), app_bytes(bytes));
    }
    return outer;
}

/* ---- on the host ---- */

typedef struct share {
    const app_streaming *job;
    uint64_t first, outer;
} share;

static void *work_on_share(void *arg) {
    const share *s = (const share *)arg;
    s->job->on_host(s->job->object, s->job->records, s->first, s->outer);
    return NULL;
}

static void run_threads(const app_streaming *job, unsigned threads) {
    share *shares = (share *)app_allocate(threads, sizeof *shares, "threads");
    pthread_t *ids = (pthread_t *)app_allocate(threads, sizeof *ids, "threads");
    for (unsigned t = 0; t < threads; t++) {
        shares[t].job = job;
        shares[t].first = t == 0 ? 0 : shares[t - 1].outer;
        shares[t].outer = job->count * (t + 1) / threads;
        if (job->is_text) {
            shares[t].outer = end_of_lines(job, shares[t].first, shares[t].outer);
        }
        if (pthread_create(&ids[t], NULL, work_on_share, &shares[t]) != 0) {
            app_fail("a thread could not be started");
        }
    }
    for (unsigned t = 0; t < threads; t++) {
        pthread_join(ids[t], NULL);
    }
    free(ids);
    free(shares);
}

/* ---- by buffers ---- */

typedef struct copy_share {
    void *to;
    const void *from;
    uint64_t bytes;
} copy_share;

static void *copy_a_share(void *arg) {
    const copy_share *share = (const copy_share *)arg;
    memcpy(share->to, share->from, share->bytes);
    return NULL;
}

static void copy_with_threads(void *to, const void *from, uint64_t bytes, unsigned threads) {
    pthread_t *ids = (pthread_t *)app_allocate(threads, sizeof *ids, "threads");
    copy_share *shares = (copy_share *)app_allocate(threads, sizeof *shares, "threads");
    for (unsigned t = 0; t < threads; t++) {
        const uint64_t first = bytes * t / threads, outer = bytes * (t + 1) / threads;
        shares[t] = {(char *)to + first, (const char *)from + first, outer - first};
        if (t != 0 && pthread_create(&ids[t], NULL, copy_a_share, &shares[t]) != 0) {
            app_fail("a thread could not be started");
        }
    }
    copy_a_share(&shares[0]);
    for (unsigned t = 1; t < threads; t++) {
        pthread_join(ids[t], NULL);
    }
    free(ids);
    free(shares);
}

/* A copy by the host. On a simulated GPU it takes the simulated time of so many threads, so there
 * one does it. */
static void host_copy(const app_streaming *job, void *to, const void *from, uint64_t bytes) {
    wp_device *device = wp_cudart_device();
    const bool is_simulated = strncmp(wp_device_get_info(device)->spec, "sim:", 4) == 0;
    const uint64_t shares = bytes / APP_STREAMING_STAGED_LEAST;
    wp_host_work work = {};
    wp_error err = {};
    work.read_bytes = bytes;
    work.written_bytes = bytes;
    work.threads = job->stagers < shares ? job->stagers : (uint32_t)shares;
    if (is_simulated || work.threads <= 1) {
        memcpy(to, from, bytes);
    } else {
        copy_with_threads(to, from, bytes, work.threads);
    }
    if (wp_device_host_work(device, &work, &err) != WP_STATUS_OK) {
        app_fail("%s", err.message);
    }
}

typedef struct buffer {
    char *pinned, *device; /* pinned is NULL for direct */
    cudaStream_t stream;
    cudaEvent_t done;
    uint64_t first, count; /* of the records that it holds */
} buffer;

static void create_buffer(buffer *b, uint64_t bytes, bool is_direct) {
    memset(b, 0, sizeof *b);
    if (!is_direct) {
        check(cudaMallocHost((void **)&b->pinned, bytes), "cudaMallocHost");
    }
    check(cudaMalloc((void **)&b->device, bytes), "cudaMalloc");
    check(cudaStreamCreateWithFlags(&b->stream, cudaStreamNonBlocking), "cudaStreamCreate");
    check(cudaEventCreateWithFlags(&b->done, cudaEventDisableTiming), "cudaEventCreate");
}

static void destroy_buffer(buffer *b) {
    check(cudaFreeHost(b->pinned), "cudaFreeHost");
    check(cudaFree(b->device), "cudaFree");
    check(cudaStreamDestroy(b->stream), "cudaStreamDestroy");
    check(cudaEventDestroy(b->done), "cudaEventDestroy");
}

/* Waits for what the buffer did last, and takes its result. */
static void take_back(const app_streaming *job, buffer *b) {
    if (b->count == 0) {
        return;
    }
    check(cudaEventSynchronize(b->done), "cudaEventSynchronize");
    if (job->is_written && b->pinned != NULL) {
        host_copy(job, (char *)job->records + offset_of(job, b->first), b->pinned,
                  app_streaming_bytes(job, b->first, b->first + b->count));
    }
    b->count = 0;
}

static void start(const app_streaming *job, buffer *b, uint64_t first, uint64_t count,
                  app_streaming_times *times) {
    const uint64_t bytes = app_streaming_bytes(job, first, first + count);
    b->first = first;
    b->count = count;
    char *records = (char *)job->records + offset_of(job, first);
    char *host = b->pinned != NULL ? b->pinned : records;
    if (b->pinned != NULL) {
        host_copy(job, b->pinned, records, bytes);
    }
    check(cudaMemcpyAsync(b->device, host, bytes, cudaMemcpyHostToDevice, b->stream), "a copy");
    job->launch(job->object, b->device, first, count, b->stream);
    check(cudaGetLastError(), "the kernel");
    times->to_device_bytes += bytes;
    if (job->is_written) {
        check(cudaMemcpyAsync(host, b->device, bytes, cudaMemcpyDeviceToHost, b->stream), "a copy");
        times->to_host_bytes += bytes;
    }
    check(cudaEventRecord(b->done, b->stream), "cudaEventRecord");
}

/* From record `begin` on. */
static void run_buffers(const app_streaming *job, unsigned buffers, bool is_direct, uint64_t begin,
                        app_streaming_times *times) {
    buffer b[BUFFERS];
    const uint64_t all = app_streaming_bytes(job, begin, job->count);
    uint64_t most = job->buffer_bytes / buffers;
    if (job->starts == NULL) {
        most -= most % job->record_bytes;
    }
    if (most > all) {
        most = all;
    }
    if (most == 0) {
        app_fail_usage("--buffer must hold at least %u records of %u bytes", buffers,
                       job->record_bytes);
    }
    for (unsigned i = 0; i < buffers; i++) {
        create_buffer(&b[i], most, is_direct);
    }
    unsigned next = 0;
    for (uint64_t first = begin; first < job->count;) {
        const uint64_t outer = piece_end(job, first, most);
        take_back(job, &b[next]);
        start(job, &b[next], first, outer - first, times);
        first = outer;
        next = (next + 1) % buffers;
    }
    for (unsigned i = 0; i < buffers; i++) {
        take_back(job, &b[(next + i) % buffers]);
    }
    for (unsigned i = 0; i < buffers; i++) {
        destroy_buffer(&b[i]);
    }
}

/* The records that stay on the device: on a stream of their own, beside the others. */
static cudaStream_t start_kept(const app_streaming *job, app_streaming_times *times) {
    app_streaming_kept *k = job->kept;
    cudaStream_t stream;
    check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreate");
    if (k->device == NULL) {
        k->count = app_streaming_end(job, 0, k->bytes);
        const uint64_t bytes = app_streaming_bytes(job, 0, k->count);
        check(cudaMalloc((void **)&k->device, bytes != 0 ? bytes : 1), "cudaMalloc");
        check(cudaMemcpyAsync(k->device, job->records, bytes, cudaMemcpyHostToDevice, stream),
              "a copy");
        times->to_device_bytes += bytes;
    }
    if (k->count != 0) {
        const uint64_t bytes = app_streaming_bytes(job, 0, k->count);
        job->launch(job->object, k->device, 0, k->count, stream);
        check(cudaGetLastError(), "the kernel");
        if (job->is_written) {
            check(cudaMemcpyAsync(job->records, k->device, bytes, cudaMemcpyDeviceToHost, stream),
                  "a copy");
            times->to_host_bytes += bytes;
        }
    }
    return stream;
}

static void run_direct(const app_streaming *job, app_streaming_times *times) {
    cudaStream_t stream = NULL;
    check(cudaHostRegister(job->records, app_streaming_bytes(job, 0, job->count),
                           cudaHostRegisterDefault),
          "cudaHostRegister");
    if (job->kept != NULL) {
        stream = start_kept(job, times);
    }
    const uint64_t first = job->kept != NULL ? job->kept->count : 0;
    if (first < job->count) {
        run_buffers(job, BUFFERS, true, first, times);
    }
    if (stream != NULL) {
        check(cudaStreamSynchronize(stream), "the kernel");
        check(cudaStreamDestroy(stream), "cudaStreamDestroy");
    }
    check(cudaHostUnregister(job->records), "cudaHostUnregister");
}

/* ---- in one launch ---- */

/* Addresses for the records, which a job that keeps some has until it lets them go. */
static void *map_records(const app_streaming *job) {
    const uint64_t bytes = app_streaming_bytes(job, 0, job->count);
    void *mapped = job->kept != NULL ? job->kept->mapped : NULL;
    if (mapped != NULL) {
        return mapped;
    }
    check(streamingMalloc(&mapped, bytes), "streamingMalloc");
    if (job->source != NULL) {
        check(streamingMapFile(mapped, job->source, job->target, 0, bytes), "streamingMapFile");
    } else {
        check(streamingMap(mapped, job->records, bytes), "streamingMap");
    }
    if (job->kept != NULL) {
        check(streamingKeep(mapped, job->kept->bytes < bytes ? job->kept->bytes : bytes),
              "streamingKeep");
        job->kept->mapped = mapped;
    }
    return mapped;
}

/* What the library has written names the bytes. */
static void check_streamed(cudaError_t result) {
    if (result == cudaErrorMemoryAllocation) {
        app_fail("the buffers of the streamed kernel do not fit: see above, and --buffer");
    }
    check(result, "the streamed kernel");
}

static void run_full(const app_streaming *job, streamingVariant variant,
                     app_streaming_times *times) {
    streamingOptions options = {0};
    streamingReport report;
    options.device_bytes = job->buffer_bytes;
    options.pinned_bytes = job->pinned_bytes;
    options.slots = (uint32_t)job->slots;
    options.without_patterns = job->without_patterns;
    options.with_windows = job->with_windows;
    options.without_windows = job->without_windows;
    options.fetches_addresses = job->fetches_addresses;
    options.with_flags = job->with_flags;
    options.host_threads = job->host_threads;
    options.plan_only = job->plans_only;
    options.variant = variant;
    options.host_bytes = job->host_bytes;
    check(streamingSetOptions(&options), "streamingSetOptions");
    void *mapped = map_records(job);
    job->launch(job->object, mapped, 0, job->count, 0);
    check_streamed(cudaGetLastError());
    check_streamed(cudaDeviceSynchronize());
    check(streamingGetReport(&report), "streamingGetReport");
    times->to_device_bytes += report.sent_bytes + report.kept_sent_bytes;
    times->to_host_bytes += report.address_bytes + report.written_bytes;
    times->file_read_bytes += report.file_read_bytes;
    times->file_written_bytes += report.file_written_bytes;
    times->host_bytes = report.host_bytes;
    if (job->kept == NULL) {
        check(streamingFree(mapped), "streamingFree");
    }
}

static void run_zerocopy(const app_streaming *job) {
    const uint64_t bytes = app_streaming_bytes(job, 0, job->count);
    void *device;
    check(cudaHostRegister(job->records, bytes, cudaHostRegisterMapped), "cudaHostRegister");
    check(cudaHostGetDevicePointer(&device, job->records, 0), "cudaHostGetDevicePointer");
    job->launch(job->object, device, 0, job->count, 0);
    check(cudaGetLastError(), "the kernel");
    check(cudaDeviceSynchronize(), "the kernel");
    check(cudaHostUnregister(job->records), "cudaHostUnregister");
}

/* The records are where the program has them: managed memory from the start. */
static void run_managed(const app_streaming *job, bool is_prefetched) {
    const uint64_t bytes = app_streaming_bytes(job, 0, job->count);
    char *managed;
    check(cudaMallocManaged((void **)&managed, bytes), "cudaMallocManaged");
    memcpy(managed, job->records, bytes);
    uint64_t step = is_prefetched ? job->buffer_bytes / BUFFERS : bytes;
    if (step > bytes || (job->starts == NULL && step < job->record_bytes)) {
        step = bytes;
    }
    for (uint64_t first = 0; first < job->count;) {
        const uint64_t outer = piece_end(job, first, step);
        char *at = managed + offset_of(job, first);
        if (is_prefetched) {
            check(cudaMemPrefetchAsync(at, app_streaming_bytes(job, first, outer), 0, 0),
                  "a prefetch");
        }
        job->launch(job->object, at, first, outer - first, 0);
        check(cudaGetLastError(), "the kernel");
        first = outer;
    }
    check(cudaDeviceSynchronize(), "the kernel");
    memcpy(job->records, managed, bytes);
    check(cudaFree(managed), "cudaFree");
}

/* ---- all of them ---- */

void app_streaming_run(const app_streaming *job, int variant, app_streaming_times *times) {
    const bool is_host = app_streaming_is_host(variant);
    const double begin_s = app_seconds();
    cudaEvent_t began, ended;
    float ms = 0;
    if (job->count == 0) {
        return;
    }
    if (variant == APP_STREAMING_AUTO) {
        app_streaming_auto(job, times);
        return;
    }
    if (is_host) {
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        run_threads(job,
                    variant == APP_STREAMING_SERIAL || processors < 1 ? 1 : (unsigned)processors);
        times->wall_s += app_seconds() - begin_s;
        return;
    }
    check(cudaEventCreate(&began), "cudaEventCreate");
    check(cudaEventCreate(&ended), "cudaEventCreate");
    check(cudaEventRecord(began, 0), "cudaEventRecord");
    switch (variant) {
    case APP_STREAMING_SINGLE: run_buffers(job, 1, false, 0, times); break;
    case APP_STREAMING_DOUBLE: run_buffers(job, BUFFERS, false, 0, times); break;
    case APP_STREAMING_DIRECT: run_direct(job, times); break;
    case APP_STREAMING_FULL: run_full(job, streamingFull, times); break;
    case APP_STREAMING_VOLUME: run_full(job, streamingVolume, times); break;
    case APP_STREAMING_OVERLAP: run_full(job, streamingOverlap, times); break;
    case APP_STREAMING_ZEROCOPY: run_zerocopy(job); break;
    default: run_managed(job, variant == APP_STREAMING_PREFETCH); break;
    }
    check(cudaEventRecord(ended, 0), "cudaEventRecord");
    check(cudaEventSynchronize(ended), "cudaEventSynchronize");
    check(cudaEventElapsedTime(&ms, began, ended), "cudaEventElapsedTime");
    check(cudaEventDestroy(began), "cudaEventDestroy");
    check(cudaEventDestroy(ended), "cudaEventDestroy");
    times->device_s += (double)ms * 1e-3;
    times->wall_s += app_seconds() - begin_s;
}

void app_streaming_report(const app_streaming *job, int variant, const app_streaming_times *times) {
    const double bytes = (double)app_streaming_bytes(job, 0, job->count);
    const bool is_host = app_streaming_is_host(variant);
    const double seconds = is_host ? times->wall_s : times->device_s;
    fprintf(stderr, "%-10s %s of records\n", app_choice_name(APP_STREAMING_VARIANTS, variant),
            app_bytes((uint64_t)bytes));
    if (!is_host) {
        fprintf(stderr, "device     %s\n", app_time(times->device_s));
        fprintf(stderr, "to device  %s\n", app_bytes(times->to_device_bytes));
        fprintf(stderr, "to host    %s\n", app_bytes(times->to_host_bytes));
    }
    if (times->host_bytes != 0) {
        fprintf(stderr, "files      read %s, written %s, in %s of host memory\n",
                app_bytes(times->file_read_bytes), app_bytes(times->file_written_bytes),
                app_bytes(times->host_bytes));
    }
    fprintf(stderr, "wall       %s\n", app_time(times->wall_s));
    fprintf(stderr, "rate       %s\n", app_rate(bytes, seconds, "B"));
}
