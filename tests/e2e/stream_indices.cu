/* SPDX-License-Identifier: Apache-2.0 */
/* Reads through an index, where index and values are streamed: the host follows the index. Every width and sign, chains,
 * factors that are known only at run time, indices that the kernel needs itself, what a thread has written; and what
 * cannot be followed. */
#include <string.h>
#include <warpage/stream.h>

#include "check.h"

enum { COUNT = 3000, SMALL = 100 };

struct item {
    double weight;
    int next;
    unsigned char kind, unread[3];
};

template <class T> __global__ void plain(const T *index, const float *values, long count, float *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = values[index[i]];
}

/* Downwards from the middle, at an odd place. */
__global__ void mirrored(const int *index, const item *items, long count, double *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = items[count - 1 - index[i]].weight + items[count - 1 - index[i]].kind * 3;
}

__global__ void chained(const long *first, const unsigned *second, const item *items, long count, int *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = items[second[first[i]]].next;
}

/* A row of a matrix, whose width only the launch knows; not all rows are as long for every thread. */
__global__ void rows(const int *index, const float *matrix, int width, long count, float *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        float sum = 0.0f;
        for (int j = 0; j < width; j++)
            if ((i + j) % 5 != 0) sum += matrix[index[i] * width + j];
        out[i] = sum;
    }
}

/* The kernel needs the index, too; two arrays behind one index, and one behind two. */
__global__ void used(const int *index, const float *a, const short *b, long count, float *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = a[index[i]] * (float)index[i] + (float)b[index[i]] + a[index[count - 1 - i]];
}

/* Both halves of one read are indices. */
__global__ void paired(const int2 *index, const float *values, long count, float *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        const int2 pair = index[i];
        out[i] = values[pair.x] - values[pair.y];
    }
}

/* Elements that each thread has to itself, twice. */
__global__ void updated(const int *index, int *values, long count, int rounds) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (int r = 0; r < rounds; r++)
        for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
            values[index[i]] = values[index[i]] * 3 + r;
}

__global__ void wrapped(const unsigned *index, const float *values, long count, float *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads)
        out[i] = values[index[i] * 7u % (unsigned)count];
}

/* The kernel changes its index. */
__global__ void moved(int *index, const float *values, long count, float *out) {
    const long threads = (long)gridDim.x * blockDim.x;
    for (long i = (long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += threads) {
        index[i] = (index[i] + 1) % (int)count;
        out[i] = values[index[i]];
    }
}

static void *on_device(const void *content, size_t bytes) {
    void *device;
    CUDA_OK(cudaMalloc(&device, bytes));
    CUDA_OK(cudaMemcpy(device, content, bytes, cudaMemcpyHostToDevice));
    return device;
}

static void *mapped_to(void *host, size_t bytes) {
    void *mapped;
    CUDA_OK(streamingMalloc(&mapped, bytes));
    CUDA_OK(streamingMap(mapped, host, bytes));
    return mapped;
}

static float values[COUNT];
static item items[COUNT];
static int permutation[COUNT];

/* Arguments of a kernel: arrays, of which the launch sees the device's copy or the mapping, and numbers. */
struct array {
    void *host;
    size_t bytes;
};

static streamingReport last;

/* `number` arrays, then what else the kernel takes, then an output of `out_bytes`. */
static void compare(const void *kernel, array *arrays, int number, void **rest, int rest_count, size_t out_bytes,
                    unsigned slots, bool is_followed) {
    char *outputs[2], *written[8];
    void *pointers[8], *args[16];
    for (int form = 0; form < 2; form++) {
        void *out;
        int n = 0;
        streamingOptions options = {};
        options.slots = slots;
        options.without_patterns = slots == 7;
        CUDA_OK(streamingSetOptions(&options));
        CUDA_OK(cudaMalloc(&out, out_bytes));
        CUDA_OK(cudaMemset(out, 0, out_bytes));
        for (int a = 0; a < number; a++) {
            pointers[a] = form == 0 ? on_device(arrays[a].host, arrays[a].bytes) : mapped_to(arrays[a].host, arrays[a].bytes);
            args[n++] = &pointers[a];
        }
        for (int r = 0; r < rest_count; r++)
            args[n++] = rest[r];
        args[n++] = &out;
        CUDA_OK(cudaLaunchKernel(kernel, dim3(3), dim3(40), args, 0, 0));
        CUDA_OK(cudaDeviceSynchronize());
        outputs[form] = (char *)malloc(out_bytes);
        CUDA_OK(cudaMemcpy(outputs[form], out, out_bytes, cudaMemcpyDeviceToHost));
        CUDA_OK(cudaFree(out));
        for (int a = 0; a < number; a++) {
            if (form == 0) {
                written[a] = (char *)malloc(arrays[a].bytes);
                CUDA_OK(cudaMemcpy(written[a], pointers[a], arrays[a].bytes, cudaMemcpyDeviceToHost));
                CUDA_OK(cudaFree(pointers[a]));
            } else {
                CUDA_OK(streamingFree(pointers[a]));
                CHECK(memcmp(written[a], arrays[a].host, arrays[a].bytes) == 0);
                free(written[a]);
            }
        }
    }
    CUDA_OK(streamingGetReport(&last));
    CHECK_EQ(last.has_windows, is_followed ? 0 : 1);
    CHECK(memcmp(outputs[0], outputs[1], out_bytes) == 0);
    free(outputs[0]);
    free(outputs[1]);
}

template <class T> static void compare_width(long count, unsigned slots) {
    T *index = (T *)malloc(COUNT * sizeof *index);
    const bool is_negative = (T)-1 < 0;
    for (int i = 0; i < COUNT; i++) /* around the middle, if it has a sign */
        index[i] = (T)(permutation[i] % (sizeof(T) == 1 ? SMALL : COUNT / 2) * (is_negative && i % 2 ? -1 : 1));
    /* Values are indexed from their middle: the launch passes an address inside of the reservation. */
    void *mapped = mapped_to(values, sizeof values), *mapped_index = mapped_to(index, COUNT * sizeof *index);
    const float *middle = (const float *)mapped + COUNT / 2;
    float *out, result[COUNT];
    long different = 0;
    streamingOptions options = {};
    options.slots = slots;
    options.without_patterns = slots == 7;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(cudaMalloc(&out, sizeof result));
    plain<T><<<3, 40>>>((const T *)mapped_index, middle, count, out);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
    CUDA_OK(streamingGetReport(&last));
    for (long i = 0; i < count; i++)
        different += result[i] != values[COUNT / 2 + (long)index[i]];
    CHECK_EQ(different, 0);
    CHECK_EQ(last.has_windows, 0);
    CHECK_EQ(last.read_bytes, (unsigned long long)count * sizeof(float)); /* not the index */
    CUDA_OK(cudaFree(out));
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(streamingFree(mapped_index));
    free(index);
}

static void compare_others(long count, unsigned slots) {
    static long first[COUNT];
    static unsigned second[COUNT];
    static short narrow[COUNT];
    static int matrix_index[COUNT], numbers[COUNT];
    int width = 7, rounds = 3;
    for (int i = 0; i < COUNT; i++) {
        first[i] = permutation[i] % count;
        second[i] = (unsigned)permutation[COUNT - 1 - i] % (unsigned)count;
        narrow[i] = (short)(i * 37);
        matrix_index[i] = permutation[i] % (int)(COUNT / 7);
        numbers[i] = i;
    }
    static int inside[COUNT], own[COUNT];
    static int2 pairs[COUNT];
    for (int i = 0; i < COUNT; i++) {
        inside[i] = permutation[i] % (int)count;
        own[i] = (int)count - 1 - i;
        pairs[i] = make_int2(inside[i], permutation[COUNT - 1 - i]);
    }
    const array index = {inside, sizeof inside}, floats = {values, sizeof values}, records = {items, sizeof items};
    void *only_count[] = {&count}, *width_count[] = {&width, &count}, *count_rounds[] = {&count, &rounds};
    array a[] = {index, records};
    compare((const void *)mirrored, a, 2, only_count, 1, COUNT * sizeof(double), slots, true);
    array b[] = {{first, sizeof first}, {second, sizeof second}, records};
    compare((const void *)chained, b, 3, only_count, 1, COUNT * sizeof(int), slots, true);
    CHECK_EQ(last.read_bytes, (unsigned long long)count * sizeof(int));
    array c[] = {{matrix_index, sizeof matrix_index}, floats};
    compare((const void *)rows, c, 2, width_count, 2, COUNT * sizeof(float), slots, true);
    array d[] = {index, floats, {narrow, sizeof narrow}};
    compare((const void *)used, d, 3, only_count, 1, COUNT * sizeof(float), slots, true);
    array e[] = {{own, sizeof own}, {numbers, sizeof numbers}};
    compare((const void *)updated, e, 2, count_rounds, 2, sizeof(int), slots, true);
    array p[] = {{pairs, sizeof pairs}, floats};
    compare((const void *)paired, p, 2, only_count, 1, COUNT * sizeof(float), slots, true);
    CHECK_EQ(last.read_bytes, 2ull * (unsigned long long)count * sizeof(float));
    array f[] = {{second, sizeof second}, floats};
    compare((const void *)wrapped, f, 2, only_count, 1, COUNT * sizeof(float), slots, false);
    array g[] = {index, floats};
    compare((const void *)moved, g, 2, only_count, 1, COUNT * sizeof(float), slots, false);
}

/* A launch that is only planned, with and without windows. */
static void plan(void) {
    float *out, result[COUNT];
    void *mapped = mapped_to(values, sizeof values), *index = mapped_to(permutation, sizeof permutation);
    streamingOptions options = {};
    CUDA_OK(cudaMalloc(&out, sizeof result));
    CUDA_OK(cudaMemset(out, 0, sizeof result));
    for (int with_windows = 0; with_windows < 2; with_windows++) {
        options.with_windows = with_windows;
        for (options.plan_only = 1; options.plan_only < 2; options.plan_only--) {
            CUDA_OK(streamingSetOptions(&options));
            plain<int><<<3, 40>>>((const int *)index, (const float *)mapped, COUNT, out);
            CUDA_OK(cudaGetLastError());
            CUDA_OK(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
            CUDA_OK(streamingGetReport(&last));
            CHECK(last.device_bytes != 0 && last.slots != 0);
            CHECK_EQ(last.blocks, 3);
            CHECK_EQ(last.has_windows, with_windows);
            CHECK_EQ(last.chunks == 0, options.plan_only == 1);
            CHECK_EQ(result[COUNT - 1] == values[permutation[COUNT - 1]], options.plan_only == 0);
        }
        CUDA_OK(cudaMemset(out, 0, sizeof result));
    }
    CUDA_OK(cudaFree(out));
    CUDA_OK(streamingFree(mapped));
    CUDA_OK(streamingFree(index));
}

int main(void) {
    for (int i = 0; i < COUNT; i++) {
        values[i] = (float)(i * 7 % 1000) + 0.5f;
        items[i].weight = i * 0.25;
        items[i].next = (int)((unsigned)i * 2654435761u >> 8);
        items[i].kind = (unsigned char)(i * 31);
        permutation[i] = (int)((unsigned)i * 2654435761u % COUNT);
    }
    static const unsigned slots[] = {0, 1, 7};
    for (int s = 0; s < 3; s++) {
        compare_width<signed char>(s == 0 ? COUNT : 200, slots[s]);
        compare_width<unsigned>(200, slots[s]);
        compare_width<long>(s == 0 ? COUNT : 200, slots[s]);
        compare_others(s == 0 ? COUNT : 131, slots[s]);
    }
    compare_others(1, 0);
    plan();
    streamingOptions options = {};
    CUDA_OK(streamingSetOptions(&options));
    return check_done();
}
