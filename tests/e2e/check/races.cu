/* SPDX-License-Identifier: Apache-2.0 */
/* One kernel a run, chosen by name: races between threads of a block, and what looks like one. */
#include <stdio.h>
#include <string.h>

#define N 256

__global__ void lanes_shared(int *out, const int *in)
{
    __shared__ int tile[N];
    int t = threadIdx.x;
    tile[t] = in[t] + 1; /* lanes write */
    out[t] = tile[t ^ 1]; /* their neighbours read */
}

__global__ void lanes_global(int *out, volatile int *work)
{
    int t = threadIdx.x;
    if (t < 16) work[t] += work[t + 16]; /* the upper half is added */
    if (t < 8) work[t] += work[t + 8]; /* and its upper half */
    if (t == 0) out[0] = work[0];
}

__global__ void warps_shared(int *out, const int *in)
{
    __shared__ int tile[N];
    int t = threadIdx.x;
    tile[t] = in[t]; /* each its own */
    out[t] = tile[N - 1 - t]; /* another warp's */
}

__global__ void lost_update(int *count) { count[0] += 1; }

namespace counters {
template <int STEP> __global__ void lost(int *count) { count[0] += STEP; }
} // namespace counters

__device__ int total;

__global__ void variable(int n)
{
    if (threadIdx.x == 0) total = n; /* one sets it */
    else atomicAdd(&total, 1); /* all others add */
}

/* Stores of neighbouring bytes, of one value by all threads, and to arrays of a thread; reads of what a barrier or a
 * warp's meeting separates; atomics. */
__global__ void right(int *out, const int *in, int *count, char *bytes)
{
    __shared__ int tile[N];
    __shared__ bool any;
    int t = threadIdx.x, own[8];
    tile[t] = in[t];
    bytes[t] = (char)t;
    any = true;
    __syncthreads();
    int sum = tile[N - 1 - t];
    __syncthreads();
    for (int step = 16; t < 32 && step > 0; step >>= 1) {
        if (t < step) tile[t] += tile[t + step];
        __syncwarp();
    }
    __syncthreads();
    for (int i = 0; i < 8; i++) own[(i + t) & 7] = sum + i;
    out[t] = own[sum & 7] + __shfl_xor_sync(~0u, sum, 1) + (any ? tile[0] : 0);
    atomicAdd(count, 1);
}

__global__ void locked(int *lock, int *value)
{
    if (threadIdx.x % 32 != 0) return;
    while (atomicCAS(lock, 0, 1) != 0) {}
    __threadfence();
    *value += 1;
    __threadfence();
    atomicExch(lock, 0);
}

/* Blocks follow each other in one place of the machine. */
__global__ void reversed(int *out)
{
    __shared__ int tile[N];
    tile[threadIdx.x] = blockIdx.x + threadIdx.x;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = tile[N - 1 - threadIdx.x];
}

/* PTX makes atomic accesses of whole vectors. */
__global__ void vectors(ulonglong2 *pairs, int *out)
{
    ulonglong2 *pair = &pairs[threadIdx.x % 4], v;
    for (int turn = 0; turn < 3; turn++)
        asm volatile("st.relaxed.gpu.v2.u64 [%0], {%1, %2};" ::"l"(pair), "l"(1ull), "l"(threadIdx.x + 0ull) : "memory");
    asm volatile("ld.relaxed.gpu.v2.u64 {%0, %1}, [%2];" : "=l"(v.x), "=l"(v.y) : "l"(pair) : "memory");
    out[threadIdx.x] = (int)v.x;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int *in, *out;
    char *bytes;
    cudaMalloc(&in, N * sizeof(int));
    cudaMalloc(&out, 16 * N * sizeof(int));
    cudaMalloc(&bytes, N);
    cudaMemset(in, 0, N * sizeof(int));
    cudaMemset(out, 0, 16 * N * sizeof(int));
    if (!strcmp(what, "lanes_shared")) lanes_shared<<<1, 32>>>(out, in);
    if (!strcmp(what, "lanes_global")) lanes_global<<<1, 32>>>(out, in);
    if (!strcmp(what, "warps_shared")) warps_shared<<<1, N>>>(out, in);
    if (!strcmp(what, "lost_update")) lost_update<<<2, 32>>>(out);
    if (!strcmp(what, "template")) counters::lost<2><<<2, 32>>>(out);
    if (!strcmp(what, "variable")) variable<<<1, 32>>>(3);
    if (!strcmp(what, "right")) right<<<16, N>>>(out, in, out + N, bytes);
    if (!strcmp(what, "locked")) locked<<<16, N>>>(out, out + 1);
    if (!strcmp(what, "reversed")) reversed<<<16, N>>>(out);
    if (!strcmp(what, "vectors")) vectors<<<1, N>>>((ulonglong2 *)in, out);
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
    cudaFree(in);
    cudaFree(out);
    cudaFree(bytes);
    return 0;
}
