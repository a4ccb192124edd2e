/* SPDX-License-Identifier: Apache-2.0 */
/* __managed__ variables: one copy that host and kernels read and write, with initial values. */
#include "check.h"

struct state {
    int step;
    double values[4];
};

__managed__ int number = 5;
__device__ __managed__ float series[100];
static __managed__ state shared_state = {3, {1.0, 2.0, 3.0, 4.0}};
__managed__ int *pointer;

__global__ void advance(void)
{
    int i = threadIdx.x;
    series[i] += (float)(i * number);
    if (i == 0) {
        shared_state.step++;
        for (int k = 0; k < 4; k++)
            shared_state.values[k] *= 2.0;
        if (pointer)
            *pointer = number;
    }
}

int main(void)
{
    CHECK_EQ(number, 5);
    CHECK_EQ(shared_state.step, 3);
    for (int i = 0; i < 100; i++)
        series[i] = 1.0f;
    advance<<<1, 100>>>();
    KERNEL_OK();
    for (int i = 0; i < 100; i++)
        CHECK_EQ(series[i], 1.0f + (float)(i * 5));
    CHECK_EQ(shared_state.step, 4);
    CHECK_EQ(shared_state.values[3], 8.0);
    number = -2;
    shared_state.step = 100;
    pointer = check_managed<int>(1);
    advance<<<1, 100>>>();
    KERNEL_OK();
    CHECK_EQ(series[10], 1.0f + 50.0f - 20.0f);
    CHECK_EQ(shared_state.step, 101);
    CHECK_EQ(*pointer, -2);
    int *address = NULL;
    CUDA_OK(cudaGetSymbolAddress((void **)&address, number));
    CHECK(address == &number);
    return check_done();
}
