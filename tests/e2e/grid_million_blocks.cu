/* SPDX-License-Identifier: Apache-2.0 */
/* A grid of more than a million blocks, and a y dimension at its limit of 65535. */
#include "check.h"

__global__ void add_block(unsigned long long *sum, unsigned char *seen)
{
    seen[blockIdx.x] += 1;
    if (blockIdx.x % 4099 == 0)
        atomicAdd(sum, (unsigned long long)blockIdx.x);
}

__global__ void mark_row(unsigned char *seen)
{
    seen[blockIdx.y] += 1;
}

int main(void)
{
    const unsigned blocks = 1000003;
    unsigned long long *sum = check_managed<unsigned long long>(1);
    unsigned char *seen = check_managed<unsigned char>(blocks);
    add_block<<<blocks, 1>>>(sum, seen);
    KERNEL_OK();
    unsigned long long expected = 0;
    unsigned wrong = 0;
    for (unsigned b = 0; b < blocks; b++) {
        expected += b % 4099 == 0 ? b : 0;
        wrong += seen[b] != 1;
    }
    CHECK_EQ(*sum, expected);
    CHECK_EQ(wrong, 0u);
    memset(seen, 0, blocks);
    mark_row<<<dim3(1, 65535), 1>>>(seen);
    KERNEL_OK();
    for (unsigned b = 0; b < 65536; b++)
        wrong += seen[b] != (b < 65535);
    CHECK_EQ(wrong, 0u);
    return check_done();
}
