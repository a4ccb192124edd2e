/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that wait for each other, more of them than a GPU holds where that is legal; in step or not, as
 * WARPAGE_IN_STEP says (waiting.sh). Prints what the clock of each kernel says. */
// DEVICES: sim:k80 (13 SMs)
#include "../check.h"

enum { BLOCKS = 13 * 16 * 3, PAIRS = 8, ITEMS = 50, RESIDENT = 13 };

/* Each block waits for the one before it: blocks start in order, so the last ones need not be there yet. */
__global__ void one_way(volatile int *flags)
{
    if (threadIdx.x == 0) {
        if (blockIdx.x > 0)
            while (flags[blockIdx.x - 1] == 0)
                ;
        __threadfence();
        flags[blockIdx.x] = 1;
    }
}

/* Even blocks produce, odd ones consume, through a mailbox of one place. */
__global__ void hand_over(volatile int *full, volatile int *box, int *sums)
{
    int pair = blockIdx.x / 2, sum = 0;
    if (threadIdx.x != 0)
        return;
    for (int i = 0; i < ITEMS; i++) {
        bool produces = blockIdx.x % 2 == 0;
        while (full[pair] == produces)
            ;
        __threadfence();
        if (produces)
            box[pair] = i + 1;
        else
            sum += box[pair];
        __threadfence();
        full[pair] = produces;
    }
    if (blockIdx.x % 2 == 1)
        sums[pair] = sum;
}

/* A lock, by one thread of each block. */
__global__ void take_turns(int *lock, volatile int *value)
{
    if (threadIdx.x != 0)
        return;
    while (atomicCAS(lock, 0, 1) != 0)
        ;
    __threadfence();
    *value = *value + 1;
    __threadfence();
    atomicExch(lock, 0);
}

/* A barrier of the grid, by hand; then everybody reads what his neighbour wrote. */
__global__ void meet(int *arrived, int *places, int *wrong, int rounds)
{
    for (int r = 1; r <= rounds; r++) {
        if (threadIdx.x == 0) {
            places[blockIdx.x] = r;
            __threadfence();
            atomicAdd(arrived, 1);
            while (*(volatile int *)arrived < r * (int)gridDim.x)
                ;
            __threadfence();
            int other = ((volatile int *)places)[(blockIdx.x + 1) % gridDim.x];
            if (other != r && other != r + 1)
                atomicAdd(wrong, 1);
        }
        __syncthreads();
    }
}

/* Persistent blocks take work until there is none. */
__global__ void take_work(int *next, int *taken, int *done_by)
{
    for (int i; (i = atomicAdd(next, 1)) < 1000;) {
        atomicAdd(&taken[i], 1);
        atomicAdd(&done_by[blockIdx.x], 1);
    }
}

int main(void)
{
    int *memory = check_managed<int>(4 * BLOCKS + 4096);
    int *flags = memory, *other = memory + BLOCKS;

    one_way<<<BLOCKS, 64>>>(flags);
    KERNEL_OK();
    for (int b = 0; b < BLOCKS; b++)
        CHECK_EQ(flags[b], 1);

    hand_over<<<2 * PAIRS, 32>>>(other, other + 64, other + 128);
    KERNEL_OK();
    for (int p = 0; p < PAIRS; p++)
        CHECK_EQ(other[128 + p], ITEMS * (ITEMS + 1) / 2);

    take_turns<<<300, 64>>>(other + 256, other + 257);
    KERNEL_OK();
    CHECK_EQ(other[257], 300);

    meet<<<RESIDENT, 64>>>(other + 300, other + 320, other + 310, 5);
    KERNEL_OK();
    CHECK_EQ(other[310], 0);

    int *next = other + 400, *taken = other + 512, *done_by = taken + 1000;
    take_work<<<RESIDENT, 32>>>(next, taken, done_by);
    KERNEL_OK();
    int least = 1000, most = 0;
    for (int i = 0; i < 1000; i++)
        CHECK_EQ(taken[i], 1);
    for (int b = 0; b < RESIDENT; b++) {
        least = done_by[b] < least ? done_by[b] : least;
        most = done_by[b] > most ? done_by[b] : most;
    }
    printf("work: %d to %d\n", least, most);
    return check_done();
}
