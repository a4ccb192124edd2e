/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: --stream=sums:text
/* A kernel that reads single bytes one after the other has windows, unless the program asks for address threads; both
 * give what the kernel gives that is not streamed. A thread's data lie on both sides of a multiple of 4 GiB, at which a
 * window ends; also where they stay on the device. */
#include <stdint.h>
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

static unsigned char *across_4_gib(void *reserved) {
    const uintptr_t multiple = (uintptr_t)1 << 32;
    const uintptr_t cut = ((uintptr_t)reserved + BYTES + multiple - 1) / multiple * multiple;
    return (unsigned char *)(cut - BYTES / 2 - 112);
}

static void run(const std::vector<unsigned char> &text, const std::vector<unsigned> &expected, unsigned *out, bool writes,
                bool without, bool keeps) {
    std::vector<unsigned char> copy = text;
    std::vector<unsigned> found(BLOCKS * THREADS);
    streamingOptions options = {};
    streamingReport report;
    void *reserved;
    options.without_windows = without;
    options.slots = 5;
    CUDA_OK(streamingSetOptions(&options));
    CUDA_OK(streamingMalloc(&reserved, (size_t)5 << 30));
    unsigned char *mapped = across_4_gib(reserved);
    CUDA_OK(streamingMap(mapped, copy.data(), BYTES));
    if (keeps) CUDA_OK(streamingKeep(mapped, BYTES));
    if (writes)
        marks<<<BLOCKS, THREADS>>>(mapped, out);
    else
        sums<<<BLOCKS, THREADS>>>(mapped, out);
    CUDA_OK(cudaDeviceSynchronize());
    CUDA_OK(streamingGetReport(&report));
    CUDA_OK(streamingFree(reserved));
    CHECK_EQ(report.has_windows, !without);
    CUDA_OK(cudaMemcpy(found.data(), out, found.size() * sizeof found[0], cudaMemcpyDeviceToHost));
    CHECK(found == expected);
    for (int i = 0; i < BYTES; i++) CHECK_EQ(copy[i], writes && i % 3 == 0 ? text[i] ^ 1 : text[i]);
}

int main() {
    std::vector<unsigned char> text(BYTES);
    std::vector<unsigned> expected(BLOCKS * THREADS);
    for (int i = 0; i < BYTES; i++) text[i] = (unsigned char)(i * 37 + i / 255);
    for (int t = 0; t < BLOCKS * THREADS; t++)
        for (int i = t * EACH; i < (t + 1) * EACH; i++) expected[t] = expected[t] * 31 + text[i];
    unsigned *out;
    CUDA_OK(cudaMalloc(&out, expected.size() * sizeof expected[0]));
    for (int way = 0; way < 8; way++) run(text, expected, out, way & 1, way & 2, way & 4);
    return check_done();
}
