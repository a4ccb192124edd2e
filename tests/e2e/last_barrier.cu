// SPDX-License-Identifier: Apache-2.0
// DEVICES: cpu sim (the stand-in for a GPU runs one thread after the other)
// A loop over rows that lacks the barrier at its end: all threads load a row's sum, and then store parts of the next row
// where it was; or one thread clears the flag that ends the loop. On GPUs the warps that a barrier released have loaded
// before the first of them stores. The memory may be volatile, and each group of threads may have rows of its own.
#include "check.h"

#define ROWS 7

__global__ void sums(const int *in, int *out)
{
    extern __shared__ int part[];
    const int t = threadIdx.x;
    for (int row = 0; row < ROWS; row++) {
        part[t] = in[row * blockDim.x + t];
        __syncthreads();
        for (int half = blockDim.x / 2; half > 0; half /= 2) {
            if (t < half)
                part[t] += part[t + half];
            __syncthreads();
        }
        out[row] = part[0];
    }
}

__device__ void sum_of_group(volatile int *part, int size)
{
    const int place = threadIdx.x % size;
    __syncthreads();
    for (int half = size / 2; half > 0; half /= 2) {
        if (place < half)
            part[place] += part[place + half];
        __syncthreads();
    }
}

/* A group of `size` threads has a row of its own in each round; groups that have none end early. */
__global__ void sums_of_groups(const int *in, int *out, int size, int groups)
{
    extern __shared__ int part[];
    const int group = threadIdx.x / size, place = threadIdx.x - group * size;
    volatile int *mine = part + group * size;
    const int row = blockIdx.x * (blockDim.x / size) + group;
    if (row >= groups)
        return;
    for (int round = 0; round < ROWS; round++) {
        mine[place] = in[(row * ROWS + round) * size + place];
        sum_of_group(mine, size);
        out[row * ROWS + round] = mine[0];
    }
}

static void check_groups(int size)
{
    const int threads = 256, groups = 2 * threads / size, rows = groups * ROWS;
    int *in = check_managed<int>(rows * size), *out = check_managed<int>(rows);
    for (int i = 0; i < rows * size; i++)
        in[i] = i % 11;
    sums_of_groups<<<2, threads, threads * sizeof(int)>>>(in, out, size, groups);
    KERNEL_OK();
    for (int row = 0; row < rows; row++) {
        int expected = 0;
        for (int i = 0; i < size; i++)
            expected += in[row * size + i];
        CHECK_EQ(out[row], expected);
    }
}

/* Halves numbers until none is above the limit. */
__global__ void halve(int *data, int limit, int *rounds)
{
    __shared__ int changed;
    const int t = threadIdx.x;
    int round = 0;
    do {
        if (t == 0)
            changed = 0;
        __syncthreads();
        if (data[t] > limit) {
            data[t] /= 2;
            changed = 1;
        }
        round++;
        __syncthreads();
    } while (changed);
    rounds[t] = round;
}

static void check_halves()
{
    const int size = 128, limit = 9;
    int *data = check_managed<int>(size), *rounds = check_managed<int>(size), expected[size], last = 0;
    for (int i = 0; i < size; i++) {
        int count = 1;
        for (expected[i] = data[i] = i * 17; expected[i] > limit; count++)
            expected[i] /= 2;
        last = count > last ? count : last;
    }
    halve<<<1, size>>>(data, limit, rounds);
    KERNEL_OK();
    for (int i = 0; i < size; i++) {
        CHECK_EQ(data[i], expected[i]);
        CHECK_EQ(rounds[i], last);
    }
}

int main()
{
    check_halves();
    for (int size = 16; size <= 256; size *= 2)
        check_groups(size);
    for (int size = 32; size <= 256; size *= 2) {
        int *in = check_managed<int>(ROWS * size), *out = check_managed<int>(ROWS);
        for (int i = 0; i < ROWS * size; i++)
            in[i] = i % 13;
        sums<<<1, size, size * sizeof(int)>>>(in, out);
        KERNEL_OK();
        for (int row = 0; row < ROWS; row++) {
            int expected = 0;
            for (int i = 0; i < size; i++)
                expected += in[row * size + i];
            CHECK_EQ(out[row], expected);
        }
    }
    return check_done();
}
