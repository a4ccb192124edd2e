/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers by inline PTX: %tid %ntid %ctaid %nctaid %laneid %warpid %smid %nsmid %clock
 * %clock64 %globaltimer %lanemask_* %dynamic_smem_size. */
#include "check.h"

#define SPECIAL32(name, reg)                                                                       \
    __device__ unsigned name()                                                                     \
    {                                                                                              \
        unsigned v;                                                                                \
        asm volatile("mov.u32 %0, %" reg ";" : "=r"(v));                                           \
        return v;                                                                                  \
    }
SPECIAL32(tid_x, "%tid.x")
SPECIAL32(tid_y, "%tid.y")
SPECIAL32(ntid_x, "%ntid.x")
SPECIAL32(ctaid_x, "%ctaid.x")
SPECIAL32(nctaid_x, "%nctaid.x")
SPECIAL32(laneid, "%laneid")
SPECIAL32(warpid, "%warpid")
SPECIAL32(nwarpid, "%nwarpid")
SPECIAL32(smid, "%smid")
SPECIAL32(nsmid, "%nsmid")
SPECIAL32(clock32, "%clock")
SPECIAL32(mask_eq, "%lanemask_eq")
SPECIAL32(mask_lt, "%lanemask_lt")
SPECIAL32(mask_le, "%lanemask_le")
SPECIAL32(mask_gt, "%lanemask_gt")
SPECIAL32(mask_ge, "%lanemask_ge")
SPECIAL32(dynamic_bytes, "%dynamic_smem_size")

__device__ unsigned long long clock_wide()
{
    unsigned long long v;
    asm volatile("mov.u64 %0, %%clock64;" : "=l"(v));
    return v;
}
__device__ unsigned long long timer_ns()
{
    unsigned long long v;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(v)); // nvcc takes one percent sign
    return v;
}

__global__ void read(unsigned *out)
{
    unsigned thread = threadIdx.x + blockDim.x * threadIdx.y;
    unsigned *o = out + (blockIdx.x * blockDim.x * blockDim.y + thread) * 16;
    unsigned long long c0 = clock_wide(), t0 = timer_ns();
    unsigned c32 = clock32();
    o[0] = tid_x();
    o[1] = tid_y();
    o[2] = ntid_x();
    o[3] = ctaid_x();
    o[4] = nctaid_x();
    o[5] = laneid();
    o[6] = warpid();
    o[7] = smid() < nsmid() && warpid() < nwarpid();
    o[8] = mask_eq();
    o[9] = mask_lt();
    o[10] = mask_le();
    o[11] = mask_gt();
    o[12] = mask_ge();
    o[13] = dynamic_bytes();
    (void)c32;
    o[14] = clock_wide() >= c0 && timer_ns() >= t0 && t0 > 0;
}

int main(void)
{
    unsigned *out = check_managed<unsigned>(3 * 80 * 16);
    read<<<3, dim3(40, 2), 512>>>(out);
    KERNEL_OK();
    for (unsigned b = 0; b < 3; b++)
        for (unsigned t = 0; t < 80; t++) {
            unsigned *o = out + (b * 80 + t) * 16, lane = t % 32;
            CHECK_EQ(o[0], t % 40);
            CHECK_EQ(o[1], t / 40);
            CHECK_EQ(o[2], 40u);
            CHECK_EQ(o[3], b);
            CHECK_EQ(o[4], 3u);
            CHECK_EQ(o[5], lane);
            CHECK_EQ(o[6], out[(b * 80 + t / 32 * 32) * 16 + 6]); /* one number a warp … */
            if (t >= 32)
                CHECK(o[6] != out[(b * 80 + t - 32) * 16 + 6]); /* … and another in the next */
            CHECK_EQ(o[7], 1u);
            CHECK_EQ(o[8], 1u << lane);
            CHECK_EQ(o[9], (1u << lane) - 1);
            CHECK_EQ(o[10], (1u << lane) - 1 + (1u << lane));
            CHECK_EQ(o[11], ~((1u << lane) - 1 + (1u << lane)));
            CHECK_EQ(o[12], ~((1u << lane) - 1));
            CHECK_EQ(o[13], 512u);
            CHECK_EQ(o[14], 1u);
        }
    return check_done();
}
