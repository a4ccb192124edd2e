/* SPDX-License-Identifier: Apache-2.0 */
/* After cudaDeviceReset a program starts over: variables have their initial values, memory is gone. */
#include "check.h"

__device__ int counter = 5;
__device__ double zeros[1000];
__constant__ float table[3] = {1.0f, 2.5f, -3.0f};
__managed__ int shared_value = 77;
__managed__ int changed_early = 1;

__global__ void change(int *out)
{
    counter++;
    zeros[threadIdx.x] = 1.5;
    shared_value = -1;
    out[0] = counter;
}

__global__ void look(double *out)
{
    out[0] = counter;
    out[1] = zeros[0] + zeros[999];
    out[2] = table[1];
    out[3] = shared_value;
    out[4] = changed_early;
}

int main(void)
{
    changed_early = 2; /* by the host, before anything is loaded */
    for (int round = 0; round < 3; round++) {
        int *out;
        double *seen, values[5];
        CUDA_OK(cudaMalloc(&seen, sizeof values));
        look<<<1, 1>>>(seen);
        KERNEL_OK();
        CUDA_OK(cudaMemcpy(values, seen, sizeof values, cudaMemcpyDeviceToHost));
        CHECK_EQ(values[0], 5.0);
        CHECK_EQ(values[1], 0.0);
        CHECK_EQ(values[2], 2.5);
        CHECK_EQ(values[3], 77.0);
        CHECK_EQ(values[4], round == 0 ? 2.0 : 1.0);

        const float other[3] = {9.0f, 9.0f, 9.0f};
        CUDA_OK(cudaMalloc(&out, sizeof(int)));
        CUDA_OK(cudaMemcpyToSymbol(table, other, sizeof other));
        change<<<1, 1>>>(out);
        KERNEL_OK();
        int host_counter = 0;
        CUDA_OK(cudaMemcpyFromSymbol(&host_counter, counter, sizeof host_counter));
        CHECK_EQ(host_counter, 6);
        CUDA_OK(cudaDeviceReset());
        CHECK_EQ(shared_value, 77);
        CHECK_ERROR(cudaFree(out), cudaErrorInvalidValue);
        (void)cudaGetLastError();
    }
    return check_done();
}
