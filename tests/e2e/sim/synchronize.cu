/* SPDX-License-Identifier: Apache-2.0 */
/* 2 MiB that a kernel writes and 1 MiB that it reads, twice; the host waits between them as the argument says (the
 * counts of synchronize.sh). */
// DEVICES: sim:gtx1080ti
#include "../check.h"

enum { PAGE_WORDS = 1024, WRITTEN = 512 * PAGE_WORDS, READ = 256 * PAGE_WORDS };

__global__ void add(unsigned *written, const unsigned *read)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    written[i] += read[i % READ];
}

int main(int count, char **arguments)
{
    const char *how = count > 1 ? arguments[1] : "device";
    unsigned *written, *read;
    CUDA_OK(cudaMallocManaged((void **)&written, sizeof *written * WRITTEN));
    CUDA_OK(cudaMallocManaged((void **)&read, sizeof *read * READ));
    for (int i = 0; i < READ; i++)
        read[i] = (unsigned)i;
    memset(written, 0, sizeof *written * WRITTEN);
    for (int round = 0; round < 2; round++) {
        add<<<WRITTEN / 256, 256>>>(written, read);
        if (strcmp(how, "device") == 0)
            CUDA_OK(cudaDeviceSynchronize());
        else
            CUDA_OK(cudaStreamSynchronize(0));
    }
    for (int i = 0; i < WRITTEN; i += PAGE_WORDS)
        CHECK(written[i] == 2 * (unsigned)(i % READ));
    return check_done();
}
