// RUN: %wpcc -c %s -o %t.o --print-after=narrow 2>&1 | FileCheck %s
// RUN: %wpcc -c %s -o %t.o --print-after=settle 2>&1 | FileCheck %s --check-prefix=SETTLE
// A guard on the thread index becomes the range of a loop; the old loop stays for indices that wrap around. What every
// thread does beside the guard keeps the loop whole. Guards that are not alone are settled for all threads at once.

// CHECK-LABEL: define internal i32 @_Z3addPfPKfi.r0(
// CHECK: br i1 {{.*}}, label %range, label %head
// CHECK: range:
// CHECK: br i1 {{.*}}, label %copy, label %next
// CHECK: !wp.rare
// CHECK: ret i32
__global__ void add(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

// CHECK-LABEL: define internal i32 @_Z4bothPfi.r0(
// CHECK-NOT: range:
// CHECK: ret i32
// SETTLE-LABEL: define internal i32 @_Z4bothPfi.r0(
// SETTLE: br i1 {{.*}}, label %copy, label %head
// SETTLE: br i1 true
// SETTLE: ret i32
__global__ void both(float *y, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = 1;
    y[threadIdx.x + 100] = 2;
}

// A warp's worth of threads or fewer: their number is a constant, and smaller blocks take the old loop.
// CHECK-LABEL: define internal i32 @_Z3fewPf.r0(
// CHECK: icmp uge i32 %{{.*}}, 16
// CHECK: icmp ult i32 %{{.*}}, 16
// CHECK: br i1 %{{.*}}, label %copy, label %next, !llvm.loop [[HINT:![0-9]+]]
// CHECK: [[OFF:![0-9]+]] = !{!"llvm.loop.unroll.disable"}
// CHECK: [[HINT]] = distinct !{[[HINT]], {{.*}}[[OFF]]}
__global__ void few(float *y) {
    if (threadIdx.x < 16) y[threadIdx.x] += y[threadIdx.x + 16];
}
