/* SPDX-License-Identifier: Apache-2.0 */
/* Texture objects over arrays and pitched memory: point and linear filtering, the four addressing
 * modes, normalised coordinates, all against a reference of the documented arithmetic. */
#include "check.h"

#define W 9
#define H 6

__global__ void sample(cudaTextureObject_t object, const float2 *at, int n, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = tex2D<float>(object, at[i].x, at[i].y);
}

__global__ void sample_colour(cudaTextureObject_t object, float4 *out)
{
    out[threadIdx.x] = tex2D<float4>(object, threadIdx.x % W + 0.5f, threadIdx.x / W + 0.5f);
}

__global__ void sample_line(cudaTextureObject_t object, float *out)
{
    out[threadIdx.x] = tex1D<float>(object, threadIdx.x * 0.25f);
}

static int address(int i, int size, cudaTextureAddressMode mode)
{
    if (mode == cudaAddressModeClamp)
        return i < 0 ? 0 : i >= size ? size - 1 : i;
    if (mode == cudaAddressModeBorder)
        return i < 0 || i >= size ? -1 : i;
    if (mode == cudaAddressModeWrap)
        return ((i % size) + size) % size;
    int m = ((i % (2 * size)) + 2 * size) % (2 * size); /* mirror */
    return m < size ? m : 2 * size - 1 - m;
}

static float texel(float image[H][W], int x, int y, cudaTextureAddressMode mode)
{
    x = address(x, W, mode);
    y = address(y, H, mode);
    return x < 0 || y < 0 ? 0 : image[y][x];
}

static float reference(float image[H][W], float2 at, const cudaTextureDesc *desc)
{
    float x = desc->normalizedCoords ? at.x * W : at.x, y = desc->normalizedCoords ? at.y * H : at.y;
    cudaTextureAddressMode mode = desc->addressMode[0];
    if (desc->filterMode == cudaFilterModePoint)
        return texel(image, (int)floorf(x), (int)floorf(y), mode);
    float xb = x - 0.5f, yb = y - 0.5f, i = floorf(xb), j = floorf(yb), a = xb - i, b = yb - j;
    return (1 - a) * (1 - b) * texel(image, (int)i, (int)j, mode) + a * (1 - b) * texel(image, (int)i + 1, (int)j, mode)
           + (1 - a) * b * texel(image, (int)i, (int)j + 1, mode) + a * b * texel(image, (int)i + 1, (int)j + 1, mode);
}

int main(void)
{
    float image[H][W];
    uint32_t seed = 55;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            image[y][x] = (float)(check_random(&seed) % 256);
    cudaChannelFormatDesc format = cudaCreateChannelDesc(32, 0, 0, 0, cudaChannelFormatKindFloat);
    cudaArray_t array;
    CUDA_OK(cudaMallocArray(&array, &format, W, H));
    CUDA_OK(cudaMemcpy2DToArray(array, 0, 0, image, W * 4, W * 4, H, cudaMemcpyHostToDevice));
    float *pitched;
    size_t pitch;
    CUDA_OK(cudaMallocPitch((void **)&pitched, &pitch, W * 4, H));
    CUDA_OK(cudaMemcpy2D(pitched, pitch, image, W * 4, W * 4, H, cudaMemcpyDefault));

    const int n = 400;
    float2 *at = check_managed<float2>(n);
    float *out = check_managed<float>(n);
    const cudaTextureAddressMode modes[4] = {cudaAddressModeClamp, cudaAddressModeBorder, cudaAddressModeWrap,
                                             cudaAddressModeMirror};
    for (int source = 0; source < 2; source++)
        for (int m = 0; m < 4; m++)
            for (int normalized = m >= 2; normalized < 2; normalized++) /* wrap and mirror need it */
                for (int linear = 0; linear < 2; linear++) {
                    cudaResourceDesc resource;
                    cudaTextureDesc desc;
                    memset(&resource, 0, sizeof resource);
                    memset(&desc, 0, sizeof desc);
                    if (source == 0) {
                        resource.resType = cudaResourceTypeArray;
                        resource.res.array.array = array;
                    } else {
                        resource.resType = cudaResourceTypePitch2D;
                        resource.res.pitch2D.devPtr = pitched;
                        resource.res.pitch2D.desc = format;
                        resource.res.pitch2D.width = W;
                        resource.res.pitch2D.height = H;
                        resource.res.pitch2D.pitchInBytes = pitch;
                    }
                    desc.addressMode[0] = desc.addressMode[1] = modes[m];
                    desc.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
                    desc.readMode = cudaReadModeElementType;
                    desc.normalizedCoords = normalized;
                    for (int i = 0; i < n; i++) { /* quarters of a texel, away from texel edges */
                        float x = (float)(check_random(&seed) % 80) / 4 - 5.125f, y = (float)(check_random(&seed) % 64) / 4 - 5.125f;
                        at[i] = normalized ? make_float2(x / W, y / H) : make_float2(x, y);
                    }
                    cudaTextureObject_t object;
                    CUDA_OK(cudaCreateTextureObject(&object, &resource, &desc, NULL));
                    sample<<<4, 100>>>(object, at, n, out);
                    KERNEL_OK();
                    for (int i = 0; i < n; i++) {
                        float e = reference(image, at[i], &desc);
                        /* filter weights have 8 bits of fraction */
                        if (!(fabsf(out[i] - e) <= (linear ? 256 * 2.0f / 256 : 0)) && check_note_failure())
                            printf("FAIL: source %d mode %d normalized %d linear %d at %g, %g: expected %g, got %g\n",
                                   source, m, normalized, linear, at[i].x, at[i].y, e, out[i]);
                    }
                    CUDA_OK(cudaDestroyTextureObject(object));
                }

    uchar4 colours[H][W];
    for (int i = 0; i < H * W; i++)
        colours[i / W][i % W] = make_uchar4(i, 2 * i, 255 - i, 255);
    cudaChannelFormatDesc colour_format = cudaCreateChannelDesc<uchar4>();
    cudaArray_t colour_array;
    CUDA_OK(cudaMallocArray(&colour_array, &colour_format, W, H));
    CUDA_OK(cudaMemcpy2DToArray(colour_array, 0, 0, colours, W * 4, W * 4, H, cudaMemcpyHostToDevice));
    cudaResourceDesc resource;
    cudaTextureDesc desc;
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = colour_array;
    desc.addressMode[0] = desc.addressMode[1] = cudaAddressModeClamp;
    desc.readMode = cudaReadModeNormalizedFloat;
    cudaTextureObject_t object;
    CUDA_OK(cudaCreateTextureObject(&object, &resource, &desc, NULL));
    float4 *seen = check_managed<float4>(H * W);
    sample_colour<<<1, H * W>>>(object, seen);
    KERNEL_OK();
    for (int i = 0; i < H * W; i++) {
        CHECK_NEAR(seen[i].x, i / 255.0f, 1);
        CHECK_NEAR(seen[i].y, 2 * i / 255.0f, 1);
        CHECK_NEAR(seen[i].z, (255 - i) / 255.0f, 1);
        CHECK_EQ(seen[i].w, 1.0f);
    }

    float line[16];
    for (int i = 0; i < 16; i++)
        line[i] = (float)(i * i);
    cudaArray_t line_array;
    CUDA_OK(cudaMallocArray(&line_array, &format, 16, 0));
    CUDA_OK(cudaMemcpy2DToArray(line_array, 0, 0, line, sizeof line, sizeof line, 1, cudaMemcpyHostToDevice));
    resource.res.array.array = line_array;
    desc.readMode = cudaReadModeElementType;
    desc.filterMode = cudaFilterModeLinear;
    CUDA_OK(cudaCreateTextureObject(&object, &resource, &desc, NULL));
    sample_line<<<1, 64>>>(object, out);
    KERNEL_OK();
    for (int i = 2; i < 62; i++) {
        float x = i * 0.25f - 0.5f, j = floorf(x);
        CHECK_EQ(out[i], line[(int)j] + (x - j) * (line[(int)j + 1] - line[(int)j]));
    }
    CUDA_OK(cudaFreeArray(array));
    CUDA_OK(cudaFreeArray(colour_array));
    CUDA_OK(cudaFreeArray(line_array));
    return check_done();
}
