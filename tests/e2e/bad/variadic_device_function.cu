// STAGE: compile
// EXIT: 1
// STDERR: variadic_device_function\.cu:13:21: error: CUDA device code does not support va_arg
/* SPDX-License-Identifier: Apache-2.0 */
/* A variadic function on the device that reads its arguments. One that does not is accepted, as by nvcc. */
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
