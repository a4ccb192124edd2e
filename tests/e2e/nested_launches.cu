// DEVICES: cpu sim (a GPU needs NVIDIA's device runtime)
/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that launch kernels: arguments, templates, order in the streams of a grid, tail launches,
 * waiting in the kernel, copies and fills, events, errors of launches. */
#include "check.h"

struct triple {
    int a;
    double b;
    char c;
};

namespace inner {
__global__ void store(int *out, int value)
{
    out[threadIdx.x] = value;
}
} // namespace inner

template <class T> __global__ void arguments(int *out, const T *from, triple t, short s, T extra)
{
    out[0] = from == NULL;
    out[1] = t.a + (int)t.b + t.c;
    out[2] = s;
    out[3] = (int)extra;
    out[4] = (int)(gridDim.x * 100 + blockDim.y);
}

/* Two kernels of one name. */
__global__ void twice(int *out) { out[0] = 1; }
__global__ void twice(int *out, int value) { out[1] = value; }

/* Template arguments that follow from the call's. */
template <int by, class Out, class T>
__global__ void scaled(Out *const out, const T value, const unsigned place) { out[place] = by * value; }

template <class T> __global__ void launch_deduced(T *out, T value)
{
    const unsigned first = 2;
    scaled<3><<<1, 1>>>(out, value, first); // one line
    scaled<5><<<1, 1>>>(
        out, /* of
                several */ value + 1, // lines
        first + 1);
}

/* More parameters than there are names for. */
template <class T>
__global__ void many(T *out, int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, T k)
{
    out[4] = a + b + c + d + e + f + g + h + i + j + k;
}

__global__ void launch_many(int *out, int one) { many<<<1, 1>>>(out, one, one, one, 1, 1, 1, 1, 1, 1, 1, one); }

__global__ void launch_overloaded(int *out)
{
    if (threadIdx.x == 0)
        twice<<<1, 1>>>(out);
    else
        twice<<<1, 1, 0, cudaStreamFireAndForget>>>(out, max(2, 9));
}

__global__ void launch_arguments(int *out)
{
    const triple t = {100, 20.0, 3};
    arguments<float><<<dim3(7), dim3(1, 9)>>>(out, NULL, t, 5, 6.5f);
    arguments<double> <<<7, dim3(1, 9), 0, 0>>>(out + 8, 0, {1, 2, 4}, -3, threadIdx.x);
    inner::store<<<1, 4>>>(out + 16, 1 << 5);
    ::inner::store<<<(1 > 0) ? 1 : 2, 4>>>(out + 20, 2);
}

/* Each launch reads what the one before wrote. */
__global__ void step(unsigned *state)
{
    *state = *state * 3 + 1;
}
__global__ void launch_in_order(unsigned *states, int count)
{
    for (int i = 0; i < count; i++)
        step<<<1, 1>>>(&states[blockIdx.x]);
}

/* Threads of a block launch to its stream after each other: every launch counts once. */
__global__ void add(unsigned *sum, unsigned value)
{
    atomicAdd(sum, value);
}
__global__ void launch_from_all(unsigned *sum, cudaStream_t stream)
{
    add<<<2, 32, 0, stream>>>(sum, threadIdx.x);
}

/* The tail runs when all others have, and before what follows in the host's stream. */
__global__ void tail(unsigned *sum, unsigned *seen)
{
    *seen = *sum;
}
__global__ void launch_tail(unsigned *sum, unsigned *seen)
{
    if (threadIdx.x == 0) tail<<<1, 1, 0, cudaStreamTailLaunch>>>(sum, seen);
    add<<<1, 32, 0, cudaStreamFireAndForget>>>(sum, 1);
}

/* Recursion: a binary tree of grids. */
__global__ void tree(unsigned *leaves, int depth)
{
    if (depth == 0) {
        atomicAdd(leaves, 1);
        return;
    }
    tree<<<1, 2>>>(leaves, depth - 1);
}

/* Waiting for children in the kernel, as in CUDA 11. */
__global__ void sum_up(const int *values, int n, int *sum)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(sum, values[i]);
}
__global__ void fill_numbers(int *values, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) values[i] = i;
}
__global__ void wait_for_children(int *values, int n, int *sums, int *errors)
{
    int *mine = values + blockIdx.x * n;
    if (threadIdx.x == 0) {
        fill_numbers<<<(n + 63) / 64, 64>>>(mine, n);
        errors[blockIdx.x] = cudaDeviceSynchronize();
        mine[0] = mine[n - 1]; /* the children's values are there */
    }
    __syncthreads();
    if (threadIdx.x == 1) {
        sum_up<<<1, 32>>>(mine, n, &sums[blockIdx.x]);
        if (cudaDeviceSynchronize() != cudaSuccess) errors[blockIdx.x] = -1;
        sums[blockIdx.x] += 1;
    }
}

/* Copies and fills. */
__global__ void copy(int *to, int *from, int n)
{
    cudaMemsetAsync(to, 0xff, n * sizeof(int));
    cudaMemcpyAsync(to, from, (n - 1) * sizeof(int), cudaMemcpyDeviceToDevice);
}

/* Two streams, one of which waits for the other. */
__global__ void slow_step(unsigned *state, unsigned by)
{
    unsigned x = *state;
    for (unsigned i = 0; i < by; i++)
        x = x * 3 + 1;
    *state = x;
}
__global__ void with_events(unsigned *state)
{
    cudaStream_t first, second;
    cudaEvent_t event;
    cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    slow_step<<<1, 1, 0, first>>>(state, 1000);
    cudaEventRecord(event, first);
    cudaStreamWaitEvent(second, event, 0);
    step<<<1, 1, 0, second>>>(state);
    cudaEventDestroy(event);
    cudaStreamDestroy(first);
    cudaStreamDestroy(second);
}

/* In a function of host and device, too. */
__host__ __device__ void store_by(int *out, int value)
{
    inner::store<<<1, 1>>>(out, value);
}
__global__ void calls_function(int *out)
{
    store_by(out, 21);
}

__global__ void memory_and_device(int *out)
{
    float *made = NULL;
    out[0] = cudaMalloc(&made, 64 * sizeof *made);
    made[63] = 1.5f;
    out[1] = (int)(made[63] * 2);
    out[2] = cudaFree(made);
    out[3] = cudaDeviceGetAttribute(&out[4], cudaDevAttrWarpSize, 0);
    out[5] = cudaGetDevice(&out[6]);
}

int main(void)
{
    int *out = check_managed<int>(1 << 16);
    unsigned *sums = check_managed<unsigned>(1024);

    launch_arguments<<<1, 1>>>(out);
    KERNEL_OK();
    const int expected[] = {1, 123, 5, 6, 709, 0, 0, 0, 1, 7, -3, 0, 709, 0, 0, 0, 32, 32, 32, 32, 2, 2, 2, 2};
    for (int i = 0; i < 24; i++)
        CHECK_EQ(out[i], expected[i]);

    launch_overloaded<<<1, 2>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 1);
    CHECK_EQ(out[1], 9);
    launch_deduced<<<1, 1>>>(out, 7);
    launch_many<<<1, 1>>>(out, 1);
    KERNEL_OK();
    CHECK_EQ(out[2], 21);
    CHECK_EQ(out[3], 40);
    CHECK_EQ(out[4], 11);

    launch_in_order<<<3, 1>>>(sums, 20);
    KERNEL_OK();
    unsigned state = 0;
    for (int i = 0; i < 20; i++)
        state = state * 3 + 1;
    for (int b = 0; b < 3; b++)
        CHECK_EQ(sums[b], state);

    cudaStream_t streams[] = {0, cudaStreamPerThread, cudaStreamFireAndForget, cudaStreamTailLaunch};
    for (int s = 0; s < 4; s++) {
        memset(sums, 0, 16);
        launch_from_all<<<4, 64>>>(sums, streams[s]);
        KERNEL_OK();
        CHECK_EQ(sums[0], 4u * 64u * 63u / 2u * 64u);
    }

    memset(sums, 0, 16);
    launch_tail<<<1, 128>>>(sums, sums + 1);
    KERNEL_OK();
    CHECK_EQ(sums[1], 128u * 32u);

    memset(sums, 0, 16);
    tree<<<1, 2>>>(sums, 7);
    KERNEL_OK();
    CHECK_EQ(sums[0], 1u << 8);

    const int n = 1000, blocks = 5;
    memset(out, 0, (size_t)(1 << 16) * sizeof(int));
    int *errors = out + 60000, *totals = out + 61000;
    wait_for_children<<<blocks, 32>>>(out, n, totals, errors);
    KERNEL_OK();
    for (int b = 0; b < blocks; b++) {
        CHECK_EQ(errors[b], 0);
        CHECK_EQ(totals[b], n * (n - 1) / 2 + n - 1 + 1);
    }

    for (int i = 0; i < 100; i++)
        out[i] = i;
    copy<<<1, 1>>>(out + 200, out, 100);
    KERNEL_OK();
    CHECK_EQ(out[200 + 98], 98);
    CHECK_EQ(out[200 + 99], -1);

    memset(sums, 0, 16);
    with_events<<<1, 1>>>(sums);
    KERNEL_OK();
    state = 0;
    for (int i = 0; i < 1001; i++)
        state = state * 3 + 1;
    CHECK_EQ(sums[0], state);

    calls_function<<<1, 1>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 21);
    store_by(out, 22);
    KERNEL_OK();
    CHECK_EQ(out[0], 22);

    memset(out, 0xff, 64);
    memory_and_device<<<1, 1>>>(out);
    KERNEL_OK();
    const int device[] = {0, 3, 0, 0, 32, 0, 0};
    for (int i = 0; i < 7; i++)
        CHECK_EQ(out[i], device[i]);
    return check_done();
}
