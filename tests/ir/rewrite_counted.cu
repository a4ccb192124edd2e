// RUN: %wpcc --rewrite=counted -c %s -o %t.o --print-after=limits 2>&1 | FileCheck %s
// RUN: %wpcc --rewrite=counted -emit-llvm -c %s -o %t.bc
// RUN: llvm-dis-19 %t.bc -o - | FileCheck %s --check-prefix=VARIABLE
// RUN: %wpcc --rewrite=counted -ptx %s -o - | FileCheck %s --check-prefix=PTX
// RUN: (! %wpcc --rewrite=counting -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=UNKNOWN
// RUN: (! %wpcc --rewrite=counted --rewrite=counted -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=TWICE
// RUN: (! %wpcc --rewrite=counted:all -c %s -o %t.o 2>&1) | FileCheck %s --check-prefix=ARGUMENT
// The kernel stays; its sibling has one parameter more, counts two loads and a store in one arm of the branch, nothing
// in the other, and has the same launch bounds.

// CHECK-LABEL: define {{.*}}void @_Z4pickPKiPii(
// CHECK-NOT: atomicrmw
// CHECK: ret void
// CHECK-LABEL: define {{.*}}void @"_Z4pickPKiPii$counted"(ptr {{.*}}%in, ptr {{.*}}%out, i32 {{.*}}%n, ptr %counts)
// CHECK: load i32
// CHECK: load i32
// CHECK: store i32
// CHECK-DAG: [[LOADS:%[^ ]+]] = phi i64 [ 2,
// CHECK-DAG: [[STORES:%[^ ]+]] = phi i64 [ 1,
// CHECK: atomicrmw add ptr %{{.*}}, i64 [[LOADS]] monotonic
// CHECK: atomicrmw add ptr %{{.*}}, i64 [[STORES]] monotonic
// CHECK: atomicrmw add ptr %{{.*}}, i64 1 monotonic
// CHECK: !{ptr @"_Z4pickPKiPii$counted", !"maxntidx", i32 64}

// A managed variable keeps the section that gives it pages of its own.
// VARIABLE: @total = {{.*}}section "wp_managed"

// PTX: .visible .entry _Z4pickPKiPii(
// PTX: .visible .entry _Z4pickPKiPii$counted(
// PTX: .maxntid 64

// UNKNOWN: --rewrite=counting: unknown rewrite; the rewrites are: cache, counted, lockstep, stream
// TWICE: --rewrite=counted is given twice
// ARGUMENT: --rewrite=counted:all: the rewrite counted takes no argument

__managed__ int total;

__global__ void __launch_bounds__(64) pick(const int *in, int *out, int n) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (i < n) out[i] = in[i] + in[i + n];
}
