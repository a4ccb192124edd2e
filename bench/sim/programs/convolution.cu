/* SPDX-License-Identifier: Apache-2.0 */
/* A 3 x 3 convolution of a square image. Argument: its side. */
#include "program.h"

static __host__ __device__ inline float convolve(const float *in, size_t at, size_t side) {
    const float weights[9] = {0.2f, -0.3f, 0.4f, 0.5f, 0.6f, 0.7f, -0.8f, -0.9f, 0.1f};
    float sum = 0.0f;
    for (int n = 0; n < 9; n++)
        sum += weights[n] * in[at + (size_t)(n / 3) * side + (size_t)(n % 3) - side - 1];
    return sum;
}

__global__ void convolve_image(const float *in, float *out, int side) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < 1 || y < 1 || x >= side - 1 || y >= side - 1) return;
    const size_t at = (size_t)y * (size_t)side + (size_t)x;
    out[at] = convolve(in, at, (size_t)side);
}

int main(int argc, char **argv) {
    const int side = program_size(argc, argv, 1, 256);
    const size_t count = (size_t)side * (size_t)side;
    float *in = program_floats(count, 3);
    float *din = program_device(count, in), *dout = program_device(count, NULL);
    CUDA_OK(cudaMemset(dout, 0, count * sizeof *dout));
    const dim3 block(32, 8), grid((unsigned)(side + 31) / 32, (unsigned)(side + 7) / 8);
    convolve_image<<<grid, block>>>(din, dout, side);
    float *out = (float *)malloc(count * sizeof *out), *expected = (float *)calloc(count, sizeof *out);
    if (out == NULL || expected == NULL) return 1;
    CUDA_OK(cudaMemcpy(out, dout, count * sizeof *out, cudaMemcpyDeviceToHost));
    for (int y = 1; y < side - 1; y++) {
        for (int x = 1; x < side - 1; x++) {
            const size_t at = (size_t)y * (size_t)side + (size_t)x;
            expected[at] = convolve(in, at, (size_t)side);
        }
    }
    return program_verdict(out, expected, count);
}
