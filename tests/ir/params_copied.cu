// RUN: %wpcc --through-ptx -c %s -o %t.o --cpu-isa=baseline --print-after=params 2>&1 | FileCheck %s
// Nothing says of a structure in PTX, nor of one of a large kernel, that it is only read. Each thread has a copy, in
// registers; what is not changed of it is as uniform as other arguments.

// CHECK-LABEL: define {{.*}} @_Z3sum5rangePKiPi(
// CHECK-NOT: alloca
// CHECK-NOT: llvm.memcpy
// CHECK: load i32, ptr {{.*}}, !invariant.load
// CHECK: ret void
struct range {
    int begin, end, step;
};

__global__ void sum(range r, const int *in, int *out) {
    int total = 0;
    for (int i = r.begin; i < r.end; i += r.step)
        total += in[i + threadIdx.x];
    out[threadIdx.x] = total;
}
