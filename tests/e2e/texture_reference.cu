/* SPDX-License-Identifier: Apache-2.0 */
/* Texture references as old programs use them: 1D over linear memory, 2D over pitched memory and over
 * an array; element types, normalised reads, filtering, addressing, an offset binding, unbinding. */
#include "check.h"

texture<float, 1, cudaReadModeElementType> line;
texture<int2, 1> pairs;
texture<uchar4, 1, cudaReadModeNormalizedFloat> colours;
texture<float, 2, cudaReadModeElementType> plane;
texture<unsigned char, 2, cudaReadModeElementType> bytes;
texture<float, cudaTextureType2D, cudaReadModeElementType> smooth;

__global__ void fetch_line(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex1Dfetch(line, i) + 0.5f * tex1Dfetch(line, n - 1 - i);
}

__global__ void fetch_pairs(int *out)
{
    int2 p = tex1Dfetch(pairs, (int)threadIdx.x);
    float4 c = tex1Dfetch(colours, (int)threadIdx.x);
    out[threadIdx.x] = p.x * 1000 + p.y + (int)(c.w * 255.0f + 0.5f) * 1000000;
}

__global__ void fetch_plane(float *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < w && y < h)
        out[y * w + x] = tex2D(plane, (float)x, (float)y) + tex2D(plane, x - 1.0f, (float)y)
                         + 0.25f * tex2D(bytes, x + 0.5f, y + 0.5f);
}

__global__ void fetch_smooth(float *out, float u, float v, float du)
{
    out[threadIdx.x] = tex2D(smooth, u + du * threadIdx.x, v);
}

int main(void)
{
    const int n = 1000;
    float *host = new float[n], *linear, *out = check_managed<float>(n);
    for (int i = 0; i < n; i++)
        host[i] = i * 0.5f;
    CUDA_OK(cudaMalloc((void **)&linear, n * sizeof(float)));
    CUDA_OK(cudaMemcpy(linear, host, n * sizeof(float), cudaMemcpyHostToDevice));
    size_t offset = 99;
    CUDA_OK(cudaBindTexture(&offset, line, linear, n * sizeof(float)));
    CHECK_EQ(offset, (size_t)0);
    fetch_line<<<8, 128>>>(out, n);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK_EQ(out[i], host[i] + 0.5f * host[n - 1 - i]);
    CUDA_OK(cudaUnbindTexture(line));
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    CHECK_EQ(format.x, 32);
    CHECK(format.f == cudaChannelFormatKindFloat);
    CUDA_OK(cudaBindTexture(0, &line, linear + 512, &format, 256 * sizeof(float))); /* bound again, elsewhere */
    fetch_line<<<2, 128>>>(out, 256);
    KERNEL_OK();
    for (int i = 0; i < 256; i++)
        CHECK_EQ(out[i], host[512 + i] + 0.5f * host[512 + 255 - i]);

    int2 *p = check_managed<int2>(64);
    uchar4 *c = check_managed<uchar4>(64);
    int *ints = check_managed<int>(64);
    for (int i = 0; i < 64; i++) {
        p[i] = make_int2(i, 64 - i);
        c[i] = make_uchar4(0, 0, 0, i * 3);
    }
    CUDA_OK(cudaBindTexture(NULL, pairs, p, 64 * sizeof(int2)));
    CUDA_OK(cudaBindTexture(NULL, colours, c, 64 * sizeof(uchar4)));
    fetch_pairs<<<1, 64>>>(ints);
    KERNEL_OK();
    for (int i = 0; i < 64; i++)
        CHECK_EQ(ints[i], i * 1000 + 64 - i + i * 3 * 1000000);

    const int w = 37, h = 21;
    float image[h][w], *pitched;
    unsigned char grey[h][w];
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            image[y][x] = (float)(y * 100 + x);
            grey[y][x] = (unsigned char)(x * 7 + y);
        }
    size_t pitch;
    CUDA_OK(cudaMallocPitch((void **)&pitched, &pitch, w * sizeof(float), h));
    CUDA_OK(cudaMemcpy2D(pitched, pitch, image, w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice));
    plane.addressMode[0] = cudaAddressModeClamp;
    plane.addressMode[1] = cudaAddressModeClamp;
    plane.filterMode = cudaFilterModePoint;
    plane.normalized = false;
    CUDA_OK(cudaBindTexture2D(NULL, plane, pitched, format, w, h, pitch));
    cudaArray *array;
    cudaChannelFormatDesc byte_format = cudaCreateChannelDesc<unsigned char>();
    CUDA_OK(cudaMallocArray(&array, &byte_format, w, h));
    CUDA_OK(cudaMemcpyToArray(array, 0, 0, grey, sizeof grey, cudaMemcpyHostToDevice));
    CUDA_OK(cudaBindTextureToArray(bytes, array, byte_format));
    fetch_plane<<<dim3(3, 2), dim3(16, 16)>>>(out, w, h);
    KERNEL_OK();
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            CHECK_EQ(out[y * w + x], image[y][x] + image[y][x > 0 ? x - 1 : 0] + 0.25f * grey[y][x]);

    const float ramp[2][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}};
    cudaArray *small;
    CUDA_OK(cudaMallocArray(&small, &format, 4, 2));
    CUDA_OK(cudaMemcpy2DToArray(small, 0, 0, ramp, sizeof ramp[0], sizeof ramp[0], 2, cudaMemcpyHostToDevice));
    smooth.filterMode = cudaFilterModeLinear;
    smooth.normalized = 1;
    smooth.addressMode[0] = cudaAddressModeWrap;
    smooth.addressMode[1] = cudaAddressModeClamp;
    CUDA_OK(cudaBindTextureToArray(smooth, small));
    fetch_smooth<<<1, 5>>>(out, 0.125f, 0.5f, 0.25f); /* texel centres; the fifth wraps */
    KERNEL_OK();
    for (int i = 0; i < 5; i++)
        CHECK_EQ(out[i], i % 4 + 5.0f);
    CUDA_OK(cudaUnbindTexture(smooth));
    CUDA_OK(cudaFreeArray(array));
    CUDA_OK(cudaFreeArray(small));
    CUDA_OK(cudaFree(pitched));
    CUDA_OK(cudaFree(linear));
    return check_done();
}
