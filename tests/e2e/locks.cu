/* SPDX-License-Identifier: Apache-2.0 */
/* Spin locks around plain reads and writes: taken by one thread a block, by every thread, by every
 * thread of a warp in the form that needs no independent progress, a ticket lock, one lock a bucket. */
#include "check.h"

struct guarded {
    int lock;
    unsigned next, serving;
    volatile int value, other;
};

__device__ void change(guarded *g)
{
    int v = g->value, w = g->other;
    g->value = v + 1;
    g->other = w - 1;
}

__global__ void by_block(guarded *g)
{
    if (threadIdx.x == 0) {
        while (atomicCAS(&g->lock, 0, 1) != 0)
            ;
        __threadfence();
        change(g);
        __threadfence();
        atomicExch(&g->lock, 0);
    }
    __syncthreads();
}

__global__ void by_thread(guarded *g)
{
    bool done = false;
    while (!done) {
        if (atomicCAS(&g->lock, 0, 1) == 0) {
            __threadfence();
            change(g);
            __threadfence();
            atomicExch(&g->lock, 0);
            done = true;
        }
    }
}

__global__ void by_thread_spinning(guarded *g) /* lanes of one warp wait for each other */
{
    while (atomicCAS(&g->lock, 0, 1) != 0)
        ;
    __threadfence();
    change(g);
    __threadfence();
    atomicExch(&g->lock, 0);
}

__global__ void by_ticket(guarded *g)
{
    unsigned ticket = atomicAdd(&g->next, 1u);
    while (*(volatile unsigned *)&g->serving != ticket)
        ;
    __threadfence();
    change(g);
    __threadfence();
    atomicAdd(&g->serving, 1u);
}

__global__ void in_shared(int *out)
{
    __shared__ int lock;
    __shared__ volatile int count;
    if (threadIdx.x == 0)
        lock = count = 0;
    __syncthreads();
    for (bool done = false; !done;) {
        if (atomicExch(&lock, 1) == 0) {
            count = count + 1;
            __threadfence_block();
            atomicExch(&lock, 0);
            done = true;
        }
    }
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = count;
}

__global__ void buckets(guarded *table, int count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    guarded *g = &table[i * 2654435761u % count];
    for (int turn = 0; turn < 3; turn++)
        for (bool done = false; !done;)
            if (atomicCAS(&g->lock, 0, 1) == 0) {
                __threadfence();
                change(g);
                __threadfence();
                atomicExch(&g->lock, 0);
                done = true;
            }
}

static void expect(guarded *g, int count)
{
    CHECK_EQ((int)g->value, count);
    CHECK_EQ((int)g->other, -count);
    CHECK_EQ(g->lock, 0);
    memset((void *)g, 0, sizeof *g);
}

int main(void)
{
    guarded *g = check_managed<guarded>(37);
    by_block<<<300, 64>>>(g);
    KERNEL_OK();
    expect(g, 300);
    by_thread<<<12, 96>>>(g);
    KERNEL_OK();
    expect(g, 12 * 96);
    by_thread_spinning<<<6, 64>>>(g);
    KERNEL_OK();
    expect(g, 6 * 64);
    by_ticket<<<6, 64>>>(g);
    KERNEL_OK();
    CHECK_EQ(g->next, 384u);
    CHECK_EQ(g->serving, 384u);
    expect(g, 384);
    int *out = check_managed<int>(5);
    in_shared<<<5, 200>>>(out);
    KERNEL_OK();
    for (int b = 0; b < 5; b++)
        CHECK_EQ(out[b], 200);
    buckets<<<16, 128>>>(g, 37);
    KERNEL_OK();
    int total = 0;
    for (int i = 0; i < 37; i++) {
        CHECK_EQ((int)g[i].other, -g[i].value);
        total += g[i].value;
    }
    CHECK_EQ(total, 3 * 16 * 128);
    return check_done();
}
