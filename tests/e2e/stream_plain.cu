/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses of mapped data that are no loads and stores of a power of two bytes at a multiple of so many: packed structures,
 * structures that are copied as a whole, memcpy, memset, loads and stores with hints; with address threads and with
 * windows, kept on the device or not. */
#include <string.h>
#include <warpage/stream.h>

#include "check.h"

struct __attribute__((packed)) packed_record {
    unsigned char kind;
    unsigned short count;
    unsigned key;
    double value;
};
struct pair {
    int a, b;
};
struct record {
    int head;
    pair pairs[3]; /* copied as 8 bytes that are aligned to 4 */
    float sums[5];
};
struct large {
    char text[200];
};

#define THREADS ((long)gridDim.x * blockDim.x)
#define FIRST ((long)blockIdx.x * blockDim.x + threadIdx.x)

__global__ void packed(packed_record *r, long count) {
    for (long i = FIRST; i < count; i += THREADS) {
        r[i].key = r[i].key * 3 + r[i].count;
        r[i].count = (unsigned short)(r[i].kind * 7);
        r[i].value += r[i].kind;
    }
}

/* Follows the data: windows. */
__global__ void chosen(const packed_record *r, long count, unsigned *out) {
    for (long i = FIRST; i < count; i += THREADS)
        out[i] = r[r[i].key % (unsigned)count].key + (r[i].kind & 1 ? r[i].count : 0);
}

__global__ void pairs(const record *r, pair *out, long count) {
    for (long i = FIRST; i < count; i += THREADS) {
        pair p = r[i].pairs[i % 3];
        if (p.a & 1) p = r[i].pairs[1];
        out[i] = p;
    }
}

__global__ void whole(const record *r, record *out, long count) {
    for (long i = FIRST; i < count; i += THREADS) {
        record mine = r[count - 1 - i];
        mine.sums[i % 5] += 1;
        out[i] = mine;
    }
}

__global__ void ranges(const char *in, large *out, long count, int bytes) {
    for (long i = FIRST; i < count; i += THREADS) {
        out[i] = ((const large *)in)[i];
        memcpy(out[i].text + 3, in + i * sizeof(large) + 50, bytes);
        if (i % 3 == 0) memset(&out[i].text[100], 7, bytes);
    }
}

__global__ void hints(const float4 *in, const int *more, float *out, long count) {
    for (long i = FIRST; i < count; i += THREADS) {
        const float4 v = __ldg(&in[i]);
        __stcs(&out[i], v.x + v.y * v.z - v.w + __ldg(&more[i]) + __ldcs(&more[count - 1 - i]) + __ldcg(&more[i / 2]));
    }
}

enum { COUNT = 501, ARRAY_MAX = COUNT * 200 };

static void launch(int which, char *in, char *out) {
    const long count = COUNT;
    if (which == 0) packed<<<2, 64>>>((packed_record *)in, count);
    if (which == 1) chosen<<<2, 64>>>((packed_record *)in, count, (unsigned *)out);
    if (which == 2) pairs<<<3, 32>>>((record *)in, (pair *)out, count);
    if (which == 3) whole<<<2, 64>>>((record *)in, (record *)out, count);
    if (which == 4) ranges<<<1, 64>>>(in, (large *)out, count, 21);
    if (which == 5) hints<<<2, 64>>>((float4 *)in, (int *)in, (float *)out, count);
    CUDA_OK(cudaGetLastError());
    CUDA_OK(cudaDeviceSynchronize());
}

static char first[ARRAY_MAX], host[2][ARRAY_MAX], expected[2][ARRAY_MAX];

static void compare(int which, streamingOptions options, bool keeps) {
    char *device[2], *mapped[2];
    for (int a = 0; a < 2; a++) {
        CUDA_OK(cudaMalloc(&device[a], ARRAY_MAX));
        CUDA_OK(cudaMemcpy(device[a], first, ARRAY_MAX, cudaMemcpyHostToDevice));
        memcpy(host[a], first, ARRAY_MAX);
        CUDA_OK(streamingMalloc(&mapped[a], ARRAY_MAX));
        CUDA_OK(streamingMap(mapped[a], host[a], ARRAY_MAX));
        if (keeps) CUDA_OK(streamingKeep(mapped[a], ARRAY_MAX / 32 * 16));
    }
    launch(which, device[0], device[1]);
    CUDA_OK(streamingSetOptions(&options));
    launch(which, mapped[0], mapped[1]);
    for (int a = 0; a < 2; a++) {
        CUDA_OK(cudaMemcpy(expected[a], device[a], ARRAY_MAX, cudaMemcpyDeviceToHost));
        CUDA_OK(cudaFree(device[a]));
        CUDA_OK(streamingFree(mapped[a]));
        if (memcmp(host[a], expected[a], ARRAY_MAX) != 0) fprintf(stderr, "kernel %d, array %d\n", which, a);
        CHECK(memcmp(host[a], expected[a], ARRAY_MAX) == 0);
    }
}

int main(void) {
    for (int i = 0; i < ARRAY_MAX; i++)
        first[i] = (char)((unsigned)i * 2654435761u >> 24 & 63); /* floats without NaN */
    for (int which = 0; which < 6; which++) {
        streamingOptions options = {};
        compare(which, options, false);
        compare(which, options, true);
        options.with_windows = 1;
        options.slots = 4;
        compare(which, options, false);
        compare(which, options, true);
    }
    return check_done();
}
