/* SPDX-License-Identifier: Apache-2.0 */
/* Inline PTX memory operations: ld and st with cache operators, shared-memory addresses, vector
 * loads, membar and fence, atom and red, volatile; prefetch and exit. */
#include "check.h"

__device__ unsigned load_cg(const unsigned *p)
{
    unsigned v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

__global__ void forms(const unsigned *in, const double *reals, unsigned *out, double *real_out)
{
    __shared__ unsigned tile[64];
    int t = threadIdx.x;
    unsigned v, w, x, y;
    double d;
    const unsigned *p = in + t;
    out += t * 16;
    out[0] = load_cg(p);
    asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p));
    out[1] = v;
    asm volatile("ld.global.cs.u32 %0, [%1+4];" : "=r"(v) : "l"(p));
    out[2] = v;
    asm volatile("ld.global.cv.u32 %0, [%1];" : "=r"(v) : "l"(p));
    out[3] = v;
    asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p));
    out[4] = v;
    asm volatile("ld.volatile.global.u32 %0, [%1];" : "=r"(v) : "l"(p));
    out[5] = v;
    asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(p));
    out[6] = v;
    asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v), "=r"(w), "=r"(x), "=r"(y) : "l"(in + 4 * (t / 4)));
    out[7] = v + w * 3 + x * 5 + y * 7;
    asm volatile("ld.global.cg.f64 %0, [%1];" : "=d"(d) : "l"(reals + t));
    asm volatile("st.global.cg.f64 [%0], %1;" : : "l"(real_out + t), "d"(d * 2) : "memory");
    asm volatile("st.global.wt.u32 [%0], %1;" : : "l"(out + 8), "r"(t * 9u) : "memory");

    unsigned address = (unsigned)__cvta_generic_to_shared(&tile[t]);
    asm volatile("st.shared.u32 [%0], %1;" : : "r"(address), "r"(t * 11u) : "memory");
    asm volatile("membar.cta;" ::: "memory");
    __syncthreads();
    unsigned other = (unsigned)__cvta_generic_to_shared(tile) + 4 * (63 - t);
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(other) : "memory");
    out[9] = v;
    __syncthreads();
    asm volatile("atom.shared.add.u32 %0, [%1], %2;" : "=r"(v) : "r"(address), "r"(5u) : "memory");
    out[10] = v;
    out[11] = tile[t];
    asm volatile("membar.gl;" ::: "memory");
    asm volatile("membar.sys;" ::: "memory");
    asm volatile("prefetch.global.L2 [%0];" : : "l"(p));
}

__global__ void contended(unsigned *sum, unsigned long long *wide, unsigned *ticket)
{
    unsigned v;
    asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(sum), "r"(1u) : "memory");
    ticket[v] += 1;
    asm volatile("red.global.add.u32 [%0], %1;" : : "l"(sum + 1), "r"(threadIdx.x) : "memory");
    asm volatile("red.global.max.u32 [%0], %1;" : : "l"(sum + 2), "r"(threadIdx.x) : "memory");
    asm volatile("atom.global.exch.b32 %0, [%1], %2;" : "=r"(v) : "l"(sum + 3), "r"(9u) : "memory");
    asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;"
                 : "=r"(v) : "l"(sum + 4), "r"(0u), "r"(threadIdx.x + 1) : "memory");
    asm volatile("red.global.add.u64 [%0], %1;" : : "l"(wide), "l"(1ull << 33) : "memory");
    if (threadIdx.x == 3)
        asm volatile("exit;");
    atomicAdd(sum + 5, 1u);
}

int main(void)
{
    unsigned *in = check_managed<unsigned>(68), *out = check_managed<unsigned>(64 * 16);
    double *reals = check_managed<double>(64), *real_out = check_managed<double>(64);
    for (int i = 0; i < 68; i++)
        in[i] = 100 + i * i;
    for (int i = 0; i < 64; i++)
        reals[i] = i + 0.125;
    forms<<<1, 64>>>(in, reals, out, real_out);
    KERNEL_OK();
    for (unsigned t = 0; t < 64; t++) {
        unsigned *o = out + t * 16, *q = in + t / 4 * 4;
        CHECK_EQ(o[0], in[t]);
        CHECK_EQ(o[1], in[t]);
        CHECK_EQ(o[2], in[t + 1]);
        for (int i = 3; i < 7; i++)
            CHECK_EQ(o[i], in[t]);
        CHECK_EQ(o[7], q[0] + q[1] * 3 + q[2] * 5 + q[3] * 7);
        CHECK_EQ(o[8], t * 9);
        CHECK_EQ(o[9], (63 - t) * 11);
        CHECK_EQ(o[10], t * 11);
        CHECK_EQ(o[11], t * 11 + 5);
        CHECK_EQ(real_out[t], reals[t] * 2);
    }
    unsigned *sum = check_managed<unsigned>(6), *ticket = check_managed<unsigned>(640);
    unsigned long long *wide = check_managed<unsigned long long>(1);
    contended<<<10, 64>>>(sum, wide, ticket);
    KERNEL_OK();
    CHECK_EQ(sum[0], 640u);
    CHECK_EQ(sum[1], 10u * 63 * 32);
    CHECK_EQ(sum[2], 63u);
    CHECK_EQ(sum[3], 9u);
    CHECK(sum[4] >= 1 && sum[4] <= 64);
    CHECK_EQ(sum[5], 630u);
    CHECK_EQ(*wide, 640ull << 33);
    for (int i = 0; i < 640; i++)
        CHECK_EQ(ticket[i], 1u);
    return check_done();
}
