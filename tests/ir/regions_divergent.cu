// RUN: %wpcc -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s
// Only some threads shuffle: each thread writes its own next state, and asks for the shuffle in its request; in words, if
// the mask names all lanes: its value, and, of threads that read from lanes of their own, the lane.

// CHECK-LABEL: define internal i32 @_Z4movePi.r0(ptr
// CHECK: store i32 7, ptr
// CHECK: store i32 1, ptr
// CHECK: store i32 -2, ptr
// CHECK: ret i32 -1
// CHECK-LABEL: define internal i32 @_Z4movePi.r1(ptr
// CHECK: ret i32 -2
__global__ void move(int *data) {
    if (data[threadIdx.x] > 0)
        data[threadIdx.x] = __shfl_sync(0xffffu, data[threadIdx.x], 0);
}

// CHECK-LABEL: define internal i32 @_Z5firstPi.r0(ptr
// CHECK-NOT: store i32 7, ptr
// CHECK: [[WORD:%[0-9]+]] = trunc i64 %{{[0-9]+}} to i32
// CHECK-NEXT: store i32 [[WORD]], ptr
// CHECK: store i32 1, ptr
// CHECK: store i32 -2, ptr
// CHECK: ret i32 -1
__global__ void first(int *data) {
    if (data[threadIdx.x] > 0)
        data[threadIdx.x] = __shfl_sync(0xffffffffu, data[threadIdx.x], 0);
}

// CHECK-LABEL: define internal i32 @_Z3ownPi.r0(ptr
// CHECK-NOT: store i32 7, ptr
// CHECK: [[WORD:%[0-9]+]] = trunc i64 %{{[0-9]+}} to i32
// CHECK-NEXT: store i32 [[WORD]], ptr
// CHECK-NEXT: [[LANE:%[0-9]+]] = trunc i64 %{{[0-9]+}} to i32
// CHECK-NEXT: store i32 [[LANE]], ptr
// CHECK: store i32 1, ptr
__global__ void own(int *data) {
    if (data[threadIdx.x] > 0)
        data[threadIdx.x] = __shfl_sync(0xffffffffu, data[threadIdx.x], data[threadIdx.x]);
}
