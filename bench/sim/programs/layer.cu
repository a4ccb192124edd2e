/* SPDX-License-Identifier: Apache-2.0 */
/* A step of training one hidden layer of 16 units: the weighted sums of many inputs, in a tree for each
 * block, and then the new weights. Argument: inputs, a multiple of 16. */
#include "program.h"

#define UNITS 16
#define RATE 0.3f
#define MOMENTUM 0.3f

/* partial[block][unit]: the sum over the block's 16 inputs. */
__global__ void forward(const float *inputs, const float *weights, float *partial) {
    __shared__ float part[UNITS][UNITS];
    const int unit = (int)threadIdx.x, input = (int)threadIdx.y;
    const size_t i = (size_t)blockIdx.x * UNITS + (size_t)input;
    part[input][unit] = weights[i * UNITS + (size_t)unit] * inputs[i];
    __syncthreads();
    for (int apart = 1; apart < UNITS; apart *= 2) {
        if (input % (2 * apart) == 0) part[input][unit] += part[input + apart][unit];
        __syncthreads();
    }
    if (input == 0) partial[(size_t)blockIdx.x * UNITS + (size_t)unit] = part[0][unit];
}

__global__ void adjust(const float *inputs, const float *deltas, float *weights, float *changes) {
    const int unit = (int)threadIdx.x;
    const size_t i = (size_t)blockIdx.x * UNITS + threadIdx.y;
    const size_t at = i * UNITS + (size_t)unit;
    const float change = RATE * deltas[unit] * inputs[i] + MOMENTUM * changes[at];
    weights[at] += change;
    changes[at] = change;
}

int main(int argc, char **argv) {
    const int count = program_size(argc, argv, 1, 4096);
    if (count % UNITS != 0) {
        fprintf(stderr, "the inputs must be a multiple of %d\n", UNITS);
        return 2;
    }
    const size_t weight_count = (size_t)count * UNITS, blocks = (size_t)count / UNITS;
    float *inputs = program_floats((size_t)count, 5), *weights = program_floats(weight_count, 6);
    float *changes = program_floats(weight_count, 7), *ours = (float *)malloc(weight_count * 4);
    float *partial = (float *)malloc(blocks * UNITS * sizeof *partial);
    if (partial == NULL || ours == NULL) return 1;
    float *dinputs = program_device((size_t)count, inputs);
    float *dweights = program_device(weight_count, weights);
    float *dchanges = program_device(weight_count, changes);
    float *dpartial = program_device(blocks * UNITS, NULL), *ddeltas = program_device(UNITS, NULL);
    const dim3 block(UNITS, UNITS);
    forward<<<(unsigned)blocks, block>>>(dinputs, dweights, dpartial);
    CUDA_OK(cudaMemcpy(partial, dpartial, blocks * UNITS * sizeof *partial, cudaMemcpyDeviceToHost));
    float deltas[UNITS];
    double expected_sums = 0.0, sums = 0.0;
    for (int unit = 0; unit < UNITS; unit++) {
        double sum = 0.0;
        for (size_t b = 0; b < blocks; b++)
            sum += (double)partial[b * UNITS + (size_t)unit];
        sums += sum;
        const float output = 1.0f / (1.0f + expf(-(float)sum / (float)count));
        deltas[unit] = output * (1.0f - output) * (0.5f - output);
    }
    for (size_t at = 0; at < weight_count; at++)
        expected_sums += (double)(weights[at] * inputs[at / UNITS]);
    CUDA_OK(cudaMemcpy(ddeltas, deltas, sizeof deltas, cudaMemcpyHostToDevice));
    adjust<<<(unsigned)blocks, block>>>(dinputs, ddeltas, dweights, dchanges);
    CUDA_OK(cudaMemcpy(ours, dweights, weight_count * sizeof *ours, cudaMemcpyDeviceToHost));
    for (size_t at = 0; at < weight_count; at++)
        weights[at] += RATE * deltas[at % UNITS] * inputs[at / UNITS] + MOMENTUM * changes[at];
    if (fabs(sums - expected_sums) > 1e-4 * fabs(expected_sums)) {
        printf("WRONG\n");
        return 1;
    }
    return program_verdict(ours, weights, weight_count);
}
