/* SPDX-License-Identifier: Apache-2.0 */
/* The libraries of CUDA from C, on the CPU device: one call of each kind, wrong arguments, threads
 * with handles of their own. Under sanitizers this is what runs of them; e2e compares their
 * numbers. */
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "warpage/cuda/cublas_v2.h"
#include "warpage/cuda/cufft.h"
#include "warpage/cuda/curand.h"
#include "warpage/cuda/nvml.h"
#include "wp_test.h"

#define N 40

static void *managed(size_t bytes) {
    void *memory = NULL;
    assert_int_equal(cudaMallocManaged(&memory, bytes, cudaMemAttachGlobal), cudaSuccess);
    return memory;
}

static void free_managed(void *memory) {
    assert_int_equal(cudaFree(memory), cudaSuccess);
}

static void fill(double *x, size_t count) {
    for (size_t i = 0; i < count; i++)
        x[i] = (double)(i * 7 % 11) - 5;
}

/* ---- cuBLAS ---- */

static void products_and_equations(void **state) {
    (void)state;
    cublasHandle_t handle;
    double *a = managed(N * N * sizeof *a), *b = managed(N * N * sizeof *b);
    double *c = managed(N * N * sizeof *c);
    const double one = 1, zero = 0, two = 2;
    fill(a, N * N);
    fill(b, N * N);
    assert_int_equal(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(
        cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_T, N, N, N, &two, a, N, b, N, &zero, c, N),
        CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    for (int j = 0; j < N; j++)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = 0; k < N; k++)
                sum += a[i + k * N] * b[j + k * N];
            assert_true(fabs(c[i + j * N] - 2 * sum) < 1e-9);
        }
    for (int i = 0; i < N; i++)
        a[i + i * N] = 100;
    assert_int_equal(cublasDtrmm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                                 CUBLAS_DIAG_NON_UNIT, N, N, &one, a, N, b, N, c, N),
                     CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cublasDtrsm(handle, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N,
                                 CUBLAS_DIAG_NON_UNIT, N, N, &one, a, N, c, N),
                     CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < N * N; i++)
        assert_true(fabs(c[i] - b[i]) < 1e-9);

    double result;
    assert_int_equal(cublasDnrm2(handle, N, a, N + 1, &result), CUBLAS_STATUS_SUCCESS);
    assert_true(fabs(result - 100 * sqrt(N)) < 1e-9);
    assert_int_equal(
        cublasDtrsv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_UNIT, N, a, N, b, -1),
        CUBLAS_STATUS_SUCCESS);
    assert_int_equal(
        cublasDtrmv(handle, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_T, CUBLAS_DIAG_UNIT, N, a, N, b, -1),
        CUBLAS_STATUS_SUCCESS);
    assert_int_equal(
        cublasDgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N - 1, b, N, &zero, c, N),
        CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(
        cublasDgemm(NULL, CUBLAS_OP_N, CUBLAS_OP_N, N, N, N, &one, a, N, b, N, &zero, c, N),
        CUBLAS_STATUS_NOT_INITIALIZED);
    assert_int_equal(cublasUint8gemmBias(handle),
                     CUBLAS_STATUS_NOT_SUPPORTED); /* no implementation */
    assert_string_equal(cublasGetStatusName(CUBLAS_STATUS_INVALID_VALUE),
                        "CUBLAS_STATUS_INVALID_VALUE");
    assert_int_equal(cublasDestroy(handle), CUBLAS_STATUS_SUCCESS);
    free_managed(a);
    free_managed(b);
    free_managed(c);
}

static void vectors_between_host_and_device(void **state) {
    (void)state;
    float host[6] = {1, 2, 3, 4, 5, 6}, back[3] = {0}, *x = managed(16 * sizeof *x);
    assert_int_equal(cublasSetVector(3, sizeof *x, host, 2, x, 1), CUBLAS_STATUS_SUCCESS);
    assert_int_equal(cublasGetVector(3, sizeof *x, x, 1, back, 1), CUBLAS_STATUS_SUCCESS);
    assert_true(back[0] == 1 && back[1] == 3 && back[2] == 5);
    assert_int_equal(cublasSetVector(3, sizeof *x, NULL, 2, x, 1), CUBLAS_STATUS_INVALID_VALUE);
    assert_int_equal(cublasSetMatrix(2, 2, sizeof *x, host, 1, x, 2), CUBLAS_STATUS_INVALID_VALUE);
    free_managed(x);
}

/* ---- cuRAND ---- */

static void numbers_of_a_generator(void **state) {
    (void)state;
    static const curandRngType_t types[] = {CURAND_RNG_PSEUDO_XORWOW, CURAND_RNG_PSEUDO_MRG32K3A,
                                            CURAND_RNG_PSEUDO_PHILOX4_32_10,
                                            CURAND_RNG_PSEUDO_MT19937};
    float *x = managed(64 * sizeof *x), host[64];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        curandGenerator_t g, h;
        assert_int_equal(curandCreateGenerator(&g, types[i]), CURAND_STATUS_SUCCESS);
        assert_int_equal(curandCreateGeneratorHost(&h, types[i]), CURAND_STATUS_SUCCESS);
        assert_int_equal(curandGenerateNormal(g, x, 64, 0, 1), CURAND_STATUS_SUCCESS);
        assert_int_equal(curandGenerateNormal(h, host, 64, 0, 1), CURAND_STATUS_SUCCESS);
        assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
        assert_memory_equal(x, host, sizeof host);
        assert_int_equal(curandGenerateNormal(g, x, 63, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
        assert_int_equal(curandDestroyGenerator(g), CURAND_STATUS_SUCCESS);
        assert_int_equal(curandDestroyGenerator(h), CURAND_STATUS_SUCCESS);
    }
    free_managed(x);
    curandGenerator_t g;
    assert_int_equal(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32), CURAND_STATUS_TYPE_ERROR);
    assert_int_equal(curandCreateGenerator(NULL, CURAND_RNG_PSEUDO_XORWOW),
                     CURAND_STATUS_NOT_INITIALIZED);
}

/* ---- cuFFT ---- */

static void transform(int length) {
    cufftHandle plan;
    cufftDoubleComplex *x = managed((size_t)length * sizeof *x);
    for (int i = 0; i < length; i++)
        x[i] = make_cuDoubleComplex(i == 1, 0);
    assert_int_equal(cufftPlan1d(&plan, length, CUFFT_Z2Z, 1), CUFFT_SUCCESS);
    assert_int_equal(cufftExecZ2Z(plan, x, x, CUFFT_FORWARD), CUFFT_SUCCESS);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    const double turn = -6.283185307179586 / length;
    for (int k = 0; k < length; k++)
        assert_true(fabs(x[k].x - cos(turn * k)) < 1e-12 && fabs(x[k].y - sin(turn * k)) < 1e-12);
    assert_int_equal(cufftDestroy(plan), CUFFT_SUCCESS);
    assert_int_equal(cufftDestroy(plan), CUFFT_INVALID_PLAN);
    free_managed(x);
}

static void transforms(void **state) {
    (void)state;
    transform(60);
    transform(34);         /* by Bluestein's algorithm */
    cufftHandle plans[20]; /* the table grows */
    for (int i = 0; i < 20; i++)
        assert_int_equal(cufftPlan2d(&plans[i], 4, 1 + i, CUFFT_R2C), CUFFT_SUCCESS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(cufftDestroy(plans[i]), CUFFT_SUCCESS);
    assert_int_equal(cufftPlan1d(&plans[0], -1, CUFFT_R2C, 1), CUFFT_INVALID_SIZE);
}

/* ---- NVML ---- */

static void facts_of_the_device(void **state) {
    (void)state;
    nvmlDevice_t device;
    char name[NVML_DEVICE_NAME_BUFFER_SIZE], uuid[NVML_DEVICE_UUID_BUFFER_SIZE];
    nvmlPciInfo_t pci;
    unsigned number;
    assert_int_equal(nvmlInit(), NVML_SUCCESS);
    assert_int_equal(nvmlDeviceGetHandleByIndex(0, &device), NVML_SUCCESS);
    assert_int_equal(nvmlDeviceGetName(device, name, sizeof name), NVML_SUCCESS);
    assert_int_equal(nvmlDeviceGetUUID(device, uuid, sizeof uuid), NVML_SUCCESS);
    assert_int_equal(nvmlDeviceGetUUID(device, uuid, 8), NVML_ERROR_INSUFFICIENT_SIZE);
    assert_int_equal(nvmlDeviceGetPciInfo(device, &pci), NVML_SUCCESS);
    assert_int_equal(nvmlDeviceGetPowerUsage(device, &number), NVML_ERROR_NOT_SUPPORTED);
    assert_int_equal(nvmlShutdown(), NVML_SUCCESS);
}

/* ---- threads ---- */

static void *work(void *argument) {
    cublasHandle_t handle;
    cufftHandle plan;
    cudaStream_t stream;
    float *x = argument, sum = 0;
    if (cudaStreamCreate(&stream) != cudaSuccess ||
        cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
        cublasSetStream(handle, stream) != CUBLAS_STATUS_SUCCESS)
        return argument;
    if (cublasSasum(handle, 1000, x, 1, &sum) != CUBLAS_STATUS_SUCCESS || sum != 1000)
        return argument;
    if (cufftPlan1d(&plan, 100, CUFFT_C2C, 1) != CUFFT_SUCCESS ||
        cufftDestroy(plan) != CUFFT_SUCCESS)
        return argument;
    if (nvmlInit() != NVML_SUCCESS || nvmlShutdown() != NVML_SUCCESS) return argument;
    return cublasDestroy(handle) == CUBLAS_STATUS_SUCCESS &&
                   cudaStreamDestroy(stream) == cudaSuccess
               ? NULL
               : argument;
}

static void threads_with_handles_of_their_own(void **state) {
    (void)state;
    pthread_t threads[4];
    float *x = managed(1000 * sizeof *x);
    for (int i = 0; i < 1000; i++)
        x[i] = 1;
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, work, x), 0);
    for (int i = 0; i < 4; i++) {
        void *failed;
        assert_int_equal(pthread_join(threads[i], &failed), 0);
        assert_null(failed);
    }
    free_managed(x);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_and_equations),
        cmocka_unit_test(vectors_between_host_and_device),
        cmocka_unit_test(numbers_of_a_generator),
        cmocka_unit_test(transforms),
        cmocka_unit_test(facts_of_the_device),
        cmocka_unit_test(threads_with_handles_of_their_own),
    };
    return wp_test_main(tests);
}
