// RUN: %wpcc -c %s -o %t.o --print-after=kernel-ids 2>&1 | FileCheck %s
// A kernel that is launched by a kernel is named by its id; the launch passes pointers to the arguments.

__global__ void child(int *out, int value) {
    *out = value;
}

// CHECK-LABEL: define {{.*}}@_Z6parentPi(
// CHECK-NOT: @_Z5childPii
// CHECK: call i32 @__wp_launch(ptr {{.*}}inttoptr (i64 {{-?[0-9]+}} to ptr)
// CHECK: ret void
__global__ void parent(int *out) {
    child<<<1, 1>>>(out, 3);
}
