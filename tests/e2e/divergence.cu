/* SPDX-License-Identifier: Apache-2.0 */
/* Control flow that differs between threads: nested branches, loops of different lengths, switch, goto,
 * break and continue, short circuits, returns from the middle. */
#include "check.h"

__host__ __device__ inline int wander(int x)
{
    int steps = 0;
    for (int i = 0; i < 100; i++) {
        if (x % 7 == 0)
            break;
        if (x % 2) {
            x = 3 * x + 1;
            if (x % 5 == 0)
                continue;
        } else {
            x /= 2;
        }
        steps++;
        while (x > 1000)
            x -= 333;
        switch (x % 6) {
        case 0:
            steps += 2;
        case 1:
            x++;
            break;
        case 4:
            if (steps > 40)
                return -x;
            x += 3;
        default:
            steps += x & 1;
        }
        if (x == 1 || (x > 50 && x % 11 == 0))
            goto out;
    }
    steps += 1000;
out:
    return steps * 10000 + x % 10000;
}

__global__ void wander_all(int *out) { out[blockIdx.x * blockDim.x + threadIdx.x] = wander(blockIdx.x * blockDim.x + threadIdx.x); }

int main(void)
{
    int *out = check_managed<int>(20 * 100);
    wander_all<<<20, 100>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 2000; i++)
        CHECK_EQ(out[i], wander(i));
    return check_done();
}
