// SPDX-License-Identifier: Apache-2.0
// Warp-synchronous code as it was written before Volta, on plain shared memory: no volatile, no __syncwarp.
#include "check.h"

#define BLOCKS 5

__global__ void exchange(const int *in, int *out) /* one warp a block */
{
    __shared__ int s[33];
    int t = threadIdx.x, i = blockIdx.x * 32 + t;
    s[t] = in[i];
    out[i] = s[31 - t];
    s[t] = out[i] * 2;
    out[i] += s[(t + 1) & 31];
}

__global__ void reduce_row(const int *in, int *out) /* a row for each warp */
{
    __shared__ int s[4][32];
    int lane = threadIdx.x % 32, warp = threadIdx.x / 32, i = blockIdx.x * 128 + threadIdx.x;
    int *row = s[warp];
    row[lane] = in[i];
    if (lane < 16)
        row[lane] += row[lane + 16];
    if (lane < 8)
        row[lane] += row[lane + 8];
    if (lane < 4)
        row[lane] += row[lane + 4];
    if (lane < 2)
        row[lane] += row[lane + 2];
    if (lane < 1)
        row[lane] += row[lane + 1];
    out[i] = row[0];
}

__global__ void butterfly(const int *in, int *out) /* every lane gets the sum; syncs between the lines */
{
    __shared__ int s[128];
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    s[t] = in[i];
    for (int d = 16; d > 0; d /= 2) {
        __syncwarp();
        s[t] += s[t ^ d];
    }
    out[i] = s[t];
}

__global__ void last_warp(const int *in, int *out) /* barriers, then the last warp alone */
{
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads();
    if (t < 128)
        s[t] += s[t + 128];
    __syncthreads();
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        if (t < 16)
            s[t] += s[t + 16];
        if (t < 8)
            s[t] += s[t + 8];
        if (t < 4)
            s[t] += s[t + 4];
        if (t == 0)
            out[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
    }
}

__global__ void append(const int *in, int *count, int *out) /* one lane reserves for its warp */
{
    __shared__ int base[8], rank[8][32];
    int t = threadIdx.x, lane = t & 31, warp = t >> 5, i = blockIdx.x * blockDim.x + t;
    rank[warp][lane] = in[i] & 1;
    if (lane == 0) {
        int sum = 0;
#pragma unroll
        for (int k = 0; k < 32; k++) {
            int own = rank[warp][k];
            rank[warp][k] = sum;
            sum += own;
        }
        base[warp] = atomicAdd(count, sum);
    }
    if (in[i] & 1)
        out[base[warp] + rank[warp][lane]] = in[i];
}

struct pair {
    int low, middle, high;
};

__global__ void rotate(pair *data) /* structures, copied whole */
{
    __shared__ pair s[2][64];
    int t = threadIdx.x;
    s[0][t] = data[t];
    s[1][t] = s[0][t ^ 3];
    data[t] = s[1][t & 32 | (t + 1) & 31];
}

__global__ void transpose_8x8(float *data) /* tiles of eight lanes, blocks of 32 by 2 threads */
{
    __shared__ float s[16 * 33];
    int x = threadIdx.x, y = threadIdx.y * 8;
    float *column = &s[y * 33 + x], *row = &s[(y + (x & 7)) * 33 + (x & ~7)];
    data += blockIdx.x * 16 * 32 + y * 32 + x;
    for (int i = 0; i < 8; i++)
        column[i * 33] = data[i * 32];
    float v[8];
    for (int i = 0; i < 8; i++)
        v[i] = row[i];
    for (int i = 0; i < 8; i++)
        column[i * 33] = v[i];
    for (int i = 0; i < 8; i++)
        data[i * 32] = row[7 - i];
}

/* A matrix times each lane's vector, in one warp, a few rows of the matrix at a time: all lanes load
 * each element that a lane stored, and take and leave their own elements where the data say. */
__global__ void apply(const int *matrix, int order, int rows, const int *place, int *vectors)
{
    __shared__ int m[256], v[32 * 16];
    const int t = threadIdx.x;
    for (int k = 0; k < order; k++)
        v[k * 32 + t] = vectors[k * 32 + t];
    int own[16];
    for (int k = 0; k < order; k++)
        own[k] = v[place[k * 32 + t]];
    for (int first = 0; first < order; first += rows) {
        for (int i = t; i < rows * order; i += 32)
            m[i] = matrix[first * order + i];
        for (int row = 0; row < rows; row++) {
            int sum = 0;
            for (int k = 0; k < order; k++)
                sum += m[row * order + k] * own[k];
            v[place[(first + row) * 32 + t]] = sum;
        }
    }
    for (int k = 0; k < order; k++)
        vectors[k * 32 + t] = v[k * 32 + t];
}

static void check_apply(int order, int rows)
{
    int *matrix = check_managed<int>(order * order), *place = check_managed<int>(order * 32);
    int *vectors = check_managed<int>(order * 32), *expected = check_managed<int>(order * 32);
    for (int i = 0; i < order * order; i++)
        matrix[i] = i * 7 % 11 - 5;
    for (int i = 0; i < order * 32; i++) {
        place[i] = i * 5 % (order * 32); /* a permutation, as order is a power of two */
        vectors[i] = i * i % 17;
    }
    for (int t = 0; t < 32; t++)
        for (int row = 0; row < order; row++) {
            int sum = 0;
            for (int k = 0; k < order; k++)
                sum += matrix[row * order + k] * vectors[place[k * 32 + t]];
            expected[place[row * 32 + t]] = sum;
        }
    apply<<<1, 32>>>(matrix, order, rows, place, vectors);
    KERNEL_OK();
    for (int i = 0; i < order * 32; i++)
        CHECK_EQ(vectors[i], expected[i]);
}

/* Each warp gathers the odd numbers of a few rows in a buffer of its own, where a vote has them go, and leaves the
 * buffer's words each by a lane, as coders of bits do. */
__global__ void gather(const int *in, int rows, int warps, int *out, int *counts)
{
    __shared__ int buffer[4][128];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, index = blockIdx.x * 4 + warp;
    if (index >= warps)
        return;
    int count = 0;
    for (int row = 0; row < rows; row++) {
        const int value = in[(index * rows + row) * 32 + lane];
        const unsigned odd = __ballot_sync(0xffffffff, value & 1);
        if (value & 1)
            buffer[warp][count + __popc(odd & (1u << lane) - 1)] = value;
        count += __popc(odd);
    }
    for (int first = 0; first < count; first += 32)
        out[index * 128 + first + lane] = buffer[warp][first + lane];
    if (lane == 0)
        counts[index] = count;
}

static void check_gather(void)
{
    const int rows = 3, warps = 7;
    int *in = check_managed<int>(warps * rows * 32), *out = check_managed<int>(warps * 128);
    int *counts = check_managed<int>(warps);
    for (int i = 0; i < warps * rows * 32; i++)
        in[i] = (i * 37 + 11) % 101;
    gather<<<2, 128>>>(in, rows, warps, out, counts);
    KERNEL_OK();
    for (int w = 0; w < warps; w++) {
        int count = 0;
        for (int i = 0; i < rows * 32; i++)
            if (in[w * rows * 32 + i] & 1) {
                CHECK_EQ(out[w * 128 + count], in[w * rows * 32 + i]);
                count++;
            }
        CHECK_EQ(counts[w], count);
    }
}

int main(void)
{
    int *in = check_managed<int>(BLOCKS * 256), *out = check_managed<int>(BLOCKS * 256);
    int *count = check_managed<int>(1);
    for (int i = 0; i < BLOCKS * 256; i++)
        in[i] = (i * 37 + 11) % 101;

    exchange<<<BLOCKS, 32>>>(in, out);
    KERNEL_OK();
    for (int i = 0; i < BLOCKS * 32; i++) {
        int first = i / 32 * 32, t = i % 32;
        CHECK_EQ(out[i], in[first + 31 - t] + 2 * in[first + 31 - ((t + 1) & 31)]);
    }

    for (int kind = 0; kind < 2; kind++) {
        if (kind == 0)
            reduce_row<<<BLOCKS, 128>>>(in, out);
        else
            butterfly<<<BLOCKS, 128>>>(in, out);
        KERNEL_OK();
        for (int i = 0; i < BLOCKS * 128; i++) {
            int sum = 0;
            for (int k = 0; k < 32; k++)
                sum += in[i / 32 * 32 + k];
            CHECK_EQ(out[i], sum);
        }
    }

    last_warp<<<BLOCKS, 256>>>(in, out);
    KERNEL_OK();
    for (int b = 0; b < BLOCKS; b++) {
        int sum = 0;
        for (int i = 0; i < 256; i++)
            sum += in[b * 256 + i];
        CHECK_EQ(out[b], sum);
    }

    *count = 0;
    append<<<BLOCKS, 256>>>(in, count, out);
    KERNEL_OK();
    int odd = 0;
    long long sum = 0, expected = 0;
    for (int i = 0; i < BLOCKS * 256; i++) {
        odd += in[i] & 1;
        expected += in[i] & 1 ? (long long)in[i] * in[i] : 0;
    }
    CHECK_EQ(*count, odd);
    for (int i = 0; i < odd; i++)
        sum += (long long)out[i] * out[i];
    CHECK_EQ(sum, expected);

    pair *pairs = check_managed<pair>(64);
    for (int i = 0; i < 64; i++)
        pairs[i] = {i, 10 * i, 100 * i};
    rotate<<<1, 64>>>(pairs);
    KERNEL_OK();
    for (int i = 0; i < 64; i++) {
        int from = (i & 32 | (i + 1) & 31) ^ 3;
        CHECK_EQ(pairs[i].low, from);
        CHECK_EQ(pairs[i].middle, 10 * from);
        CHECK_EQ(pairs[i].high, 100 * from);
    }

    float *tile = check_managed<float>(BLOCKS * 16 * 32);
    for (int i = 0; i < BLOCKS * 16 * 32; i++)
        tile[i] = i;
    transpose_8x8<<<BLOCKS, dim3(32, 2)>>>(tile);
    KERNEL_OK();
    for (int i = 0; i < BLOCKS * 16 * 32; i++) {
        /* turned over twice: each row of eight is back, backwards in its column */
        int y = i / 32 % 8;
        CHECK_EQ(tile[i], i - y * 32 + (7 - y) * 32);
    }
    check_apply(8, 8);
    check_apply(16, 4);
    check_gather();
    return check_done();
}
