/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Counts that kernel code adds to and does not read: each worker keeps sums of its own.
 *
 * Workers that add to the same word, as those of a hash table do for its frequent keys, take its
 * cache line from each other at each addition. Here an addition goes to a small table of the
 * worker's, by the word's address. A word whose place is taken sends the one before it to memory;
 * the others follow when the worker leaves the launch.
 */
#include "base/abi.h"
#include "base/alloc.h"
#include "device/cpu/cpu.h"

#define SUM_COUNT_LOG2 12u /* 64 KiB, of the second-level cache */
#define SUM_IS_SHORT ((uintptr_t)1)

typedef struct wpi_sum {
    uintptr_t word; /* | SUM_IS_SHORT: of 4 bytes; 0: none */
    uint64_t value;
} wpi_sum;

static void add_now(uintptr_t word, uint64_t value) {
    if ((word & SUM_IS_SHORT) != 0)
        (void)__atomic_fetch_add((uint32_t *)(word - SUM_IS_SHORT), (uint32_t)value,
                                 __ATOMIC_RELAXED);
    else
        (void)__atomic_fetch_add((uint64_t *)word, value, __ATOMIC_RELAXED);
}

void wp_rt_sum(void *at, uint64_t value, uint32_t bytes) {
    wpi_worker *worker = wpi_worker_current;
    const uintptr_t word = (uintptr_t)at | (bytes == 4u ? SUM_IS_SHORT : 0);
    if (worker->sums == NULL)
        worker->sums = wpi_calloc((size_t)1 << SUM_COUNT_LOG2, sizeof *worker->sums);
    if (worker->sums == NULL) {
        add_now(word, value);
        return;
    }
    worker->has_sums = true;
    const uint64_t hash = (word >> 2) * UINT64_C(0x9e3779b97f4a7c15);
    wpi_sum *sum = &worker->sums[hash >> (64u - SUM_COUNT_LOG2)];
    if (sum->word == word) {
        sum->value += value;
        return;
    }
    if (sum->value != 0) add_now(sum->word, sum->value);
    add_now(word, value); /* the first one at once: an address that is not there faults here */
    *sum = (wpi_sum){.word = word};
}

void wpi_worker_add_up(wpi_worker *worker) {
    if (!worker->has_sums) return;
    worker->has_sums = false;
    for (size_t i = 0; i < (size_t)1 << SUM_COUNT_LOG2; i++) {
        if (worker->sums[i].value != 0) add_now(worker->sums[i].word, worker->sums[i].value);
        worker->sums[i] = (wpi_sum){0};
    }
}
