/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in loops: fixed and data-dependent uniform trip counts, nested, with break and continue,
 * values of each thread living across them. */
#include "check.h"

__global__ void reduce(const int *in, int n, int *out)
{
    __shared__ int tile[256];
    int sum = 0;
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        sum += in[i];
    tile[threadIdx.x] = sum;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half >>= 1) {
        if (threadIdx.x < half)
            tile[threadIdx.x] += tile[threadIdx.x + half];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = tile[0];
}

__global__ void nested(const int *trips, int *out)
{
    __shared__ int slots[64];
    int t = threadIdx.x, mine = t, passes = 0;
    double weight = t * 0.5; /* lives across every barrier */
    for (int i = 0; i < trips[blockIdx.x]; i++) {
        for (int j = 0; j <= i % 3; j++) {
            slots[t] = mine;
            __syncthreads();
            mine = slots[(t + 1) % 64] + 1;
            passes++;
            __syncthreads();
            if (j == 1 && i % 2)
                break;
        }
        if (i % 4 == 3)
            continue;
        slots[63 - t] = mine;
        __syncthreads();
        mine = slots[t];
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = mine + 1000 * passes + (int)(weight * 2) * 1000000;
}

__global__ void while_changing(int *distance) /* the count comes out of shared memory */
{
    __shared__ int changed;
    __shared__ int d[128];
    int t = threadIdx.x, rounds = 0;
    d[t] = t == 0 ? 0 : 1 << 20;
    do {
        __syncthreads();
        if (t == 0)
            changed = 0;
        __syncthreads();
        int left = t > 0 ? d[t - 1] : 1 << 20;
        __syncthreads();
        if (left + 1 < d[t]) {
            d[t] = left + 1;
            changed = 1;
        }
        rounds++;
        __syncthreads();
    } while (changed);
    distance[t] = d[t] * 1000 + rounds;
}

__global__ void tiled(const float *a, const float *b, float *c, int n) /* the classic of them all */
{
    __shared__ float sa[8][8], sb[8][8];
    int row = blockIdx.y * 8 + threadIdx.y, column = blockIdx.x * 8 + threadIdx.x;
    float sum = 0;
    for (int m = 0; m < (n + 7) / 8; m++) {
        int ac = m * 8 + threadIdx.x, br = m * 8 + threadIdx.y;
        sa[threadIdx.y][threadIdx.x] = row < n && ac < n ? a[row * n + ac] : 0;
        sb[threadIdx.y][threadIdx.x] = br < n && column < n ? b[br * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < 8; k++)
            sum += sa[threadIdx.y][k] * sb[k][threadIdx.x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

static void nested_reference(int trips, int *out)
{
    int mine[64], slots[64], passes = 0;
    for (int t = 0; t < 64; t++)
        mine[t] = t;
    for (int i = 0; i < trips; i++) {
        for (int j = 0; j <= i % 3; j++) {
            memcpy(slots, mine, sizeof slots);
            for (int t = 0; t < 64; t++)
                mine[t] = slots[(t + 1) % 64] + 1;
            passes++;
            if (j == 1 && i % 2)
                break;
        }
        if (i % 4 == 3)
            continue;
        for (int t = 0; t < 64; t++)
            slots[63 - t] = mine[t];
        memcpy(mine, slots, sizeof slots);
    }
    for (int t = 0; t < 64; t++)
        out[t] = mine[t] + 1000 * passes + t * 1000000;
}

int main(void)
{
    const int n = 10007;
    int *in = check_managed<int>(n), *out = check_managed<int>(6 * 64), sum = 0;
    for (int i = 0; i < n; i++)
        sum += in[i] = i % 101 - 50;
    reduce<<<1, 256>>>(in, n, out);
    KERNEL_OK();
    CHECK_EQ(out[0], sum);

    int *trips = check_managed<int>(6), expected[64];
    for (int b = 0; b < 6; b++)
        trips[b] = b * b;
    nested<<<6, 64>>>(trips, out);
    KERNEL_OK();
    for (int b = 0; b < 6; b++) {
        nested_reference(trips[b], expected);
        for (int t = 0; t < 64; t++)
            CHECK_EQ(out[b * 64 + t], expected[t]);
    }

    while_changing<<<1, 128>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 128; t++)
        CHECK_EQ(out[t], t * 1000 + 128);

    const int m = 37;
    float *a = check_managed<float>(m * m), *b = check_managed<float>(m * m), *c = check_managed<float>(m * m);
    for (int i = 0; i < m * m; i++) {
        a[i] = (float)(i % 7 - 3);
        b[i] = (float)(i % 5 - 2);
    }
    tiled<<<dim3(5, 5), dim3(8, 8)>>>(a, b, c, m);
    KERNEL_OK();
    for (int y = 0; y < m; y++)
        for (int x = 0; x < m; x++) {
            float e = 0;
            for (int k = 0; k < m; k++)
                e += a[y * m + k] * b[k * m + x];
            CHECK_EQ(c[y * m + x], e);
        }
    return check_done();
}
