/* SPDX-License-Identifier: Apache-2.0 */
/* cudaMalloc3D, cudaMemcpy3D and cudaMemset3D, with positions and extents. */
#include "check.h"

__global__ void negate(cudaPitchedPtr p, int w, int h, int d)
{
    int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
    if (x < w && y < h && z < d) {
        char *slice = (char *)p.ptr + (size_t)z * p.pitch * p.ysize;
        float *row = (float *)(slice + y * p.pitch);
        row[x] = -row[x];
    }
}

int main(void)
{
    const int w = 13, h = 7, d = 5;
    static float in[d][h][w], out[d][h][w];
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++)
                in[z][y][x] = (float)(z * 10000 + y * 100 + x + 1);
    cudaPitchedPtr device;
    cudaExtent extent = make_cudaExtent(w * sizeof(float), h, d);
    CUDA_OK(cudaMalloc3D(&device, extent));
    CHECK(device.pitch >= w * sizeof(float));
    CHECK_EQ(device.ysize, (size_t)h);
    CUDA_OK(cudaMemset3D(device, 0, extent));
    cudaMemcpy3DParms parms;
    memset(&parms, 0, sizeof parms);
    parms.srcPtr = make_cudaPitchedPtr(in, w * sizeof(float), w, h);
    parms.dstPtr = device;
    parms.srcPos = make_cudaPos(2 * sizeof(float), 1, 1);
    parms.dstPos = make_cudaPos(0, 2, 0);
    parms.extent = make_cudaExtent(8 * sizeof(float), 4, 3);
    parms.kind = cudaMemcpyHostToDevice;
    CUDA_OK(cudaMemcpy3D(&parms));
    negate<<<dim3(h, d), 16>>>(device, w, h, d);
    KERNEL_OK();
    memset(&parms, 0, sizeof parms);
    parms.srcPtr = device;
    parms.dstPtr = make_cudaPitchedPtr(out, w * sizeof(float), w, h);
    parms.extent = extent;
    parms.kind = cudaMemcpyDeviceToHost;
    CUDA_OK(cudaMemcpy3DAsync(&parms, 0));
    CUDA_OK(cudaDeviceSynchronize());
    for (int z = 0; z < d; z++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                bool inside = x < 8 && y >= 2 && y < 6 && z < 3;
                CHECK_EQ(out[z][y][x], inside ? -in[z + 1][y - 1][x + 2] : 0.0f);
            }
    CUDA_OK(cudaFree(device.ptr));
    return check_done();
}
