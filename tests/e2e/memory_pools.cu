/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools of stream-ordered allocation: counting, the current pool, both APIs. */
#include "check.h"
#include <cuda.h>
#include <cudaTypedefs.h>
#include <stdint.h>

static uint64_t number(cudaMemPool_t pool, cudaMemPoolAttr attribute) {
    uint64_t value = 77;
    CUDA_OK(cudaMemPoolGetAttribute(pool, attribute, &value));
    return value;
}

__global__ void fill(int *p) {
    p[threadIdx.x] = threadIdx.x;
}

int main() {
    int supported = 0;
    CUDA_OK(cudaDeviceGetAttribute(&supported, cudaDevAttrMemoryPoolsSupported, 0));
    CHECK_EQ(supported, 1);
    cudaMemPool_t initial, current, own;
    CUDA_OK(cudaDeviceGetDefaultMemPool(&initial, 0));
    CUDA_OK(cudaDeviceGetMemPool(&current, 0));
    CHECK(initial == current);

    int *p = NULL;
    CUDA_OK(cudaMallocAsync((void **)&p, 4096, 0));
    CHECK_EQ(number(initial, cudaMemPoolAttrUsedMemCurrent), (uint64_t)4096);
    CUDA_OK(cudaFreeAsync(p, 0));
    CHECK_EQ(number(initial, cudaMemPoolAttrUsedMemCurrent), (uint64_t)0);
    CHECK_EQ(number(initial, cudaMemPoolAttrUsedMemHigh), (uint64_t)4096);

    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    props.maxSize = 8192;
    CUDA_OK(cudaMemPoolCreate(&own, &props));
    uint64_t threshold = 1 << 20;
    CUDA_OK(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold));
    CHECK_EQ(number(own, cudaMemPoolAttrReleaseThreshold), threshold);
    CUDA_OK(cudaDeviceSetMemPool(0, own));
    CUDA_OK(cudaMallocAsync((void **)&p, 4096, 0));
    CHECK_EQ(number(own, cudaMemPoolAttrUsedMemCurrent), (uint64_t)4096);
    CUmemoryPool of = NULL;
    CHECK_EQ(cuInit(0), CUDA_SUCCESS);
    CHECK_EQ(cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, (CUdeviceptr)p),
             CUDA_SUCCESS);
    CHECK(of == own);
    void *more = NULL;
    CHECK_EQ(cudaMallocFromPoolAsync(&more, 8192, own, 0), cudaErrorMemoryAllocation);
    (void)cudaGetLastError();

    /* The pool is destroyed, its memory stays until it is freed. */
    CUDA_OK(cudaMemPoolDestroy(own));
    CHECK_EQ(cudaMemPoolDestroy(own), cudaErrorInvalidValue);
    (void)cudaGetLastError();
    CUDA_OK(cudaDeviceGetMemPool(&current, 0));
    CHECK(initial == current);
    fill<<<1, 32>>>(p);
    KERNEL_OK();
    int last = 0;
    CUDA_OK(cudaMemcpy(&last, p + 31, sizeof last, cudaMemcpyDeviceToHost));
    CHECK_EQ(last, 31);
    CUDA_OK(cudaFreeAsync(p, 0));

    /* By name, as libraries look functions up. */
    PFN_cuGetProcAddress find = cuGetProcAddress;
    CUdriverProcAddressQueryResult result;
    void *create = NULL;
    CHECK_EQ(find("cuMemPoolCreate", &create, 12030, 0, &result), CUDA_SUCCESS);
    CHECK(create == (void *)cuMemPoolCreate);
    CUmemPoolProps driver_props = {};
    driver_props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    driver_props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CUmemoryPool driver_pool = NULL;
    CHECK_EQ(((PFN_cuMemPoolCreate)create)(&driver_pool, &driver_props), CUDA_SUCCESS);
    driver_props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    CHECK_EQ(cuMemPoolCreate(&of, &driver_props), CUDA_ERROR_NOT_SUPPORTED);
    CHECK_EQ(cuMemPoolDestroy(driver_pool), CUDA_SUCCESS);
    return check_done();
}
