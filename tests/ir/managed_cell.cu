// RUN: %wpcc -c %s -o %t.o --print-after=managed 2>&1 | FileCheck %s
// Kernels reach a managed variable through its cell, which begins as a pointer to the initial value.

// CHECK: @wp.cell = global ptr
// CHECK-LABEL: define {{.*}}@_Z5raisev(
// CHECK: [[AT:%.*]] = load ptr, ptr @wp.cell
// CHECK: ret void
__managed__ int level = 5;

__global__ void raise() {
    level += 1;
}
