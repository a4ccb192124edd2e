/* SPDX-License-Identifier: Apache-2.0 */
/* What programs say of managed memory: where they want it, and how they will use it. */
#include "../check.h"

enum { PAGE = 4096, PAGES = 1024, HALF = PAGES / 2 };

__global__ void read_pages(const unsigned char *bytes, int pages, unsigned *sum)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pages) atomicAdd(sum, bytes[(size_t)i * PAGE]);
}

__global__ void write_pages(unsigned char *bytes, int pages)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < pages) bytes[(size_t)i * PAGE] = 5;
}

static unsigned char *bytes;
static unsigned *sum;

static void use_by_kernel(int pages, int writes)
{
    if (writes)
        write_pages<<<PAGES / 64, 64>>>(bytes, pages);
    else
        read_pages<<<PAGES / 64, 64>>>(bytes, pages, sum);
    CUDA_OK(cudaDeviceSynchronize());
}

static unsigned use_by_host(int pages)
{
    unsigned all = 0;
    for (int i = 0; i < pages; i++)
        all += bytes[(size_t)i * PAGE];
    return all;
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "to_device";
    int device = 0;
    CUDA_OK(cudaMalloc((void **)&sum, sizeof *sum));
    CUDA_OK(cudaMallocManaged((void **)&bytes, (size_t)PAGES * PAGE));
    memset(bytes, 5, (size_t)PAGES * PAGE);
    if (strcmp(what, "to_device") == 0) { /* half of it, from the middle of a page on */
        CUDA_OK(cudaMemPrefetchAsync(bytes + 100, (size_t)HALF * PAGE - 200, device, 0));
        use_by_kernel(PAGES, 0);
    }
    if (strcmp(what, "all") == 0) { /* twice 2 MiB, and then a page of it back */
        CUDA_OK(cudaMemPrefetchAsync(bytes, (size_t)PAGES * PAGE, device, 0));
        use_by_kernel(PAGES, 0);
        CHECK_EQ(use_by_host(1), 5u);
        use_by_kernel(PAGES, 0);
    }
    if (strcmp(what, "to_host") == 0) {
        use_by_kernel(PAGES, 1);
        CUDA_OK(cudaMemPrefetchAsync(bytes, (size_t)HALF * PAGE, cudaCpuDeviceId, 0));
        CUDA_OK(cudaDeviceSynchronize());
        CHECK_EQ(use_by_host(HALF), HALF * 5u);
        use_by_kernel(HALF, 0);
    }
    if (strcmp(what, "stays") == 0) {
        CUDA_OK(cudaMemAdvise(bytes, (size_t)HALF * PAGE, cudaMemAdviseSetPreferredLocation, cudaCpuDeviceId));
        use_by_kernel(PAGES, 1);
        CHECK_EQ(use_by_host(HALF), HALF * 5u);
    }
    if (strcmp(what, "prefers") == 0) { /* the host takes back what it uses, and nothing else */
        CUDA_OK(cudaMemAdvise(bytes, (size_t)HALF * PAGE, cudaMemAdviseSetPreferredLocation, device));
        use_by_kernel(PAGES, 1);
        for (int i = 0; i < HALF; i += 4)
            CHECK_EQ(((volatile unsigned char *)bytes)[(size_t)i * PAGE], 5);
        use_by_kernel(HALF, 0);
    }
    if (strcmp(what, "read_mostly") == 0) { /* both have it, until it is written */
        CUDA_OK(cudaMemAdvise(bytes, (size_t)PAGES * PAGE, cudaMemAdviseSetReadMostly, device));
        use_by_kernel(PAGES, 0);
        CHECK_EQ(use_by_host(PAGES), PAGES * 5u);
        use_by_kernel(PAGES, 0);
        use_by_kernel(HALF, 1);
        CHECK_EQ(use_by_host(PAGES), PAGES * 5u);
    }
    CHECK_ERROR(cudaMemPrefetchAsync(sum, 4, device, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemPrefetchAsync(bytes, (size_t)PAGES * PAGE + 1, device, 0), cudaErrorInvalidValue);
    CHECK_ERROR(cudaMemAdvise(sum, 4, cudaMemAdviseSetReadMostly, device), cudaErrorInvalidValue);
    return check_done();
}
