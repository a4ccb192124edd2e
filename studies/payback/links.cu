/* SPDX-License-Identifier: Apache-2.0 */
/* Programs on managed memory that no app resembles: the merge join of two sorted tables, counters at
 * Zipf-distributed places whose hot set drifts, the transposition of a matrix, an FFT by Stockham's
 * steps, look-ups in a B-tree, the first steps of an LU factorisation and a radix partition. Each
 * checks its result.
 *
 *     links merge-join|zipf|transpose|fft|btree|lu|radix KIBIBYTES */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 128

static void check(cudaError_t status)
{
    if (status == cudaSuccess) return;
    fprintf(stderr, "links: %s\n", cudaGetErrorString(status));
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

/* ---- B-tree: look-ups of random keys, half of them in it ------------------------------------------ */

#define NODE_KEYS 16

/* Levels from the root on, one after the other; node `i` of a level has children from
 * `i * NODE_KEYS` on, each with the least key of its subtree. In leaves, odd keys. */
__global__ void look_up(const unsigned *tree, unsigned levels, unsigned n, unsigned seed, unsigned *found)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned key = mix(i + seed) % (2 * n), node = 0, first = 0, width = NODE_KEYS, slot = 0;
    for (unsigned level = 0; level < levels; level++) {
        const unsigned *keys = tree + first + node * NODE_KEYS;
        slot = 0;
        for (unsigned step = NODE_KEYS / 2; step > 0; step /= 2)
            slot += keys[slot + step] <= key ? step : 0;
        first += width;
        width *= NODE_KEYS;
        if (level + 1 < levels) node = node * NODE_KEYS + slot;
    }
    first -= width / NODE_KEYS;
    if (tree[first + node * NODE_KEYS + slot] == key) atomicAdd(found, 1);
}

/* The last level has as many of its nodes as fit; those that are not there have no parents' slot
 * below the largest key. */
static int run_btree(size_t bytes)
{
    unsigned levels = 1, size = NODE_KEYS, leaves = NODE_KEYS, width;
    while ((size + (size_t)leaves * NODE_KEYS / 2) * 4 <= bytes) {
        levels++;
        leaves *= NODE_KEYS;
        size += leaves;
    }
    unsigned n = leaves, words = (unsigned)(bytes / 4);
    if (words < size) n = (leaves - (size - words)) / NODE_KEYS * NODE_KEYS;
    unsigned *tree = (unsigned *)managed((size_t)(size - leaves + n) * 4), *found, expected = 0, first = 0;
    check(cudaMallocHost((void **)&found, 4));
    *found = 0;
    width = NODE_KEYS;
    for (unsigned level = 0; level < levels; level++) {
        unsigned below = leaves / width; /* leaves' keys in the subtree of a slot */
        for (unsigned i = 0; i < width && first + i < size - leaves + n; i++)
            tree[first + i] = (size_t)i * below < n ? 2 * i * below + 1 : 0xffffffffu;
        first += width;
        width *= NODE_KEYS;
    }
    unsigned threads = n / 128 / THREADS * THREADS;
    for (unsigned launch = 0; launch < 4; launch++) {
        look_up<<<threads / THREADS, THREADS>>>(tree, levels, n, launch * threads, found);
        for (unsigned i = 0; i < threads; i++)
            expected += mix(i + launch * threads) % (2 * n) % 2;
    }
    check(cudaDeviceSynchronize());
    return *found != expected;
}

/* ---- LU: the first columns of a matrix are eliminated, panel by panel ----------------------------- */

#define PANEL 8
#define PANELS 4
#define COLUMNS 8

/* Columns lie one after the other. A CTA makes the panel's factors. */
__global__ void factor(float *a, unsigned n, unsigned k)
{
    for (unsigned step = k; step < k + PANEL; step++) {
        float *pivot = a + (size_t)step * n;
        for (unsigned row = step + 1 + threadIdx.x; row < n; row += blockDim.x)
            pivot[row] /= pivot[step];
        __syncthreads();
        for (unsigned column = step + 1; column < k + PANEL; column++) {
            float *at = a + (size_t)column * n, times = at[step];
            for (unsigned row = step + 1 + threadIdx.x; row < n; row += blockDim.x)
                at[row] -= pivot[row] * times;
        }
        __syncthreads();
    }
}

/* A CTA updates some of the columns behind the panel. */
__global__ void update_columns(float *a, unsigned n, unsigned k)
{
    __shared__ float upper[COLUMNS][PANEL];
    const float *panel = a + (size_t)k * n;
    unsigned first = k + PANEL + blockIdx.x * COLUMNS, columns = n - first < COLUMNS ? n - first : COLUMNS;
    float *at = a + (size_t)first * n;
    if (threadIdx.x < columns) {
        float *own = upper[threadIdx.x], *top = at + (size_t)threadIdx.x * n + k;
        for (unsigned row = 0; row < PANEL; row++) {
            own[row] = top[row];
            for (unsigned i = 0; i < row; i++)
                own[row] -= panel[(size_t)i * n + k + row] * own[i];
            top[row] = own[row];
        }
    }
    __syncthreads();
    for (unsigned row = k + PANEL + threadIdx.x; row < n; row += blockDim.x) {
        float factors[PANEL];
        for (unsigned i = 0; i < PANEL; i++)
            factors[i] = panel[(size_t)i * n + row];
        for (unsigned c = 0; c < columns; c++) {
            float sum = at[(size_t)c * n + row];
            for (unsigned i = 0; i < PANEL; i++)
                sum -= factors[i] * upper[c][i];
            at[(size_t)c * n + row] = sum;
        }
    }
}

static float element(unsigned row, unsigned column, unsigned n)
{
    return (float)(mix(row * n + column) % 1000) / 1000.0f + (row == column ? (float)n : 0.0f);
}

/* L U + what is left is the matrix: tried with a vector of ones. */
static int run_lu(size_t bytes)
{
    unsigned n = (unsigned)sqrt((double)bytes / 4), done = PANEL * PANELS, wrong = 0;
    float *a = (float *)managed((size_t)n * n * 4);
    double *upper = (double *)calloc(n, sizeof *upper);
    for (unsigned i = 0; i < n * n; i++)
        a[i] = element(i % n, i / n, n);
    for (unsigned k = 0; k < done; k += PANEL) {
        factor<<<1, THREADS>>>(a, n, k);
        update_columns<<<(n - k - PANEL + COLUMNS - 1) / COLUMNS, THREADS>>>(a, n, k);
    }
    check(cudaDeviceSynchronize());
    for (unsigned row = 0; row < n; row++) {
        double product = 0, expected = 0;
        for (unsigned i = 0; i < n; i++) {
            if (row < done ? i >= row : i >= done) upper[row] += a[(size_t)i * n + row];
            expected += element(row, i, n);
        }
        for (unsigned i = 0; i < row && i < done; i++)
            product += a[(size_t)i * n + row] * upper[i];
        wrong += fabs(product + upper[row] - expected) > 1e-4 * expected;
    }
    free(upper);
    return wrong != 0;
}

/* ---- radix partition: keys by eight bits, then by the next eight ---------------------------------- */

#define PARTS 256
#define PART_KEYS 2048 /* of a CTA */

__global__ void count_parts(const unsigned *keys, unsigned n, unsigned shift, unsigned *counts)
{
    __shared__ unsigned own[PARTS];
    for (unsigned i = threadIdx.x; i < PARTS; i += blockDim.x)
        own[i] = 0;
    __syncthreads();
    for (unsigned i = threadIdx.x; i < PART_KEYS && blockIdx.x * PART_KEYS + i < n; i += blockDim.x)
        atomicAdd(&own[keys[blockIdx.x * PART_KEYS + i] >> shift & (PARTS - 1)], 1);
    __syncthreads();
    for (unsigned i = threadIdx.x; i < PARTS; i += blockDim.x)
        counts[i * gridDim.x + blockIdx.x] = own[i];
}

__global__ void scatter(const unsigned *keys, unsigned n, unsigned shift, const unsigned *firsts, unsigned *out)
{
    __shared__ unsigned next[PARTS];
    for (unsigned i = threadIdx.x; i < PARTS; i += blockDim.x)
        next[i] = firsts[i * gridDim.x + blockIdx.x];
    __syncthreads();
    for (unsigned i = threadIdx.x; i < PART_KEYS && blockIdx.x * PART_KEYS + i < n; i += blockDim.x) {
        unsigned key = keys[blockIdx.x * PART_KEYS + i];
        out[atomicAdd(&next[key >> shift & (PARTS - 1)], 1)] = key;
    }
}

static int run_radix(size_t bytes)
{
    unsigned n = (unsigned)(bytes / 8), ctas = (n + PART_KEYS - 1) / PART_KEYS, *counts, wrong = 0;
    unsigned *keys = (unsigned *)managed((size_t)n * 4), *out = (unsigned *)managed((size_t)n * 4);
    unsigned long long sum = 0;
    check(cudaMallocHost((void **)&counts, PARTS * ctas * 4));
    for (unsigned i = 0; i < n; i++)
        sum += keys[i] = mix(i);
    for (unsigned shift = 0; shift <= 8; shift += 8) {
        unsigned total = 0;
        count_parts<<<ctas, THREADS>>>(keys, n, shift, counts);
        check(cudaDeviceSynchronize());
        for (unsigned i = 0; i < PARTS * ctas; i++) {
            unsigned own = counts[i];
            counts[i] = total;
            total += own;
        }
        scatter<<<ctas, THREADS>>>(keys, n, shift, counts, out);
        unsigned *swapped = keys;
        keys = out;
        out = swapped;
    }
    check(cudaDeviceSynchronize());
    for (unsigned i = 0; i < n; i++) {
        wrong += i > 0 && (keys[i - 1] >> 8 & (PARTS - 1)) > (keys[i] >> 8 & (PARTS - 1));
        sum -= keys[i];
    }
    return wrong != 0 || sum != 0;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(size_t bytes);
    } programs[] = {{"merge-join", run_join}, {"zipf", run_zipf}, {"transpose", run_transpose}, {"fft", run_fft}, {"btree", run_btree}, {"lu", run_lu}, {"radix", run_radix}};
    for (size_t i = 0; argc == 3 && i < sizeof programs / sizeof *programs; i++) {
        if (strcmp(argv[1], programs[i].name) != 0) continue;
        if (programs[i].run((size_t)atoi(argv[2]) * 1024) == 0) return 0;
        fprintf(stderr, "links: %s: wrong result\n", argv[1]);
        return 1;
    }
    fprintf(stderr, "usage: links merge-join|zipf|transpose|fft|btree|lu|radix KIBIBYTES\n");
    return 2;
}
