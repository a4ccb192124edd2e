/* SPDX-License-Identifier: Apache-2.0 */
/* Local arrays of threads: dynamic indices, pointers into them given to functions, kept across barriers. */
#include "check.h"

__device__ void sort(int *a, int n)
{
    for (int i = 1; i < n; i++) {
        int v = a[i], j = i;
        for (; j > 0 && a[j - 1] > v; j--)
            a[j] = a[j - 1];
        a[j] = v;
    }
}

__global__ void medians(const int *in, int n, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, window[9];
    if (i >= n)
        return;
    for (int k = 0; k < 9; k++) {
        int at = i + k - 4;
        window[k] = in[at < 0 ? 0 : at >= n ? n - 1 : at];
    }
    sort(window, 9);
    out[i] = window[4];
}

__global__ void kept(int *out, int rounds)
{
    __shared__ int tile[64];
    int mine[16], t = threadIdx.x;
    struct { short a; double b[3]; } record = {(short)t, {0.5, 1.5, 2.5}};
    for (int i = 0; i < 16; i++)
        mine[i] = t * 16 + i;
    int *p = &mine[t % 16];
    for (int r = 0; r < rounds; r++) {
        tile[t] = mine[(t + r) % 16];
        __syncthreads();
        *p += tile[(t + 1) % 64];
        record.b[r % 3] += 1;
        p = &mine[(p - mine + 5) % 16];
        __syncthreads();
    }
    unsigned sum = record.a + (int)(record.b[0] * 2 + record.b[1] * 4 + record.b[2] * 8);
    for (int i = 0; i < 16; i++)
        sum = sum * 3 + mine[i];
    out[t] = (int)sum;
}

int main(void)
{
    const int n = 1000;
    int *in = check_managed<int>(n), *out = check_managed<int>(n);
    uint32_t seed = 6;
    for (int i = 0; i < n; i++)
        in[i] = (int)(check_random(&seed) % 500);
    medians<<<8, 128>>>(in, n, out);
    KERNEL_OK();
    for (int i = 0; i < n; i++) {
        int below = 0, equal = 0;
        for (int k = -4; k <= 4; k++) {
            int at = i + k < 0 ? 0 : i + k >= n ? n - 1 : i + k;
            below += in[at] < out[i];
            equal += in[at] == out[i];
        }
        CHECK(below <= 4 && below + equal > 4);
    }
    const int rounds = 7;
    kept<<<1, 64>>>(out, rounds);
    KERNEL_OK();
    static unsigned mine[64][16];
    double b[3] = {0.5, 1.5, 2.5};
    int at[64], tile[64];
    for (int t = 0; t < 64; t++) {
        at[t] = t % 16;
        for (int i = 0; i < 16; i++)
            mine[t][i] = t * 16 + i;
    }
    for (int r = 0; r < rounds; r++) {
        for (int t = 0; t < 64; t++)
            tile[t] = mine[t][(t + r) % 16];
        for (int t = 0; t < 64; t++) {
            mine[t][at[t]] += tile[(t + 1) % 64];
            at[t] = (at[t] + 5) % 16;
        }
        b[r % 3] += 1;
    }
    for (int t = 0; t < 64; t++) {
        unsigned sum = t + (int)(b[0] * 2 + b[1] * 4 + b[2] * 8);
        for (int i = 0; i < 16; i++)
            sum = sum * 3 + mine[t][i];
        CHECK_EQ(out[t], (int)sum);
    }
    return check_done();
}
