/* SPDX-License-Identifier: Apache-2.0 */
/* Launches: an empty kernel and a wait, and a launch among many.   latency [launches: 1000] */
#include "gpu.h"

#include <chrono>

__global__ void count(unsigned *launches) {
    if (threadIdx.x == 0) *launches += 1;
}

static double now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char **argv) {
    const int launches = (int)argument(argc, argv, 1, 1000);
    unsigned *counter, counted = 0, wanted = 0;
    CHECK(cudaMalloc(&counter, sizeof *counter));
    CHECK(cudaMemset(counter, 0, sizeof *counter));
    double alone[REPEATS], among[REPEATS];
    for (int i = -1; i < REPEATS; i++) { /* the first round warms up */
        double start = now();
        for (int k = 0; k < launches; k++) {
            count<<<1, 32>>>(counter);
            CHECK(cudaDeviceSynchronize());
        }
        const double waited = (now() - start) / launches;
        start = now();
        for (int k = 0; k < launches; k++)
            count<<<1, 32>>>(counter);
        CHECK(cudaDeviceSynchronize());
        wanted += 2u * (unsigned)launches;
        if (i < 0) continue;
        alone[i] = waited * 1e6;
        among[i] = (now() - start) / launches * 1e6;
    }
    report("launch and wait", "us", alone, REPEATS);
    report("launch among many", "us", among, REPEATS);
    CHECK(cudaMemcpy(&counted, counter, sizeof counted, cudaMemcpyDeviceToHost));
    if (counted != wanted) {
        fprintf(stderr, "%u kernels ran, %u were launched\n", counted, wanted);
        return 1;
    }
    puts("PASS");
    return 0;
}
