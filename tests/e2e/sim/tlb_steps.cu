/* SPDX-License-Identifier: Apache-2.0 */
/* A pointer chase that times itself sees the TLBs of the measured K80: 9, 55 and 177 cycles more behind 2, 130
 * and 2064 MiB (Karnagel et al., DaMoN'17), as the chase of tests/model/test_sim_tlb.c does in the model. */
// DEVICES: sim:k80 (its steps)
#include "../check.h"

/* Every element holds the place of the next; few lines in each page, so that L2 has them. */
__global__ void lay(char *at, size_t bytes, size_t stride)
{
    size_t count = bytes / stride;
    for (size_t i = 0; i < count; i++) {
        size_t next = (i + 1) % count;
        *(char **)(at + i * stride + i % 64 * 128) = at + next * stride + next % 64 * 128;
    }
}

__global__ void chase(char *at, int round, int steps, long long *cycles)
{
    char *p = at;
    for (int i = 0; i < 2 * round; i++) /* fills the TLBs */
        p = *(char *volatile *)p;
    long long start = clock64();
    for (int i = 0; i < steps; i++)
        p = *(char *volatile *)p;
    if (p != at)
        return;
    *cycles = clock64() - start;
}

static double cycles_of(char *memory, size_t mib, size_t stride_kib)
{
    size_t bytes = mib << 20, stride = stride_kib << 10;
    int round = (int)(bytes / stride), steps = (2000 / round + 1) * round;
    long long *cycles = check_managed<long long>(1);
    lay<<<1, 1>>>(memory, bytes, stride);
    chase<<<1, 1>>>(memory, round, steps, cycles);
    KERNEL_OK();
    double mean = (double)*cycles / steps;
    CUDA_OK(cudaFree(cycles));
    return mean;
}

int main(void)
{
    static const struct {
        size_t mib, stride_kib;
        double cycles;
    } steps[] = {{2, 128, 0},     {3, 128, 9},      {130, 2048, 9},
                 {132, 2048, 64}, {2064, 2048, 64}, {2322, 2048, 241}};
    char *memory;
    CUDA_OK(cudaMalloc(&memory, (size_t)2322 << 20));
    double first = cycles_of(memory, steps[0].mib, steps[0].stride_kib);
    CHECK(fabs(first - 241) < 1);
    for (const auto &s : steps) {
        double cycles = cycles_of(memory, s.mib, s.stride_kib);
        printf("%zu MiB: %.2f cycles\n", s.mib, cycles);
        CHECK(fabs(cycles - first - s.cycles) < 1);
    }
    return check_done();
}
