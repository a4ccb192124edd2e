// STAGE: compile
// EXIT: 1
// STDERR: variadic_device_function\.cu:7:29: error: CUDA device code does not support variadic functions
/* SPDX-License-Identifier: Apache-2.0 */
/* A variadic function of ours on the device. */
#include <stdarg.h>
__device__ __noinline__ int sum(int n, ...)
{
    va_list args;
    va_start(args, n);
    int s = 0;
    while (n--)
        s += va_arg(args, int);
    va_end(args);
    return s;
}
__global__ void k(int *out) { *out = sum(2, 3, 4); }
int main(void) { return 0; }
