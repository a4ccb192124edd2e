/* SPDX-License-Identifier: Apache-2.0 */
/* Cooperative launch and the grid barrier: steps of a stencil in one kernel, a scan over blocks. */
#include "check.h"
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

__global__ void relax(int *a, int *b, int n, int steps)
{
    cg::grid_group grid = cg::this_grid();
    for (int s = 0; s < steps; s++) {
        for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size())
            b[i] = a[(i + n - 1) % n] + 2 * a[(i + 1) % n] - (int)i % 3;
        grid.sync();
        int *t = a;
        a = b;
        b = t;
    }
}

__global__ void scan_blocks(const int *in, int *out, int *totals)
{
    __shared__ int tile[128];
    cg::grid_group grid = cg::this_grid();
    int t = threadIdx.x, i = blockIdx.x * 128 + t;
    tile[t] = in[i];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int v = t >= d ? tile[t - d] : 0;
        __syncthreads();
        tile[t] += v;
        __syncthreads();
    }
    if (t == 127)
        totals[blockIdx.x] = tile[127];
    cg::sync(grid);
    int before = 0;
    for (unsigned b = 0; b < blockIdx.x; b++)
        before += totals[b];
    out[i] = tile[t] + before + (grid.is_valid() ? 0 : -1);
}

/* Threads 41 and up return before the barrier, some of a warp, and a whole warp. */
__global__ void few(int *a)
{
    if (threadIdx.x > 40)
        return;
    if (threadIdx.x == 0)
        a[blockIdx.x] = blockIdx.x + 1;
    cg::this_grid().sync();
    if (threadIdx.x == 40)
        a[8 + blockIdx.x] = a[(blockIdx.x + 1) % gridDim.x];
}

int main(void)
{
    int supported = 0, per_sm = 0, sms = 0;
    CUDA_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    CUDA_OK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    CHECK_EQ(supported, 1);
    CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, relax, 64, 0));
    CHECK(per_sm >= 1);
    int blocks = per_sm * sms < 12 ? per_sm * sms : 12;

    int n = 1000, steps = 17;
    int *a = check_managed<int>(n), *b = check_managed<int>(n), *x = new int[n], *y = new int[n];
    for (int i = 0; i < n; i++)
        x[i] = a[i] = i % 5;
    void *args[] = {&a, &b, &n, &steps};
    CUDA_OK(cudaLaunchCooperativeKernel((const void *)relax, dim3(blocks), dim3(64), args, 0, 0));
    CUDA_OK(cudaDeviceSynchronize());
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++)
            y[i] = (int)((unsigned)x[(i + n - 1) % n] + 2u * (unsigned)x[(i + 1) % n] - (unsigned)(i % 3));
        int *t = x;
        x = y;
        y = t;
    }
    for (int i = 0; i < n; i++)
        CHECK_EQ(b[i], x[i]);

    CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, scan_blocks, 128, 0));
    blocks = per_sm * sms < 6 ? per_sm * sms : 6;
    int *in = check_managed<int>(6 * 128), *out = check_managed<int>(6 * 128), *totals = check_managed<int>(6);
    for (int i = 0; i < 6 * 128; i++)
        in[i] = i % 13 - 4;
    void *scan_args[] = {&in, &out, &totals};
    CUDA_OK(cudaLaunchCooperativeKernel((void *)scan_blocks, blocks, 128, scan_args));
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < blocks * 128; i++) {
        sum += in[i];
        CHECK_EQ(out[i], sum);
    }
    void *few_args[] = {&a};
    CUDA_OK(cudaLaunchCooperativeKernel((void *)few, 4, 96, few_args));
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++)
        CHECK_EQ(a[8 + i], (i + 1) % 4 + 1);

    /* more blocks than can be resident at once is refused */
    void *too_many[] = {&a, &b, &n, &steps};
    CHECK_ERROR(cudaLaunchCooperativeKernel((const void *)relax, dim3(1 << 20), dim3(1024), too_many, 0, 0),
                cudaErrorCooperativeLaunchTooLarge);
    CHECK_ERROR(cudaGetLastError(), cudaErrorCooperativeLaunchTooLarge);
    return check_done();
}
