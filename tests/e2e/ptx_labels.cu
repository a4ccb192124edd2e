/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_90
// ENV: FAKE_CUDA_SM=90
/* Labels and branches in inline PTX: the loop that waits at an mbarrier, counted loops, branches forward, outputs that are
 * inputs too, several ways to one label, and the same text in a function that is inlined twice. */
#include "check.h"

#define THREADS 64

__device__ unsigned address_of(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void wait(unsigned long long *barrier, unsigned parity) {
    asm volatile("{\n"
                 ".reg .pred P1;\n"
                 "LAB_WAIT:\n"
                 "mbarrier.try_wait.parity.shared.b64 P1, [%0], %1;\n"
                 "@P1 bra DONE;\n"
                 "bra LAB_WAIT;\n"
                 "DONE:\n"
                 "}" ::"r"(address_of(barrier)),
                 "r"(parity)
                 : "memory");
}

/* 0 + 1 + … + n - 1, and n is counted down to 0 in place. */
__device__ int triangle(int &n) {
    int sum;
    asm("{ .reg .pred p;\n"
        "mov.s32 %0, 0;\n"
        "$again_%=: setp.le.s32 p, %1, 0;\n"
        "@p bra $end_%=;\n"
        "sub.s32 %1, %1, 1;\n"
        "add.s32 %0, %0, %1;\n"
        "bra.uni $again_%=;\n"
        "$end_%=: }"
        : "=&r"(sum), "+r"(n));
    return sum;
}

/* Steps to 1 by Collatz's rule. */
__device__ unsigned steps(unsigned long long x) {
    unsigned count;
    asm("{ .reg .pred one, odd; .reg .u64 low;\n"
        "mov.u32 %0, 0;\n"
        "loop_%=:\n"
        "setp.eq.u64 one, %1, 1;\n"
        "@one bra done_%=;\n"
        "add.u32 %0, %0, 1;\n"
        "and.b64 low, %1, 1;\n"
        "setp.ne.u64 odd, low, 0;\n"
        "@!odd bra even_%=;\n"
        "mad.lo.u64 %1, %1, 3, 1;\n"
        "bra loop_%=;\n"
        "even_%=:\n"
        "shr.u64 %1, %1, 1;\n"
        "bra loop_%=;\n"
        "done_%=: }"
        : "=&r"(count), "+l"(x));
    return count;
}

/* The first of n words that is 0, or n; through a pointer that moves. */
__device__ int length(const int *words, int n) {
    int found;
    asm volatile("{ .reg .pred p; .reg .s32 w; .reg .u64 at;\n"
                 "mov.u64 at, %1;\n"
                 "mov.s32 %0, 0;\n"
                 "next_%=: setp.ge.s32 p, %0, %2;\n"
                 "@p bra out_%=;\n"
                 "ld.global.s32 w, [at];\n"
                 "setp.eq.s32 p, w, 0;\n"
                 "@p bra out_%=;\n"
                 "@!p add.s32 %0, %0, 1;\n"
                 "add.u64 at, at, 4;\n"
                 "bra next_%=;\n"
                 "out_%=: }"
                 : "=&r"(found)
                 : "l"(words), "r"(n)
                 : "memory");
    return found;
}

__global__ void run(const int *words, int *out) {
    __shared__ unsigned long long barrier;
    __shared__ int value;
    int t = (int)threadIdx.x, n = t % 7, m = t % 3, *o = out + t * 8;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address_of(&barrier)), "r"(1) : "memory");
        value = 0;
    }
    __syncthreads();
    if (t == THREADS - 1) {
        unsigned long long state;
        value = 5;
        asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(address_of(&barrier)) : "memory");
    }
    wait(&barrier, 0);
    o[0] = value;
    o[1] = triangle(n);
    o[2] = n;
    o[3] = triangle(m);
    o[4] = (int)steps(t + 1);
    o[5] = length(words + t, THREADS - t);
}

static int steps_of(long x) {
    int count = 0;
    for (; x != 1; count++) x = x % 2 ? 3 * x + 1 : x / 2;
    return count;
}

int main() {
    int *words = check_managed<int>(THREADS), *out = check_managed<int>(THREADS * 8);
    for (int i = 0; i < THREADS; i++) words[i] = i % 10 == 9 ? 0 : i + 1;
    run<<<1, THREADS>>>(words, out);
    KERNEL_OK();
    for (int t = 0; t < THREADS; t++) {
        const int *o = out + t * 8, n = t % 7, m = t % 3, next = t / 10 * 10 + 9;
        CHECK_EQ(o[0], 5);
        CHECK_EQ(o[1], n * (n - 1) / 2);
        CHECK_EQ(o[2], 0);
        CHECK_EQ(o[3], m * (m - 1) / 2);
        CHECK_EQ(o[4], steps_of(t + 1));
        CHECK_EQ(o[5], (next < THREADS ? next : THREADS) - t);
    }
    return check_done();
}
