// RUN: %wpcc -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s
// Only some threads shuffle: each thread writes its own next state, and asks for the shuffle in its request.

// CHECK-LABEL: define internal i32 @_Z4movePi.r0(ptr
// CHECK: store i32 7, ptr
// CHECK: store i32 1, ptr
// CHECK: store i32 -2, ptr
// CHECK: ret i32 -1
// CHECK-LABEL: define internal i32 @_Z4movePi.r1(ptr
// CHECK: ret i32 -2
__global__ void move(int *data) {
    if (data[threadIdx.x] > 0)
        data[threadIdx.x] = __shfl_sync(0xffffffffu, data[threadIdx.x], 0);
}
