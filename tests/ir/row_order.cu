// RUN: %wpcc -c %s -o %t.o --print-after=row-order 2>&1 | FileCheck %s
// Two rows of a block's own part of an array are read one after the other; neighbours, and rows of other parts, are not.

// CHECK-LABEL: define dso_local void @_Z4rowsPKfjPf(
// CHECK: load float
// CHECK: call i64 @wp_rt_stop(i32 30,
// CHECK: load float
// CHECK: ret void
__global__ void rows(const float *x, unsigned n, float *out) {
    unsigned i = blockIdx.x * 512 + threadIdx.x;
    float mine = i < n ? x[i] : 0;
    if (i + 256 < n) mine += x[i + 256];
    out[blockIdx.x * 256 + threadIdx.x] = mine;
}

// CHECK-LABEL: define dso_local void @_Z8rows_dimPKfPf(
// CHECK: load float
// CHECK: call i64 @wp_rt_stop(i32 30,
// CHECK: load float
// CHECK: ret void
__global__ void rows_dim(const float *x, float *out) {
    unsigned i = blockIdx.x * (blockDim.x * 2) + threadIdx.x;
    out[blockIdx.x * blockDim.x + threadIdx.x] = x[i] + x[i + blockDim.x];
}

// CHECK-LABEL: define dso_local void @_Z7stencilPKfPf(
// CHECK-NOT: wp_rt_stop
// CHECK: ret void
__global__ void stencil(const float *x, float *out) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x + 1024;
    out[i] = x[i - 1] + x[i] + x[i + 1] + x[i - 1024] + x[i + 1024];
}
