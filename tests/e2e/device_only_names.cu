// SPDX-License-Identifier: Apache-2.0
/* Templates whose code is for the device only: they use what is declared for it alone, which nvcc accepts. */
#include "check.h"

#ifdef __CUDA_ARCH__
inline __device__ float smaller(float *place, float value) {
    float old = *place;
    for (float assumed; value < old;) {
        assumed = old;
        old = __int_as_float(atomicCAS((int *)place, __float_as_int(assumed), __float_as_int(value)));
        if (old == assumed) break;
    }
    return old;
}
#endif

template <typename T>
__device__ T read(const T *from) {
    typename T::inner plain = {'}', "{ // no comment"};
    return plain.sign == '}' ? *from : T();
}

struct outside {
    struct inner {
        char sign;
        const char *text;
    };
    float value;
};

#ifdef __CUDA_ARCH__
__device__ outside made_of(float value) { return {value}; }
#endif

template <typename T>
__global__ void minimum(T *least, const T *values, int count)
{
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        smaller(least, values[i]);
}

template <typename T>
__global__ void shift(T *values)
{
    T own = read(values + threadIdx.x);
    values[threadIdx.x] = made_of(own.value + 1);
}

int main()
{
    const int count = 1000;
    float *values = check_managed<float>(count), *least = check_managed<float>(1);
    float expected = *least = 1e9f;
    for (int i = 0; i < count; i++) {
        values[i] = (float)((i * 37 + 11) % 1009 + 5);
        expected = values[i] < expected ? values[i] : expected;
    }
    minimum<<<1, 64>>>(least, values, count);
    KERNEL_OK();
    CHECK_EQ(*least, expected);
    outside *all = check_managed<outside>(32);
    for (int i = 0; i < 32; i++)
        all[i].value = (float)i;
    shift<<<1, 32>>>(all);
    KERNEL_OK();
    for (int i = 0; i < 32; i++)
        CHECK_EQ(all[i].value, (float)i + 1);
    return check_done();
}
