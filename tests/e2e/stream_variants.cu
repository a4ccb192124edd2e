/* SPDX-License-Identifier: Apache-2.0 */
/* The variants of a streamed launch, which send other data in other layouts, have the results of a launch over device
 * memory: reads of several widths, a part of each record, what a thread has written, addresses that follow the data; with
 * every size of the buffers. So have the other ways in which device and host can work together. */
#include <string.h>
#include <warpage/stream.h>

#include "check.h"

struct item {
    double weight;
    int next, unread[3];
    unsigned char kind, more[3];
    int sum;
};

/* A thread's records lie together, and not all threads have as many. */
__global__ void part(item *items, long count, long each, unsigned long long *out) {
    const long thread = (long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long total = 0;
    for (long i = thread * each; i < count && i < (thread + 1) * each; i++) {
        const item *it = &items[i];
        const int sum = (int)it->weight + it->kind;
        total += (unsigned long long)sum * (it->more[1] + 1);
        items[i].sum = sum;
    }
    atomicAdd(out, total);
}

__global__ void chain(const item *items, long count, unsigned long long *out) {
    long at = (long)blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long total = 0;
    for (int step = 0; step < 9 && at < count; step++) {
        total += items[at].kind + (unsigned long long)items[at].weight;
        at = items[at].next;
    }
    atomicAdd(out, total);
}

__global__ void again(item *items, long count) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (int round = 0; round < 3; round++)
        for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
            items[i].sum = items[i].sum * 3 + items[i].kind;
}

static unsigned long long run(item *items, long count, unsigned blocks, unsigned threads, streamingReport *report) {
    const long each = (count + blocks * threads - 1) / (blocks * threads);
    unsigned long long *out, total = 0;
    CUDA_OK(cudaMalloc(&out, sizeof *out));
    CUDA_OK(cudaMemset(out, 0, sizeof *out));
    part<<<blocks, threads>>>(items, count, each + 1, out);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    if (report != NULL) CUDA_OK(streamingGetReport(report));
    chain<<<blocks, threads>>>(items, count, out);
    CUDA_OK(cudaGetLastError());
    again<<<blocks, threads>>>(items, count);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(&total, out, sizeof total, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(out));
    return total;
}

/* Bytes that the launch of `part` sent. */
static unsigned long long compare(streamingOptions options, long count, unsigned blocks, unsigned threads, unsigned slots) {
    const size_t bytes = (size_t)count * sizeof(item);
    item *host = (item *)calloc(count, sizeof *host), *result = (item *)malloc(bytes), *device, *mapped;
    streamingReport report;
    for (long i = 0; i < count; i++) {
        host[i].weight = (double)(i * 7 % 1000);
        host[i].next = (int)((unsigned)i * 2654435761u % (unsigned)count);
        host[i].kind = host[i].more[1] = (unsigned char)(i * 31);
        host[i].sum = (int)i;
    }
    CUDA_OK(cudaMalloc(&device, bytes));
    CUDA_OK(cudaMemcpy(device, host, bytes, cudaMemcpyHostToDevice));
    const unsigned long long expected = run(device, count, blocks, threads, NULL);
    CUDA_OK(cudaMemcpy(result, device, bytes, cudaMemcpyDeviceToHost));
    options.slots = slots;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(streamingMalloc(&mapped, bytes));
    CUDA_OK(streamingMap(mapped, host, bytes));
    CHECK_EQ(run(mapped, count, blocks, threads, &report), expected);
    CHECK(memcmp(host, result, bytes) == 0);
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaFree(device));
    free(host);
    free(result);
    return report.sent_bytes;
}

int main(void) {
    unsigned long long sent[3];
    streamingOptions options = {};
    options.variant = (streamingVariant)3;
    CHECK_ERROR(streamingSetOptions(&options), cudaErrorInvalidValue);
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue);
    for (int v = streamingFull; v <= streamingOverlap; v++) {
        options.variant = (streamingVariant)v;
        sent[v] = compare(options, 3000, 2, 64, 0);
        compare(options, 500, 3, 40, 16);
        compare(options, 1, 1, 1, 0);
    }
    /* Addresses that are fetched, flags in place of barriers, one host thread: what is sent is the same. */
    for (unsigned ways = 1; ways < 8; ways++) {
        options = {};
        options.fetches_addresses = ways & 1;
        options.with_flags = ways >> 1 & 1;
        options.host_threads = ways >> 2 & 1;
        CHECK_EQ(compare(options, 3000, 2, 64, 0), sent[streamingFull]);
        options.without_patterns = 1;
        options.blocks = 1;
        compare(options, 500, 3, 40, 16);
    }
    CHECK(sent[streamingOverlap] > 2 * sent[streamingVolume]);
    CHECK(sent[streamingVolume] <= sent[streamingFull]);
    return check_done();
}
