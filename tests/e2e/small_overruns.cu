/* SPDX-License-Identifier: Apache-2.0 */
/* A row too many, read before and behind an allocation and not used, goes unnoticed, as on GPUs. */
#include "check.h"

__global__ void smooth(const float *in, float *out, int width, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float above = in[i - width], below = in[i + width];
    bool is_inside = i >= width && i < count - width;
    out[i] = is_inside ? above + below : in[i];
}

int main(void)
{
    const int width = 2048;
    for (int count = 2 * width; count <= 1024 * 1024; count *= 4) {
        float *in, *out;
        CUDA_OK(cudaMalloc(&in, count * sizeof(float)));
        CUDA_OK(cudaMalloc(&out, count * sizeof(float)));
        CUDA_OK(cudaMemset(in, 0, count * sizeof(float)));
        smooth<<<count / 256, 256>>>(in, out, width, count);
        KERNEL_OK();
        smooth<<<count / 256, 256>>>(out, in, width, count);
        KERNEL_OK();
        float last = -1;
        CUDA_OK(cudaMemcpy(&last, in + count - 1, sizeof last, cudaMemcpyDeviceToHost));
        CHECK_EQ(last, 0.0f);
        CUDA_OK(cudaFree(in));
        CUDA_OK(cudaFree(out));
    }
    return check_done();
}
