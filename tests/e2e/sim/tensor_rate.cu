/* SPDX-License-Identifier: Apache-2.0 */
// DEVICES: sim:a100
// FLAGS: -arch=sm_80
/* Rates of matrix products on a simulated A100: 1024 multiply-adds of halves per cycle and SM, half
 * as many of TF32, twice as many of bytes (NVIDIA, A100 white paper). */
#include "../check.h"

enum { ROUNDS = 128, CHAINS = 4, THREADS = 1024 };

#define RATE_KERNEL(name, text)                                                                    \
    __global__ void name(unsigned *out) {                                                          \
        unsigned d[CHAINS][4] = {}, x = threadIdx.x;                                               \
        for (int i = 0; i < ROUNDS; i++)                                                           \
            for (int c = 0; c < CHAINS; c++)                                                       \
                asm volatile(text " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};"         \
                             : "+r"(d[c][0]), "+r"(d[c][1]), "+r"(d[c][2]), "+r"(d[c][3])          \
                             : "r"(x));                                                            \
        unsigned sum = 0;                                                                          \
        for (int c = 0; c < CHAINS; c++)                                                           \
            sum += d[c][0] + d[c][1] + d[c][2] + d[c][3];                                          \
        out[blockIdx.x * THREADS + threadIdx.x] = sum;                                             \
    }
RATE_KERNEL(halves, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
RATE_KERNEL(tf32, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
RATE_KERNEL(bytes, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")

static double per_cycle(void (*kernel)(unsigned *), int depth) {
    int sms = 2; /* one block on each of two SMs */
    unsigned *out;
    cudaEvent_t begin, end;
    float ms;
    CUDA_OK(cudaMalloc(&out, sms * THREADS * sizeof *out));
    CUDA_OK(cudaEventCreate(&begin));
    CUDA_OK(cudaEventCreate(&end));
    kernel<<<sms, THREADS>>>(out);
    CUDA_OK(cudaEventRecord(begin));
    kernel<<<sms, THREADS>>>(out);
    CUDA_OK(cudaEventRecord(end));
    CUDA_OK(cudaEventSynchronize(end));
    CUDA_OK(cudaEventElapsedTime(&ms, begin, end));
    double cycles = (ms * 1e-3 - 5e-6) * 1.41e9; /* without the launch */
    return (double)ROUNDS * CHAINS * (THREADS / 32) * 16 * 8 * depth / cycles;
}

int main(void) {
    double half = per_cycle(halves, 16), single = per_cycle(tf32, 8), byte = per_cycle(bytes, 32);
    printf("multiply-adds per cycle and SM: %.0f of halves, %.0f of TF32, %.0f of bytes\n", half,
           single, byte);
    CHECK(half > 900 && half <= 1024);
    CHECK(single > 450 && single <= 512);
    CHECK(byte > 1800 && byte <= 2048);
    return check_done();
}
