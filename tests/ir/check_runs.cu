// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=check %t.bc -o %t.so --print-after=check 2>%t.ll
// RUN: FileCheck %s <%t.ll
// RUN: %wpcc --variant=check %t.bc -o %t.so --print-after=check-loops 2>%t.loops.ll
// RUN: FileCheck %s --check-prefix=LOOPS <%t.loops.ll
// Accesses of a block whose addresses are known before the first are tested together; those that differ by a
// constant have one range. The copy for the good case has no guards, the other one has one for each access.
// Before a loop over threads it is asked whether any of them needs the other one.

// CHECK-LABEL: define {{.*}}@neighbours(
// The first word of three is first in the range that the guard allows, and so is the last.
// CHECK: %[[OFFSET:.*]] = sub i64
// CHECK: icmp uge i64 %[[OFFSET]]
// CHECK: %[[LAST:.*]] = add i64 %[[OFFSET]], 8
// CHECK: icmp uge i64 %[[LAST]]
// CHECK: br i1 %{{.*}}, label %{{.*}}, label %[[FAST:[a-z0-9]+]],{{.*}} !prof
// CHECK-COUNT-4: call ptr @wp_rt_check(
// CHECK: [[FAST]]:
// CHECK-NOT: wp_rt_check
// CHECK: ret void
extern "C" __global__ void neighbours(const int *in, int *out)
{
    int i = threadIdx.x + 1;
    out[i] = in[i] + in[i - 1] + in[i + 1];
}

// LOOPS-LABEL: define {{.*}}@neighbours.r0(
// LOOPS: ask:
// LOOPS: %[[ANY:any]] = phi i1 [ false, %{{.*}} ], [ %[[ALL:.*]], %ask ]
// LOOPS: asked:
// LOOPS: %[[BAD:.*]] = and i1 %[[ALL]], %
// LOOPS: br i1 %[[BAD]], label %{{.*}}, label %{{.*}},{{.*}} !prof

// An address that is loaded on the way is not known before.
// CHECK-LABEL: define {{.*}}@loaded(
// CHECK-NOT: {{^}}fast
// CHECK: ret void
extern "C" __global__ void loaded(int *p)
{
    p[p[p[threadIdx.x]]] = 1;
}
