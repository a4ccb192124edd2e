// RUN: %wpcc -c %s -o %t.o --print-after=rounds 2>&1 | FileCheck %s
// RUN: %wpcc -c %s -o %t.o --print-after=narrow 2>&1 | FileCheck %s --check-prefix=NARROW
// A loop that steps by the grid is taken side by side, with the old loop kept for few threads; a thread's own run of
// elements, and a loop that only some threads reach, stay.

// CHECK-LABEL: define dso_local void @_Z5scalePfj(
// CHECK: br i1 {{.*}}, label %begin, label %plain
// CHECK: turn:
// CHECK: call i64 @wp_rt_stop(i32 29,
// CHECK: head:
// CHECK: %i = add i32 {{.*}}, %k
// NARROW-LABEL: define internal i32 @_Z5scalePfj.r1(
// NARROW: round:
// NARROW: range:
// NARROW-COUNT-4: call void @llvm.prefetch
// NARROW: load float
// NARROW: ret i32
__global__ void scale(float *x, unsigned n) {
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) x[i] *= 2;
}

// The sum goes through the frame; threads without a turn write nothing.
// CHECK-LABEL: define dso_local void @_Z3sumPKfjPf(
// CHECK: call i64 @wp_rt_stop(i32 29,
// NARROW-LABEL: define internal i32 @_Z3sumPKfjPf.r1(
// NARROW: range:
// NARROW: ret i32
__global__ void sum(const float *x, unsigned n, float *out) {
    float mine = 0;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) mine += x[i];
    out[threadIdx.x] = mine;
}

// CHECK-LABEL: define dso_local void @_Z3runPfj(
// CHECK-NOT: wp_rt_stop(i32 29,
// CHECK: ret void
__global__ void run(float *x, unsigned n) {
    for (unsigned i = threadIdx.x * n; i < (threadIdx.x + 1) * n; i++) x[i] *= 2;
}

// CHECK-LABEL: define dso_local void @_Z4somePfj(
// CHECK-NOT: wp_rt_stop(i32 29,
// CHECK: ret void
__global__ void some(float *x, unsigned n) {
    if (threadIdx.x % 3) return;
    for (unsigned i = threadIdx.x; i < n; i += blockDim.x) x[i] *= 2;
}
