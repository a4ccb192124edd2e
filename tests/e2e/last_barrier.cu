// SPDX-License-Identifier: Apache-2.0
// DEVICES: cpu sim (the stand-in for a GPU runs one thread after the other)
// A loop over rows that lacks the barrier at its end: all threads load a row's sum, and then store parts of the next row
// where it was; or one thread clears the flag that ends the loop. On GPUs the warps that a barrier released have loaded
// before the first of them stores.
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
