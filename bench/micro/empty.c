/* SPDX-License-Identifier: Apache-2.0 */
/* Nothing, on all threads: what waking the pool and waiting for it costs. */
#include "threads.h"

static void part(unsigned index) {
    (void)index;
}

static void run(void) {
    threads_run(part);
}

const bench_case empty_case = {"empty", NULL, run};
