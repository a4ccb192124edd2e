/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: --cache --stream=histogram:text --stream=translate:text --stream=until:text --stream=widths:records
/* Streamed kernels of programs compiled with wpcc --cache: slots in lines of 16 bytes, windows, and the lines of the
 * software cache for the program's own memory: read, written, in shared memory, and with none left for lines. */
#include <warpage/stream.h>

#include "check.h"

enum { BLOCKS = 3, THREADS = 50, ALL = BLOCKS * THREADS, SEEN = 16, WORDS = 8 };

static __device__ void part_of(long n, long *first, long *outer) {
    const long t = blockIdx.x * (long)blockDim.x + threadIdx.x, each = (n + ALL - 1) / ALL;
    *first = t * each < n ? t * each : n;
    *outer = *first + each < n ? *first + each : n;
}

/* Shared memory of its own, atomic operations, barriers; dynamic shared memory, all that a block may have at times. */
__global__ void histogram(const unsigned char *text, long n, unsigned *out) {
    __shared__ unsigned bins[256];
    long first, outer;
    part_of(n, &first, &outer);
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) bins[b] = 0;
    __syncthreads();
    for (long i = first; i < outer; i++) atomicAdd(&bins[text[i]], 1u);
    __syncthreads();
    for (unsigned b = threadIdx.x; b < 256; b += blockDim.x) atomicAdd(&out[b], bins[b]);
}

/* Writes what it reads from a table; counts in memory of the thread's own; leaves where a list says, which address
 * threads read, too. */
__global__ void translate(unsigned char *text, long n, const unsigned char *table, unsigned *seen, const int *stops) {
    long first, outer;
    part_of(n, &first, &outer);
    unsigned *own = seen + (blockIdx.x * (long)blockDim.x + threadIdx.x) * SEEN;
    for (long i = first; i < outer; i++) {
        if (stops[i % 256] != 0) return;
        const unsigned char c = text[i];
        own[c % SEEN]++;
        text[i] = table[c];
    }
}

/* Follows its data: windows. What it wrote it reads again. */
__global__ void until(unsigned char *text, long n, const unsigned char *table, unsigned *seen) {
    long first, outer;
    part_of(n, &first, &outer);
    unsigned *own = seen + (blockIdx.x * (long)blockDim.x + threadIdx.x) * SEEN;
    for (long i = first; i < outer && text[i] != 0; i++) {
        if (i != first) text[i] = (unsigned char)(text[i] ^ text[i - 1]);
        own[i % SEEN] += table[text[i]];
    }
}

struct alignas(16) record {
    unsigned char a;
    unsigned short b;
    unsigned c;
    unsigned long long d;
    float4 e;
};

__global__ void widths(const record *records, long n, unsigned long long *out) {
    long first, outer;
    part_of(n, &first, &outer);
    unsigned long long sum = 0;
    for (long i = first; i < outer; i++) {
        const float4 e = records[i].e;
        sum = sum * 31 + records[i].a + 3ull * records[i].b + 5ull * records[i].c + 7 * records[i].d;
        if (i % 3 == 0) sum += (unsigned)e.x + (unsigned)e.w;
    }
    out[blockIdx.x * (long)blockDim.x + threadIdx.x] = sum;
}

template <class T> static T *mapped(T *host, long count) {
    T *address;
    CUDA_OK(streamingMalloc((void **)&address, (count + 1) * sizeof *address));
    if (count != 0) CUDA_OK(streamingMap(address, host, count * sizeof *host));
    return address;
}

template <class T> static T *device(const T *host, long count) {
    T *address;
    CUDA_OK(cudaMalloc((void **)&address, (count + 1) * sizeof *address));
    if (host != NULL) CUDA_OK(cudaMemcpy(address, host, count * sizeof *host, cudaMemcpyHostToDevice));
    else CUDA_OK(cudaMemset(address, 0, count * sizeof *address));
    return address;
}

static unsigned char *letters(long n) {
    unsigned char *text = (unsigned char *)malloc(n + 1);
    for (long i = 0; i < n; i++) text[i] = (unsigned char)(1 + (i * 7919 + i / 13) % 255);
    return text;
}

static void check_histogram(long n, size_t shared_bytes) {
    unsigned char *text = letters(n);
    unsigned expected[256] = {0}, got[256], *out = device((unsigned *)NULL, 256);
    for (long i = 0; i < n; i++) expected[text[i]]++;
    unsigned char *from = mapped(text, n);
    histogram<<<BLOCKS, THREADS, shared_bytes>>>(from, n, out);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(memcmp(got, expected, sizeof got) == 0);
    CUDA_OK(streamingFree(from));
    CUDA_OK(cudaFree(out));
    free(text);
}

static void check_tables(long n, int follows) {
    unsigned char *text = letters(n), *expected = letters(n), table[256];
    static unsigned seen[ALL * SEEN], got[ALL * SEEN];
    int stops[256] = {0};
    stops[200] = follows ? 0 : 1;
    memset(seen, 0, sizeof seen);
    for (int c = 0; c < 256; c++) table[c] = (unsigned char)(c * 5 + 3);
    if (follows && n > 40) text[40] = expected[40] = 0;
    const long each = (n + ALL - 1) / ALL;
    for (long t = 0; t < ALL; t++) {
        const long first = t * each < n ? t * each : n, outer = first + each < n ? first + each : n;
        for (long i = first; i < outer; i++) {
            if (follows ? expected[i] == 0 : stops[i % 256] != 0) break;
            if (follows) {
                if (i != first) expected[i] = (unsigned char)(expected[i] ^ expected[i - 1]);
                seen[t * SEEN + i % SEEN] += table[expected[i]];
            } else {
                seen[t * SEEN + expected[i] % SEEN]++;
                expected[i] = table[expected[i]];
            }
        }
    }
    unsigned char *from = mapped(text, n), *with = device(table, 256);
    unsigned *own = device((unsigned *)NULL, ALL * SEEN);
    int *list = device(stops, 256);
    if (follows) until<<<BLOCKS, THREADS>>>(from, n, with, own);
    else translate<<<BLOCKS, THREADS>>>(from, n, with, own, list);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(got, own, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(memcmp(got, seen, sizeof got) == 0);
    CHECK(memcmp(text, expected, n) == 0);
    CUDA_OK(streamingFree(from));
    CUDA_OK(cudaFree(with));
    CUDA_OK(cudaFree(own));
    CUDA_OK(cudaFree(list));
    free(text);
    free(expected);
}

static void check_sums(long n) {
    static unsigned long long sums[ALL], got[ALL];
    record *records = (record *)calloc(n + 1, sizeof *records);
    const long each = (n + ALL - 1) / ALL;
    for (long i = 0; i < n; i++) {
        records[i] = {(unsigned char)(i * 3), (unsigned short)(i * 5), (unsigned)i * 7, i * 11ull, {i % 100 + 0.f, 0, 0, 2}};
    }
    for (long t = 0; t < ALL; t++) {
        sums[t] = 0;
        for (long i = t * each; i < (t + 1) * each && i < n; i++) {
            sums[t] = sums[t] * 31 + records[i].a + 3ull * records[i].b + 5ull * records[i].c + 7 * records[i].d;
            if (i % 3 == 0) sums[t] += (unsigned)records[i].e.x + (unsigned)records[i].e.w;
        }
    }
    unsigned long long *out = device((unsigned long long *)NULL, ALL);
    record *from = mapped(records, n);
    widths<<<BLOCKS, THREADS>>>(from, n, out);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(memcmp(got, sums, sizeof got) == 0);
    CUDA_OK(streamingFree(from));
    CUDA_OK(cudaFree(out));
    free(records);
}

int main() {
    static const long lengths[] = {0, 1, 17, 4000, 30011};
    static const streamingVariant variants[] = {streamingFull, streamingVolume};
    for (unsigned v = 0; v < 2; v++) {
        streamingOptions options = {};
        options.without_windows = 1;
        options.variant = variants[v];
        options.slots = v == 0 ? 0 : 21;
        CUDA_OK(streamingSetOptions(&options));
        for (unsigned l = 0; l < sizeof lengths / sizeof *lengths; l++) {
            check_histogram(lengths[l], l == 3 ? 46 * 1024 : 0);
            check_tables(lengths[l], 0);
            check_tables(lengths[l], 1);
            check_sums(lengths[l]);
        }
    }
    const streamingOptions defaults = {}; /* bytes are read through windows */
    CUDA_OK(streamingSetOptions(&defaults));
    check_histogram(4000, 0);
    check_tables(4000, 0);
    return check_done();
}
