// SPDX-License-Identifier: Apache-2.0
// DEVICES: cpu sim:h200
// FLAGS: -arch=sm_80
/* Cache policies in inline PTX (createpolicy, .L2::cache_hint) have no effect on values. */
#include "check.h"

__global__ void policies(const int *in, int *out, int *sum)
{
    __shared__ __align__(16) int tile[128];
    const int t = threadIdx.x;
    unsigned long long policy, other, third;
    int v, w;
    asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    asm("createpolicy.fractional.L2::evict_last.L2::evict_unchanged.b64 %0;" : "=l"(other));
    asm("createpolicy.range.global.L2::evict_last.L2::evict_unchanged.b64 %0, [%1], 64, 128;"
        : "=l"(third) : "l"(in));
    const unsigned to = (unsigned)__cvta_generic_to_shared(&tile[4 * t]);
    asm volatile("{\n"
                 "  .reg .b64 p;\n"
                 "  createpolicy.fractional.L2::evict_first.b64 p, 1.0;"
                 "  cp.async.cg.shared.global.L2::cache_hint [%0], [%1], %2, p;\n"
                 "}\n" ::"r"(to), "l"(in + 4 * t), "n"(16));
    asm volatile("cp.async.commit_group;\n cp.async.wait_group 0;\n" ::: "memory");
    __syncthreads();
    asm volatile("ld.global.L1::no_allocate.L2::cache_hint.s32 %0, [%1], %2;"
                 : "=r"(v) : "l"(in + t), "l"(policy));
    asm volatile("ld.global.nc.L2::cache_hint.v2.s32 {%0, %1}, [%2], %3;"
                 : "=r"(w), "=r"(v) : "l"(in + 2 * t), "l"(other));
    asm volatile("st.global.L2::cache_hint.s32 [%0], %1, %2;"
                 ::"l"(out + t), "r"(tile[127 - t] + 10 * v + 100 * w), "l"(third) : "memory");
    asm volatile("red.global.add.L2::cache_hint.s32 [%0], %1, %2;" ::"l"(sum), "r"(t), "l"(policy) : "memory");
    /* a size and a policy: only the first bytes are read */
    __syncthreads();
    asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], 16, %2, %3;"
                 ::"r"(to), "l"(in + 4 * t), "r"(4 * (t % 5)), "l"(0x14F0000000000000ull));
    asm volatile("cp.async.wait_all;" ::: "memory");
    out[32 + t] = tile[4 * t] + tile[4 * t + 1] + tile[4 * t + 2] + tile[4 * t + 3];
}

int main()
{
    int *in = check_managed<int>(128), *out = check_managed<int>(64), *sum = check_managed<int>(1);
    for (int i = 0; i < 128; i++)
        in[i] = 3 * i + 1;
    *sum = 0;
    policies<<<1, 32>>>(in, out, sum);
    KERNEL_OK();
    for (int t = 0; t < 32; t++) {
        CHECK_EQ(out[t], in[127 - t] + 10 * in[2 * t + 1] + 100 * in[2 * t]);
        int part = 0;
        for (int i = 0; i < t % 5; i++)
            part += in[4 * t + i];
        CHECK_EQ(out[32 + t], part);
    }
    CHECK_EQ(*sum, 31 * 32 / 2);
    return check_done();
}
