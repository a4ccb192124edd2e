/* SPDX-License-Identifier: Apache-2.0 */
/* __shfl_sync, _up, _down, _xor: every width and offset, against the definition. */
#include "check.h"

__global__ void all_forms(int *out)
{
    int lane = threadIdx.x, v = 1000 + lane, k = 0;
    for (int width = 1; width <= 32; width *= 2)
        for (int d = 0; d < 34; d++) {
            out[k++ * 32 + lane] = __shfl_sync(0xffffffffu, v, d, width);
            out[k++ * 32 + lane] = __shfl_up_sync(0xffffffffu, v, d % 32, width);
            out[k++ * 32 + lane] = __shfl_down_sync(0xffffffffu, v, d % 32, width);
            out[k++ * 32 + lane] = __shfl_xor_sync(0xffffffffu, v, d % 32, width);
        }
}

__global__ void each_lane_its_own(int *out)
{
    int lane = threadIdx.x % 32;
    out[threadIdx.x] = __shfl_sync(0xffffffffu, (int)threadIdx.x, (lane * 7 + 3) % 32)
                       + 1000 * __shfl_sync(0xffffffffu, (int)threadIdx.x, -1 - lane);
}

int main(void)
{
    int *out = check_managed<int>(6 * 34 * 4 * 32);
    all_forms<<<1, 32>>>(out);
    KERNEL_OK();
    int k = 0;
    for (int width = 1; width <= 32; width *= 2)
        for (int d = 0; d < 34; d++, k += 4)
            for (int lane = 0; lane < 32; lane++) {
                int first = lane / width * width, in = lane % width, s = d % 32;
                CHECK_EQ(out[(k + 0) * 32 + lane], 1000 + first + d % width);
                CHECK_EQ(out[(k + 1) * 32 + lane], 1000 + (in - s >= 0 ? lane - s : lane));
                CHECK_EQ(out[(k + 2) * 32 + lane], 1000 + (in + s < width ? lane + s : lane));
                /* xor may reach below its segment, but not above it */
                int partner = lane ^ s;
                CHECK_EQ(out[(k + 3) * 32 + lane], 1000 + (partner < first + width ? partner : lane));
            }
    each_lane_its_own<<<1, 96>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 96; t++) {
        int base = t / 32 * 32, lane = t % 32;
        CHECK_EQ(out[t], base + (lane * 7 + 3) % 32 + 1000 * (base + 31 - lane));
    }
    return check_done();
}
