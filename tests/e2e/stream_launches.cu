/* SPDX-License-Identifier: Apache-2.0 */
/* Streamed launches one after the other, on several streams, from several threads, and many at once; what must not be
 * done with reserved addresses; and the launch's mistakes. */
#include <pthread.h>
#include <string.h>
#include <warpage/stream.h>

#include "check.h"

__global__ void twice(int *data, long count) {
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < count; i += gridDim.x * (long)blockDim.x)
        data[i] *= 2;
}

__global__ void through(const int *data, long count, int *out) {
    for (long i = threadIdx.x; i < count; i += blockDim.x)
        out[i] = data[data[i] % (int)count];
}

__global__ void counted(int *data) {
    atomicAdd(&data[threadIdx.x], 1);
}

__global__ void steered(const int *data, const int *index, int *out) {
    out[threadIdx.x] = data[index[threadIdx.x]];
}

/* Both ends of an array of 5 GiB, whose middle is not mapped; the distance between reads of a thread changes midway. */
__global__ void ends(int *data, long far, long count, int *out) {
    const long threads = gridDim.x * (long)blockDim.x;
    int total = 0;
    for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x, turn = 0; i < count; i += turn < 40 ? threads : 2 * threads, turn++) {
        total += data[i];
        data[far + i] = data[far + i] + data[i];
    }
    atomicAdd(out, total);
}

static int *map(int *host, long count) {
    int *mapped;
    CUDA_OK(streamingMalloc(&mapped, count * sizeof *mapped));
    CUDA_OK(streamingMap(mapped, host, count * sizeof *host));
    return mapped;
}

static void *launch_five(void *arg) {
    const long count = 3000 + (long)arg;
    int *host = (int *)malloc(count * sizeof *host), *mapped = map(host, count);
    cudaStream_t stream;
    long different = 0;
    for (long i = 0; i < count; i++)
        host[i] = (int)i;
    CUDA_OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (int n = 0; n < 5; n++) {
        twice<<<3, 64, 0, stream>>>(mapped, count);
        CUDA_OK(cudaGetLastError());
    }
    CUDA_OK(cudaStreamSynchronize(stream));
    for (long i = 0; i < count; i++)
        different += host[i] != (int)i * 32;
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(cudaStreamDestroy(stream));
    free(host);
    return (void *)different;
}

static int threads_of_process(void) {
    char line[128];
    int threads = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file) != NULL)
        sscanf(line, "Threads: %d", &threads);
    fclose(file);
    return threads;
}

static void several_threads(void) {
    pthread_t threads[3];
    void *different;
    for (long i = 0; i < 3; i++)
        CHECK(pthread_create(&threads[i], NULL, launch_five, (void *)i) == 0);
    for (int i = 0; i < 3; i++) {
        CHECK(pthread_join(threads[i], &different) == 0);
        CHECK(different == NULL);
    }
}

static void many_at_once(void) {
    int *host = (int *)calloc(1000, sizeof *host), *mapped[2];
    cudaStream_t streams[2];
    host[7] = 1;
    for (int i = 0; i < 2; i++) {
        mapped[i] = map(host, 1000);
        CUDA_OK(cudaStreamCreate(&streams[i]));
    }
    for (int n = 0; n < 40; n++) {
        twice<<<1, 32, 0, streams[0]>>>(mapped[0], n < 5 ? 10 : 1);
        twice<<<1, 32, 0, streams[1]>>>(mapped[1] + 500, 100);
    }
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(host[7], 32);
    CHECK(threads_of_process() < 60);
    for (int i = 0; i < 2; i++) {
        CUDA_OK(streamingFree(mapped[i]));
        CUDA_OK(cudaStreamDestroy(streams[i]));
    }
    free(host);
}

/* Addresses depend on the data: larger blocks than with address threads, windows of any size. */
static void follow(void) {
    enum { COUNT = 5000 };
    int *host = (int *)malloc(COUNT * sizeof *host), *mapped = map(host, COUNT), *out;
    streamingOptions options = {};
    for (int i = 0; i < COUNT; i++)
        host[i] = (int)((i * 2654435761u >> 7) % COUNT);
    CUDA_OK(cudaMallocManaged(&out, COUNT * sizeof *out));
    for (int round = 0; round < 3; round++) {
        options.slots = round == 0 ? 1 : round == 1 ? 64 : 5;
        options.blocks = round;
        CUDA_OK(streamingSetOptions(&options));
        CUDA_OK(cudaMemset(out, 0, COUNT * sizeof *out));
        through<<<1, round == 1 ? 600 : 100>>>(mapped, COUNT, out);
        CUDA_OK(cudaDeviceSynchronize());
        for (int i = 0; i < COUNT; i++)
            CHECK(out[i] == host[host[i]]);
    }
    options.slots = options.blocks = 0;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(cudaFree(out));
    CUDA_OK(streamingFree(mapped));
    free(host);
}

/* Lanes that have to be together, inline PTX, barriers, what a thread wrote, blocks of any shape. */
__global__ void in_step(int *a, int count, int *out) {
    __shared__ int parts[32];
    const int threads = blockDim.x * blockDim.y, t = threadIdx.y * blockDim.x + threadIdx.x;
    int sum = 0, lane;
    asm("mov.u32 %0, %%laneid;" : "=r"(lane));
    for (int i = t; i < count; i += threads) {
        a[i] = a[i] * 2 + 1;
        sum += a[i];
        if (a[i] % 5 == 0) ((char *)a)[4 * i] = 0;
        sum ^= a[i];
    }
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (lane == 0) parts[t / 32] = sum;
    __syncthreads();
    if (t < 32) {
        sum = t < threads / 32 ? parts[t] : 0;
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (t == 0) *out = sum;
    }
}

static void together(dim3 block) {
    enum { COUNT = 4000 };
    int *host = (int *)malloc(COUNT * sizeof *host), *mapped = map(host, COUNT), *plain, *out;
    for (int i = 0; i < COUNT; i++)
        host[i] = (int)(i * 2654435761u >> 9);
    CUDA_OK(cudaMallocManaged(&plain, COUNT * sizeof *plain));
    CUDA_OK(cudaMallocManaged(&out, 2 * sizeof *out));
    memcpy(plain, host, COUNT * sizeof *host);
    in_step<<<1, block>>>(plain, COUNT, &out[0]);
    in_step<<<1, block>>>(mapped, COUNT, &out[1]);
    CUDA_OK(cudaDeviceSynchronize());
    CHECK_EQ(out[1], out[0]);
    CHECK(memcmp(plain, host, COUNT * sizeof *host) == 0);
    CUDA_OK(cudaFree(out));
    CUDA_OK(cudaFree(plain));
    CUDA_OK(streamingFree(mapped));
    free(host);
}

/* There is no room for as many address threads: windows. */
static void large_blocks(void) {
    enum { COUNT = 5000 };
    int *host = (int *)malloc(COUNT * sizeof *host), *mapped = map(host, COUNT);
    for (int i = 0; i < COUNT; i++)
        host[i] = i;
    twice<<<2, 640>>>(mapped, COUNT); /* more of them lack registers on some GPUs */
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++)
        CHECK_EQ(host[i], 2 * i);
    CUDA_OK(streamingFree(mapped));
    free(host);
}

static void beyond_4_gib(void) {
    enum { COUNT = 16384, THREADS = 128 };
    const long far = (5l << 30) / sizeof(int) - COUNT;
    int *host = (int *)malloc(2 * COUNT * sizeof *host), *mapped, *out, expected = 0;
    streamingReport report;
    for (int i = 0; i < 2 * COUNT; i++)
        host[i] = i;
    CUDA_OK(streamingMalloc(&mapped, 5l << 30));
    CUDA_OK(streamingMap(mapped, host, COUNT * sizeof *host));
    CUDA_OK(streamingMap(mapped + far, host + COUNT, COUNT * sizeof *host));
    CUDA_OK(cudaMallocManaged(&out, sizeof *out));
    *out = 0;
    ends<<<2, THREADS / 2>>>(mapped, far, COUNT, out);
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < COUNT; i++) {
        const int turn = i / THREADS;
        const bool is_read = turn <= 40 || (turn - 40) % 2 == 0;
        CHECK_EQ(host[COUNT + i], COUNT + i + (is_read ? i : 0));
        expected += is_read ? i : 0;
    }
    CHECK_EQ(*out, expected);
    /* Without patterns 8 bytes a read; in each chunk a new one may begin, so few words break one. */
    CUDA_OK(streamingGetReport(&report));
    CHECK(report.address_bytes < report.accesses * 8 * 2 / 3);
    CUDA_OK(cudaFree(out));
    CUDA_OK(streamingFree(mapped));
    free(host);
}

static void mistakes(void) {
    int host[64] = {0}, *mapped = map(host, 64), *memory, *none;
    streamingOptions options = {};
    CUDA_OK(cudaMalloc(&memory, 4096 * sizeof *memory));
    CHECK_ERROR(cudaMemcpy(memory, mapped, 4, cudaMemcpyDefault), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemset(mapped, 0, 4), cudaErrorInvalidValue);
    CHECK_ERROR(streamingMalloc(&none, 0), cudaErrorInvalidValue);
    CHECK_ERROR(streamingMap(mapped + 63, host, 8), cudaErrorInvalidValue);
    CHECK_ERROR(streamingMap(host, host, 8), cudaErrorInvalidValue);
    CHECK_ERROR(streamingFree(mapped + 1), cudaErrorInvalidValue);
    CHECK_ERROR(streamingSetOptions(NULL), cudaErrorInvalidValue);
    counted<<<1, 32>>>(mapped);
    CHECK_ERROR(cudaGetLastError(), cudaErrorNotSupported);
    steered<<<1, 32>>>(mapped, memory, memory + 64); /* what steers it may be what it writes */
    CHECK_ERROR(cudaGetLastError(), cudaErrorNotSupported);
    twice<<<1, 2048>>>(mapped, 64);
    CHECK(cudaGetLastError() != cudaSuccess);
    options.device_bytes = 1000;
    CUDA_OK(streamingSetOptions(&options));
    twice<<<1, 256>>>(mapped, 64);
    CHECK_ERROR(cudaGetLastError(), cudaErrorMemoryAllocation);
    options.device_bytes = 0;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(streamingFree(NULL));

    CUDA_OK(cudaDeviceReset()); /* reservations stay; what was allocated is gone */
    host[3] = 5;
    twice<<<1, 32>>>(mapped, 64);
    KERNEL_OK();
    CHECK_EQ(host[3], 10);
    streamingReport report;
    CUDA_OK(streamingGetReport(&report));
    CHECK_EQ(report.read_bytes, (uint64_t)sizeof host);
    CHECK_EQ(report.written_bytes, (uint64_t)sizeof host);

    twice<<<1, 32>>>(mapped, 65); /* past the mapping; it may fail before the launch returns */
    CHECK(cudaDeviceSynchronize() != cudaSuccess);
    CUDA_OK(cudaDeviceReset());
}

int main(void) {
    several_threads();
    many_at_once();
    follow();
    together(dim3(32, 2));
    together(dim3(512)); /* more take more registers than there are */
    large_blocks();
    beyond_4_gib();
    mistakes();
    return check_done();
}
