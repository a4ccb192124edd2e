/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that start at the thread and step by the grid, by the block or by a warp, in all shapes: signed,
 * unsigned and 64-bit indices, ascending and descending, values carried from turn to turn and
 * read afterwards, nested, before and after barriers, for grids larger and smaller than the data. */
#include "check.h"

#define N 10007

__global__ void count_signed(int *hits, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&hits[i], 1);
}

__global__ void count_unsigned(int *hits, unsigned n)
{
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        hits[i]++;
}

__global__ void count_wide(int *hits, size_t n)
{
    const size_t stride = (size_t)blockDim.x * gridDim.x;
    for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride)
        hits[i]++;
}

__global__ void count_inclusive(int *hits, int last)
{
    for (int i = threadIdx.x; i <= last; i += blockDim.x)
        atomicAdd(&hits[i], 1);
}

__global__ void count_descending(int *hits, int n)
{
    for (int i = n - 1 - (int)(blockIdx.x * blockDim.x + threadIdx.x); i >= 0;
         i -= blockDim.x * gridDim.x)
        hits[i]++;
}

__global__ void count_by_warp(int *hits, int n) /* a step that is shorter than the block */
{
    for (int i = threadIdx.x; i < n; i += 32)
        atomicAdd(&hits[i], 1);
}

__global__ void count_until_equal(int *hits, int n) /* n is a multiple of the step */
{
    for (int i = threadIdx.x; i != n + (int)threadIdx.x; i += blockDim.x)
        hits[i]++;
}

__global__ void count_rows(int *hits, int width, int height)
{
    for (int y = blockIdx.x; y < height; y += gridDim.x)
        for (int x = threadIdx.x; x < width; x += blockDim.x)
            hits[y * width + x]++;
}

__global__ void count_tile(int *hits, int width, int height)
{
    for (int y = blockIdx.y * blockDim.y + threadIdx.y; y < height; y += blockDim.y * gridDim.y)
        for (int x = blockIdx.x * blockDim.x + threadIdx.x; x < width; x += blockDim.x * gridDim.x)
            hits[y * width + x]++;
}

__global__ void sum_and_last(const int *in, int n, int *sums, int *lasts, int *turns)
{
    __shared__ int part[256];
    int t = threadIdx.x, sum = 7, last = -1, turn = 0, i;
    for (i = blockIdx.x * blockDim.x + t; i < n; i += blockDim.x * gridDim.x) {
        if (in[i] % 3 == 0)
            continue;
        sum += in[i];
        last = i;
        turn++;
    }
    part[t] = sum;
    __syncthreads();
    int id = blockIdx.x * blockDim.x + t;
    sums[id] = part[blockDim.x - 1 - t];
    lasts[id] = last * 2 + (i >= n);
    turns[id] = turn;
}

__global__ void leave_early(const int *in, int n, int *found)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        if (in[i] == 4711) {
            *found = i;
            break;
        }
}

__global__ void local_array(const int *in, int n, int *out)
{
    int window[4] = {0, 0, 0, 0}, turn = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        window[turn++ % 4] = in[i];
    out[threadIdx.x] = window[0] + 3 * window[1] + 5 * window[2] + 7 * window[3];
}

/* The guard stands apart from the loop, and something is computed between them. */
__global__ void apart(const int *in, const int *bias, int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (i < n) {
        int add = bias[i % 8];
        do {
            sum += in[i] + add;
            i += blockDim.x * gridDim.x;
        } while (i < n);
        sum *= 2;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

__global__ void return_before(int *hits, int n, int threads)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= threads)
        return;
    for (int i = t; i < n; i += threads)
        hits[i]++;
}

__global__ void near_the_end(unsigned first, unsigned n, unsigned *sum) /* the last index is close to 2^32 */
{
    unsigned mine = 0;
    for (unsigned i = first + threadIdx.x; i < n; i += blockDim.x)
        mine += n - i;
    atomicAdd(sum, mine);
}

static void expect_ones(const char *what, int *hits, int n)
{
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++)
        if (hits[i] != (i < n)) {
            printf("%s: element %d was visited %d times\n", what, i, hits[i]);
            exit(1);
        }
    memset(hits, 0, N * sizeof *hits);
}

static const int blocks[] = {1, 3, 8}, threads[] = {1, 7, 32, 100, 256};

static void check_counts(int *hits)
{
    for (int b = 0; b < 3; b++)
        for (int t = 0; t < 5; t++) {
            const int g = blocks[b], c = threads[t];
            for (int n = 0; n <= N; n = n == 0 ? 1 : n == 1 ? 255 : n < 2000 ? n + 513 : n == N ? N + 1 : N) {
                count_signed<<<g, c>>>(hits, n), expect_ones("signed", hits, n);
                count_unsigned<<<g, c>>>(hits, n), expect_ones("unsigned", hits, n);
                count_wide<<<g, c>>>(hits, n), expect_ones("wide", hits, n);
                count_inclusive<<<1, c>>>(hits, n - 1), expect_ones("inclusive", hits, n);
                count_descending<<<g, c>>>(hits, n), expect_ones("descending", hits, n);
                return_before<<<g, c>>>(hits, n, g * c - g), g * c > g ? expect_ones("return", hits, n) : (void)0;
            }
            count_until_equal<<<1, c>>>(hits, 12 * c), expect_ones("until equal", hits, 12 * c);
            count_rows<<<g, c>>>(hits, 101, 99), expect_ones("rows", hits, 101 * 99);
            count_tile<<<dim3(2, g), dim3((c + 7) / 8, 8)>>>(hits, 97, 103);
            expect_ones("tile", hits, 97 * 103);
        }
    count_by_warp<<<1, 32>>>(hits, N), expect_ones("by warp", hits, N);
    count_by_warp<<<1, 256>>>(hits, N);
    cudaDeviceSynchronize();
    for (int i = 0; i < N; i++) /* threads 0, 32, … of the 256 all come to element i */
        CHECK(hits[i] == (i / 32 < 8 ? i / 32 + 1 : 8));
    memset(hits, 0, N * sizeof *hits);
}

static void check_sums(const int *in, int *out)
{
    int *lasts = out + 4096, *turns = out + 8192;
    for (int b = 0; b < 3; b++)
        for (int t = 0; t < 5; t++) {
            const int g = blocks[b], c = threads[t], all = g * c;
            sum_and_last<<<g, c>>>(in, 5000, out, lasts, turns);
            cudaDeviceSynchronize();
            for (int id = 0; id < all; id++) {
                int other = id / c * c + c - 1 - id % c, sum = 7, last = -1, turn = 0;
                for (int i = other; i < 5000; i += all)
                    sum += in[i] % 3 ? in[i] : 0;
                for (int i = id; i < 5000; i += all)
                    if (in[i] % 3)
                        last = i, turn++;
                CHECK(out[id] == sum && lasts[id] == last * 2 + 1 && turns[id] == turn);
            }
            apart<<<g, c>>>(in, in + 100, 77 * c / 2, out);
            cudaDeviceSynchronize();
            for (int id = 0; id < all; id++) {
                int sum = 0;
                for (int i = id; i < 77 * c / 2; i += all)
                    sum += in[i] + in[100 + id % 8];
                CHECK(out[id] == 2 * sum);
            }
            local_array<<<1, c>>>(in, 999, out);
            cudaDeviceSynchronize();
            for (int id = 0; id < c; id++) {
                int window[4] = {0, 0, 0, 0}, turn = 0;
                for (int i = id; i < 999; i += c)
                    window[turn++ % 4] = in[i];
                CHECK(out[id] == window[0] + 3 * window[1] + 5 * window[2] + 7 * window[3]);
            }
        }
}

int main(void)
{
    int *hits, *in, *out;
    unsigned *sum;
    cudaMallocManaged(&hits, N * sizeof *hits);
    cudaMallocManaged(&in, N * sizeof *in);
    cudaMallocManaged(&out, 12288 * sizeof *out);
    cudaMallocManaged(&sum, sizeof *sum);
    memset(hits, 0, N * sizeof *hits);
    for (int i = 0; i < N; i++)
        in[i] = (i * 7919) % 4001;
    check_counts(hits);
    check_sums(in, out);
    in[6000] = 4711;
    leave_early<<<1, 64>>>(in, N, out);
    cudaDeviceSynchronize();
    CHECK(out[0] == 6000);
    *sum = 0;
    near_the_end<<<1, 32>>>(0xffffff00u, 0xffffffc0u, sum);
    cudaDeviceSynchronize();
    CHECK(*sum == 192 * 193 / 2);
    CHECK(cudaGetLastError() == cudaSuccess);
    return check_done();
}
