/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -lcurand
/* cuRAND: published numbers of the three generators, skips against steps, moments of distributions, the host API's order,
 * wrong arguments. */
#include <curand.h>
#include <curand_kernel.h>
#include <math.h>
#include <vector>

#include "check.h"

#define OK(call) CHECK_EQ((int)(call), (int)CURAND_STATUS_SUCCESS)
#define IS(call, status) CHECK_EQ((int)(call), (int)CURAND_STATUS_##status)

/* ---- device API ---- */

__global__ void philox_vectors(uint4 *out) {
    out[0] = curand_Philox4x32_10(make_uint4(0, 0, 0, 0), make_uint2(0, 0));
    out[1] = curand_Philox4x32_10(make_uint4(~0u, ~0u, ~0u, ~0u), make_uint2(~0u, ~0u));
    out[2] = curand_Philox4x32_10(make_uint4(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344), make_uint2(0xa4093822, 0x299f31d0));
}

__global__ void mrg_start(double *out) {
    curandStateMRG32k3a_t state;
    curand_init(0, 0, 0, &state);
    for (int i = 0; i < 5; i++)
        out[i] = curand_uniform_double(&state);
    curand_init(0, 1, 0, &state);
    for (int i = 5; i < 8; i++)
        out[i] = curand_uniform_double(&state);
}

/* What a skip of n gives beside n steps; and each long skip beside shorter ones that add up to it. */
template <class S> static __device__ unsigned int skip_difference(unsigned long long n) {
    S a, b;
    curand_init(42, 7, 0, &a);
    b = a;
    for (unsigned long long i = 0; i < n; i++)
        curand(&a);
    skipahead(n, &b);
    unsigned int differences = 0;
    for (int i = 0; i < 8; i++)
        differences += curand(&a) != curand(&b);
    curand_init(42, 7, n, &a);
    curand_init(42, 7, 0, &b);
    skipahead(n, &b);
    return differences + (curand(&a) != curand(&b));
}

__global__ void skips(unsigned int *differences) {
    static const unsigned long long counts[] = {0, 1, 2, 3, 4, 5, 15, 16, 17, 255, 300, 1000, 4099};
    const unsigned long long n = counts[threadIdx.x];
    unsigned int d = skip_difference<curandStateXORWOW_t>(n) + skip_difference<curandStateMRG32k3a_t>(n) +
                     skip_difference<curandStatePhilox4_32_10_t>(n);
    if (threadIdx.x == 0) {
        curandState x, y;
        curand_init(9, 0, 0, &x);
        y = x;
        for (int i = 0; i < 16 * 5; i++) /* 16 times 2^63 is 2^67 */
            skipahead(1ull << 63, &x);
        skipahead_sequence(5, &y);
        d += curand(&x) != curand(&y);
    }
    if (threadIdx.x == 1) {
        curandStateMRG32k3a_t x, y;
        curand_init(9, 0, 0, &x);
        y = x;
        for (int i = 0; i < 8192; i++) /* times 2^63 is 2^76 */
            skipahead(1ull << 63, &x);
        skipahead_subsequence(1, &y);
        d += curand(&x) != curand(&y);
        for (int i = 0; i < 256; i++) /* times 2^119 is 2^127 */
            skipahead_subsequence(1ull << 43, &x);
        skipahead_sequence(1, &y);
        d += curand(&x) != curand(&y);
    }
    differences[threadIdx.x] = d;
}

/* Sums and sums of squares by thread. */
template <class S> __global__ void moments(double *sums, int count) {
    S state;
    curand_init(77, threadIdx.x, 0, &state);
    double s[12] = {0};
    for (int i = 0; i < count; i++) {
        const double x[6] = {curand_uniform(&state),         curand_uniform_double(&state), curand_normal(&state),
                             curand_normal_double(&state),   (double)curand_poisson(&state, 3.0),
                             (double)curand_poisson(&state, 60.0)};
        for (int j = 0; j < 6; j++) {
            s[2 * j] += x[j];
            s[2 * j + 1] += x[j] * x[j];
        }
    }
    for (int j = 0; j < 12; j++)
        sums[12 * threadIdx.x + j] = s[j];
}

/* `what`: the mean and the variance of n numbers should be these; five standard errors are allowed. */
static void check_moments(const char *what, double n, double sum, double squares, double mean, double variance, double fourth) {
    const double got = sum / n, got_variance = squares / n - got * got;
    const double slack = 5 * sqrt(variance / n), slack_variance = 5 * sqrt((fourth - variance * variance) / n);
    if (fabs(got - mean) > slack || fabs(got_variance - variance) > slack_variance)
        if (check_note_failure())
            printf("FAIL: %s: mean %g (expected %g, +-%g), variance %g (%g, +-%g)\n", what, got, mean, slack, got_variance,
                   variance, slack_variance);
}

template <class S> static void device_moments() {
    const int threads = 64, count = 150;
    const double n = (double)threads * count;
    double *sums = check_managed<double>(12 * threads), s[12] = {0};
    moments<S><<<1, threads>>>(sums, count);
    KERNEL_OK();
    for (int i = 0; i < 12 * threads; i++)
        s[i % 12] += sums[i];
    check_moments("curand_uniform", n, s[0], s[1], 0.5, 1. / 12, 1. / 80);
    check_moments("curand_uniform_double", n, s[2], s[3], 0.5, 1. / 12, 1. / 80);
    check_moments("curand_normal", n, s[4], s[5], 0, 1, 3);
    check_moments("curand_normal_double", n, s[6], s[7], 0, 1, 3);
    check_moments("curand_poisson(3)", n, s[8], s[9], 3, 3, 3 + 27);
    check_moments("curand_poisson(60)", n, s[10], s[11], 60, 60, 60 + 3 * 3600);
    CUDA_OK(cudaFree(sums));
}

static void device_api() {
    uint4 *vectors = check_managed<uint4>(3);
    philox_vectors<<<1, 1>>>(vectors);
    KERNEL_OK();
    /* Random123's known answers. */
    static const unsigned int known[12] = {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8, 0x408f276d, 0x41c83b0e,
                                           0xa20bc7c6, 0x6d5451fd, 0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
    CHECK(memcmp(vectors, known, sizeof known) == 0);
    double *mrg = check_managed<double>(8);
    mrg_start<<<1, 1>>>(mrg);
    KERNEL_OK();
    /* L'Ecuyer's generator from 12345, and his next substream. */
    static const double start[8] = {0.12701112204657714, 0.3185275653967945,  0.3091860155832701, 0.8258468629271136,
                                    0.2216299157820229,  0.07939898979733463, 0.4803395047575741, 0.8583222470551328};
    for (int i = 0; i < 8; i++)
        CHECK(fabs(mrg[i] - start[i]) < 1e-12);
    unsigned int *differences = check_managed<unsigned int>(13);
    skips<<<1, 13>>>(differences);
    KERNEL_OK();
    for (int i = 0; i < 13; i++)
        CHECK_EQ(differences[i], 0u);
    device_moments<curandState>();
    device_moments<curandStateMRG32k3a_t>();
    device_moments<curandStatePhilox4_32_10_t>();
}

/* ---- host API ---- */

static void host_order(curandRngType_t type) {
    const size_t n = 10000, first = 3001;
    unsigned int *whole = check_managed<unsigned int>(n), *parts = check_managed<unsigned int>(n);
    std::vector<unsigned int> host(n);
    curandGenerator_t a, b, c;
    cudaStream_t stream;
    CUDA_OK(cudaStreamCreate(&stream));
    OK(curandCreateGenerator(&a, type));
    OK(curandSetPseudoRandomGeneratorSeed(a, 99));
    OK(curandGenerate(a, whole, n));
    OK(curandSetPseudoRandomGeneratorSeed(a, 99));
    OK(curandSetStream(a, stream));
    OK(curandGenerate(a, parts, first));
    OK(curandGenerate(a, parts + first, n - first));
    OK(curandCreateGeneratorHost(&b, type));
    OK(curandSetPseudoRandomGeneratorSeed(b, 99));
    OK(curandGenerate(b, host.data(), n));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK(memcmp(whole, parts, n * sizeof *whole) == 0);
    CHECK(memcmp(whole, host.data(), n * sizeof *whole) == 0);
    OK(curandCreateGenerator(&c, type));
    OK(curandSetPseudoRandomGeneratorSeed(c, 99));
    OK(curandSetGeneratorOffset(c, 5000));
    OK(curandGenerate(c, parts, n - 5000));
    CUDA_OK(cudaDeviceSynchronize());
    CHECK(memcmp(whole + 5000, parts, (n - 5000) * sizeof *whole) == 0);
    OK(curandDestroyGenerator(a));
    OK(curandDestroyGenerator(b));
    OK(curandDestroyGenerator(c));
    CUDA_OK(cudaStreamDestroy(stream));
    CUDA_OK(cudaFree(whole));
    CUDA_OK(cudaFree(parts));
}

template <class T> static void moments_of(const char *what, const T *x, size_t n, double mean, double variance, double fourth) {
    double sum = 0, squares = 0;
    CUDA_OK(cudaDeviceSynchronize());
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i];
        squares += (double)x[i] * (double)x[i];
    }
    check_moments(what, (double)n, sum, squares, mean, variance, fourth);
}

static void host_api() {
    curandGenerator_t g;
    const size_t n = 8192;
    float *f = check_managed<float>(n);
    double *d = check_managed<double>(n);
    unsigned int *u = check_managed<unsigned int>(n);
    OK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT));
    OK(curandSetPseudoRandomGeneratorSeed(g, 1234));
    OK(curandGenerateUniform(g, f, n));
    CUDA_OK(cudaDeviceSynchronize());
    /* What programs print that ran with NVIDIA's library. */
    static const float published[] = {0.145468f, 0.820181f, 0.550399f, 0.294830f, 0.914733f, 0.868979f, 0.321921f, 0.782857f,
                                      0.011302f, 0.285450f, 0.781606f, 0.233840f, 0.679064f, 0.282442f, 0.629903f, 0.121223f};
    for (int i = 0; i < 16; i++)
        CHECK(fabsf(f[i] - published[i]) < 6e-7f);
    moments_of("curandGenerateUniform", f, n, 0.5, 1. / 12, 1. / 80);
    OK(curandGenerateUniformDouble(g, d, n));
    moments_of("curandGenerateUniformDouble", d, n, 0.5, 1. / 12, 1. / 80);
    OK(curandGenerateNormal(g, f, n, 0, 2));
    moments_of("curandGenerateNormal", f, n, 0, 4, 48);
    OK(curandGenerateNormalDouble(g, d, n, 0, 2));
    moments_of("curandGenerateNormalDouble", d, n, 0, 4, 48);
    OK(curandGenerateLogNormal(g, f, n, 0, 1));
    OK(curandGenerateLogNormalDouble(g, d, n, 0, 1));
    CUDA_OK(cudaDeviceSynchronize());
    for (size_t i = 0; i < n; i++) {
        f[i] = logf(f[i]);
        d[i] = log(d[i]);
    }
    moments_of("curandGenerateLogNormal", f, n, 0, 1, 3);
    moments_of("curandGenerateLogNormalDouble", d, n, 0, 1, 3);
    OK(curandGeneratePoisson(g, u, n, 1000));
    moments_of("curandGeneratePoisson", u, n, 1000, 1000, 1000 + 3e6);

    IS(curandGenerateNormal(g, f, 3, 0, 1), LENGTH_NOT_MULTIPLE);
    IS(curandGeneratePoisson(g, u, n, -1), OUT_OF_RANGE);
    IS(curandGenerateUniform(NULL, f, n), NOT_INITIALIZED);
    IS(curandSetGeneratorOrdering(g, CURAND_ORDERING_QUASI_DEFAULT), OUT_OF_RANGE);
    IS(curandSetQuasiRandomGeneratorDimensions(g, 2), TYPE_ERROR);
    OK(curandDestroyGenerator(g));
    IS(curandDestroyGenerator(NULL), NOT_INITIALIZED);
    IS(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32), TYPE_ERROR);
}

int main() {
    device_api();
    host_order(CURAND_RNG_PSEUDO_XORWOW);
    host_order(CURAND_RNG_PSEUDO_MRG32K3A);
    host_order(CURAND_RNG_PSEUDO_PHILOX4_32_10);
    host_api();
    return check_done();
}
