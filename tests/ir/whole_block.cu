// RUN: %wpcc -c %s -o %t.o --print-after=regions 2>&1 | FileCheck %s
// RUN: %wpcc -c %s -o %t.o --print-after=merge 2>&1 | FileCheck %s --check-prefix=MERGE
// RUN: %wpcc -c %s -o %t.o --print-after=ahead 2>&1 | FileCheck %s --check-prefix=AHEAD
// Threads that stay together need no scheduler: one function calls the regions, which come into it. Then the loop over
// tiles is a loop with a counter again, and asks for the rows of its next turn. So does a warp operation of all lanes
// for which a thread only stores its word. One of half a warp, and a barrier that only some threads come to, need the
// scheduler.

// CHECK-LABEL: define internal i32 @_Z5tilesPKfPfj.whole(ptr
// CHECK: [[UNIFORM:%uniform]] = alloca
// CHECK: call i32 @_Z5tilesPKfPfj.r0(ptr %0, i32 0, i32 %2, ptr [[UNIFORM]])
// CHECK: call i32 @_Z5tilesPKfPfj.r1(ptr
// CHECK: call i32 @_Z5tilesPKfPfj.r2(ptr
// CHECK: ret i32 -2
// CHECK-LABEL: define internal i32 @_Z5lanesPf.r1(ptr
// CHECK: [[WORD:%[0-9]+]] = trunc i64 %{{[0-9]+}} to i32
// CHECK-NEXT: store i32 [[WORD]], ptr
// CHECK-NEXT: store i32 2, ptr
// CHECK-LABEL: define internal i32 @_Z5lanesPf.whole(ptr
// CHECK: call i32 @_Z5lanesPf.r1(ptr
// CHECK: call void @wp_rt_warps(ptr %0, i32 9, i64 133143986177)
// CHECK: call i32 @_Z5lanesPf.r2(ptr
// CHECK-NOT: .whole(
// MERGE-LABEL: define internal i32 @_Z5tilesPKfPfj.whole(ptr
// MERGE-NOT: call i32
// MERGE-NOT: alloca
// MERGE: [[K:%uniform[^ ]*]] = phi i32
// MERGE: add i32 [[K]], 8
// MERGE: ret i32
// AHEAD-LABEL: define internal i32 @_Z5tilesPKfPfj.whole(ptr
// AHEAD: freeze ptr
// AHEAD: call void @llvm.prefetch.p0(
// AHEAD: ret i32
// AHEAD-NOT: call void @llvm.prefetch.p0(
__global__ void tiles(const float *b, float *out, unsigned n) {
    __shared__ float tile[8][32];
    float sum = 0;
    for (unsigned k = 0; k < n; k += 8) {
        tile[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + threadIdx.x];
        __syncthreads();
        for (int j = 0; j < 8; j++) sum += tile[j][threadIdx.x] * (threadIdx.y + j);
        __syncthreads();
    }
    out[threadIdx.y * 32 + threadIdx.x] = sum;
}

__global__ void lanes(float *x) {
    __syncthreads();
    x[threadIdx.x] += __shfl_down_sync(~0u, x[threadIdx.x], 1);
}

__global__ void half(float *x) {
    __syncthreads();
    if (threadIdx.x < 16) x[threadIdx.x] += __shfl_down_sync(0xffff, x[threadIdx.x], 1);
}

__global__ void some(float *x, int n) {
    if (threadIdx.x < n) {
        __syncthreads();
        x[threadIdx.x] += 1;
    }
}
