/* SPDX-License-Identifier: Apache-2.0 */
/* Co-resident blocks that wait for each other by flags: a chain, a ping-pong, a hand-made grid
 * barrier, a producer for a consumer with a smaller number, one of two flags. They finish on one
 * worker too. */
#include "check.h"

__global__ void chain(volatile int *flags, int *order, int *next)
{
    if (threadIdx.x == 0) {
        /* the last block starts: each one waits for its successor */
        if (blockIdx.x + 1 < gridDim.x)
            while (flags[blockIdx.x + 1] == 0)
                ;
        __threadfence();
        order[blockIdx.x] = atomicAdd(next, 1);
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}

__global__ void ping_pong(volatile int *turn, int *log, int rounds)
{
    if (threadIdx.x != 0)
        return;
    for (int r = 0; r < rounds; r++) {
        while (*turn != 2 * r + (int)blockIdx.x)
            ;
        __threadfence();
        log[2 * r + blockIdx.x] = (blockIdx.x ? -1 : 1) * (r + 1);
        __threadfence();
        *turn = 2 * r + blockIdx.x + 1;
    }
}

__device__ void grid_barrier(unsigned *arrived, unsigned goal)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(arrived, 1u);
        while (atomicAdd(arrived, 0u) < goal)
            ;
        __threadfence();
    }
    __syncthreads();
}

__global__ void relax(volatile int *a, volatile int *b, int n, int steps, unsigned *arrived)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        volatile int *from = s % 2 ? b : a, *to = s % 2 ? a : b;
        to[i] = from[(i + n - 1) % n] + from[(i + 1) % n] + 1;
        grid_barrier(arrived, gridDim.x * (s + 1));
    }
}

__global__ void pipe(int *queue, unsigned *filled, int *sum, int items)
{
    if (blockIdx.x == 0) { /* consumer, scheduled first */
        __shared__ int item;
        for (int k = 0; k < items; k++) {
            if (threadIdx.x == 0) {
                while (atomicAdd(filled, 0u) <= (unsigned)k)
                    ;
                __threadfence();
                item = ((volatile int *)queue)[k];
            }
            __syncthreads();
            atomicAdd(sum, item * (int)threadIdx.x);
            __syncthreads();
        }
    } else if (threadIdx.x == 0) {
        for (int k = 0; k < items; k++) {
            ((volatile int *)queue)[k] = k + 1;
            __threadfence();
            atomicAdd(filled, 1u);
        }
    }
}

/* Looks at two flags in turn: at another place in every round, and waits all the same. */
__global__ void either(volatile int *flags, int *which)
{
    if (threadIdx.x != 0)
        return;
    if (blockIdx.x == 0) {
        int i = 0;
        while (flags[i & 1] == 0)
            i++;
        *which = i & 1;
    } else {
        flags[1] = 1;
    }
}

/* The loop ends by a flag that each way through it sets to a constant. */
__global__ void by_flag(volatile int *turn, int *order, int *spins, int steps)
{
    if (threadIdx.x != 0)
        return;
    const int own = (int)(gridDim.x - 1 - blockIdx.x);
    int tries = 0;
    bool done = false;
    while (!done) {
        if (tries % 3 != steps) {
            if (*turn == own) {
                order[own] = (int)blockIdx.x;
                __threadfence();
                *turn = own + 1;
                done = true;
            }
        }
        tries++;
        for (int i = 0; i < steps; i++)
            spins[i * gridDim.x + blockIdx.x] += i;
    }
}

int main(void)
{
    int *flags = check_managed<int>(8), *order = check_managed<int>(8), *next = check_managed<int>(1);
    chain<<<8, 32>>>(flags, order, next);
    KERNEL_OK();
    for (int b = 0; b < 8; b++)
        CHECK_EQ(order[b], 7 - b);

    int *turn = check_managed<int>(1), *log = check_managed<int>(80);
    ping_pong<<<2, 32>>>(turn, log, 40);
    KERNEL_OK();
    for (int r = 0; r < 40; r++) {
        CHECK_EQ(log[2 * r], r + 1);
        CHECK_EQ(log[2 * r + 1], -(r + 1));
    }

    const int n = 4 * 64, steps = 9;
    int *a = check_managed<int>(n), *b = check_managed<int>(n);
    unsigned *arrived = check_managed<unsigned>(1);
    int x[n], y[n];
    for (int i = 0; i < n; i++)
        x[i] = a[i] = i * i % 11;
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++)
            y[i] = x[(i + n - 1) % n] + x[(i + 1) % n] + 1;
        memcpy(x, y, sizeof x);
    }
    relax<<<4, 64>>>(a, b, n, steps, arrived);
    KERNEL_OK();
    for (int i = 0; i < n; i++)
        CHECK_EQ(b[i], x[i]);

    const int wide_n = 64 * 128, wide_steps = 5; /* more blocks than a CPU has processors */
    int *wa = check_managed<int>(wide_n), *wb = check_managed<int>(wide_n), *wx = new int[wide_n], *wy = new int[wide_n];
    for (int i = 0; i < wide_n; i++)
        wx[i] = wa[i] = i % 17;
    for (int s = 0; s < wide_steps; s++) {
        for (int i = 0; i < wide_n; i++)
            wy[i] = wx[(i + wide_n - 1) % wide_n] + wx[(i + 1) % wide_n] + 1;
        int *swap = wx;
        wx = wy;
        wy = swap;
    }
    *arrived = 0;
    relax<<<64, 128>>>(wa, wb, wide_n, wide_steps, arrived);
    KERNEL_OK();
    for (int i = 0; i < wide_n; i++)
        CHECK_EQ(wb[i], wx[i]);

    int *queue = check_managed<int>(50), *sum = check_managed<int>(1);
    *arrived = 0;
    pipe<<<2, 64>>>(queue, arrived, sum, 50);
    KERNEL_OK();
    CHECK_EQ(*sum, 50 * 51 / 2 * (63 * 32));

    int *flag_turn = check_managed<int>(1), *flag_order = check_managed<int>(8), *spins = check_managed<int>(16);
    by_flag<<<8, 32>>>(flag_turn, flag_order, spins, 2);
    KERNEL_OK();
    for (int b = 0; b < 8; b++)
        CHECK_EQ(flag_order[b], 7 - b);

    int *two = check_managed<int>(2), *which = check_managed<int>(1);
    either<<<2, 32>>>(two, which);
    KERNEL_OK();
    CHECK_EQ(*which, 1);
    return check_done();
}
