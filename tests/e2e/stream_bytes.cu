/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: --stream=sums:text
/* A kernel that reads single bytes one after the other has windows, unless the program asks for address threads; both
 * give what the kernel gives that is not streamed. */
#include <vector>
#include <warpage/stream.h>

#include "check.h"

enum { BLOCKS = 3, THREADS = 64, EACH = 301, BYTES = BLOCKS * THREADS * EACH };

__global__ void sums(const unsigned char *text, unsigned *out) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int i = t * EACH; i < (t + 1) * EACH; i++) sum = sum * 31 + text[i];
    out[t] = sum;
}

__global__ void marks(unsigned char *text, unsigned *out) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 0;
    for (int i = t * EACH; i < (t + 1) * EACH; i++) {
        sum = sum * 31 + text[i];
        if (i % 3 == 0) text[i] ^= 1;
    }
    out[t] = sum;
}

int main() {
    std::vector<unsigned char> text(BYTES), copy(BYTES);
    std::vector<unsigned> expected(BLOCKS * THREADS), found(BLOCKS * THREADS);
    for (int i = 0; i < BYTES; i++) text[i] = (unsigned char)(i * 37 + i / 255);
    for (int t = 0; t < BLOCKS * THREADS; t++)
        for (int i = t * EACH; i < (t + 1) * EACH; i++) expected[t] = expected[t] * 31 + text[i];
    unsigned *out;
    void *mapped;
    CUDA_OK(cudaMalloc(&out, found.size() * sizeof found[0]));
    for (int writes = 0; writes < 2; writes++) {
        for (int without = 0; without < 2; without++) {
            streamingOptions options = {};
            streamingReport report;
            options.without_windows = without;
            options.slots = 5;
            copy = text;
            CUDA_OK(streamingSetOptions(&options));
            CUDA_OK(streamingMalloc(&mapped, BYTES));
            CUDA_OK(streamingMap(mapped, copy.data(), BYTES));
            if (writes)
                marks<<<BLOCKS, THREADS>>>((unsigned char *)mapped, out);
            else
                sums<<<BLOCKS, THREADS>>>((const unsigned char *)mapped, out);
            CUDA_OK(cudaDeviceSynchronize());
            CUDA_OK(streamingGetReport(&report));
            CUDA_OK(streamingFree(mapped));
            CHECK_EQ(report.has_windows, !without);
            CUDA_OK(cudaMemcpy(found.data(), out, found.size() * sizeof found[0], cudaMemcpyDeviceToHost));
            CHECK(found == expected);
            for (int i = 0; i < BYTES; i++) CHECK_EQ(copy[i], writes && i % 3 == 0 ? text[i] ^ 1 : text[i]);
        }
    }
    return check_done();
}
