/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel of many loops that wait, each with values that live across it: the last thread passes first, so that all
 * others wait at every place. Its waits are too many for a copy each of the code behind them (regions: `rest`). */
#include "check.h"

enum { PLACES = 32, THREADS = 96, TURNS = 3 };

#define STEP(sum, value, place) (((sum) ^ (value)) * 2654435761u + (place))
#define WAIT(place)                                                                                                    \
    while (*(volatile unsigned *)&turns[place] != turn * THREADS + rank)                                               \
        ;                                                                                                              \
    __threadfence();                                                                                                   \
    sum = STEP(sum, cells[place], place);                                                                              \
    other = other * 3 + (sum >> 7);                                                                                    \
    cells[place] += other;                                                                                             \
    __threadfence();                                                                                                   \
    *(volatile unsigned *)&turns[place] = turn * THREADS + rank + 1;
#define WAIT_4(place) WAIT(place) WAIT(place + 1) WAIT(place + 2) WAIT(place + 3)
#define WAIT_16(place) WAIT_4(place) WAIT_4(place + 4) WAIT_4(place + 8) WAIT_4(place + 12)

__global__ void pass(unsigned *turns, unsigned *cells, unsigned *out)
{
    const unsigned rank = THREADS - 1 - (blockIdx.x * blockDim.x + threadIdx.x);
    unsigned sum = rank, other = 1;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        WAIT_16(0)
        WAIT_16(16)
    }
    out[rank] = sum + other;
}

int main(void)
{
    static unsigned cells[PLACES], sums[THREADS], others[THREADS];
    for (unsigned rank = 0; rank < THREADS; rank++) {
        sums[rank] = rank;
        others[rank] = 1;
    }
    for (unsigned turn = 0; turn < TURNS; turn++)
        for (unsigned place = 0; place < PLACES; place++)
            for (unsigned rank = 0; rank < THREADS; rank++) {
                sums[rank] = STEP(sums[rank], cells[place], place);
                others[rank] = others[rank] * 3 + (sums[rank] >> 7);
                cells[place] += others[rank];
            }
    for (int blocks = 1; blocks <= 3; blocks += 2) {
        unsigned *turns = check_managed<unsigned>(PLACES), *seen = check_managed<unsigned>(PLACES),
                 *out = check_managed<unsigned>(THREADS);
        pass<<<blocks, THREADS / blocks>>>(turns, seen, out);
        KERNEL_OK();
        for (int place = 0; place < PLACES; place++)
            CHECK_EQ(seen[place], cells[place]);
        for (int rank = 0; rank < THREADS; rank++)
            CHECK_EQ(out[rank], sums[rank] + others[rank]);
    }
    return check_done();
}
