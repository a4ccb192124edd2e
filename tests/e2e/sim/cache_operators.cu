/* SPDX-License-Identifier: Apache-2.0 */
/* What passes L1 by, seen by the clock: the second load of a line takes L1's 82 cycles or more. */
// DEVICES: sim:p100 (it has an L1)
#include "../check.h"

/* The second load's cycles. */
#define TIMED(name, load)                                                                          \
    __global__ void name(int *x, long long *cycles)                                                \
    {                                                                                              \
        int v = 0;                                                                                 \
        for (int i = 0; i < 2; i++) {                                                              \
            long long start = clock64();                                                           \
            load;                                                                                  \
            x[v + 32] = v; /* once it is there */                                                  \
            cycles[0] = clock64() - start;                                                         \
        }                                                                                          \
    }

TIMED(plain, asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(x) : "memory"))
TIMED(cached_all, asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(x) : "memory"))
TIMED(cached_global, asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(x) : "memory"))
TIMED(is_volatile, asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(x) : "memory"))
TIMED(read_only, v = __ldg(x))
TIMED(atomic, v = atomicAdd(x, 0))

static long long cycles_of(void (*kernel)(int *, long long *))
{
    int *x;
    long long *cycles = check_managed<long long>(1);
    CUDA_OK(cudaMalloc(&x, 4096));
    CUDA_OK(cudaMemset(x, 0, 4096));
    kernel<<<1, 1>>>(x, cycles);
    KERNEL_OK();
    long long took = *cycles;
    CUDA_OK(cudaFree(x));
    CUDA_OK(cudaFree(cycles));
    return took;
}

int main(void)
{
    long long hit = cycles_of(plain);
    long long by[] = {cycles_of(cached_global), cycles_of(is_volatile), cycles_of(atomic)};
    printf("L1 %lld, .ca %lld, __ldg %lld; .cg %lld, volatile %lld, atomic %lld cycles\n", hit,
           cycles_of(cached_all), cycles_of(read_only), by[0], by[1], by[2]);
    CHECK_EQ(cycles_of(cached_all), hit);
    CHECK_EQ(cycles_of(read_only), hit);
    for (long long passed : by)
        CHECK(passed > hit + 50);
    CHECK_EQ(by[0], by[1]);
    return check_done();
}
