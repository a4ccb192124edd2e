/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: count, properties, attributes that agree with them, limits, versions, selection, flags, reset. */
#include "check.h"

static int attribute(cudaDeviceAttr which)
{
    int value = -1;
    CUDA_OK(cudaDeviceGetAttribute(&value, which, 0));
    return value;
}

int main(void)
{
    int count = 0, device = -1, runtime = 0, driver = 0;
    CUDA_OK(cudaGetDeviceCount(&count));
    CHECK(count >= 1);
    CUDA_OK(cudaSetDevice(0));
    CUDA_OK(cudaGetDevice(&device));
    CHECK_EQ(device, 0);
    CUDA_OK(cudaRuntimeGetVersion(&runtime));
    CUDA_OK(cudaDriverGetVersion(&driver));
    CHECK_EQ(runtime, CUDART_VERSION);
    CHECK(driver >= 9000);

    cudaDeviceProp p;
    CUDA_OK(cudaGetDeviceProperties(&p, 0));
    CHECK(strlen(p.name) > 0 && strlen(p.name) < sizeof p.name);
    CHECK(p.totalGlobalMem > 0);
    CHECK(p.sharedMemPerBlock >= 48 << 10);
    CHECK_EQ(p.warpSize, 32);
    CHECK_EQ(p.maxThreadsPerBlock, 1024);
    CHECK_EQ(p.maxThreadsDim[0], 1024);
    CHECK_EQ(p.maxThreadsDim[2], 64);
    CHECK_EQ(p.maxGridSize[0], 2147483647);
    CHECK_EQ(p.maxGridSize[1], 65535);
    CHECK(p.major >= 2 && p.multiProcessorCount >= 1 && p.totalConstMem >= 65536);
    CHECK(p.maxThreadsPerMultiProcessor >= 1024 && p.regsPerBlock > 0);
    CHECK(p.unifiedAddressing == 1 && p.managedMemory == 1 && p.canMapHostMemory == 1);
    CHECK_EQ(attribute(cudaDevAttrMaxThreadsPerBlock), p.maxThreadsPerBlock);
    CHECK_EQ(attribute(cudaDevAttrMaxBlockDimX), p.maxThreadsDim[0]);
    CHECK_EQ(attribute(cudaDevAttrMaxGridDimY), p.maxGridSize[1]);
    CHECK_EQ(attribute(cudaDevAttrWarpSize), 32);
    CHECK_EQ(attribute(cudaDevAttrMultiProcessorCount), p.multiProcessorCount);
    CHECK_EQ(attribute(cudaDevAttrComputeCapabilityMajor), p.major);
    CHECK_EQ(attribute(cudaDevAttrComputeCapabilityMinor), p.minor);
    CHECK_EQ(attribute(cudaDevAttrMaxSharedMemoryPerBlock), (int)p.sharedMemPerBlock);
    CHECK_EQ(attribute(cudaDevAttrTotalConstantMemory), (int)p.totalConstMem);
    CHECK_EQ(attribute(cudaDevAttrL2CacheSize), p.l2CacheSize);
    CHECK_EQ(attribute(cudaDevAttrManagedMemory), 1);
    CHECK_EQ(attribute(cudaDevAttrUnifiedAddressing), 1);

    size_t limit = 0;
    CUDA_OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit > 0);
    CUDA_OK(cudaDeviceSetLimit(cudaLimitStackSize, 8192));
    CUDA_OK(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit >= 8192);
    CUDA_OK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 4 << 20));
    CUDA_OK(cudaDeviceGetLimit(&limit, cudaLimitPrintfFifoSize));
    CHECK(limit >= 4 << 20);

    int can = -1;
    CHECK_ERROR(cudaDeviceCanAccessPeer(&can, 0, count), cudaErrorInvalidDevice);
    cudaGetLastError();
    char bus[32] = "";
    CUDA_OK(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    CHECK(strlen(bus) > 0);
    CUDA_OK(cudaChooseDevice(&device, &p));
    CHECK(device >= 0 && device < count);
    unsigned flags = 99;
    CUDA_OK(cudaGetDeviceFlags(&flags));

    int *d, *again;
    CUDA_OK(cudaMalloc(&d, 1 << 20));
    CUDA_OK(cudaDeviceReset());
    CUDA_OK(cudaMalloc(&again, 1 << 20)); /* works after a reset */
    CUDA_OK(cudaMemset(again, 0, 1 << 20));
    CUDA_OK(cudaFree(again));
    return check_done();
}
