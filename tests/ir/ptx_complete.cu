// RUN: %wpcc -ptx %s -o %t.ptx && FileCheck %s --input-file %t.ptx
// RUN: %wpcc -fmad=false -ptx %s -o %t.ptx && FileCheck %s --input-file %t.ptx --check-prefix=TWICE
// RUN: %wpcc -use_fast_math -ptx %s -o %t.ptx && FileCheck %s --input-file %t.ptx --check-prefix=FAST
// PTX is complete: the device library is linked and inlined, only the driver's functions are external.
// It is made for the oldest driver that can run it, without line tables. Products and sums are fused as
// GPUs do it, and what is not fused says so (.rn), or ptxas would fuse it.
#include <cassert>
#include <cstdio>

// CHECK: .version 6.3
// CHECK-NEXT: .target sm_70
// CHECK-NOT: __nv_
// CHECK-NOT: .loc
// CHECK-DAG: .extern .func {{.*}}vprintf
// CHECK-DAG: .extern .func {{.*}}__assertfail

// CHECK: .visible .entry _Z4axpyPfPKff(
// CHECK: fma.rn.f32
// TWICE: .visible .entry _Z4axpyPfPKff(
// TWICE: mul.rn.f32
// TWICE: add.rn.f32
__global__ void axpy(float *y, const float *x, float a) {
    y[threadIdx.x] += a * x[threadIdx.x];
}

// CHECK: .visible .entry _Z8functionPfPd(
// CHECK: sqrt.rn.f32
// CHECK: div.rn.f32
// FAST: .visible .entry _Z8functionPfPd(
// FAST-DAG: sqrt.approx.f32
// FAST-DAG: div.approx.f32
// FAST-DAG: ex2.approx.f32
// FAST-DAG: sin.approx.f32
__global__ void function(float *f, double *d) {
    f[0] = sqrtf(f[1]) / f[2];
    f[3] = expf(f[4]) + sinf(f[5]);
    d[0] = pow(d[1], d[2]) + lgamma(d[3]);
    assert(d[0] > 0);
    printf("%f\n", d[0]);
}

int main() {
    return 0;
}
