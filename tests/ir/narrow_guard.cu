// RUN: %wpcc -c %s -o %t.o --print-after=narrow 2>&1 | FileCheck %s
// A guard on the thread index becomes the range of the loop, in a block of its own before it; what every thread does
// beside the guard keeps the loop whole.

// CHECK-LABEL: define internal i32 @_Z3addPfPKfi.r0(
// CHECK: range:
// CHECK: br i1 {{.*}}, label %head, label %next
// CHECK: head:
// CHECK: phi i32 [ {{.*}}, %range ]
// CHECK: ret i32
__global__ void add(float *y, const float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] += x[i];
}

// CHECK-LABEL: define internal i32 @_Z4bothPfi.r0(
// CHECK-NOT: range:
// CHECK: ret i32
__global__ void both(float *y, int n) {
    if (threadIdx.x < n) y[threadIdx.x] = 1;
    y[threadIdx.x + 100] = 2;
}
