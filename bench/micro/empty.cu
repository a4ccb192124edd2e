/* SPDX-License-Identifier: Apache-2.0 */
/* A kernel that does nothing: what a launch and a wait cost. */
#include "device.h"

__global__ void empty(void) {
}

static void run(void) {
    LAUNCH(empty, dim3((unsigned)device.n), dim3(BENCH_THREADS), ());
    device_wait();
}

bench_case empty_case = {"empty", NULL, run};
