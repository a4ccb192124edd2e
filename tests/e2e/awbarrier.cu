/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_80
/* cuda_awbarrier.h: a barrier that is waited for later than it is arrived at, by token and by
 * parity; threads that drop out; the primitives. */
#include <cuda_awbarrier.h>
#include <cuda_awbarrier_primitives.h>

#include "check.h"

using nvcuda::experimental::awbarrier;

#define THREADS 128
#define ROUNDS 5

__global__ void rounds(int *out) {
    __shared__ awbarrier barrier;
    __shared__ int values[THREADS];
    unsigned t = threadIdx.x;
    if (t == 0) init(&barrier, THREADS);
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < ROUNDS; round++) {
        values[t] = (int)t * (round + 1);
        awbarrier::arrival_token token = barrier.arrive();
        sum++; /* what needs no other thread */
        barrier.wait(token);
        sum += values[(t + 1) % THREADS];
        barrier.arrive_and_wait();
    }
    out[t] = sum;
}

/* The first half of the threads leaves; the others go on alone. */
__global__ void leaving(int *out) {
    __shared__ awbarrier barrier;
    __shared__ int last;
    unsigned t = threadIdx.x;
    if (t == 0) {
        nvcuda::experimental::init(&barrier, THREADS);
        last = 0;
    }
    __syncthreads();
    if (t < THREADS / 2) {
        (void)barrier.arrive_and_drop();
        return;
    }
    awbarrier::arrival_token token = barrier.arrive();
    while (!barrier.try_wait(token, 100)) {
    }
    atomicAdd(&last, 1);
    barrier.arrive_and_wait();
    out[t] = last;
}

__global__ void primitives(unsigned *out) {
    __shared__ __mbarrier_t barrier;
    __shared__ int value;
    unsigned t = threadIdx.x;
    if (t == 0) {
        __mbarrier_init(&barrier, 33);
        value = 0;
    }
    __syncthreads();
    if (t < 32) {
        (void)__mbarrier_arrive(&barrier);
        while (!__mbarrier_test_wait_parity(&barrier, false)) {
        }
        out[t] = (unsigned)value;
    } else if (t == 32) {
        out[32] = __mbarrier_try_wait_parity(&barrier, false, 10);
        value = 77;
        __mbarrier_token_t token = __mbarrier_arrive(&barrier);
        while (!__mbarrier_try_wait(&barrier, token, 50)) {
        }
        out[33] = __mbarrier_maximum_count();
        out[34] = __mbarrier_token_pending_count(token);
    }
    __syncthreads();
    if (t == 0) __mbarrier_inval(&barrier);
}

int main() {
    int *out = check_managed<int>(THREADS);
    rounds<<<1, THREADS>>>(out);
    KERNEL_OK();
    for (int t = 0; t < THREADS; t++)
        CHECK_EQ(out[t], ROUNDS + (t + 1) % THREADS * (ROUNDS * (ROUNDS + 1) / 2));
    leaving<<<1, THREADS>>>(out);
    KERNEL_OK();
    for (int t = THREADS / 2; t < THREADS; t++)
        CHECK_EQ(out[t], THREADS / 2);
    unsigned *words = check_managed<unsigned>(64);
    primitives<<<1, 64>>>(words);
    KERNEL_OK();
    for (int t = 0; t < 32; t++)
        CHECK_EQ(words[t], 77u);
    CHECK_EQ(words[32], 0u);
    CHECK_EQ(words[33], (1u << 20) - 1);
    CHECK(words[34] >= 1 && words[34] <= 33);
    return check_done();
}
