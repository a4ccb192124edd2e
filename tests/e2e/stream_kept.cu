/* SPDX-License-Identifier: Apache-2.0 */
/* Launches in a row over the same mapped data, of which nothing, a part or all is kept on the device: each has the results
 * of a launch over device memory, whatever it and the launches before it wrote, and whatever host code changed in between.
 * What is kept crosses the link once. */
#include <string.h>
#include <warpage/stream.h>

#include "check.h"

struct item {
    double weight;
    int next, unread;
    short kind, more;
    int sum;
};

/* A thread's records lie together. */
__global__ void part(item *items, long count, unsigned long long *out) {
    const long threads = (long)gridDim.x * blockDim.x, each = (count + threads - 1) / threads;
    const long first = ((long)blockIdx.x * blockDim.x + threadIdx.x) * each;
    unsigned long long total = 0;
    for (long i = first; i < count && i < first + each; i++) {
        total += (unsigned long long)items[i].weight + items[i].kind;
        items[i].sum = (int)items[i].weight + items[i].more;
    }
    atomicAdd(out, total);
}

/* Lanes side by side, and what the thread wrote is read again. */
__global__ void merged(item *items, long count, unsigned long long *out) {
    unsigned long long total = 0;
    for (int round = 0; round < 2; round++)
        for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += (long)gridDim.x * blockDim.x) {
            total += (unsigned long long)items[i].sum;
            items[i].sum = items[i].sum * 3 + items[i].kind;
        }
    atomicAdd(out, total);
}

/* From the end; every other record only. */
__global__ void backwards(const item *items, long count, unsigned long long *out) {
    unsigned long long total = 0;
    for (long i = count - 1 - ((long)blockIdx.x * blockDim.x + threadIdx.x); i >= 0; i -= 2 * (long)gridDim.x * blockDim.x)
        total += (unsigned long long)items[i].sum ^ (unsigned long long)items[i].weight;
    atomicAdd(out, total);
}

/* Addresses follow the data: the host follows an index, or there are windows. */
__global__ void chain(const item *items, long count, unsigned long long *out) {
    long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long total = 0;
    for (int step = 0; step < 7 && at < count; step++) {
        total += (unsigned long long)items[at].kind + (unsigned long long)items[at].sum;
        at = items[at].next;
    }
    atomicAdd(out, total);
}

static unsigned long long draw(void) {
    static unsigned long long seed = 88172645463325252ull;
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed >> 20;
}

static void launch(int kernel, item *items, long count, unsigned blocks, unsigned threads, unsigned long long *out) {
    switch (kernel) {
    case 0: part<<<blocks, threads>>>(items, count, out); break;
    case 1: merged<<<blocks, threads>>>(items, count, out); break;
    case 2: backwards<<<blocks, threads>>>(items, count, out); break;
    default: chain<<<blocks, threads>>>(items, count, out); break;
    }
    CUDA_OK(cudaGetLastError());
}

/* What happens between launches, the same to both: records change. */
static void change(item *a, item *b, long first, long outer) {
    for (long i = first; i < outer; i++) {
        a[i].weight += 3.0;
        a[i].sum ^= 5;
        b[i] = a[i];
    }
}

static void compare(const streamingOptions *options, long count, size_t kept_first, size_t kept_bytes) {
    const size_t bytes = (size_t)count * sizeof(item);
    item *host = (item *)calloc(count, sizeof *host), *plain = (item *)malloc(bytes), *device, *mapped;
    unsigned long long *out, totals[2], sent = 0;
    for (long i = 0; i < count; i++) {
        host[i].weight = (double)(draw() % 1000);
        host[i].next = (int)(draw() % (unsigned long long)count);
        host[i].kind = (short)draw();
        host[i].more = (short)i;
        host[i].sum = (int)i;
    }
    memcpy(plain, host, bytes);
    CUDA_OK(cudaMalloc(&device, bytes));
    CUDA_OK(cudaMalloc(&out, sizeof *out));
    CUDA_OK(streamingSetOptions(options));
    CUDA_OK(streamingMalloc(&mapped, bytes));
    CUDA_OK(streamingMap(mapped, host, bytes));
    CUDA_OK(streamingKeep((char *)mapped + kept_first, kept_bytes));
    for (int n = 0; n < 6; n++) {
        const int kernel = (int)(draw() % 4);
        const unsigned blocks = 1 + (unsigned)(draw() % 5), threads = 1 + (unsigned)(draw() % 100);
        streamingReport report;
        for (int way = 0; way < 2; way++) {
            if (way == 0) CUDA_OK(cudaMemcpy(device, plain, bytes, cudaMemcpyHostToDevice));
            CUDA_OK(cudaMemset(out, 0, sizeof *out));
            launch(kernel, way == 0 ? device : mapped, count, blocks, threads, out);
            CUDA_OK(cudaMemcpy(&totals[way], out, sizeof *out, cudaMemcpyDeviceToHost));
            if (way == 0) CUDA_OK(cudaMemcpy(plain, device, bytes, cudaMemcpyDeviceToHost));
        }
        CHECK_EQ(totals[1], totals[0]);
        CHECK(memcmp(host, plain, bytes) == 0);
        CUDA_OK(streamingGetReport(&report));
        const size_t whole = kept_first + kept_bytes == bytes ? kept_bytes : kept_bytes / 16 * 16;
        CHECK_EQ(report.kept_bytes, whole);
        CHECK_EQ(report.kept_sent_bytes, sent == 0 ? whole : 0);
        if (kept_bytes == bytes && kernel == 3 && report.has_windows) CHECK_EQ(report.sent_bytes, 0);
        if (kept_bytes == bytes && kernel == 0 && !options->without_patterns) CHECK_EQ(report.sent_bytes, 0);
        sent += report.kept_sent_bytes;
        if (draw() % 3 == 0) {
            const long first = (long)(draw() % (unsigned long long)count), some = (long)(draw() % 20);
            change(plain, host, first, first + some < count ? first + some : count);
            CUDA_OK(streamingForget(mapped, bytes));
            sent = 0;
        }
    }
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaFree(device));
    CUDA_OK(cudaFree(out));
    free(host);
    free(plain);
}

/* Two streams: the second launch does not begin before the range is on the device. */
static void two_streams(void) {
    enum { COUNT = 2000 };
    item *host = (item *)calloc(COUNT, sizeof *host), *mapped;
    unsigned long long *out, total;
    cudaStream_t streams[2];
    for (int i = 0; i < COUNT; i++)
        host[i].sum = 1;
    CUDA_OK(cudaMalloc(&out, sizeof *out));
    CUDA_OK(cudaMemset(out, 0, sizeof *out));
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(streamingMalloc(&mapped, COUNT * sizeof *host));
    CUDA_OK(streamingMap(mapped, host, COUNT * sizeof *host));
    CUDA_OK(streamingKeep(mapped, COUNT * sizeof *host));
    for (int s = 0; s < 2; s++) {
        CUDA_OK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
        backwards<<<2, 64, 0, streams[s]>>>(mapped, COUNT, out);
        CUDA_OK(cudaGetLastError());
    }
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost));
    CHECK_EQ(total, 2 * (COUNT / 256 * 128 + (COUNT % 256 < 128 ? COUNT % 256 : 128)));
    /* Other memory behind the addresses is seen by the next launch. */
    item *other = (item *)calloc(COUNT, sizeof *other);
    CUDA_OK(streamingMap(mapped, other, COUNT * sizeof *other));
    CUDA_OK(cudaMemset(out, 0, sizeof *out));
    backwards<<<2, 64>>>(mapped, COUNT, out);
    CUDA_OK(cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost));
    CHECK_EQ(total, 0);
    for (int s = 0; s < 2; s++)
        CUDA_OK(cudaStreamDestroy(streams[s]));
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaFree(out));
    free(other);
    free(host);
}

static void mistakes(void) {
    char *mapped;
    size_t before, after, total;
    item host[10] = {};
    unsigned long long *out;
    CUDA_OK(cudaMalloc(&out, sizeof *out));
    CUDA_OK(streamingMalloc(&mapped, 4096));
    CHECK_ERROR(streamingKeep(out, 16), cudaErrorInvalidValue);
    CHECK_ERROR(streamingKeep(mapped + 4, 16), cudaErrorInvalidValue);
    CHECK_ERROR(streamingKeep(mapped, 4097), cudaErrorInvalidValue);
    CHECK_ERROR(streamingForget(mapped + 4000, 97), cudaErrorInvalidValue);
    CHECK_ERROR(streamingForget(out, 1), cudaErrorInvalidValue);
    CUDA_OK(streamingForget(mapped, 4096));
    CUDA_OK(streamingKeep(mapped, 15)); /* nothing */
    /* Some of what is to be kept is not mapped. */
    CUDA_OK(streamingMap(mapped, host, sizeof host));
    CUDA_OK(streamingKeep(mapped, 4096));
    backwards<<<1, 32>>>((item *)mapped, 10, out);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    CUDA_OK(streamingKeep(mapped, sizeof host));
    backwards<<<1, 32>>>((item *)mapped, 10, out);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_ERROR(streamingMapFile(mapped, "/dev/null", NULL, 0, 16), cudaErrorInvalidValue);
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaMemGetInfo(&before, &total));
    CUDA_OK(streamingMalloc(&mapped, 1 << 20));
    CUDA_OK(streamingKeep(mapped, 1 << 20));
    CUDA_OK(cudaMemGetInfo(&after, &total));
    CHECK(before >= after + (1 << 20));
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaMemGetInfo(&after, &total));
    CHECK_EQ(after, before);
    CUDA_OK(cudaFree(out));
}

int main(void) {
    for (int v = 0; v < 4; v++) {
        streamingOptions options = {};
        options.variant = v < 3 ? (streamingVariant)v : streamingFull;
        options.with_windows = v == 3;
        for (int round = 0; round < 4; round++) {
            const long count = round == 0 ? 800 : 1 + (long)(draw() % 500);
            const size_t bytes = (size_t)count * sizeof(item), first = draw() % (bytes / 16 + 1) * 16;
            options.slots = round == 2 ? 12 : 0;
            options.without_patterns = round == 3;
            if (round == 0) compare(&options, count, 0, bytes);
            else if (round == 1) compare(&options, count, 0, bytes / 2);
            else compare(&options, count, first, draw() % (bytes - first + 1));
        }
        options.without_patterns = 0;
        compare(&options, 300, 0, 0);
    }
    const streamingOptions defaults = {};
    CUDA_OK(streamingSetOptions(&defaults));
    two_streams();
    mistakes();
    return check_done();
}
