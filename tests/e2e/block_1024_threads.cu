/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of 1024 threads in several shapes, with barriers: a reversal through shared memory. */
#include "check.h"

__global__ void reverse(int *data)
{
    __shared__ int tile[1024];
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    tile[t] = data[blockIdx.x * 1024 + t];
    __syncthreads();
    data[blockIdx.x * 1024 + t] = tile[1023 - t];
}

int main(void)
{
    const dim3 shapes[] = {dim3(1024), dim3(32, 32), dim3(16, 4, 16), dim3(1, 1024), dim3(16, 1, 64)};
    int *data = check_managed<int>(17 * 1024);
    for (int s = 0; s < 5; s++) {
        for (int i = 0; i < 17 * 1024; i++)
            data[i] = i * 3 + s;
        reverse<<<17, shapes[s]>>>(data);
        KERNEL_OK();
        for (int i = 0; i < 17 * 1024; i++)
            CHECK_EQ(data[i], (i / 1024 * 1024 + 1023 - i % 1024) * 3 + s);
    }
    return check_done();
}
