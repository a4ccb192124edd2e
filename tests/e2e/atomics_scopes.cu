/* SPDX-License-Identifier: Apache-2.0 */
/* Atomics of block and system scope; system scope is seen by the host after the kernel. */
#include "check.h"

typedef unsigned long long u64;

__global__ void scoped(int *per_block, int *system, u64 *wide, double *real, float *single)
{
    int b = blockIdx.x, t = threadIdx.x;
    int *v = per_block + b * 8;
    atomicAdd_block(&v[0], 1);
    atomicMin_block(&v[1], -t);
    atomicMax_block(&v[2], t);
    atomicOr_block(&v[3], 1 << (t % 20));
    atomicXor_block(&v[4], t);
    atomicInc_block((unsigned *)&v[5], 1000u);
    atomicSub_block(&v[6], 2);
    atomicCAS_block(&v[7], 0, t + 1);
    atomicAdd_system(&system[0], 1);
    atomicMax_system(&system[1], b * 1000 + t);
    atomicAnd_system(&system[2], ~(1 << (t % 16)));
    atomicExch_system(&system[3], 55);
    atomicDec_system((unsigned *)&system[4], 12u);
    atomicCAS_system(&system[5], 0, 6);
    atomicAdd_system(&wide[0], 1ull << 35);
    atomicAdd_block(&wide[1 + b], 1ull << 36);
    atomicAdd_system(real, 0.5);
    atomicAdd_block(&single[b], 2.0f);
}

int main(void)
{
    int *per_block = check_managed<int>(80), *system = check_managed<int>(6);
    u64 *wide = check_managed<u64>(11);
    double *real = check_managed<double>(1);
    float *single = check_managed<float>(10);
    system[2] = -1;
    scoped<<<10, 100>>>(per_block, system, wide, real, single);
    KERNEL_OK();
    int x = 0;
    for (int t = 0; t < 100; t++)
        x ^= t;
    for (int b = 0; b < 10; b++) {
        int *v = per_block + b * 8;
        CHECK_EQ(v[0], 100);
        CHECK_EQ(v[1], -99);
        CHECK_EQ(v[2], 99);
        CHECK_EQ(v[3], (1 << 20) - 1);
        CHECK_EQ(v[4], x);
        CHECK_EQ(v[5], 100);
        CHECK_EQ(v[6], -200);
        CHECK(v[7] >= 1 && v[7] <= 100);
        CHECK_EQ(wide[1 + b], 100ull << 36);
        CHECK_EQ(single[b], 200.0f);
    }
    CHECK_EQ(system[0], 1000);
    CHECK_EQ(system[1], 9099);
    CHECK_EQ(system[2], (int)0xffff0000);
    CHECK_EQ(system[3], 55);
    CHECK_EQ(system[4], (13 - 1000 % 13) % 13);
    CHECK_EQ(system[5], 6);
    CHECK_EQ(wide[0], 1000ull << 35);
    CHECK_EQ(*real, 500.0);
    return check_done();
}
