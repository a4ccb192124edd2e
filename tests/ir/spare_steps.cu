// RUN: %wpcc -arch=sm_70 -c %s -o %t.o --print-after=spare-steps 2>&1 | FileCheck %s
// The lanes of a warp meet at loads and stores of matrices only where the order of their accesses matters.
#include <mma.h>

using namespace nvcuda;

// After the barrier nothing is stored before the product, which is a meeting itself.
// CHECK-LABEL: define {{.*}}@_Z8multiplyPK6__halfPf(
// CHECK: call void @llvm.memcpy.p3
// CHECK: call i64 @wp_rt_stop(i32 1,
// CHECK-NOT: @wp_rt_stop(i32 26,
// CHECK: call i64 @wp_rt_stop(i32 31,
// Of the store: nothing was accessed since the product. What follows the kernel's end is not known here.
// CHECK-NOT: @wp_rt_stop(i32 26,
// CHECK: store i32
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK: ret void
__global__ void multiply(const half *in, float *out) {
    __shared__ __align__(32) half tile[512];
    memcpy(&tile[threadIdx.x * 16], &in[threadIdx.x * 16], 32);
    __syncthreads();
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::fill_fragment(c, 0.0f);
    wmma::load_matrix_sync(a, tile, 16);
    wmma::load_matrix_sync(b, tile + 256, 16);
    wmma::mma_sync(c, a, b, c);
    wmma::store_matrix_sync(out, c, 16, wmma::mem_row_major);
}

// A lane loads what others have stored, and stores where others have loaded.
// CHECK-LABEL: define {{.*}}@_Z7convertPf(
// CHECK: store float {{.*}} addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK: load i32, ptr addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK: store i32 {{.*}} addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK: load float, ptr addrspace(3)
// CHECK: ret void
__global__ void convert(float *out) {
    __shared__ __align__(32) float tile[256];
    for (int i = 0; i < 8; i++)
        tile[threadIdx.x * 8 + i] = out[threadIdx.x * 8 + i];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c;
    wmma::load_matrix_sync(c, tile, 16, wmma::mem_row_major);
    wmma::store_matrix_sync(tile, c, 16, wmma::mem_col_major);
    out[threadIdx.x] = tile[255 - threadIdx.x];
}
