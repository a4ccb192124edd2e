/* SPDX-License-Identifier: Apache-2.0 */
/* Speckle-reducing anisotropic diffusion of a square image: two kernels a step, the first computes how
 * much each pixel diffuses, the second diffuses. Arguments: side, steps. */
#include "program.h"

#define SPREAD 0.5f

typedef struct gradient {
    float north, south, west, east;
} gradient;

static __host__ __device__ inline gradient gradient_at(const float *image, int x, int y, int side) {
    const size_t row = (size_t)y * (size_t)side;
    const float here = image[row + (size_t)x];
    gradient g;
    g.north = image[y > 0 ? row - (size_t)side + (size_t)x : row + (size_t)x] - here;
    g.south = image[y < side - 1 ? row + (size_t)side + (size_t)x : row + (size_t)x] - here;
    g.west = image[row + (size_t)(x > 0 ? x - 1 : x)] - here;
    g.east = image[row + (size_t)(x < side - 1 ? x + 1 : x)] - here;
    return g;
}

/* The coefficient of Yu and Acton, from the local variation and that of the whole image. */
static __host__ __device__ inline float coefficient_at(const float *image, int x, int y, int side,
                                                       float variation) {
    const float here = image[(size_t)y * (size_t)side + (size_t)x];
    const gradient g = gradient_at(image, x, y, side);
    const float square = (g.north * g.north + g.south * g.south + g.west * g.west + g.east * g.east) /
                         (here * here);
    const float laplacian = (g.north + g.south + g.west + g.east) / here;
    const float below = 1.0f + 0.25f * laplacian;
    const float local = (0.5f * square - 0.0625f * laplacian * laplacian) / (below * below);
    const float c = 1.0f / (1.0f + (local - variation) / (variation * (1.0f + variation)));
    return c < 0.0f ? 0.0f : c > 1.0f ? 1.0f : c;
}

static __host__ __device__ inline float diffused(const float *image, const float *coefficients, int x,
                                                 int y, int side) {
    const size_t at = (size_t)y * (size_t)side + (size_t)x;
    const gradient g = gradient_at(image, x, y, side);
    const float c = coefficients[at];
    const float south = coefficients[y < side - 1 ? at + (size_t)side : at];
    const float east = coefficients[x < side - 1 ? at + 1 : at];
    return image[at] + 0.25f * SPREAD * (c * g.north + south * g.south + c * g.west + east * g.east);
}

__global__ void find_coefficients(const float *image, float *coefficients, int side, float variation) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < side && y < side)
        coefficients[(size_t)y * (size_t)side + (size_t)x] =
            coefficient_at(image, x, y, side, variation);
}

__global__ void diffuse(const float *image, const float *coefficients, float *out, int side) {
    const int x = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    const int y = (int)(blockIdx.y * blockDim.y + threadIdx.y);
    if (x < side && y < side)
        out[(size_t)y * (size_t)side + (size_t)x] = diffused(image, coefficients, x, y, side);
}

static float variation_of(const float *image, size_t count) {
    double sum = 0.0, squares = 0.0;
    for (size_t i = 0; i < count; i++) {
        sum += (double)image[i];
        squares += (double)image[i] * (double)image[i];
    }
    const double mean = sum / (double)count;
    return (float)((squares / (double)count - mean * mean) / (mean * mean));
}

int main(int argc, char **argv) {
    const int side = program_size(argc, argv, 1, 128), steps = program_size(argc, argv, 2, 1);
    const size_t count = (size_t)side * (size_t)side, bytes = count * sizeof(float);
    float *image = program_floats(count, 4), *out = (float *)malloc(bytes);
    float *coefficients = (float *)malloc(bytes);
    if (out == NULL || coefficients == NULL) return 1;
    for (size_t i = 0; i < count; i++)
        image[i] = expf(image[i]);
    float *dimage = program_device(count, image), *dout = program_device(count, NULL);
    float *dcoefficients = program_device(count, NULL);
    const float variation = variation_of(image, count);
    const dim3 block(16, 16), grid((unsigned)(side + 15) / 16, (unsigned)(side + 15) / 16);
    for (int step = 0; step < steps; step++) {
        find_coefficients<<<grid, block>>>(dimage, dcoefficients, side, variation);
        diffuse<<<grid, block>>>(dimage, dcoefficients, dout, side);
        float *swap = dimage;
        dimage = dout;
        dout = swap;
    }
    float *ours = (float *)malloc(bytes);
    if (ours == NULL) return 1;
    CUDA_OK(cudaMemcpy(ours, dimage, bytes, cudaMemcpyDeviceToHost));
    for (int step = 0; step < steps; step++) {
        for (int i = 0; i < (int)count; i++)
            coefficients[i] = coefficient_at(image, i % side, i / side, side, variation);
        for (int i = 0; i < (int)count; i++)
            out[i] = diffused(image, coefficients, i % side, i / side, side);
        float *swap = image;
        image = out;
        out = swap;
    }
    return program_verdict(ours, image, count);
}
