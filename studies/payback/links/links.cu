/* SPDX-License-Identifier: Apache-2.0 */
/* Four programs on managed memory that no app resembles, for bench/sim/payback_links.sh: the merge
 * join of two sorted tables, counters at Zipf-distributed places whose hot set drifts, the
 * transposition of a matrix and an FFT by Stockham's steps. Each checks its result.
 *
 *     payback_links merge-join|zipf|transpose|fft KIBIBYTES */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 128

static void check(cudaError_t status)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "payback_links: %s\n", cudaGetErrorString(status));
    exit(1);
}

static void *managed(size_t bytes)
{
    void *memory;
    check(cudaMallocManaged(&memory, bytes));
    return memory;
}

static unsigned blocks(unsigned n)
{
    return (n + THREADS - 1) / THREADS;
}

__host__ __device__ static unsigned mix(unsigned x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* ---- merge join: each thread joins a run of the left table with the right one ------------------ */

#define JOIN_RUN 64

__global__ void join(const unsigned *left, const unsigned *right, unsigned n, unsigned *found)
{
    unsigned first = (blockIdx.x * blockDim.x + threadIdx.x) * JOIN_RUN;
    if (first >= n) return;
    unsigned at = 0, outer = n, count = 0; /* the first of the right table that is not smaller */
    while (at < outer) {
        unsigned middle = (at + outer) / 2;
        if (right[middle] < left[first])
            at = middle + 1;
        else
            outer = middle;
    }
    for (unsigned i = first; i < first + JOIN_RUN && i < n; i++) {
        while (at < n && right[at] < left[i])
            at++;
        count += at < n && right[at] == left[i];
    }
    atomicAdd(found, count);
}

static int run_join(size_t bytes)
{
    unsigned n = (unsigned)(bytes / 8), *left = (unsigned *)managed(n * 4), *right = (unsigned *)managed(n * 4);
    unsigned *found, expected = 0;
    check(cudaMallocHost((void **)&found, 4));
    for (unsigned i = 0; i < n; i++) {
        left[i] = 2 * i;
        right[i] = 3 * i;
    }
    *found = 0;
    for (unsigned i = 0; i < n; i++)
        expected += 2 * i % 3 == 0 && 2 * i / 3 < n;
    join<<<blocks((n + JOIN_RUN - 1) / JOIN_RUN), THREADS>>>(left, right, n, found);
    check(cudaDeviceSynchronize());
    return *found != expected;
}

/* ---- zipf: most updates in a hot set, another one in each launch --------------------------------- */

__host__ __device__ static unsigned zipf(unsigned i, unsigned launch, unsigned n)
{
    unsigned r = mix(i + launch * 77777u), level = 0;
    while (level < 12 && (r >> level & 1) != 0) /* half in all, a quarter in a half, ... */
        level++;
    unsigned span = n >> (12 - level);
    return (mix(r) % (span != 0 ? span : 1) + launch * (n / 8)) % n;
}

__global__ void update(unsigned *counters, unsigned n, unsigned launch)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&counters[zipf(i, launch, n)], 1);
}

static int run_zipf(size_t bytes)
{
    unsigned n = (unsigned)(bytes / 4), *counters = (unsigned *)managed(n * 4);
    unsigned *expected = (unsigned *)calloc(n, 4), threads = blocks(n / 64) * THREADS;
    memset(counters, 0, n * 4);
    for (unsigned launch = 0; launch < 6; launch++) {
        update<<<threads / THREADS, THREADS>>>(counters, n, launch);
        for (unsigned i = 0; i < threads; i++)
            expected[zipf(i, launch, n)]++;
    }
    check(cudaDeviceSynchronize());
    return memcmp(counters, expected, n * 4) != 0;
}

/* ---- transposition, without tiles: rows are read, columns written -------------------------------- */

__global__ void transpose(const unsigned *in, unsigned *out, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, row = i / n, column = i % n;
    if (row < n) out[column * n + row] = in[i];
}

static int run_transpose(size_t bytes)
{
    unsigned n = (unsigned)sqrt((double)bytes / 8), *in = (unsigned *)managed(n * n * 4);
    unsigned *out = (unsigned *)managed(n * n * 4), wrong = 0;
    for (unsigned i = 0; i < n * n; i++)
        in[i] = mix(i);
    transpose<<<blocks(n * n), THREADS>>>(in, out, n);
    check(cudaDeviceSynchronize());
    for (unsigned i = 0; i < n * n; i++)
        wrong += out[i % n * n + i / n] != in[i];
    return wrong != 0;
}

/* ---- FFT: Stockham's radix-2 steps from one array to the other ----------------------------------- */

__global__ void fft_step(const float2 *in, float2 *out, unsigned half, unsigned span)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = i % span;
    if (i >= half) return;
    float sine, cosine;
    sincosf(-3.14159265f * (float)k / (float)span, &sine, &cosine);
    float2 a = in[i], b = in[i + half];
    float2 turned = make_float2(b.x * cosine - b.y * sine, b.x * sine + b.y * cosine);
    unsigned to = (i - k) * 2 + k;
    out[to] = make_float2(a.x + turned.x, a.y + turned.y);
    out[to + span] = make_float2(a.x - turned.x, a.y - turned.y);
}

/* Of a single wave: all in its own frequency. */
static int run_fft(size_t bytes)
{
    unsigned n = 2, wave = 5, wrong = 0;
    while ((size_t)n * 2 * 2 * sizeof(float2) <= bytes)
        n *= 2;
    float2 *in = (float2 *)managed(n * sizeof *in), *out = (float2 *)managed(n * sizeof *out);
    for (unsigned i = 0; i < n; i++) {
        double angle = 2 * 3.14159265358979 * wave * i / n;
        in[i] = make_float2((float)cos(angle), (float)sin(angle));
    }
    for (unsigned span = 1; span < n; span *= 2) {
        fft_step<<<blocks(n / 2), THREADS>>>(in, out, n / 2, span);
        float2 *swapped = in;
        in = out;
        out = swapped;
    }
    check(cudaDeviceSynchronize());
    for (unsigned i = 0; i < n; i++)
        wrong += fabsf(in[i].x - (i == wave ? (float)n : 0)) > 0.01f * (float)n;
    return wrong != 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(size_t bytes);
    } programs[] = {{"merge-join", run_join}, {"zipf", run_zipf}, {"transpose", run_transpose}, {"fft", run_fft}};
    for (size_t i = 0; argc == 3 && i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(argv[1], programs[i].name) != 0) continue;
        if (programs[i].run((size_t)atoi(argv[2]) * 1024) == 0) return 0;
        fprintf(stderr, "payback_links: %s: wrong result\n", argv[1]);
        return 1;
    }
    fprintf(stderr, "usage: payback_links merge-join|zipf|transpose|fft KIBIBYTES\n");
    return 2;
}
