// RUN: %wpcc -c %s -o %t.o --print-after=params 2>&1 | FileCheck %s
// RUN: %wpcc -c %s -o %t.o --print-after=hoist 2>&1 | FileCheck %s --check-prefix=HOIST
// A structure that a kernel takes by value is the same for all threads: nothing of it is kept for each across a barrier,
// and it is read before the loop over threads. A kernel that writes to its copy has it for itself.

struct factors {
    float first, second;
};

// CHECK-LABEL: define dso_local void @_Z5scale7factorsPf(
// CHECK: load float, {{.*}} !invariant.load
// CHECK: load float, {{.*}} !invariant.load
// CHECK: ret void
// HOIST-LABEL: define internal i32 @_Z5scale7factorsPf.r1(
// HOIST: load ptr, {{.*}} !dereferenceable [[BYTES:![0-9]+]]
// HOIST: fadd float
// HOIST: head:
// HOIST-NOT: fadd
// HOIST: fmul
// HOIST: ret i32
// HOIST: [[BYTES]] = !{i64 8}
__global__ void scale(factors f, float *x) {
    x[threadIdx.x] *= f.first;
    __syncthreads();
    x[threadIdx.x ^ 1] *= f.first + f.second;
}

// CHECK-LABEL: define dso_local void @_Z6writes7factorsPf(
// CHECK-NOT: !invariant.load
// CHECK: ret void
__global__ void writes(factors f, float *x) {
    float *part = &f.first;
    for (int i = 0; i < 4; i++) part[threadIdx.x & 1] += x[i];
    x[threadIdx.x] = f.first;
}
