/* SPDX-License-Identifier: Apache-2.0 */
/* Runtime calls with wrong arguments: CUDA's own codes; names and strings of errors; the last error. */
#include "check.h"

__global__ void mark(int *out) { *out = 1; }

int main(void)
{
    int *d, *host = (int *)malloc(100), *null = NULL;
    size_t free_bytes, total;
    CUDA_OK(cudaMalloc(&d, 100));
    CHECK_ERROR(cudaPeekAtLastError(), cudaSuccess);
    CHECK_ERROR(cudaMalloc((void **)NULL, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaPeekAtLastError(), cudaErrorInvalidValue); /* looks */
    CHECK_ERROR(cudaPeekAtLastError(), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemGetInfo(&free_bytes, &total), cudaSuccess); /* a success does not clear it */
    CHECK_ERROR(cudaGetLastError(), cudaErrorInvalidValue); /* takes */
    CHECK_ERROR(cudaGetLastError(), cudaSuccess);

    CHECK_ERROR(cudaMalloc(&null, (size_t)1 << 60), cudaErrorMemoryAllocation);
    CHECK(null == NULL);
    CHECK_ERROR(cudaGetLastError(), cudaErrorMemoryAllocation);
    CHECK_ERROR(cudaMallocManaged(&null, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMalloc(&null, 0), cudaSuccess);
    CHECK_ERROR(cudaFree(host), cudaErrorInvalidValue);
    CHECK_ERROR(cudaFree(d + 4), cudaErrorInvalidValue);
    CHECK_ERROR(cudaFreeHost(host), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(NULL, host, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(d, NULL, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(d, host, 16, (cudaMemcpyKind)77), cudaErrorInvalidMemcpyDirection);
    CHECK_ERROR(cudaMemset(NULL, 0, 16), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemcpy(d, host, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue); /* past the end */
    CHECK_ERROR(cudaSetDevice(99), cudaErrorInvalidDevice);
    CHECK_ERROR(cudaSetDevice(-1), cudaErrorInvalidDevice);
    cudaDeviceProp prop;
    CHECK_ERROR(cudaGetDeviceProperties(&prop, 1000), cudaErrorInvalidDevice);
    int value;
    CHECK_ERROR(cudaDeviceGetAttribute(&value, (cudaDeviceAttr)99999, 0), cudaErrorInvalidValue);
    cudaFuncAttributes attributes;
    CHECK_ERROR(cudaFuncGetAttributes(&attributes, (const void *)host), cudaErrorInvalidDeviceFunction);
    void *address;
    CHECK_ERROR(cudaGetSymbolAddress(&address, (const void *)host), cudaErrorInvalidSymbol);
    size_t size;
    CHECK_ERROR(cudaGetSymbolSize(&size, (const void *)host), cudaErrorInvalidSymbol);
    cudaGetLastError();
    CHECK_ERROR(cudaEventCreate(NULL), cudaErrorInvalidValue);
    CHECK_ERROR(cudaHostGetDevicePointer(&address, host, 0), cudaErrorInvalidValue);
    cudaGetLastError();

    CHECK(strcmp(cudaGetErrorName(cudaSuccess), "cudaSuccess") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaSuccess), "no error") == 0);
    CHECK(strcmp(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorMemoryAllocation), "out of memory") == 0);
    CHECK(strcmp(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidConfiguration), "invalid configuration argument") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorInvalidDeviceFunction), "invalid device function") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorIllegalAddress), "an illegal memory access was encountered") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorLaunchFailure), "unspecified launch failure") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorNotSupported), "operation not supported") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorNotReady), "device not ready") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorAssert), "device-side assert triggered") == 0);
    CHECK(strcmp(cudaGetErrorString(cudaErrorNoDevice), "no CUDA-capable device is detected") == 0);
    CHECK(strcmp(cudaGetErrorName((cudaError_t)123456), "unrecognized error code") == 0);
    const int numbers[] = {cudaErrorInvalidValue, cudaErrorMemoryAllocation, cudaErrorInvalidConfiguration,
                           cudaErrorInvalidDeviceFunction, cudaErrorInvalidDevice, cudaErrorInvalidResourceHandle,
                           cudaErrorNotReady, cudaErrorIllegalAddress, cudaErrorAssert, cudaErrorLaunchFailure,
                           cudaErrorNotSupported, cudaErrorUnknown, cudaErrorMisalignedAddress};
    const int expected[] = {1, 2, 9, 98, 101, 400, 600, 700, 710, 719, 801, 999, 716};
    for (int i = 0; i < 13; i++)
        CHECK_EQ(numbers[i], expected[i]);

    mark<<<1, 1>>>(d); /* none of the above has harmed the device */
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(host, d, 4, cudaMemcpyDeviceToHost));
    CHECK_EQ(host[0], 1);
    CUDA_OK(cudaFree(d));
    CHECK_ERROR(cudaFree(d), cudaErrorInvalidValue);
    cudaGetLastError();
    free(host);
    return check_done();
}
