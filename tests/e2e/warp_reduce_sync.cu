// FLAGS: -arch=sm_80
/* SPDX-License-Identifier: Apache-2.0 */
/* __reduce_add/min/max/and/or/xor_sync, signed and unsigned, full and partial masks. */
#include "check.h"

__global__ void reduce(const int *in, unsigned mask, unsigned *out)
{
    int lane = threadIdx.x;
    if (!(mask >> lane & 1))
        return;
    int s = in[lane];
    unsigned u = (unsigned)s;
    unsigned *o = out + lane * 9;
    o[0] = (unsigned)__reduce_add_sync(mask, s);
    o[1] = (unsigned)__reduce_min_sync(mask, s);
    o[2] = (unsigned)__reduce_max_sync(mask, s);
    o[3] = __reduce_add_sync(mask, u);
    o[4] = __reduce_min_sync(mask, u);
    o[5] = __reduce_max_sync(mask, u);
    o[6] = __reduce_and_sync(mask, u | 0xf0u);
    o[7] = __reduce_or_sync(mask, u);
    o[8] = __reduce_xor_sync(mask, u);
}

int main(void)
{
    const unsigned masks[] = {0xffffffffu, 0x0000ffffu, 0xaaaaaaaau, 0x80000001u, 0x00000010u};
    int *in = check_managed<int>(32);
    unsigned *out = check_managed<unsigned>(32 * 9);
    uint32_t seed = 4242;
    for (int i = 0; i < 32; i++)
        in[i] = (int)check_random(&seed);
    for (int m = 0; m < 5; m++) {
        unsigned mask = masks[m];
        reduce<<<1, 32>>>(in, mask, out);
        KERNEL_OK();
        unsigned e[9] = {0, 0x7fffffffu, 0x80000000u, 0, ~0u, 0, ~0u, 0, 0};
        for (int l = 0; l < 32; l++) {
            if (!(mask >> l & 1))
                continue;
            unsigned u = (unsigned)in[l];
            e[0] += u;
            e[1] = in[l] < (int)e[1] ? u : e[1];
            e[2] = in[l] > (int)e[2] ? u : e[2];
            e[3] += u;
            e[4] = u < e[4] ? u : e[4];
            e[5] = u > e[5] ? u : e[5];
            e[6] &= u | 0xf0u;
            e[7] |= u;
            e[8] ^= u;
        }
        for (int l = 0; l < 32; l++)
            for (int k = 0; k < 9; k++)
                if (mask >> l & 1)
                    CHECK_EQ(out[l * 9 + k], e[k]);
    }
    return check_done();
}
