// RUN: %wpcc -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s
// A barrier in a loop: one region up to it, one from it on. The uniform trip count is kept once for the block and decides the
// next state for all threads; no thread writes a state of its own, and no stop is left.

// CHECK-LABEL: define internal i32 @_Z3sumPii.r0(ptr
// CHECK: ret i32
// CHECK-LABEL: define internal i32 @_Z3sumPii.r1(ptr
// CHECK: [[NEXT:%next.*]] = alloca i32
// CHECK: store i32 1, ptr [[NEXT]]
// CHECK: store i32 -2, ptr [[NEXT]]
// CHECK: [[STATE:%.*]] = load i32, ptr [[NEXT]]
// CHECK: ret i32 [[STATE]]
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: !"llvm.loop.interleave.count", i32 2}
__global__ void sum(int *data, int rounds) {
    extern __shared__ int last[]; /* of each round, so that no barrier is missing at the loop's end */
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == i)
            last[i] = data[i];
        __syncthreads();
        data[threadIdx.x] += last[i];
    }
}
