/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel has been launched; the host works for 0.3 s of its own time, and only then waits. */
#include <time.h>

#include "../check.h"

enum { PAGE = 4096, PAGES = 64 };

__global__ void read_pages(const unsigned char *bytes, unsigned *sum)
{
    atomicAdd(sum, bytes[(size_t)threadIdx.x * PAGE]);
}

static double processor_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(void)
{
    unsigned char *bytes;
    unsigned *sum;
    CUDA_OK(cudaMallocManaged(&bytes, PAGES * PAGE));
    CUDA_OK(cudaMallocManaged(&sum, sizeof *sum));
    read_pages<<<1, PAGES>>>(bytes, sum);
    for (double first = processor_s(); processor_s() - first < 0.3;) {
    }
    bytes[0] = 7; /* no kernel has run yet, in simulated time */
    CUDA_OK(cudaDeviceSynchronize());
    CHECK(*sum == 7);
    return check_done();
}
