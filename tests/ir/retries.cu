// RUN: %wpcc -c %s -o %t.o --print-after=retries 2>&1 | FileCheck %s
// RUN: %wpcc -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s --check-prefix=REGIONS
// A loop that tries again without waiting for another thread yields once in many rounds; a loop that waits yields in each.

// CHECK-LABEL: define {{.*}}@_Z4pushPyS_(
// CHECK: and i32 {{.*}}, 1023
// CHECK: br i1 {{.*}}, label %[[YIELD:[^,]*]], label {{.*}}, !prof
// CHECK: [[YIELD]]:
// CHECK-NEXT: call i64 @wp_rt_stop(i32 27,
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: cmpxchg
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK-LABEL: define
// The loop is a loop in its region.
// REGIONS-LABEL: define internal i32 @_Z4pushPyS_.r0(
// REGIONS: and i32 {{.*}}, 1023
// REGIONS: br i1 {{.*}}, !prof
// REGIONS-LABEL: define internal i32 @_Z4pushPyS_.r1(
__global__ void push(unsigned long long *head, unsigned long long *next) {
    unsigned long long old = *(volatile unsigned long long *)head;
    for (;;) {
        *next = old;
        unsigned long long found = atomicCAS(head, old, old + 1);
        if (found == old) return;
        old = found;
    }
}

// CHECK-SAME: @_Z4lockPi(
// CHECK-NOT: 1023
// CHECK: call i64 @wp_rt_stop(i32 27,
// CHECK-NOT: 1023
// CHECK: ret void
__global__ void lock(int *flag) {
    while (atomicCAS(flag, 0, 1) != 0) {
    }
    atomicExch(flag, 0);
}
