/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that wait, in a loop, for a lane of their own warp that is behind a divergent branch: it has
 * volatile shared memory to write, or an operation of the lanes that are there, before it can end
 * their waiting. */
#include "check.h"

#define LANES 32
#define TURNS 8
#define PAGE_BYTES 1024u
#define PIECE_BYTES 40u

__device__ char pool[1 << 20];
__device__ unsigned pool_used;

/* The first to find the page full takes another one; who comes later tries again. */
__device__ char *take(char *volatile *page, volatile unsigned *used)
{
    for (;;) {
        char *first = *page;
        unsigned at = atomicAdd((unsigned *)used, PIECE_BYTES);
        if (at + PIECE_BYTES <= PAGE_BYTES)
            return first + at;
        if (at <= PAGE_BYTES) {
            first = pool + atomicAdd(&pool_used, PAGE_BYTES);
            *page = first;
            *used = PIECE_BYTES;
            return first;
        }
    }
}

/* The loop ends by a flag, which is a variable of the thread. */
__device__ char *take_by_flag(char *volatile *page, volatile unsigned *used)
{
    bool has_it = false;
    char *piece = 0;
    while (!has_it) {
        char *first = *page;
        unsigned at = atomicAdd((unsigned *)used, PIECE_BYTES);
        if (at + PIECE_BYTES <= PAGE_BYTES) {
            piece = first + at;
            has_it = true;
        } else if (at <= PAGE_BYTES) {
            first = pool + atomicAdd(&pool_used, PAGE_BYTES);
            *page = first;
            *used = PIECE_BYTES;
            piece = first;
            has_it = true;
        }
    }
    return piece;
}

/* … in memory, because it is volatile. */
__device__ char *take_by_memory(char *volatile *page, volatile unsigned *used)
{
    volatile bool has_it = false;
    char *piece = 0;
    while (!has_it) {
        char *first = *page;
        unsigned at = atomicAdd((unsigned *)used, PIECE_BYTES);
        if (at + PIECE_BYTES <= PAGE_BYTES) {
            piece = first + at;
            has_it = true;
        } else if (at <= PAGE_BYTES) {
            first = pool + atomicAdd(&pool_used, PAGE_BYTES);
            *page = first;
            *used = PIECE_BYTES;
            piece = first;
            has_it = true;
        }
    }
    return piece;
}

enum { BY_RETURN, BY_FLAG, BY_MEMORY };

template <int how> __global__ void pieces(char **out)
{
    __shared__ volatile unsigned used;
    __shared__ char *volatile page;
    if (threadIdx.x == 0) {
        used = 0;
        page = pool + atomicAdd(&pool_used, PAGE_BYTES);
    }
    __syncthreads();
    for (int i = 0; i < TURNS; i++)
        out[threadIdx.x * TURNS + i] = how == BY_RETURN ? take(&page, &used)
                                       : how == BY_FLAG ? take_by_flag(&page, &used)
                                                        : take_by_memory(&page, &used);
}

/* Lane 0 stores to shared memory again and again, then to the flag that the others watch. */
__global__ void stores_first(volatile int *flag, int *out)
{
    __shared__ volatile int steps[4];
    bool is_done = false;
    int rounds = 0;
    while (!is_done) {
        if (threadIdx.x == 0) {
            for (int i = 0; i < 100; i++)
                steps[i % 4] = i;
            *flag = steps[3];
            is_done = true;
        } else {
            is_done = *flag != 0;
        }
        rounds++;
    }
    out[threadIdx.x] = rounds > 0 ? *flag : 0;
}

/* The lanes that are there are counted before the lock is given back. */
__global__ void counts_first(int *lock, int *count)
{
    bool is_done = false;
    while (!is_done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *(volatile int *)count = *(volatile int *)count + __popc(__activemask());
            __threadfence();
            atomicExch(lock, 0);
            is_done = true;
        }
    }
}

/* … by lanes that are past the loop: since Volta they go on while the others spin. */
__global__ void counts_behind(int *lock, int *count)
{
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    *(volatile int *)count = *(volatile int *)count + __popc(__activemask());
    __threadfence();
    atomicExch(lock, 0);
}

/* … while others spin at two places, so that at any time some of them wait for memory. */
__global__ void counts_beside(volatile int *flags, int *count)
{
    if (threadIdx.x < 10) {
        while (flags[0] == 0)
            ;
    } else if (threadIdx.x < 20) {
        while (flags[100] == 0)
            ;
    } else if (threadIdx.x == 20) {
        *count = __popc(__activemask());
        flags[0] = flags[100] = 1;
    }
}

static void check_pieces(char *const *out)
{
    char *first;
    CUDA_OK(cudaGetSymbolAddress((void **)&first, pool));
    for (int i = 0; i < LANES * TURNS; i++)
        CHECK(out[i] >= first && out[i] < first + sizeof pool);
}

template <int how> static void run_pieces(char **out)
{
    memset((void *)out, 0, LANES * TURNS * sizeof *out);
    pieces<how><<<1, LANES>>>(out);
    KERNEL_OK();
    check_pieces(out);
}

int main(void)
{
    char **out = check_managed<char *>(LANES * TURNS);
    run_pieces<BY_RETURN>(out);
    run_pieces<BY_FLAG>(out);
    run_pieces<BY_MEMORY>(out);
    int *words = check_managed<int>(LANES + 2);
    stores_first<<<1, LANES>>>(words, words + 1);
    KERNEL_OK();
    for (int lane = 0; lane < LANES; lane++)
        CHECK_EQ(words[1 + lane], 99);
    words[0] = words[1] = 0;
    counts_first<<<1, LANES>>>(words, words + 1);
    KERNEL_OK();
    CHECK(words[1] >= LANES);
    words[0] = words[1] = 0;
    counts_behind<<<1, LANES>>>(words, words + 1);
    KERNEL_OK();
    CHECK(words[1] >= LANES);
    int *flags = check_managed<int>(101);
    counts_beside<<<1, LANES>>>(flags, words);
    KERNEL_OK();
    CHECK(words[0] >= 1);
    return check_done();
}
