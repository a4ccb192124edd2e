/* SPDX-License-Identifier: Apache-2.0 */
/* Names that nvcc takes as they are: one that is declared nowhere, in a function of a template that is not used,
 * a function with the name of a built-in one of clang's, and a class that each side declares in its own way. */
#include <stdint.h>

#include "check.h"

static inline uint64_t __rdtsc()
{
    uint32_t high, low;
    __asm__("rdtsc" : "=d"(high), "=a"(low));
    return (uint64_t)high << 32 | low;
}

template <int limbs> struct number {
    __device__ static uint32_t sum(const uint32_t *x)
    {
        uint32_t all = 0;
        for (int i = 0; i < limbs; i++)
            all += x[i];
        return all;
    }
    __device__ static uint32_t unused(const uint32_t *x)
    {
        any = or_of<limb_count>(x);
        return any;
    }
};

#ifdef __CUDA_ARCH__
struct place {
    __device__ explicit place(int scale) : at(scale * (int)threadIdx.x) {}
#else
struct place {
    __host__ explicit place(long long) : at(0) {}
    __host__ place(int, int) : at(0) {}
#endif
    int at;
};

template <int scale> __device__ int place_of()
{
    place here(scale);
    return here.at;
}

__global__ void sums(const uint32_t *x, uint32_t *out)
{
    out[threadIdx.x] = number<4>::sum(x + place_of<4>());
}

int main(void)
{
    const uint64_t before = __rdtsc();
    uint32_t *x = check_managed<uint32_t>(256), *out = check_managed<uint32_t>(64);
    for (int i = 0; i < 256; i++)
        x[i] = i;
    sums<<<1, 64>>>(x, out);
    KERNEL_OK();
    for (uint32_t i = 0; i < 64; i++)
        CHECK(out[i] == 16 * i + 6);
    CHECK(__rdtsc() > before);
    return check_done();
}
