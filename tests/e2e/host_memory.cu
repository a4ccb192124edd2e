/* SPDX-License-Identifier: Apache-2.0 */
/* Pinned, mapped, registered and managed memory used by kernels; what the runtime says of pointers. */
#include <cuda.h>
#include "check.h"

/* Programs pass the driver's flags to the runtime. */
static_assert(CU_MEMHOSTALLOC_PORTABLE == cudaHostAllocPortable, "");
static_assert(CU_MEMHOSTALLOC_DEVICEMAP == cudaHostAllocMapped, "");
static_assert(CU_MEMHOSTALLOC_WRITECOMBINED == cudaHostAllocWriteCombined, "");
static_assert(CU_MEMHOSTREGISTER_PORTABLE == cudaHostRegisterPortable, "");
static_assert(CU_MEMHOSTREGISTER_DEVICEMAP == cudaHostRegisterMapped, "");

__global__ void triple(int *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] *= 3;
}

static void use(int *host, int *device, int n)
{
    for (int i = 0; i < n; i++)
        host[i] = i - 5;
    triple<<<(n + 127) / 128, 128>>>(device, n);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK_EQ(host[i], (i - 5) * 3);
}

static cudaMemoryType kind_of(const void *p)
{
    cudaPointerAttributes attributes;
    CUDA_OK(cudaPointerGetAttributes(&attributes, p));
    return attributes.type;
}

int main(void)
{
    const int n = 3000;
    int *host, *device, *managed, *plain = (int *)malloc(n * sizeof(int) + 8192);

    CUDA_OK(cudaHostAlloc((void **)&host, n * sizeof(int), cudaHostAllocMapped | cudaHostAllocPortable));
    CUDA_OK(cudaHostGetDevicePointer((void **)&device, host, 0));
    use(host, device, n);
    unsigned flags = 0;
    CUDA_OK(cudaHostGetFlags(&flags, host));
    CHECK((flags & cudaHostAllocMapped) != 0);
    CHECK(kind_of(host) == cudaMemoryTypeHost);
    cudaPointerAttributes attributes;
    CUDA_OK(cudaPointerGetAttributes(&attributes, host + 100));
    CHECK(attributes.hostPointer == host + 100 && attributes.devicePointer == device + 100);
    CUDA_OK(cudaFreeHost(host));

    CUDA_OK(cudaMallocHost((void **)&host, n * sizeof(int)));
    use(host, host, n); /* one address space */
    CUDA_OK(cudaFreeHost(host));

    CUDA_OK(cudaHostAlloc((void **)&host, n * sizeof(int), cudaHostAllocWriteCombined | cudaHostAllocMapped));
    CUDA_OK(cudaFreeHost(host));

    int *aligned = (int *)(((uintptr_t)plain + 4095) & ~(uintptr_t)4095);
    CUDA_OK(cudaHostRegister(aligned, n * sizeof(int), CU_MEMHOSTALLOC_DEVICEMAP));
    CUDA_OK(cudaHostGetDevicePointer((void **)&device, aligned, 0));
    use(aligned, device, n);
    CHECK(kind_of(aligned) == cudaMemoryTypeHost);
    CHECK_ERROR(cudaHostRegister(aligned, n * sizeof(int), 0), cudaErrorHostMemoryAlreadyRegistered);
    CUDA_OK(cudaHostUnregister(aligned));
    CHECK_ERROR(cudaHostUnregister(aligned), cudaErrorHostMemoryNotRegistered);
    CHECK(kind_of(aligned) == cudaMemoryTypeUnregistered);
    CHECK_ERROR(cudaGetLastError(), cudaErrorHostMemoryNotRegistered);

    CUDA_OK(cudaMallocManaged((void **)&managed, n * sizeof(int), cudaMemAttachGlobal));
    use(managed, managed, n);
    CHECK(kind_of(managed) == cudaMemoryTypeManaged);
    CHECK(kind_of((char *)managed + 1000) == cudaMemoryTypeManaged);
#if CUDART_VERSION >= 13000
    cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0}, cpu = {cudaMemLocationTypeHost, 0};
    CUDA_OK(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseSetReadMostly, gpu));
    CUDA_OK(cudaMemPrefetchAsync(managed, n * sizeof(int), gpu, 0, 0));
    CUDA_OK(cudaMemPrefetchAsync(managed, n * sizeof(int), cpu, 0, 0));
    CUDA_OK(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseUnsetReadMostly, gpu));
#else
    CUDA_OK(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseSetReadMostly, 0));
    CUDA_OK(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseSetPreferredLocation, 0));
    CUDA_OK(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseSetAccessedBy, cudaCpuDeviceId));
    CUDA_OK(cudaMemPrefetchAsync(managed, n * sizeof(int), 0));
    CUDA_OK(cudaMemPrefetchAsync(managed, n * sizeof(int), cudaCpuDeviceId, 0));
    CUDA_OK(cudaMemAdvise(managed, n * sizeof(int), cudaMemAdviseUnsetReadMostly, 0));
#endif
    CUDA_OK(cudaDeviceSynchronize());
    for (int i = 0; i < n; i++)
        CHECK_EQ(managed[i], (i - 5) * 3);
    CUDA_OK(cudaFree(managed));

    CUDA_OK(cudaMalloc((void **)&device, n * sizeof(int)));
    CHECK(kind_of(device + 10) == cudaMemoryTypeDevice);
    CUDA_OK(cudaPointerGetAttributes(&attributes, device));
    CHECK_EQ(attributes.device, 0);
    CUDA_OK(cudaMemset(device, 0, n * sizeof(int)));
    CUDA_OK(cudaFree(device));
    CUDA_OK(cudaFree(NULL));
    CUDA_OK(cudaFreeHost(NULL));
    CHECK(kind_of(plain) == cudaMemoryTypeUnregistered);
    free(plain);
    return check_done();
}
