/* SPDX-License-Identifier: Apache-2.0 */
/* Warp operations under guards on the thread: what threads outside see and do must not change, and lanes that are not
 * there must not count. Blocks of whole warps and with a part of one. */
#include "check.h"

enum { THREADS_MOST = 256, BLOCKS = 2 };

__device__ static int sum_of_warp(int x)
{
    for (int by = 16; by; by /= 2) x += __shfl_down_sync(~0u, x, by);
    return x;
}

/* The usual reduction: warps, then the first warp over their sums. */
__global__ void reduce(const int *in, int *out)
{
    __shared__ int sums[32];
    int x = sum_of_warp(in[blockIdx.x * blockDim.x + threadIdx.x]);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x < blockDim.x / 32 ? sums[threadIdx.x] : 0;
    if (threadIdx.x / 32 == 0) {
        x = sum_of_warp(x);
        if (threadIdx.x == 0) sums[0] = x;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = sums[0] + x * (threadIdx.x == 1);
}

/* Stores between the operations, a division that only threads inside may do, a value from before the guard and one
 * that both ways give. */
__global__ void pieces(const int *in, int *out, int *seen, unsigned first, unsigned outer)
{
    const unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    int x = in[at], mine = x + 1;
    if (t >= first && t < outer) {
        mine += __shfl_xor_sync(~0u, x, 1);
        seen[at] = mine;
        x = __shfl_sync(~0u, mine, (int)(t ^ 3) & 31);
        mine = x / (int)(t - first + 1);
        __syncwarp();
        seen[at] += x;
    } else {
        mine = -mine;
    }
    out[at] = mine;
}

/* Absent lanes: no votes, no summands; a thread that has returned is absent, too. */
__global__ void votes(const int *in, int *out, unsigned outer)
{
    const unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    const int x = in[at];
    out[at] = -1;
    if (t < outer) {
        const unsigned all = __all_sync(~0u, x > 0), any = __any_sync(~0u, x == 3), set = __ballot_sync(~0u, x & 1);
        out[at] = (int)(all * 2 + any + __popc(set) * 4);
    }
}

__global__ void votes_behind_return(const int *in, int *out, unsigned outer)
{
    const unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x + t;
    out[at] = -1;
    if (t >= outer) return;
    const unsigned all = __all_sync(~0u, in[at] > 0);
    out[at] = (int)(all + 2 * __popc(__ballot_sync(~0u, 1)));
}

/* In a loop, with a guard that differs from turn to turn. */
__global__ void turns(const int *in, int *out)
{
    const unsigned t = threadIdx.x, at = blockIdx.x * blockDim.x + t, warps = (blockDim.x + 31) / 32;
    int x = in[at];
    for (unsigned turn = 0; turn < warps; turn++) {
        if (t / 32 == turn) x = __shfl_sync(~0u, x, 5) + (int)turn;
        __syncthreads();
    }
    out[at] = x;
}

static int *in_device, *out_device, *seen_device;
static int in[BLOCKS * THREADS_MOST], out[BLOCKS * THREADS_MOST], seen[BLOCKS * THREADS_MOST];

static void fetch(void)
{
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(out, out_device, sizeof out, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaMemcpy(seen, seen_device, sizeof seen, cudaMemcpyDeviceToHost));
}

static void check_reduce(unsigned threads)
{
    reduce<<<BLOCKS, threads>>>(in_device, out_device);
    fetch();
    for (unsigned b = 0; b < BLOCKS; b++) {
        int sum = 0;
        for (unsigned t = 0; t < threads; t++) sum += in[b * threads + t];
        CHECK_EQ(out[b * threads], sum);
        CHECK_EQ(out[b * threads + threads - 1], sum);
    }
}

static void check_pieces(unsigned threads, unsigned first, unsigned outer)
{
    CUDA_OK(cudaMemset(seen_device, 0, sizeof seen));
    pieces<<<BLOCKS, threads>>>(in_device, out_device, seen_device, first, outer);
    fetch();
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned t = 0; t < threads; t++) {
            const int *x = in + b * threads;
            const unsigned other = (t & ~31u) + ((t ^ 3) & 31);
            const int theirs = x[other] + 1 + x[other ^ 1], mine = x[t] + 1 + x[t ^ 1];
            const bool is_inside = t >= first && t < outer;
            CHECK_EQ(out[b * threads + t], is_inside ? theirs / (int)(t - first + 1) : -(x[t] + 1));
            CHECK_EQ(seen[b * threads + t], is_inside ? mine + theirs : 0);
        }
}

static void check_votes(unsigned threads, unsigned outer)
{
    for (int behind_return = 0; behind_return < 2; behind_return++) {
        if (behind_return) votes_behind_return<<<BLOCKS, threads>>>(in_device, out_device, outer);
        else votes<<<BLOCKS, threads>>>(in_device, out_device, outer);
        fetch();
        for (unsigned b = 0; b < BLOCKS; b++)
            for (unsigned t = 0; t < threads; t++) {
                unsigned all = 1, any = 0, odd = 0, count = 0;
                for (unsigned u = t & ~31u; u < outer && u < threads && u < (t | 31) + 1; u++) {
                    const int x = in[b * threads + u];
                    all &= x > 0, any |= x == 3, odd += x & 1, count++;
                }
                const int inside = (int)(behind_return ? all + 2 * count : all * 2 + any + odd * 4);
                CHECK_EQ(out[b * threads + t], t < outer ? inside : -1);
            }
    }
}

static void check_turns(unsigned threads)
{
    turns<<<BLOCKS, threads>>>(in_device, out_device);
    fetch();
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned t = 0; t < threads; t++)
            CHECK_EQ(out[b * threads + t], in[b * threads + (t & ~31u) + 5] + (int)(t / 32));
}

int main()
{
    CUDA_OK(cudaMalloc(&in_device, sizeof in));
    CUDA_OK(cudaMalloc(&out_device, sizeof out));
    CUDA_OK(cudaMalloc(&seen_device, sizeof seen));
    for (int i = 0; i < BLOCKS * THREADS_MOST; i++) in[i] = i / 97 == 2 ? -i : i * 7 % 23;
    CUDA_OK(cudaMemcpy(in_device, in, sizeof in, cudaMemcpyHostToDevice));
    for (unsigned threads : {32u, 64u, 256u}) {
        check_reduce(threads);
        check_pieces(threads, 0, 32);
        check_pieces(threads, 32, 64);
        check_pieces(threads, 0, threads);
        check_turns(threads);
    }
    for (unsigned threads : {32u, 40u, 64u, 200u})
        for (unsigned outer : {0u, 1u, 17u, 32u, 64u, 70u}) check_votes(threads, outer);
    return check_done();
}
