// RUN: %wpcc -c %s -o %t.o --print-after=lockstep 2>&1 | FileCheck %s
// A step before every volatile access to shared memory; a yield on the way back in loops that wait for another thread, and none in
// loops that only use atomics.

// CHECK-LABEL: define {{.*}}@_Z7in_stepPi(
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: load volatile i32, ptr addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: store volatile i32
// CHECK: ret void
__global__ void in_step(int *out) {
    volatile __shared__ int s[64];
    s[threadIdx.x] = s[63 - threadIdx.x];
    out[threadIdx.x] = s[threadIdx.x];
}

// CHECK-LABEL: define {{.*}}@_Z4lockPi(
// CHECK-DAG: cmpxchg
// The way back is where its loop is: LOCK, the line of `while`.
// CHECK-DAG: br i1 {{.*}}, !dbg ![[LOCK:[0-9]+]]
// CHECK-DAG: call i64 @wp_rt_stop(i32 27, {{.*}}, !dbg ![[LOCK]]
// CHECK: ret void
__global__ void lock(int *flag) {
    while (atomicCAS(flag, 0, 1) != 0) {
    }
    atomicExch(flag, 0);
}

// CHECK-LABEL: define {{.*}}@_Z5countPii(
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: ret void
__global__ void count(int *bins, int n) {
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(&bins[i % 7], 1);
}

// A delay waits for no other thread.
// CHECK-LABEL: define {{.*}}@_Z5delayPii(
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: ret void
__global__ void delay(int *out, int n) {
    for (volatile int i = 0; i < n; i++) {
    }
    *out = n;
}

// The loop ends by a flag; a branch on what others wrote sets it. The ways to the phi of constants are followed.
// CHECK-LABEL: define {{.*}}@_Z7by_flagPViPii(
// CHECK: call i64 @wp_rt_stop(i32 27,
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: phi i1 [ true
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK-LABEL: define
__global__ void by_flag(volatile int *turn, int *spins, int steps) {
    int tries = 0;
    bool done = false;
    while (!done) {
        if (tries % 3 != steps) {
            if (*turn == 1) {
                *turn = 2;
                done = true;
            }
        }
        tries++;
        for (int i = 0; i < steps; i++)
            spins[i] += i;
    }
}

// A branch that is over before the flag's does not decide on it, nor does what others wrote in another part of the loop.
// CHECK-SAME: @_Z10not_by_oneP
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: ret void
__global__ void not_by_one(volatile int *seen, int *spins, int steps) {
    int tries = 0;
    bool done = false;
    while (!done) {
        if (*seen == 1)
            spins[0]++;
        if (tries % 3 != steps) {
            if (spins[tries] == 5) {
                spins[1] += 2;
                done = true;
            }
        }
        tries++;
        for (int i = 0; i < steps; i++)
            spins[i] += i;
    }
}

// A flag that stays in memory: the branches that lead to its stores are followed.
// CHECK-LABEL: define {{.*}}@_Z9by_memoryPViPi(
// CHECK: call i64 @wp_rt_stop(i32 27,
// CHECK: ret void
__global__ void by_memory(volatile int *turn, int *out) {
    volatile bool done = false;
    while (!done)
        if (*turn == 1) {
            *turn = 2;
            done = true;
        }
    *out = 1;
}

// What sets it depends on nothing that others write.
// CHECK-LABEL: define {{.*}}@_Z13not_by_memoryPViPi(
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: ret void
__global__ void not_by_memory(volatile int *turn, int *out) {
    volatile bool done = false;
    for (int i = 0; !done; i++) {
        out[0] += *turn;
        if (out[i] == 1)
            done = true;
    }
}

// An entry is linked: the swap expects what the last one found, and fails only because another one succeeded.
// CHECK-LABEL: define {{.*}}@_Z4pushPyS_(
// CHECK: call i64 @wp_rt_stop(i32 27, {{.*}}!wp.tries
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: ret void
__global__ void push(unsigned long long *top, unsigned long long *next) {
    unsigned long long head = *(volatile unsigned long long *)top;
    for (;;) {
        next[threadIdx.x] = head;
        unsigned long long found = atomicCAS(top, head, threadIdx.x + 1ull);
        if (found == head)
            break;
        head = found;
    }
}

// A swap that expects the same word in every round is a lock's.
// CHECK-LABEL: define {{.*}}@_Z4takePjj(
// CHECK: call i64 @wp_rt_stop(i32 27
// CHECK-NOT: wp.tries
// CHECK: ret void
__global__ void take(unsigned *word, unsigned is) {
    while (atomicCAS(word, is, threadIdx.x) != is) {
    }
}

// A mark in every round: the loop does not wait. The mark leaves nothing behind but the note.
// CHECK-LABEL: define {{.*}}@_Z6markedPVj(
// CHECK: call i64 @wp_rt_stop(i32 27, {{.*}}!wp.tries
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: ret void
__global__ void marked(volatile unsigned *pages) {
    unsigned page;
    do {
        asm volatile("// warpage: retries");
        page = *pages;
    } while (page > threadIdx.x);
}

// A mark in some rounds says nothing of the others, nor does that of a loop within.
// CHECK-LABEL: define {{.*}}@_Z6partlyPVjj(
// CHECK: call i64 @wp_rt_stop(i32 27
// CHECK-NOT: wp.tries
// CHECK: ret void
__global__ void partly(volatile unsigned *turn, unsigned how) {
    while (*turn != 1)
        if (how > threadIdx.x) {
            asm volatile("// warpage: retries");
            turn[1]++;
        }
}
