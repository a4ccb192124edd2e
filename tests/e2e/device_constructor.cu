/* SPDX-License-Identifier: Apache-2.0 */
/* A constructor of a template that is only for the device, which the host calls: with nvcc, the host's compiler decides, and
 * it knows no sides. */
#include "check.h"

template <int step> struct range {
    struct part {
        int first, count;
        __device__ part(int first, int count) : first(first), count(count) {}
        __device__ int last() const
        {
            return first + count - 1;
        }
    };
    static part on_host(int number)
    {
        return part(number * step, step);
    }
};

__global__ void parts(int *lasts)
{
    const range<5>::part part(5 * (int)threadIdx.x, 5);
    lasts[threadIdx.x] = part.last();
}

int main(void)
{
    enum { COUNT = 64 };
    int *lasts = check_managed<int>(COUNT);
    parts<<<1, COUNT>>>(lasts);
    KERNEL_OK();
    for (int i = 0; i < COUNT; i++) {
        const range<5>::part part = range<5>::on_host(i);
        CHECK_EQ(lasts[i], part.first + part.count - 1);
    }
    return check_done();
}
