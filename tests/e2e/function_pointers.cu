/* SPDX-License-Identifier: Apache-2.0 */
/* Function pointers on the device: a table in constant memory, one taken to the host by a symbol and
 * passed back as an argument, pointers in structs, a different target in each lane. */
#include "check.h"

typedef int (*operation)(int, int);
__device__ int add(int a, int b) { return a + b; }
__device__ int sub(int a, int b) { return a - b; }
__device__ int mul(int a, int b) { return a * b; }
__device__ __noinline__ int rem_of(int a, int b) { return b ? a % b : -1; }

__constant__ operation table[4] = {add, sub, mul, rem_of};
__device__ operation chosen = mul;

struct job {
    operation op;
    int a, b;
};

__global__ void by_table(int *out)
{
    int t = threadIdx.x;
    out[t] = table[t % 4](t * 5, t % 7);
}

__global__ void by_argument(operation op, int *out) { out[threadIdx.x] = op(threadIdx.x, 3); }

__global__ void by_struct(const job *jobs, int *out)
{
    job j = jobs[threadIdx.x];
    out[threadIdx.x] = j.op(j.a, j.b);
}

__global__ void pick_local(int *out)
{
    operation op = threadIdx.x & 1 ? add : sub;
    if (threadIdx.x % 5 == 0)
        op = NULL;
    out[threadIdx.x] = op ? op(10, (int)threadIdx.x) : -7;
}

/* a barrier on both sides of a call through a pointer, and one inside the called function */
__device__ int exchange(int value, int)
{
    __shared__ int slots[128];
    slots[threadIdx.x] = value;
    __syncthreads();
    int got = slots[(threadIdx.x + 1) % blockDim.x];
    __syncthreads();
    return got;
}
__device__ operation waits = exchange;
__global__ void barrier_inside(int *out)
{
    int v = waits((int)threadIdx.x, 0);
    v = waits(v * 2, 0);
    out[threadIdx.x] = v;
}

int main(void)
{
    int *out = check_managed<int>(128);
    by_table<<<1, 128>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 128; t++) {
        int a = t * 5, b = t % 7;
        int expected[] = {a + b, a - b, a * b, b ? a % b : -1};
        CHECK_EQ(out[t], expected[t % 4]);
    }
    operation from_device = NULL, ops[4];
    CUDA_OK(cudaMemcpyFromSymbol(&from_device, chosen, sizeof from_device));
    CUDA_OK(cudaMemcpyFromSymbol(ops, table, sizeof ops));
    CHECK(from_device == ops[2]);
    by_argument<<<1, 128>>>(from_device, out);
    KERNEL_OK();
    for (int t = 0; t < 128; t++)
        CHECK_EQ(out[t], 3 * t);
    job *jobs = check_managed<job>(128);
    for (int t = 0; t < 128; t++) {
        jobs[t].op = ops[t / 32];
        jobs[t].a = t;
        jobs[t].b = 9;
    }
    by_struct<<<1, 128>>>(jobs, out);
    KERNEL_OK();
    for (int t = 0; t < 128; t++) {
        int expected[] = {t + 9, t - 9, t * 9, t % 9};
        CHECK_EQ(out[t], expected[t / 32]);
    }
    pick_local<<<1, 128>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 128; t++)
        CHECK_EQ(out[t], t % 5 == 0 ? -7 : t & 1 ? 10 + t : 10 - t);
    barrier_inside<<<1, 128>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 128; t++)
        CHECK_EQ(out[t], (t + 2) % 128 * 2);
    return check_done();
}
