/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and sets in one and two dimensions: every direction, pitches, offsets, overlap-free moves
 * within an allocation, zero sizes, free memory accounting. */
#include "check.h"

__global__ void touch(unsigned char *p, size_t pitch, int w, int h)
{
    for (int y = blockIdx.x; y < h; y += gridDim.x)
        for (int x = threadIdx.x; x < w; x += blockDim.x)
            p[y * pitch + x] = (unsigned char)(p[y * pitch + x] * 2 + 1);
}

int main(void)
{
    const int w = 101, h = 67;
    static unsigned char image[h][w], back[h][w];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            image[y][x] = (unsigned char)(x * 3 + y * 5);
    unsigned char *a, *b;
    size_t pitch_a, pitch_b;
    CUDA_OK(cudaMallocPitch((void **)&a, &pitch_a, w, h));
    CUDA_OK(cudaMallocPitch((void **)&b, &pitch_b, 300, h));
    CHECK(pitch_a >= w && pitch_b >= 300);
    CHECK_EQ(pitch_a % 32, (size_t)0);
    CUDA_OK(cudaMemset2D(a, pitch_a, 0xee, w, h));
    CUDA_OK(cudaMemset2D(b, pitch_b, 0x11, 300, h));
    CUDA_OK(cudaMemcpy2D(a, pitch_a, image, w, w, h, cudaMemcpyHostToDevice));
    touch<<<8, 32>>>(a, pitch_a, w, h);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy2D(b + 7, pitch_b, a, pitch_a, w, h, cudaMemcpyDeviceToDevice));
    CUDA_OK(cudaMemset2D(b + 20, pitch_b, 0, 5, h - 2)); /* a hole */
    CUDA_OK(cudaMemcpy2D(back, w, b + 7, pitch_b, w, h, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            bool hole = x + 7 >= 20 && x + 7 < 25 && y < h - 2;
            CHECK_EQ(back[y][x], hole ? 0 : (unsigned char)(image[y][x] * 2 + 1));
        }
    unsigned char edge[4];
    CUDA_OK(cudaMemcpy(edge, b + 5, 2, cudaMemcpyDeviceToHost));
    CHECK_EQ(edge[1], 0x11);
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaMemset2DAsync(b, pitch_b, 3, 300, h, stream));
    CUDA_OK(cudaMemcpy2DAsync(b, pitch_b, image, w, w, h, cudaMemcpyHostToDevice, stream));
    memset(back, 0, sizeof back);
    CUDA_OK(cudaMemcpy2DAsync(back, w, b + 1, pitch_b, w, h, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            CHECK_EQ(back[y][x], x + 1 < w ? image[y][x + 1] : 3);
    CHECK_ERROR(cudaMemcpy2D(a, w - 1, image, w, w, h, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);

    const int n = 5000;
    int *host = new int[n], *result = new int[n], *d, *e;
    for (int i = 0; i < n; i++)
        host[i] = i * 7;
    CUDA_OK(cudaMalloc(&d, n * sizeof(int)));
    CUDA_OK(cudaMalloc(&e, n * sizeof(int)));
    CUDA_OK(cudaMemcpy(d, host, n * sizeof(int), cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemset(e, 0xff, n * sizeof(int)));
    CUDA_OK(cudaMemcpy(e + 100, d + 200, 1000 * sizeof(int), cudaMemcpyDeviceToDevice));
    CUDA_OK(cudaMemcpy(e + 2000, e + 100, 500 * sizeof(int), cudaMemcpyDeviceToDevice));
    CUDA_OK(cudaMemcpyAsync(e + 4999, d, sizeof(int), cudaMemcpyDefault, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    CUDA_OK(cudaMemcpy(result, e, n * sizeof(int), cudaMemcpyDefault));
    for (int i = 0; i < n; i++)
        CHECK_EQ(result[i], i >= 100 && i < 1100 ? host[i + 100] : i >= 2000 && i < 2500 ? host[i - 1800] : i == 4999 ? 0 : -1);
    CUDA_OK(cudaMemcpy(result, host, n * sizeof(int), cudaMemcpyHostToHost));
    CHECK(memcmp(result, host, n * sizeof(int)) == 0);
    CUDA_OK(cudaMemcpy(e, d, 0, cudaMemcpyDeviceToDevice));
    CUDA_OK(cudaMemset(e, 0, 0));
    CUDA_OK(cudaMemcpyPeer(e, 0, d, 0, n * sizeof(int)));

    size_t free_before, free_after, total;
    CUDA_OK(cudaMemGetInfo(&free_before, &total));
    CHECK(free_before > 0 && free_before <= total);
    char *big;
    CUDA_OK(cudaMalloc(&big, 64 << 20));
    CUDA_OK(cudaMemGetInfo(&free_after, &total));
    CHECK(free_after + (64 << 20) <= free_before);
    CUDA_OK(cudaFree(big));
    CUDA_OK(cudaMemGetInfo(&free_after, &total));
    CHECK(free_after + (1 << 20) >= free_before);
    CUDA_OK(cudaFree(a));
    CUDA_OK(cudaFree(b));
    CUDA_OK(cudaFree(d));
    CUDA_OK(cudaFree(e));
    CUDA_OK(cudaStreamDestroy(stream));
    cudaGetLastError();
    /* device memory where the kind says host: unified addressing */
    {
        int *first, *second, value = 7, got = 0;
        CUDA_OK(cudaMalloc(&first, sizeof(int)));
        CUDA_OK(cudaMalloc(&second, sizeof(int)));
        CUDA_OK(cudaMemcpy(first, &value, sizeof(int), cudaMemcpyHostToDevice));
        CUDA_OK(cudaMemcpy(second, first, sizeof(int), cudaMemcpyHostToDevice));
        CUDA_OK(cudaMemcpy(&got, second, sizeof(int), cudaMemcpyDeviceToHost));
        CHECK_EQ(got, 7);
        CUDA_OK(cudaMemset(first, 0, sizeof(int)));
        CUDA_OK(cudaMemcpy(first, second, sizeof(int), cudaMemcpyDeviceToHost));
        CUDA_OK(cudaMemcpy(&got, first, sizeof(int), cudaMemcpyDeviceToHost));
        CHECK_EQ(got, 7);
        CHECK_ERROR(cudaMemcpy(&got, first, sizeof(int), cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    }
    return check_done();
}
