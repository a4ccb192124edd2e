// RUN: %wpcc -c %s -o %t.o --print-after=cuts 2>&1 | FileCheck %s
// A loop that reads along the threads is cut, behind a guard too: all threads walk through it, and what touches memory
// stands under the guard. A loop that reads along itself stays as it is.

// CHECK-LABEL: define dso_local void @_Z7columnsPKfPfi(
// CHECK: call i64 @wp_rt_stop(i32 30,
// CHECK: ret void
__global__ void columns(const float *a, float *sums, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[k * n + x];
    sums[x] = sum;
}

// CHECK-LABEL: define dso_local void @_Z7guardedPKfPfi(
// CHECK: [[GUARD:%.*]] = icmp slt i32
// CHECK: br i1 [[GUARD]]
// CHECK: load float
// CHECK: call i64 @wp_rt_stop(i32 30,
// CHECK: rejoin:
// CHECK: ret void
__global__ void guarded(const float *a, float *sums, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < n) {
        float sum = 0;
#pragma unroll 1
        for (int k = 0; k < n; k++) sum += a[k * n + x];
        sums[x] = sum;
    }
}

// CHECK-LABEL: define dso_local void @_Z4rowsPKfPfi(
// CHECK-NOT: wp_rt_stop
// CHECK: ret void
__global__ void rows(const float *a, float *sums, int n) {
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++) sum += a[x * n + k];
    sums[x] = sum;
}

// CHECK-LABEL: define dso_local void @_Z5ownedPKfPKiPf(
// CHECK-NOT: wp_rt_stop
// CHECK: ret void
__global__ void owned(const float *a, const int *n, float *sums) {
    float sum = 0;
    for (int k = 0; k < n[threadIdx.x]; k++) sum += a[k * 256 + threadIdx.x];
    sums[threadIdx.x] = sum;
}
