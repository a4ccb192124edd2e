/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_90
// ENV: FAKE_CUDA_SM=90
/* mbarrier: phases, arrivals of many, bytes of copies, waiting by state and by parity; a producer
 * warp and consumers that hand a buffer to each other. */
#include "check.h"

__device__ unsigned address_of(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ void init(unsigned long long *b, unsigned count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(b)), "r"(count) : "memory");
}
__device__ unsigned long long arrive(unsigned long long *b) {
    unsigned long long state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];"
                 : "=l"(state)
                 : "r"(address_of(b))
                 : "memory");
    return state;
}
__device__ bool test(unsigned long long *b, unsigned long long state) {
    unsigned done;
    asm volatile(
        "{ .reg .pred p; mbarrier.test_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(address_of(b)), "l"(state)
        : "memory");
    return done;
}
__device__ void wait_parity(unsigned long long *b, unsigned parity) {
    unsigned done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                     "selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(address_of(b)), "r"(parity)
                     : "memory");
}

/* Every thread reads what another warp wrote, four times; the last arrival ends each phase. */
__global__ void rounds(int *out) {
    __shared__ unsigned long long barrier;
    __shared__ int data[128];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        data[threadIdx.x] = threadIdx.x * (i + 1);
        unsigned long long state = arrive(&barrier);
        while (!test(&barrier, state)) {
        }
        sum += data[(threadIdx.x + 32) % blockDim.x];
        state = arrive(&barrier);
        while (!test(&barrier, state)) {
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

/* Warp 0 fills a buffer, the others read it: full and empty by turns. */
__global__ void pipeline(const int *in, int *out, int steps) {
    __shared__ unsigned long long full, empty;
    __shared__ int buffer[32];
    if (threadIdx.x == 0) {
        init(&full, 32);
        init(&empty, blockDim.x - 32);
    }
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < steps; i++) {
        if (threadIdx.x < 32) {
            if (i > 0) wait_parity(&empty, (i - 1) % 2);
            buffer[threadIdx.x] = in[i * 32 + threadIdx.x];
            arrive(&full);
        } else {
            wait_parity(&full, i % 2);
            sum += buffer[(threadIdx.x + 5) % 32];
            arrive(&empty);
        }
    }
    if (threadIdx.x >= 32) out[threadIdx.x - 32] = sum;
}

/* One thread, step by step. */
__global__ void counts(unsigned *out) {
    __shared__ unsigned long long barrier;
    unsigned at = address_of(&barrier);
    unsigned long long state;
    init(&barrier, 3);
    state = arrive(&barrier);
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(out[0]) : "l"(state));
    out[1] = test(&barrier, state); /* two are missing */
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(at) : "memory");
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0], 2; }" ::"r"(at) : "memory");
    out[2] = test(&barrier, state); /* bytes are missing */
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 48;" ::"r"(at) : "memory");
    out[3] = test(&barrier, state);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 16;" ::"r"(at) : "memory");
    out[4] = test(&barrier, state);
    asm volatile("mbarrier.arrive_drop.shared.b64 %0, [%1];" : "=l"(state) : "r"(at) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(out[5]) : "l"(state));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 %0, [%1], 32;"
                 : "=l"(state)
                 : "r"(at)
                 : "memory");
    state = arrive(&barrier);
    out[6] = test(&barrier, state);
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 32;" ::"r"(at) : "memory");
    out[7] = test(&barrier, state);
    state = arrive(&barrier); /* since the drop two are enough */
    asm volatile("cp.async.mbarrier.arrive.shared.b64 [%0];" ::"r"(at) : "memory");
    out[8] = test(&barrier, state);
    asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(at) : "memory");
    out[9] = test(&barrier, state);
    asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(at) : "memory");
}

int main(void) {
    static const unsigned expected[10] = {3, 0, 0, 0, 1, 3, 0, 1, 0, 1};
    unsigned *out = check_managed<unsigned>(10);
    counts<<<1, 1>>>(out);
    KERNEL_OK();
    for (int i = 0; i < 10; i++)
        CHECK_EQ(out[i], expected[i]);

    int *sums = check_managed<int>(256), *in = check_managed<int>(7 * 32);
    rounds<<<2, 128>>>(sums);
    KERNEL_OK();
    for (int i = 0; i < 256; i++)
        CHECK_EQ(sums[i], (i % 128 + 32) % 128 * 10);

    for (int i = 0; i < 7 * 32; i++)
        in[i] = i * i;
    pipeline<<<1, 96>>>(in, sums, 7);
    KERNEL_OK();
    for (int i = 0; i < 64; i++) {
        int sum = 0;
        for (int s = 0; s < 7; s++)
            sum += in[s * 32 + (i + 32 + 5) % 32];
        CHECK_EQ(sums[i], sum);
    }
    return check_done();
}
