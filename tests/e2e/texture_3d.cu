/* SPDX-License-Identifier: Apache-2.0 */
/* tex3D over a 3D array, with point and linear filtering. */
#include "check.h"

#define W 7
#define H 5
#define D 4

__global__ void sample(cudaTextureObject_t object, float *out)
{
    int x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    out[(z * H + y) * W + x] = tex3D<float>(object, x + 0.5f, y + 0.5f, z + 0.5f);
}

int main(void)
{
    static float in[D][H][W];
    for (int i = 0; i < D * H * W; i++)
        (&in[0][0][0])[i] = (float)(i * 3);
    cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
    cudaArray_t array;
    CUDA_OK(cudaMalloc3DArray(&array, &format, make_cudaExtent(W, H, D)));
    cudaMemcpy3DParms copy;
    memset(&copy, 0, sizeof copy);
    copy.srcPtr = make_cudaPitchedPtr(in, W * sizeof(float), W, H);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(W, H, D);
    copy.kind = cudaMemcpyHostToDevice;
    CUDA_OK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource;
    cudaTextureDesc desc;
    memset(&resource, 0, sizeof resource);
    memset(&desc, 0, sizeof desc);
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (int i = 0; i < 3; i++)
        desc.addressMode[i] = cudaAddressModeClamp;
    desc.readMode = cudaReadModeElementType;
    float *out = check_managed<float>(D * H * W);
    for (int linear = 0; linear < 2; linear++) {
        desc.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
        cudaTextureObject_t object;
        CUDA_OK(cudaCreateTextureObject(&object, &resource, &desc, NULL));
        sample<<<1, dim3(W, H, D)>>>(object, out);
        KERNEL_OK();
        for (int i = 0; i < D * H * W; i++)
            CHECK_EQ(out[i], i * 3.0f); /* at texel centres both give the texel */
        CUDA_OK(cudaDestroyTextureObject(object));
    }
    CUDA_OK(cudaFreeArray(array));
    return check_done();
}
