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

#define BUFFERS 2

static void check(cudaError_t result, const char *what) {
    app_cuda_check(result, what, "records", 0);
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
        shares[t].first = job->count * t / threads;
        shares[t].outer = job->count * (t + 1) / threads;
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

/* A copy by the host, which takes simulated time on a simulated GPU. */
static void host_copy(void *to, const void *from, uint64_t bytes) {
    wp_host_work work = {};
    wp_error err = {};
    memcpy(to, from, bytes);
    work.read_bytes = bytes;
    work.written_bytes = bytes;
    if (wp_device_host_work(wp_cudart_device(), &work, &err) != WP_STATUS_OK) {
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
        host_copy((char *)job->records + b->first * job->record_bytes, b->pinned,
                  b->count * job->record_bytes);
    }
    b->count = 0;
}

static void start(const app_streaming *job, buffer *b, uint64_t first, uint64_t count,
                  app_streaming_times *times) {
    const uint64_t bytes = count * job->record_bytes;
    b->first = first;
    b->count = count;
    char *records = (char *)job->records + first * job->record_bytes;
    char *host = b->pinned != NULL ? b->pinned : records;
    if (b->pinned != NULL) {
        host_copy(b->pinned, records, bytes);
    }
    check(cudaMemcpyAsync(b->device, host, bytes, cudaMemcpyHostToDevice, b->stream), "a copy");
    job->launch(job->object, b->device, count, b->stream);
    check(cudaGetLastError(), "the kernel");
    times->to_device_bytes += bytes;
    if (job->is_written) {
        check(cudaMemcpyAsync(host, b->device, bytes, cudaMemcpyDeviceToHost, b->stream), "a copy");
        times->to_host_bytes += bytes;
    }
    check(cudaEventRecord(b->done, b->stream), "cudaEventRecord");
}

static void run_buffers(const app_streaming *job, unsigned buffers, bool is_direct,
                        app_streaming_times *times) {
    buffer b[BUFFERS];
    uint64_t most = job->buffer_bytes / buffers / job->record_bytes;
    if (most == 0) {
        app_fail_usage("--buffer must hold at least %u records of %u bytes", buffers,
                       job->record_bytes);
    }
    if (most > job->count) {
        most = job->count;
    }
    for (unsigned i = 0; i < buffers; i++) {
        create_buffer(&b[i], most * job->record_bytes, is_direct);
    }
    unsigned next = 0;
    for (uint64_t first = 0; first < job->count; first += most) {
        const uint64_t left = job->count - first;
        take_back(job, &b[next]);
        start(job, &b[next], first, left < most ? left : most, times);
        next = (next + 1) % buffers;
    }
    for (unsigned i = 0; i < buffers; i++) {
        take_back(job, &b[(next + i) % buffers]);
    }
    for (unsigned i = 0; i < buffers; i++) {
        destroy_buffer(&b[i]);
    }
}

static void run_direct(const app_streaming *job, app_streaming_times *times) {
    check(cudaHostRegister(job->records, job->count * job->record_bytes, cudaHostRegisterDefault),
          "cudaHostRegister");
    run_buffers(job, BUFFERS, true, times);
    check(cudaHostUnregister(job->records), "cudaHostUnregister");
}

/* ---- in one launch ---- */

static void run_full(const app_streaming *job, app_streaming_times *times) {
    const uint64_t bytes = job->count * job->record_bytes;
    void *mapped;
    streamingOptions options = {0};
    streamingReport report;
    options.device_bytes = job->buffer_bytes;
    options.slots = (uint32_t)job->slots;
    options.without_patterns = job->without_patterns;
    check(streamingSetOptions(&options), "streamingSetOptions");
    check(streamingMalloc(&mapped, bytes), "streamingMalloc");
    check(streamingMap(mapped, job->records, bytes), "streamingMap");
    job->launch(job->object, mapped, job->count, 0);
    check(cudaGetLastError(), "the streamed kernel");
    check(cudaDeviceSynchronize(), "the streamed kernel");
    check(streamingGetReport(&report), "streamingGetReport");
    times->to_device_bytes += report.sent_bytes;
    times->to_host_bytes += report.address_bytes + report.written_bytes;
    check(streamingFree(mapped), "streamingFree");
}

static void run_zerocopy(const app_streaming *job) {
    const uint64_t bytes = job->count * job->record_bytes;
    void *device;
    check(cudaHostRegister(job->records, bytes, cudaHostRegisterMapped), "cudaHostRegister");
    check(cudaHostGetDevicePointer(&device, job->records, 0), "cudaHostGetDevicePointer");
    job->launch(job->object, device, job->count, 0);
    check(cudaGetLastError(), "the kernel");
    check(cudaDeviceSynchronize(), "the kernel");
    check(cudaHostUnregister(job->records), "cudaHostUnregister");
}

/* The records are where the program has them: managed memory from the start. */
static void run_managed(const app_streaming *job, bool is_prefetched) {
    const uint64_t bytes = job->count * job->record_bytes;
    uint64_t step = is_prefetched ? job->buffer_bytes / BUFFERS / job->record_bytes : job->count;
    char *managed;
    check(cudaMallocManaged((void **)&managed, bytes), "cudaMallocManaged");
    memcpy(managed, job->records, bytes);
    if (step == 0 || step > job->count) {
        step = job->count;
    }
    for (uint64_t first = 0; first < job->count; first += step) {
        const uint64_t left = job->count - first, count = left < step ? left : step;
        char *at = managed + first * job->record_bytes;
        if (is_prefetched) {
            check(cudaMemPrefetchAsync(at, count * job->record_bytes, 0, 0), "a prefetch");
        }
        job->launch(job->object, at, count, 0);
        check(cudaGetLastError(), "the kernel");
    }
    check(cudaDeviceSynchronize(), "the kernel");
    memcpy(job->records, managed, bytes);
    check(cudaFree(managed), "cudaFree");
}

/* ---- all of them ---- */

void app_streaming_run(const app_streaming *job, int variant, app_streaming_times *times) {
    const bool is_host = variant == APP_STREAMING_SERIAL || variant == APP_STREAMING_THREADS;
    const double begin_s = app_seconds();
    cudaEvent_t began, ended;
    float ms = 0;
    if (job->count == 0) {
        return;
    }
    if (is_host) {
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        run_threads(job, variant == APP_STREAMING_SERIAL || processors < 1 ? 1
                                                                           : (unsigned)processors);
        times->wall_s += app_seconds() - begin_s;
        return;
    }
    check(cudaEventCreate(&began), "cudaEventCreate");
    check(cudaEventCreate(&ended), "cudaEventCreate");
    check(cudaEventRecord(began, 0), "cudaEventRecord");
    switch (variant) {
    case APP_STREAMING_SINGLE: run_buffers(job, 1, false, times); break;
    case APP_STREAMING_DOUBLE: run_buffers(job, BUFFERS, false, times); break;
    case APP_STREAMING_DIRECT: run_direct(job, times); break;
    case APP_STREAMING_FULL: run_full(job, times); break;
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
    const double bytes = (double)job->count * job->record_bytes;
    const bool is_host = variant == APP_STREAMING_SERIAL || variant == APP_STREAMING_THREADS;
    const double seconds = is_host ? times->wall_s : times->device_s;
    fprintf(stderr, "%-10s %s of records\n", app_choice_name(APP_STREAMING_VARIANTS, variant),
            app_bytes((uint64_t)bytes));
    if (!is_host) {
        fprintf(stderr, "device     %s\n", app_time(times->device_s));
        fprintf(stderr, "to device  %s\n", app_bytes(times->to_device_bytes));
        fprintf(stderr, "to host    %s\n", app_bytes(times->to_host_bytes));
    }
    fprintf(stderr, "wall       %s\n", app_time(times->wall_s));
    fprintf(stderr, "rate       %s\n", app_rate(bytes, seconds, "B"));
}
