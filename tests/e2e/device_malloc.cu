/* SPDX-License-Identifier: Apache-2.0 */
/* malloc and free in kernels: memory that lives within a kernel, between kernels, lists built by
 * threads, new and delete, the null pointer for a request that cannot be met. */
#include "check.h"

struct node {
    int value;
    node *next;
};

__device__ node *lists[64];

__global__ void build(int n)
{
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        node *k = (node *)malloc(sizeof(node));
        k->value = t * 100 + i;
        k->next = lists[t];
        lists[t] = k;
    }
}

__global__ void drain(int *sums)
{
    int t = threadIdx.x;
    node *k = lists[(t + 1) % 64]; /* another thread frees what this one made */
    while (k) {
        node *next = k->next;
        sums[t] += k->value;
        free(k);
        k = next;
    }
}

__global__ void scratch(int *out)
{
    int n = threadIdx.x % 7 + 1;
    int *a = (int *)malloc(n * sizeof(int));
    double *d = new double[n];
    out[threadIdx.x] = ((size_t)a % 16 == 0) + 2 * ((size_t)d % 16 == 0);
    for (int i = 0; i < n; i++) {
        a[i] = i;
        d[i] = i * 0.5;
    }
    memset(a, 0, sizeof(int));
    memcpy(a + n - 1, a, sizeof(int));
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += a[i] + d[i];
    out[64 + threadIdx.x] = (int)(sum * 2);
    free(a);
    delete[] d;
    free(NULL);
}

__global__ void too_much(int *out)
{
    lists[0] = (node *)malloc((size_t)1 << 62); /* kept where the compiler cannot forget it */
    out[0] = lists[0] == NULL;
    free(lists[0]);
}

int main(void)
{
    int *out = check_managed<int>(128);
    CUDA_OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 32 << 20));
    size_t heap = 0;
    CUDA_OK(cudaDeviceGetLimit(&heap, cudaLimitMallocHeapSize));
    CHECK(heap >= 32 << 20);
    build<<<1, 64>>>(50);
    build<<<1, 64>>>(10);
    drain<<<1, 64>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 64; t++)
        CHECK_EQ(out[t], (t + 1) % 64 * 100 * 60 + 49 * 25 + 45);
    scratch<<<1, 64>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 64; t++) {
        int n = t % 7 + 1, ints = n * (n - 1) / 2 - (n - 1);
        CHECK_EQ(out[t], 3);
        CHECK_EQ(out[64 + t], 2 * ints + n * (n - 1) / 2);
    }
    too_much<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 1);
    return check_done();
}
