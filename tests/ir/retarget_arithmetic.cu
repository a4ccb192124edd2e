// RUN: %wpcc -c %s -o %t.o --print-after=retarget 2>&1 | FileCheck %s
// RUN: %wpcc -fmad=true -c %s -o %t.o --print-after=retarget 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: %wpcc -fmad=true -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=check %t.bc -o %t.so --print-after=retarget 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: %wpcc -fmad=true -rdc=true -c %s -o %t.o
// RUN: %wpcc -dlink %t.o -o %t.d.o --print-after=retarget 2>&1 | FileCheck %s --check-prefix=FUSED
// Host code: its triple, none of the GPU's processor names, and sums that may not be fused unless asked for;
// variants and the device link keep the rule that a file was compiled with.

// CHECK: target triple = "x86_64-pc-linux-gnu"
// CHECK-LABEL: define {{.*}}@_Z4axpyPfPKff(
// CHECK: fmul
// CHECK: fadd float
// CHECK-NOT: target-cpu
// FUSED-LABEL: define {{.*}}@_Z4axpyPfPKff(
// FUSED: fadd contract float
__global__ void axpy(float *y, const float *x, float a) {
    y[threadIdx.x] += a * x[threadIdx.x];
}
