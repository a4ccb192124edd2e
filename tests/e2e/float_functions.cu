/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of floats: near the exact result, and the same bits where a loop over threads is a vector, in its remainder,
 * and where each thread runs by itself. */
#include <math.h>
#include <string.h>

#include "check.h"

#define EACH(F) F(exp) F(exp2) F(exp10) F(expm1) F(log) F(log2) F(log10) F(log1p) F(tanh) F(erf)

enum { COUNT = 4099 };

#define FORMS(name)                                                                                                    \
    __device__ float of_##name(float a) { return name##f(a); }                                                         \
    __global__ void together_##name(const float *in, float *out, int count) {                                          \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
        if (i < count) out[i] = name##f(in[i]);                                                                        \
    }
EACH(FORMS)

__device__ float to_the(float a) { return powf(fabsf(a), 1.7f); }
__global__ void together_pow(const float *in, float *out, int count) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) out[i] = powf(fabsf(in[i]), 1.7f);
}

typedef float (*function)(float);
#define ENTRY(name) of_##name,
__device__ function table[] = {EACH(ENTRY) to_the};

__global__ void alone(int which, const float *in, float *out, int count) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        out[i] = table[which](in[i]);
}

static double power(double a) { return pow(fabs(a), (double)1.7f); }

typedef void (*kernel)(const float *, float *, int);
#define TOGETHER(name) together_##name,
#define EXACT(name) name,
static const kernel together[] = {EACH(TOGETHER) together_pow};
static double (*const exact[])(double) = {EACH(EXACT) power};

static int order(float a) {
    int bits;
    memcpy(&bits, &a, sizeof bits);
    return bits < 0 ? (int)0x80000000 - bits : bits;
}

int main(void) {
    static float in[COUNT], out[COUNT], single[COUNT];
    float *d_in, *d_out;
    int worst = 0;
    for (int i = 0; i < COUNT; i++) in[i] = (i % 2 != 0 ? 1 : -1) * ldexpf(1 + (i * 37 % 1024) / 1024.0f, i % 150 - 140);
    in[5] = 0, in[6] = INFINITY, in[7] = -INFINITY, in[8] = NAN;
    CUDA_OK(cudaMalloc(&d_in, sizeof in));
    CUDA_OK(cudaMalloc(&d_out, sizeof out));
    CUDA_OK(cudaMemcpy(d_in, in, sizeof in, cudaMemcpyHostToDevice));
    for (int f = 0; f < (int)(sizeof together / sizeof *together); f++) {
        together[f]<<<(COUNT + 95) / 96, 96>>>(d_in, d_out, COUNT);
        CUDA_OK(cudaMemcpy(out, d_out, sizeof out, cudaMemcpyDeviceToHost));
        alone<<<2, 40>>>(f, d_in, d_out, COUNT);
        CUDA_OK(cudaMemcpy(single, d_out, sizeof single, cudaMemcpyDeviceToHost));
        for (int i = 0; i < COUNT; i++) {
            const float right = (float)exact[f](in[i]);
            CHECK(isnan(out[i]) == isnan(right) && isnan(single[i]) == isnan(right));
            if (isnan(right)) continue;
            CHECK(memcmp(&out[i], &single[i], sizeof(float)) == 0);
            const int away = abs(order(out[i]) - order(right));
            if (away > worst) worst = away;
        }
    }
    printf("at most %d floats from the nearest\n", worst);
    CHECK(worst <= 2);
    return check_done();
}
