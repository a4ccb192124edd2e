/* SPDX-License-Identifier: Apache-2.0 */
/* Constants of the host with external linkage, some of them tables of functions, beside constants that kernels use. */
#include "check.h"

extern const float least;
const float least = 1.5f;

static int twice(int x) { return 2 * x; }
struct entry { const char *name; int (*call)(int); };
extern const entry calls[];
const entry calls[] = {{"twice", twice}};

static const int powers[4] = {1, 10, 100, 1000};

__global__ void use(int *out) { out[threadIdx.x] = powers[threadIdx.x] + (int)(least * 2); }

int main(void)
{
    int *out = check_managed<int>(4);
    use<<<1, 4>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 4; i++)
        CHECK_EQ(out[i], powers[i] + 3);
    CHECK_EQ(calls[0].call(21), 42);
    CHECK_NEAR(least, 1.5f, 0);
    return check_done();
}
