// SPDX-License-Identifier: Apache-2.0
/* Launches whose arguments are lists in braces: nvcc accepts them. */
#include "check.h"

__global__ void where(int *out) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    out[y * gridDim.x * blockDim.x + x] = 100 * y + x;
}

template <int STEP> __global__ void add(int *out) {
    out[threadIdx.y * blockDim.x + threadIdx.x] += STEP;
}

static void expect(const int *data, int width, int height, int more) {
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            CHECK_EQ(data[y * width + x], 100 * y + x + more);
}

int main() {
    int *data;
    constexpr int width = 8, height = 4;
    const dim3 one(1);
    CUDA_OK(cudaMallocManaged(&data, width * height * sizeof *data));
    where<<<{2, 1}, {width / 2, height, 1}>>>(data);
    KERNEL_OK();
    expect(data, width, height, 0);
    add<1 + 1>
        <<<one, {width, height, 1}, 0, 0>>>(data);
    add<3><<<1, dim3{width, height}, sizeof(int) * (1 + 1), {}>>>(data);
    KERNEL_OK();
    expect(data, width, height, 5);
    CUDA_OK(cudaFree(data));
    return check_done();
}
