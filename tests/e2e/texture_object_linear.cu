/* SPDX-License-Identifier: Apache-2.0 */
/* Texture objects over linear memory: tex1Dfetch of several element types and read modes. */
#include "check.h"

template <class T> static cudaTextureObject_t make_linear(T *data, size_t count, cudaTextureReadMode mode)
{
    cudaResourceDesc resource;
    cudaTextureDesc texture;
    memset(&resource, 0, sizeof resource);
    memset(&texture, 0, sizeof texture);
    resource.resType = cudaResourceTypeLinear;
    resource.res.linear.devPtr = data;
    resource.res.linear.desc = cudaCreateChannelDesc<T>();
    resource.res.linear.sizeInBytes = count * sizeof(T);
    texture.readMode = mode;
    cudaTextureObject_t object = 0;
    CUDA_OK(cudaCreateTextureObject(&object, &resource, &texture, NULL));
    return object;
}

__global__ void fetch(cudaTextureObject_t f, cudaTextureObject_t f4, cudaTextureObject_t s,
                      cudaTextureObject_t n, cudaTextureObject_t d, float *out)
{
    int i = threadIdx.x;
    float4 v = tex1Dfetch<float4>(f4, i);
    int2 halves = tex1Dfetch<int2>(d, i);
    float *o = out + i * 6;
    o[0] = tex1Dfetch<float>(f, i);
    o[1] = v.x + 10 * v.y + 100 * v.z + 1000 * v.w;
    o[2] = tex1Dfetch<short>(s, i);
    o[3] = tex1Dfetch<float>(n, i);
    o[4] = (float)__hiloint2double(halves.y, halves.x); /* the usual way to read doubles */
    tex1Dfetch(&o[5], f, 99 - i);
}

int main(void)
{
    float *f = check_managed<float>(100), *out = check_managed<float>(600);
    float4 *f4 = check_managed<float4>(100);
    short *s = check_managed<short>(100);
    unsigned char *n = check_managed<unsigned char>(100);
    double *d = check_managed<double>(100);
    for (int i = 0; i < 100; i++) {
        f[i] = i * 1.25f;
        f4[i] = make_float4(i, i % 2, i % 3, i % 5);
        s[i] = (short)(-i * 100);
        n[i] = (unsigned char)(i * 2);
        d[i] = i * 0.5 - 7;
    }
    cudaTextureObject_t objects[5] = {
        make_linear(f, 100, cudaReadModeElementType), make_linear(f4, 100, cudaReadModeElementType),
        make_linear(s, 100, cudaReadModeElementType), make_linear(n, 100, cudaReadModeNormalizedFloat),
        make_linear((int2 *)d, 100, cudaReadModeElementType)};
    fetch<<<1, 100>>>(objects[0], objects[1], objects[2], objects[3], objects[4], out);
    KERNEL_OK();
    for (int i = 0; i < 100; i++) {
        float *o = out + i * 6;
        CHECK_EQ(o[0], f[i]);
        CHECK_EQ(o[1], i + 10.0f * (i % 2) + 100 * (i % 3) + 1000 * (i % 5));
        CHECK_EQ(o[2], -i * 100.0f);
        CHECK_NEAR(o[3], n[i] / 255.0f, 1);
        CHECK_EQ(o[4], (float)d[i]);
        CHECK_EQ(o[5], f[99 - i]);
    }
    cudaResourceDesc back;
    CUDA_OK(cudaGetTextureObjectResourceDesc(&back, objects[0]));
    CHECK(back.res.linear.devPtr == f);
    for (int i = 0; i < 5; i++)
        CUDA_OK(cudaDestroyTextureObject(objects[i]));
    return check_done();
}
