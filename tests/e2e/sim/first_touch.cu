/* SPDX-License-Identifier: Apache-2.0 */
/* Managed memory that the host has used in part, or not at all, before a kernel writes all of it. */
#include "../check.h"

enum { PAGE = 4096, PAGES = 1024 };

__global__ void write_pages(unsigned char *bytes)
{
    bytes[(size_t)(blockIdx.x * blockDim.x + threadIdx.x) * PAGE] += 3;
}

__global__ void write_in_order(unsigned char *bytes)
{
    for (int i = 0; i < PAGES; i++)
        bytes[(size_t)i * PAGE] += 3;
}

__global__ void read_pages(const unsigned char *bytes, unsigned *sum)
{
    atomicAdd(sum, bytes[(size_t)(blockIdx.x * blockDim.x + threadIdx.x) * PAGE]);
}

/* What the host does before; returns what the first bytes of all pages are together. */
static unsigned prepare(unsigned char *bytes, const char *how)
{
    static unsigned char other[50 * PAGE];
    if (strcmp(how, "some") == 0) {
        memset(bytes + 100 * PAGE, 7, 50 * PAGE);
        return 50 * 7;
    }
    if (strcmp(how, "read") == 0) { /* zeros, of the host's */
        for (int i = 0; i < 5; i++)
            CHECK_EQ(((volatile unsigned char *)bytes)[i * 20 * PAGE], 0);
    }
    if (strcmp(how, "copy") == 0) {
        memset(other, 2, sizeof other);
        CUDA_OK(cudaMemcpy(bytes + 10 * PAGE, other, sizeof other, cudaMemcpyHostToDevice));
        return 50 * 2;
    }
    if (strcmp(how, "fill") == 0) {
        CUDA_OK(cudaMemset(bytes, 1, 30 * PAGE));
        return 30;
    }
    if (strcmp(how, "sent") == 0) CUDA_OK(cudaMemPrefetchAsync(bytes, 60 * PAGE, cudaCpuDeviceId, 0));
    if (strcmp(how, "brought") == 0) CUDA_OK(cudaMemPrefetchAsync(bytes, (size_t)PAGES * PAGE, 0, 0));
    if (strcmp(how, "mapped") == 0)
        CUDA_OK(cudaMemAdvise(bytes, 60 * PAGE, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
    if (strcmp(how, "preferred") == 0)
        CUDA_OK(cudaMemAdvise(bytes, (size_t)PAGES * PAGE, cudaMemAdviseSetPreferredLocation, 0));
    return 0;
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "none";
    unsigned char *bytes;
    unsigned *sum, got = 0;
    CUDA_OK(cudaMallocManaged((void **)&bytes, (size_t)PAGES * PAGE));
    CUDA_OK(cudaMalloc((void **)&sum, sizeof *sum));
    CUDA_OK(cudaMemset(sum, 0, sizeof *sum));
    const unsigned before = prepare(bytes, how);
    if (strcmp(how, "preferred") == 0)
        write_in_order<<<1, 1>>>(bytes);
    else
        write_pages<<<PAGES / 64, 64>>>(bytes);
    read_pages<<<PAGES / 64, 64>>>(bytes, sum);
    CUDA_OK(cudaMemcpy(&got, sum, sizeof got, cudaMemcpyDeviceToHost));
    CHECK_EQ(got, before + 3u * PAGES);
    return check_done();
}
