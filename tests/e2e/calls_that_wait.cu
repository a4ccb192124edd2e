/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that waits, inside calls that cannot be inlined: barriers, shuffles, votes, locks and volatile
 * spins in recursive functions and behind function pointers. */
#include "check.h"

#define ALL 0xffffffffu

__device__ int warp_total(int v, int depth) /* a butterfly by recursion */
{
    if (depth == 0)
        return v;
    v += __shfl_xor_sync(ALL, v, 1 << (depth - 1));
    return warp_total(v, depth - 1);
}

__device__ int block_total(int *tile, int v, int half)
{
    if (half == 0)
        return tile[0];
    tile[threadIdx.x] = v;
    __syncthreads();
    if (threadIdx.x < half)
        v += tile[threadIdx.x + half];
    __syncthreads();
    tile[threadIdx.x] = v;
    __syncthreads();
    return block_total(tile, v, half / 2);
}

struct shared_state {
    int lock;
    volatile int value, turn;
};

__device__ __noinline__ void locked_add(shared_state *s, int v)
{
    for (bool done = false; !done;)
        if (atomicCAS(&s->lock, 0, 1) == 0) {
            s->value = s->value + v;
            __threadfence_block();
            atomicExch(&s->lock, 0);
            done = true;
        }
}

__device__ __noinline__ void take_turn(shared_state *s, int v)
{
    while (s->turn != (int)threadIdx.x / 32)
        ;
    __threadfence_block();
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        s->value = s->value * 3 + v;
        __threadfence_block();
        s->turn = s->turn + 1;
    }
    __syncwarp();
}

typedef void (*action)(shared_state *, int);
__device__ action actions[2] = {locked_add, take_turn};

__global__ void run(int *out, int which)
{
    __shared__ int tile[128];
    __shared__ shared_state state;
    int t = threadIdx.x;
    if (t == 0)
        state.lock = state.value = state.turn = 0;
    __syncthreads();
    int a = warp_total(t, 5);
    int b = block_total(tile, t, 64);
    int lanes = __popc(__ballot_sync(ALL, a > 500));
    actions[which](&state, t / 32 + 1);
    __syncthreads();
    int *o = out + (blockIdx.x * 128 + t) * 4;
    o[0] = a;
    o[1] = b;
    o[2] = state.value;
    o[3] = lanes + __syncthreads_count(t < 77) * 100;
}

int main(void)
{
    const int blocks = 5;
    int *out = check_managed<int>(blocks * 128 * 4);
    for (int which = 0; which < 2; which++) {
        run<<<blocks, 128>>>(out, which);
        KERNEL_OK();
        for (int i = 0; i < blocks * 128; i++) {
            int t = i % 128, *o = out + i * 4;
            CHECK_EQ(o[0], t / 32 * 1024 + 496);
            CHECK_EQ(o[1], 127 * 64);
            CHECK_EQ(o[2], which ? ((1 * 3 + 2) * 3 + 3) * 3 + 4 : 32 * (1 + 2 + 3 + 4));
            CHECK_EQ(o[3], (t / 32 ? 32 : 0) + 7700);
        }
    }
    return check_done();
}
