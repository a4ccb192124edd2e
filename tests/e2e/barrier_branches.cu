/* SPDX-License-Identifier: Apache-2.0 */
/* Barriers in branches that all threads of a block take, in both arms, in a switch, behind an early
 * return of whole blocks, and after threads or whole warps have left. */
#include "check.h"

__global__ void arms(int *out, int mode)
{
    __shared__ int tile[96];
    int t = threadIdx.x, value = t * 3;
    if (blockIdx.x % 3 == 2)
        return;
    tile[t] = value;
    if ((blockIdx.x + mode) % 2) {
        __syncthreads();
        value = tile[95 - t];
        __syncthreads();
        tile[t] = value + 1;
    } else {
        __syncthreads();
        value = tile[(t + 1) % 96];
    }
    switch (mode) {
    case 0:
        break;
    case 1:
        __syncthreads();
        tile[t] = value + 7;
        /* falls through */
    case 2:
        __syncthreads();
        value = tile[(t + 5) % 96];
        break;
    default:
        __syncthreads();
        value = -1;
    }
    out[blockIdx.x * 96 + t] = value;
}

__global__ void leavers(int *out, int stay)
{
    __shared__ int tile[256];
    int t = threadIdx.x;
    tile[t] = t;
    __syncthreads();
    if (t >= stay)
        return;
    for (int i = 0; i < 3; i++) { /* barriers of those that stayed */
        int v = tile[(t + 1) % stay];
        __syncthreads();
        tile[t] = v + 1;
        __syncthreads();
    }
    out[t] = tile[t];
}

__global__ void guarded_work(const int *in, int n, int *out)
{
    __shared__ int tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) /* divergent work, barrier for all */
        tile[threadIdx.x] = in[i];
    else
        tile[threadIdx.x] = 0;
    __syncthreads();
    if (i < n)
        out[i] = tile[threadIdx.x ^ 1];
}

int main(void)
{
    int *out = check_managed<int>(9 * 96);
    for (int mode = 0; mode < 4; mode++) {
        memset(out, 0xff, 9 * 96 * sizeof(int));
        arms<<<9, 96>>>(out, mode);
        KERNEL_OK();
        for (int b = 0; b < 9; b++) {
            int tile[96], value[96];
            for (int t = 0; t < 96; t++)
                tile[t] = 3 * t;
            for (int t = 0; t < 96; t++)
                value[t] = (b + mode) % 2 ? tile[95 - t] : tile[(t + 1) % 96];
            if ((b + mode) % 2)
                for (int t = 0; t < 96; t++)
                    tile[t] = value[t] + 1;
            if (mode == 1)
                for (int t = 0; t < 96; t++)
                    tile[t] = value[t] + 7;
            for (int t = 0; t < 96; t++) {
                int e = b % 3 == 2   ? -1
                        : mode == 0  ? value[t]
                        : mode == 3  ? -1
                                     : tile[(t + 5) % 96];
                CHECK_EQ(out[b * 96 + t], e);
            }
        }
    }
    const int stays[] = {1, 32, 64, 160, 255, 256}; /* exited threads no longer count */
    for (int s = 0; s < 6; s++) {
        int stay = stays[s], tile[256], next[256];
        memset(out, 0xff, 256 * sizeof(int));
        leavers<<<1, 256>>>(out, stay);
        KERNEL_OK();
        for (int t = 0; t < stay; t++)
            tile[t] = t;
        for (int i = 0; i < 3; i++) {
            for (int t = 0; t < stay; t++)
                next[t] = tile[(t + 1) % stay] + 1;
            memcpy(tile, next, sizeof tile);
        }
        for (int t = 0; t < 256; t++)
            CHECK_EQ(out[t], t < stay ? tile[t] : -1);
    }
    int *in = check_managed<int>(200);
    for (int i = 0; i < 200; i++)
        in[i] = i + 1;
    guarded_work<<<4, 64>>>(in, 199, out);
    KERNEL_OK();
    for (int i = 0; i < 199; i++)
        CHECK_EQ(out[i], i == 198 ? 0 : in[i ^ 1]);
    return check_done();
}
