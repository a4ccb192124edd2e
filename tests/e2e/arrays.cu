/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA arrays: copies to, from and between them, in one and two dimensions, what the runtime knows of them. */
#include "check.h"

int main(void)
{
    const int w = 20, h = 9;
    static int in[h][w], out[h][w];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            in[y][x] = y * 1000 + x;
    cudaChannelFormatDesc format = cudaCreateChannelDesc<int>(), back;
    CHECK(format.x == 32 && format.y == 0 && format.f == cudaChannelFormatKindSigned);
    cudaArray_t a, b;
    CUDA_OK(cudaMallocArray(&a, &format, w, h));
    CUDA_OK(cudaMallocArray(&b, &format, w, h, cudaArrayDefault));
    cudaExtent extent;
    unsigned flags = 99;
    CUDA_OK(cudaArrayGetInfo(&back, &extent, &flags, a));
    CHECK(back.x == 32 && extent.width == w && extent.height == h);
    CHECK_EQ(flags, 0u);
    CUDA_OK(cudaGetChannelDesc(&back, a));
    CHECK(back.f == cudaChannelFormatKindSigned);

    CUDA_OK(cudaMemcpy2DToArray(a, 0, 0, in, sizeof in[0], sizeof in[0], h, cudaMemcpyHostToDevice));
    CUDA_OK(cudaMemcpy2DFromArray(out, sizeof out[0], a, 0, 0, sizeof out[0], h, cudaMemcpyDeviceToHost));
    CHECK(memcmp(in, out, sizeof in) == 0);
    /* a part, from the middle into the middle */
    memset(out, 0, sizeof out);
    CUDA_OK(cudaMemcpy2DFromArray(&out[1][2], sizeof out[0], a, 5 * sizeof(int), 3, 4 * sizeof(int), 2, cudaMemcpyDeviceToHost));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            CHECK_EQ(out[y][x], y >= 1 && y < 3 && x >= 2 && x < 6 ? in[y + 2][x + 3] : 0);
    CUDA_OK(cudaMemcpy2DArrayToArray(b, 0, 0, a, 0, 0, w * sizeof(int), h, cudaMemcpyDeviceToDevice));
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    CUDA_OK(cudaMemcpy2DToArrayAsync(b, 8 * sizeof(int), 2, in, sizeof in[0], 3 * sizeof(int), 1, cudaMemcpyHostToDevice, stream));
    CUDA_OK(cudaMemcpy2DFromArrayAsync(out, sizeof out[0], b, 0, 0, sizeof out[0], h, cudaMemcpyDeviceToHost, stream));
    CUDA_OK(cudaStreamSynchronize(stream));
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            CHECK_EQ(out[y][x], y == 2 && x >= 8 && x < 11 ? in[0][x - 8] : in[y][x]);
#if CUDART_VERSION < 13000
    cudaArray *line;
    CUDA_OK(cudaMallocArray(&line, &format, w * h));
    CUDA_OK(cudaMemcpyToArray(line, 0, 0, in, sizeof in, cudaMemcpyHostToDevice));
    memset(out, 0, sizeof out);
    CUDA_OK(cudaMemcpyFromArray(out, line, 10 * sizeof(int), 0, 50 * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0; i < 60; i++)
        CHECK_EQ((&out[0][0])[i], i < 50 ? (&in[0][0])[i + 10] : 0);
    CUDA_OK(cudaFreeArray(line));
#endif
    CUDA_OK(cudaFreeArray(a));
    CUDA_OK(cudaFreeArray(b));
    CUDA_OK(cudaFreeArray(NULL));
    CUDA_OK(cudaStreamDestroy(stream));
    return check_done();
}
