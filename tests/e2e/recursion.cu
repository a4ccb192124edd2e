/* SPDX-License-Identifier: Apache-2.0 */
/* Recursive device functions: simple, mutual, tree-shaped with local arrays, with barriers around. */
#include "check.h"

__device__ unsigned long long factorial(unsigned n) { return n < 2 ? 1 : n * factorial(n - 1); }
__device__ int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }
__device__ int ackermann(int m, int n)
{
    return m == 0 ? n + 1 : n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
__device__ bool is_odd(int n);
__device__ bool is_even(int n) { return n == 0 || is_odd(n - 1); }
__device__ bool is_odd(int n) { return n != 0 && is_even(n - 1); }

__device__ void quicksort(int *data, int first, int outer)
{
    if (outer - first < 2)
        return;
    int pivot = data[(first + outer) / 2], i = first, j = outer - 1;
    while (i <= j) {
        while (data[i] < pivot)
            i++;
        while (data[j] > pivot)
            j--;
        if (i <= j) {
            int t = data[i];
            data[i++] = data[j];
            data[j--] = t;
        }
    }
    quicksort(data, first, j + 1);
    quicksort(data, i, outer);
}

__global__ void numbers(unsigned long long *out)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = fibonacci(t % 12);
    __syncthreads();
    out[t] = factorial(t % 20) + (unsigned long long)tile[31 - t] * 2 + is_even(t);
    if (t < 4)
        out[32 + t] = ackermann(2, t);
}

__global__ void sorts(int *data)
{
    quicksort(data + threadIdx.x * 50, 0, 50);
}

int main(void)
{
    unsigned long long *out = check_managed<unsigned long long>(36);
    numbers<<<1, 32>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 32; t++) {
        unsigned long long f = 1;
        for (int i = 2; i <= t % 20; i++)
            f *= i;
        int a = 0, b = 1;
        for (int i = 0; i < (31 - t) % 12; i++) {
            int c = a + b;
            a = b;
            b = c;
        }
        CHECK_EQ(out[t], f + 2ull * a + (t % 2 == 0));
    }
    for (int n = 0; n < 4; n++)
        CHECK_EQ(out[32 + n], 2ull * n + 3);
    int *data = check_managed<int>(64 * 50);
    uint32_t seed = 12345;
    long long sum = 0, sorted_sum = 0;
    for (int i = 0; i < 64 * 50; i++)
        sum += data[i] = (int)(check_random(&seed) % 1000);
    sorts<<<1, 64>>>(data);
    KERNEL_OK();
    for (int i = 0; i < 64 * 50; i++) {
        sorted_sum += data[i];
        if (i % 50)
            CHECK(data[i - 1] <= data[i]);
    }
    CHECK_EQ(sorted_sum, sum);
    return check_done();
}
