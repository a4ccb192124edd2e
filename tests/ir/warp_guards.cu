// RUN: %wpcc -c %s -o %t.o --print-after=warp-guards 2>&1 | FileCheck %s
// RUN: %wpcc -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s --check-prefix=WHOLE
// A reduction's last step, which only one warp takes, is taken by all, so that the block needs no scheduler. What
// stores is guarded still. A guard on data, an operation whose lanes are not named, and a guard behind which threads
// only end, stay.

// CHECK-LABEL: define dso_local void @_Z4lastPf(
// CHECK: [[GUARD:%[0-9]+]] = icmp ult i32 %{{[0-9]+}}, 32
// CHECK: br i1 [[GUARD]]
// CHECK: load float
// CHECK: call i64 @wp_rt_stop(i32 9,
// CHECK-NOT: br
// CHECK: call i64 @wp_rt_stop(i32 9,
// CHECK: br i1 [[GUARD]]
// CHECK: store float
// CHECK: ret void
// WHOLE: define internal i32 @_Z4lastPf.whole(
__global__ void last(float *x) {
    if (threadIdx.x < 32) {
        float mine = x[threadIdx.x];
        mine += __shfl_down_sync(~0u, mine, 16);
        mine += __shfl_down_sync(~0u, mine, 8);
        x[threadIdx.x] = mine;
    }
    __syncthreads();
    x[blockDim.x + threadIdx.x] = x[0];
}

// CHECK-LABEL: define dso_local void @_Z4dataPfPKi(
// CHECK: br i1
// CHECK: call i64 @wp_rt_stop(i32 9,
// CHECK-NOT: br i1
// CHECK: ret void
// WHOLE-NOT: .whole(
__global__ void data(float *x, const int *takes_part) {
    if (takes_part[threadIdx.x / 32]) x[threadIdx.x] += __shfl_down_sync(~0u, x[threadIdx.x], 16);
}

// CHECK-LABEL: define dso_local void @_Z4endsPfj(
// CHECK: br i1
// CHECK: call i64 @wp_rt_stop(i32 9,
// CHECK-NOT: br i1
// CHECK: ret void
__global__ void ends(float *x, unsigned n) {
    if (threadIdx.x / 32 >= n) return;
    x[threadIdx.x] += __shfl_down_sync(~0u, x[threadIdx.x], 16);
}

// CHECK-LABEL: define dso_local void @_Z6activePi(
// CHECK: br i1
// CHECK: call i64 @wp_rt_stop(
// CHECK-NOT: br i1
// CHECK: ret void
__global__ void active(int *x) {
    if (threadIdx.x < 32) x[threadIdx.x] = (int)__activemask();
}
