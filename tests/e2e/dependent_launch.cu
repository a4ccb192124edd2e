// Programmatic dependent launch: the attribute is a hint, both calls of kernels compile and do
// nothing.
// DEVICES: cpu sim:h200
// FLAGS: -arch=sm_90
#include "check.h"

__global__ void fill(int *data, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaTriggerProgrammaticLaunchCompletion();
    if (i < n) data[i] = i;
}

__global__ void add_next(const int *data, int *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    cudaGridDependencySynchronize();
    if (i < n) sums[i] = data[i] + data[(i + 1) % n];
}

int main() {
    const int n = 1000;
    int *data, *sums;
    CUDA_OK(cudaMalloc(&data, n * sizeof *data));
    CUDA_OK(cudaMallocManaged(&sums, n * sizeof *sums));
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    fill<<<8, 128, 0, stream>>>(data, n);

    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(8);
    config.blockDim = dim3(128);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDA_OK(cudaLaunchKernelEx(&config, add_next, (const int *)data, sums, n));
    CUDA_OK(cudaStreamSynchronize(stream));

    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += sums[i] != i + (i + 1) % n;
    CHECK_EQ(wrong, 0);
    return check_done();
}
