// RUN: %wpcc -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s
// A barrier behind recursion cannot be cut out: the kernel runs on fibers, and its stops are numbered in program order.

// CHECK: call i64 @wp_rt_stop(i32 1, i32 [[POINT:[1-9][0-9]*]],
// CHECK-LABEL: define internal void @_Z5startPii.thread(ptr
// CHECK-NOT: @_Z5startPii.r0
__device__ __noinline__ int descend(int *data, int depth) {
    if (depth == 0) return data[threadIdx.x];
    __syncthreads();
    return descend(data, depth - 1) + descend(data, depth / 2);
}

__global__ void start(int *data, int depth) {
    data[threadIdx.x] = descend(data, depth);
}
