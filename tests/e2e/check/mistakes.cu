/* SPDX-License-Identifier: Apache-2.0 */
/* One mistake a run, chosen by name; "none" makes none. Prints the error that CUDA answers with. */
#include <stdio.h>
#include <string.h>

struct pair {
    int a, b;
};

__device__ int table[16];
__constant__ float coefficients[8];

__global__ void global_over(int *out, int n) { out[n + threadIdx.x] = 1; }
__global__ void global_under(const int *in, int *out, int n) { out[threadIdx.x] = in[(int)threadIdx.x - n]; }
__global__ void straddle(long long *out, int bytes) { *(long long *)((char *)out + bytes) = 1; }
__global__ void shared_static(int *out, int n)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x + n];
}
__global__ void shared_dynamic(int *out, int n)
{
    extern __shared__ int dynamic[];
    dynamic[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = dynamic[threadIdx.x + n];
}
__global__ void local_array(int *out, int n)
{
    int a[8];
    for (int i = 0; i < 8; i++)
        a[i] = i * n;
    out[threadIdx.x] = a[n + threadIdx.x];
}
__global__ void constant_variable(float *out, int n) { out[threadIdx.x] = coefficients[threadIdx.x + n]; }
__global__ void device_variable(int n) { table[threadIdx.x + n] = 3; }
__global__ void misaligned(char *p, int n) { *(int *)(p + n) = 7; }
__global__ void atomic_over(int *p, int n) { atomicAdd(&p[n], 1); }
__global__ void copies(pair *to, const pair *from, int n) { memcpy(to, from + n, sizeof(pair) * (n + 1)); }
__global__ void store(int *p) { p[threadIdx.x] = 1; }
__global__ void neighbours(int *out, const int *in, int n)
{
    int i = threadIdx.x + n;
    out[i] = in[i - 1] + in[i] + in[i + 1]; /* the last one leaves */
}
__global__ void two_barriers(int *out)
{
    if (threadIdx.x < 40) {
        out[threadIdx.x] = 1;
        __syncthreads(); /* some wait here */
        out[threadIdx.x ^ 1] += 3;
    } else {
        out[threadIdx.x] = 2;
        __syncthreads(); /* others here */
        out[threadIdx.x ^ 1] *= 5;
    }
}
__global__ void same_arms(int *out)
{
    out[threadIdx.x] = 1;
    if (threadIdx.x < 40)
        __syncthreads(); /* an arm of nothing else */
    else
        __syncthreads(); /* the other arm is the same */
    out[threadIdx.x ^ 1] += 1;
}
__global__ void one_line(int *out)
{
    out[threadIdx.x] = 1;
    if (threadIdx.x < 40) __syncthreads(); else __syncthreads(); /* two on one line */
    out[threadIdx.x ^ 1] += 1;
}
__device__ void meet() { __syncthreads(); }
__device__ void meet_later(int *out)
{
    out[threadIdx.x] = 2;
    meet(); /* from a function */
}
__global__ void in_function(int *out)
{
    if (threadIdx.x < 40)
        meet_later(out); /* some call it here */
    else if (threadIdx.x < 50)
        meet(); /* others call it here */
    else
        meet_later(out);
    out[threadIdx.x ^ 1] += 1;
}
__global__ void counting(int *out)
{
    int n;
    if (threadIdx.x < 40)
        n = __syncthreads_count(1); /* some count here */
    else
        n = __syncthreads_count(1); /* others count here */
    out[threadIdx.x] = n;
}
__global__ void numbered(int *out)
{
    if (threadIdx.x < 40)
        __barrier_sync(3); /* some at barrier 3 */
    else
        __barrier_sync(3); /* others at it here */
    out[threadIdx.x] = 1;
}
/* One barrier, which the unrolled loop has copies of. Threads meet there in different turns. */
__global__ void copied_barrier(int *out)
{
    for (int i = 0; i < 4; i++) {
        out[threadIdx.x] += i;
        if (threadIdx.x % 2 == i % 2)
            meet();
    }
}
/* A barrier that counts its threads may be reached at several places. */
__global__ void counted_threads(int *out)
{
    if (threadIdx.x < 32)
        __barrier_sync_count(1, 64);
    else
        __barrier_sync_count(1, 64);
    out[threadIdx.x] = 1;
}
__global__ void early_return(int *out, int n)
{
    if (threadIdx.x >= n)
        return;
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x ^ 1] += 1;
}

int main(int argc, char **argv)
{
    const char *which = argc > 1 ? argv[1] : "none";
    int *x, on_stack[4], *gone;
    cudaMalloc(&x, 1000);
    cudaMalloc(&gone, 64);
    cudaFree(gone);
#define IS(name) (strcmp(which, name) == 0)
    if (IS("global_over")) global_over<<<1, 4>>>(x, 248);
    if (IS("global_under")) global_under<<<1, 4>>>(x, x, 1);
    if (IS("straddle")) straddle<<<1, 1>>>((long long *)x, 996);
    if (IS("shared_static")) shared_static<<<2, 32>>>(x, 1);
    if (IS("shared_dynamic")) shared_dynamic<<<1, 32, 128>>>(x, 2);
    if (IS("local_array")) local_array<<<1, 1>>>(x, 9);
    if (IS("constant_variable")) constant_variable<<<1, 4>>>((float *)x, 5);
    if (IS("device_variable")) device_variable<<<1, 8>>>(9);
    if (IS("misaligned")) misaligned<<<1, 1>>>((char *)x, 5);
    if (IS("atomic_over")) atomic_over<<<1, 1>>>(x, 250);
    if (IS("copies")) copies<<<1, 1>>>((pair *)x, (pair *)x, 100);
    if (IS("null")) store<<<1, 1>>>(NULL);
    if (IS("host_memory")) store<<<1, 1>>>(on_stack);
    if (IS("wild")) store<<<1, 1>>>((int *)0x123456789000);
    if (IS("freed")) store<<<1, 4>>>(gone);
    if (IS("freed_later")) {
        int *later;
        cudaMalloc(&later, 64);
        for (int i = 0; i < 3; i++)
            store<<<4, 4>>>(later);
        cudaFree(later);
        store<<<1, 4>>>(later);
    }
    if (IS("neighbours")) neighbours<<<1, 64>>>(x, x + 125, 62);
    if (IS("two_barriers")) two_barriers<<<1, 64>>>(x);
    if (IS("same_arms")) same_arms<<<1, 64>>>(x);
    if (IS("one_line")) one_line<<<1, 64>>>(x);
    if (IS("in_function")) in_function<<<1, 64>>>(x);
    if (IS("counting")) counting<<<1, 64>>>(x);
    if (IS("numbered")) numbered<<<1, 64>>>(x);
    if (IS("copied_barrier")) copied_barrier<<<1, 64>>>(x);
    if (IS("counted_threads")) counted_threads<<<1, 64>>>(x);
    if (IS("early_return")) early_return<<<1, 64>>>(x, 40);
    if (IS("none")) store<<<1, 250>>>(x);
    printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    if (!IS("leak")) cudaFree(x);
    return 0;
}
