// SPDX-License-Identifier: Apache-2.0
/* Inline PTX whose register's name a macro gives, after one percent sign at the end of a literal; nvcc takes it. */
#include "check.h"

#define AS_TEXT(x) #x
#define TEXT(x) AS_TEXT(x)
#define DEFINE_READER(name, type, letter, register_name)                                                               \
    __device__ type name()                                                                                             \
    {                                                                                                                  \
        type value;                                                                                                    \
        asm volatile("mov." TEXT(letter##32) " %0, %" TEXT(register_name) ";" : "=r"(value));                          \
        return value;                                                                                                  \
    }

DEFINE_READER(lane, unsigned, u, laneid)
DEFINE_READER(below, unsigned, u, lanemask_lt)

__global__ void kernel(unsigned *out)
{
    out[2 * threadIdx.x] = lane();
    out[2 * threadIdx.x + 1] = below();
}

int main()
{
    unsigned *out = check_managed<unsigned>(128);
    kernel<<<1, 64>>>(out);
    KERNEL_OK();
    for (unsigned i = 0; i < 64; i++) {
        CHECK_EQ(out[2 * i], i % 32);
        CHECK_EQ(out[2 * i + 1], (1u << i % 32) - 1);
    }
    return check_done();
}
