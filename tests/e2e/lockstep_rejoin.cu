// SPDX-License-Identifier: Apache-2.0
// FLAGS: --lockstep
// DEVICES: cpu sim (the stand-in for a GPU runs one thread after the other)
// Lanes of a warp that part within a round of a loop meet again before the next, as on a GPU: the greatest number of a row
// by halves, where only some lanes store; and a loop within a loop, as long as each lane's number says.
#include "check.h"

#define ROWS 20

__global__ void greatest(const int *in, int *out, int size)
{
    extern __shared__ int value[];
    int *at = value + size;
    const int t = threadIdx.x;
    value[t] = in[blockIdx.x * size + t];
    at[t] = t;
    for (int half = size / 2; half > 0; half /= 2)
        if (t < half && value[at[t]] < value[at[t + half]])
            at[t] = at[t + half];
    if (t == 0)
        out[blockIdx.x] = at[0];
}

/* Each round, a lane adds to its neighbour's word as often as its number says. */
__global__ void pass_on(int *out, int rounds)
{
    volatile __shared__ int word[32];
    const int t = threadIdx.x;
    word[t] = t;
    for (int round = 0; round < rounds; round++) {
        const int next = word[(t + 1) % 32];
        for (int i = 0; i < t % 5; i++)
            word[t] = word[t] + i;
        word[t] = word[t] + next;
    }
    out[t] = word[t];
}

static void check_greatest(int size)
{
    int *in = check_managed<int>(ROWS * size), *out = check_managed<int>(ROWS);
    for (int i = 0; i < ROWS * size; i++)
        in[i] = i * 7919 % 10007;
    greatest<<<ROWS, size, 2 * size * sizeof(int)>>>(in, out, size);
    KERNEL_OK();
    for (int row = 0; row < ROWS; row++) {
        int expected = 0;
        for (int i = 1; i < size; i++)
            if (in[row * size + i] > in[row * size + expected])
                expected = i;
        CHECK_EQ(out[row], expected);
    }
}

static void check_pass_on()
{
    const int rounds = 4;
    int *out = check_managed<int>(32), word[32], next[32];
    pass_on<<<1, 32>>>(out, rounds);
    KERNEL_OK();
    for (int t = 0; t < 32; t++)
        word[t] = t;
    for (int round = 0; round < rounds; round++) {
        for (int t = 0; t < 32; t++)
            next[t] = word[(t + 1) % 32];
        for (int t = 0; t < 32; t++)
            word[t] += next[t] + (t % 5) * (t % 5 - 1) / 2;
    }
    for (int t = 0; t < 32; t++)
        CHECK_EQ(out[t], word[t]);
}

int main()
{
    for (int size = 2; size <= 32; size *= 2)
        check_greatest(size);
    check_pass_on();
    return check_done();
}
