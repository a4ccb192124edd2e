// SPDX-License-Identifier: Apache-2.0
// DEVICES: cpu sim (the driver's virtual memory is not used there)
/* Virtual memory management of the driver API: an array that grows in place, memory at two
 * addresses, protection, and what is refused. */
#include <cuda.h>

#include "check.h"

#define DRIVER_OK(call) CHECK_EQ((int)(call), (int)CUDA_SUCCESS)
#define DRIVER_FAILS(call) CHECK_EQ((int)(call), (int)CUDA_ERROR_INVALID_VALUE)

__global__ void count_up(int *data, size_t n) {
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (size_t)gridDim.x * blockDim.x)
        data[i]++;
}

int main(void) {
    CUcontext context;
    size_t unit = 0, free_before = 0, free_now = 0, total = 0, size = 0;
    int has = 0;
    DRIVER_OK(cuInit(0));
    CUmemAllocationProp prop = {};
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    /* The thread needs no context for these calls. */
    DRIVER_OK(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    DRIVER_OK(cuDevicePrimaryCtxRetain(&context, 0));
    DRIVER_OK(cuCtxSetCurrent(context));
    DRIVER_OK(
        cuDeviceGetAttribute(&has, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    CHECK_EQ(has, 1);
    CHECK(unit != 0 && (unit & (unit - 1)) == 0);
    DRIVER_OK(cuMemGetInfo(NULL, &total));
    DRIVER_OK(cuMemGetInfo(&free_before, NULL));
    /* More addresses than memory. */
    CUdeviceptr range = 0, base = 0;
    DRIVER_OK(cuMemAddressReserve(&range, 1024 * unit, 0, 0, 0));
    DRIVER_FAILS(cuMemAddressReserve(&base, unit + 1, 0, 0, 0));
    CUmemGenericAllocationHandle parts[2];
    DRIVER_OK(cuMemCreate(&parts[0], unit, &prop, 0));
    DRIVER_OK(cuMemCreate(&parts[1], 2 * unit, &prop, 0));
    DRIVER_FAILS(cuMemCreate(&parts[1], unit / 2, &prop, 0));
    DRIVER_OK(cuMemGetInfo(&free_now, &total));
    CHECK_EQ(free_before - free_now, 3 * unit);
    CUmemAccessDesc access = {};
    access.location = prop.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    DRIVER_OK(cuMemMap(range, unit, 0, parts[0], 0));
    DRIVER_FAILS(cuMemMap(range, 2 * unit, 0, parts[1], 0));
    DRIVER_FAILS(cuMemcpyHtoD(range, &has, sizeof has)); /* no access yet */
    DRIVER_OK(cuMemSetAccess(range, unit, &access, 1));
    DRIVER_OK(cuMemsetD32(range, 41, unit / 4));
    /* The array grows behind itself; a kernel and a copy cross the seam. */
    DRIVER_OK(cuMemMap(range + unit, 2 * unit, 0, parts[1], 0));
    DRIVER_OK(cuMemSetAccess(range, 3 * unit, &access, 1));
    DRIVER_OK(cuMemsetD32(range + unit, 99, 2 * unit / 4));
    DRIVER_OK(cuMemGetAddressRange(&base, &size, range + unit + 4));
    CHECK_EQ(base, range);
    CHECK_EQ(size, 3 * unit);
    count_up<<<8, 256>>>((int *)(range + unit - 4096), 2048);
    KERNEL_OK();
    static int across[2048];
    DRIVER_OK(cuMemcpyDtoH(across, range + unit - 4096, sizeof across));
    CHECK_EQ(across[0], 42);
    CHECK_EQ(across[1023], 42);
    CHECK_EQ(across[1024], 100);
    CHECK_EQ(across[2047], 100);
    /* The same memory at a second address. */
    unsigned long long flags = 0;
    DRIVER_OK(cuMemMap(range + 8 * unit, unit, 0, parts[0], 0));
    DRIVER_OK(cuMemSetAccess(range + 8 * unit, unit, &access, 1));
    DRIVER_OK(cuMemGetAccess(&flags, &prop.location, range + 8 * unit));
    CHECK_EQ(flags, (unsigned long long)CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    count_up<<<1, 32>>>((int *)(range + 8 * unit), 1);
    KERNEL_OK();
    DRIVER_OK(cuMemcpyDtoH(across, range, 8));
    CHECK_EQ(across[0], 42);
    CHECK_EQ(across[1], 41);
    /* Freeing: by its own calls only, and contents outlive a mapping. */
    DRIVER_FAILS(cuMemFree(range));
    CHECK_ERROR(cudaFree((void *)range), cudaErrorInvalidValue);
    DRIVER_FAILS(cuMemUnmap(range, unit / 2));
    DRIVER_FAILS(cuMemAddressFree(range, 1024 * unit));
    DRIVER_OK(cuMemUnmap(range, 3 * unit));
    DRIVER_FAILS(cuMemcpyDtoH(across, range, 8));
    DRIVER_OK(cuMemMap(range, unit, 0, parts[0], 0));
    DRIVER_OK(cuMemSetAccess(range, unit, &access, 1));
    DRIVER_OK(cuMemcpyDtoH(across, range, 4));
    CHECK_EQ(across[0], 42);
    DRIVER_OK(cuMemRelease(parts[0]));
    DRIVER_OK(cuMemRelease(parts[1]));
    DRIVER_FAILS(cuMemRelease(parts[1]));
    DRIVER_OK(cuMemUnmap(range + 8 * unit, unit));
    DRIVER_OK(cuMemUnmap(range, unit));
    DRIVER_OK(cuMemAddressFree(range, 1024 * unit));
    DRIVER_OK(cuMemGetInfo(&free_now, &total));
    CHECK_EQ(free_now, free_before);
    /* Multicast: the calls are declared, and devices have none. */
    int has_multicast = 1;
    CUmulticastObjectProp multicast = {};
    multicast.numDevices = 2;
    multicast.size = unit;
    DRIVER_OK(cuDeviceGetAttribute(&has_multicast, CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0));
    CHECK_EQ(has_multicast, 0);
    CHECK(cuMulticastCreate(&parts[0], &multicast) == CUDA_ERROR_NOT_SUPPORTED);
    return check_done();
}
