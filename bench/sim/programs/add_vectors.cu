/* SPDX-License-Identifier: Apache-2.0 */
/* sum = a + b. Argument: elements. */
#include "program.h"

__global__ void add(const float *a, const float *b, float *sum, int count) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count) sum[i] = a[i] + b[i];
}

int main(int argc, char **argv) {
    const int count = program_size(argc, argv, 1, 1 << 17);
    float *a = program_floats((size_t)count, 1), *b = program_floats((size_t)count, 2);
    float *da = program_device((size_t)count, a), *db = program_device((size_t)count, b);
    float *dsum = program_device((size_t)count, NULL);
    add<<<(unsigned)((count + 255) / 256), 256>>>(da, db, dsum, count);
    float *sum = (float *)malloc((size_t)count * sizeof *sum);
    if (sum == NULL) return 1;
    CUDA_OK(cudaMemcpy(sum, dsum, (size_t)count * sizeof *sum, cudaMemcpyDeviceToHost));
    for (int i = 0; i < count; i++)
        a[i] += b[i];
    return program_verdict(sum, a, (size_t)count);
}
