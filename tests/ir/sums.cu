// RUN: %wpcc -c %s -o %t.o --print-after=lower-asm 2>&1 | FileCheck %s
// An addition under the mark of sums is the CPU runtime's. One without the mark, or with a mark and a result that is
// used, is as it was.

// CHECK-LABEL: define {{.*}}@_Z4sumsPjPyS0_(
// CHECK-NOT: sums
// CHECK: call void @wp_rt_sum(ptr {{.*}}, i64 {{.*}}, i32 4)
// CHECK: call void @wp_rt_sum(ptr {{.*}}, i64 {{.*}}, i32 8)
// CHECK: atomicrmw add {{.*}} 7
// CHECK: %[[OLD:.*]] = atomicrmw add {{.*}} 9
// CHECK: store i64 %[[OLD]]
__global__ void sums(unsigned *a, unsigned long long *b, unsigned long long *out) {
    asm volatile("// warpage: sums 32");
    atomicAdd(a, 3u);
    asm volatile("// warpage: sums 64");
    atomicAdd(b, 5ull);
    atomicAdd(b, 7ull);
    asm volatile("// warpage: sums 64");
    *out = atomicAdd(b + 1, 9ull);
}
