// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=check %t.bc -o %t.so --print-after=check 2>%t.ll
// RUN: FileCheck %s <%t.ll
// RUN: grep ^@wp %t.ll | FileCheck %s --check-prefix=SITES
// An access through a pointer is compared with the guard of its site, one to an object of known extent with its
// bounds; constant offsets within an object need nothing. A second access through the same address needs
// no second guard.

struct three {
    int a, b, c;
};

__constant__ float coefficients[8];

// CHECK-LABEL: define {{.*}}@through_pointer(
// CHECK: %[[GUARDS:.*]] = load ptr, ptr %{{[0-9]+}}, align 8,{{.*}} !invariant.load
// CHECK: %[[OFFSET:.*]] = sub i64
// CHECK: %[[OUT:.*]] = icmp uge i64 %[[OFFSET]], %
// CHECK: %[[LOW:.*]] = and i64 %{{.*}}, 3
// CHECK: %[[ODD:.*]] = icmp ne i64 %[[LOW]], 0
// CHECK: %[[BAD:.*]] = or i1 %[[OUT]], %[[ODD]]
// CHECK: br i1 %[[BAD]], label %[[SLOW:[0-9a-z]+]], label %[[GO:[0-9a-z]+]],{{.*}} !prof
// CHECK: [[SLOW]]:
// CHECK: %[[OTHER:.*]] = call ptr @wp_rt_check(ptr %{{.*}}, i32 0)
// CHECK: [[GO]]:
// CHECK: %[[CHECKED:.*]] = phi ptr [ %{{.*}}, %{{.*}} ], [ %[[OTHER]], %[[SLOW]] ]
// CHECK: load i32, ptr %[[CHECKED]]
// CHECK: store i32 %{{.*}}, ptr %[[CHECKED]]
// CHECK-NOT: wp_rt_check
// CHECK: ret void
extern "C" __global__ void through_pointer(int *p, int n) { p[n] += 3; }

// CHECK-LABEL: define {{.*}}@constant_offsets(
// CHECK: store volatile i32 %{{.*}}, ptr addrspace(3)
// CHECK-NOT: wp_rt_check_object
// CHECK: call ptr @wp_rt_check(ptr %{{.*}}, i32 1)
// CHECK-NOT: wp_rt_check
// CHECK: ret void
extern "C" __global__ void constant_offsets(volatile int *out, three t)
{
    __shared__ volatile int fixed[4];
    fixed[3] = t.c;
    *out = fixed[3];
}

// CHECK-LABEL: define {{.*}}@objects(
// CHECK: icmp uge i64 %{{.*}}, 29
// CHECK: call ptr @wp_rt_check_object(ptr %{{.*}}, i32 2, ptr {{.*}}coefficients{{.*}}, i64 32)
// CHECK: icmp uge i64 %{{.*}}, 125
// CHECK: call ptr @wp_rt_check_object(ptr %{{.*}}, i32 3, ptr {{.*}}tile{{.*}}, i64 128)
// CHECK: ret void
extern "C" __global__ void objects(int n)
{
    __shared__ float tile[32];
    *(volatile float *)&tile[n] = coefficients[n];
}

// CHECK-LABEL: define {{.*}}@barrier(
// CHECK: %[[THREAD:.*]] = zext i32 %{{.*}} to i64
// CHECK: %[[PLACE:.*]] = getelementptr inbounds i32, ptr %{{.*}}, i64 %[[THREAD]]
// CHECK: store i32 [[#]], ptr %[[PLACE]]
// CHECK: call i64 @wp_rt_stop(i32 1,
extern "C" __global__ void barrier(int *p)
{
    atomicAdd(p, 1);
    __syncthreads();
}

// An atomic inlined from a header counts as where it was called: this file, whatever the number.
// SITES-NOT: .h\00
// SITES: @wp_check_sites = constant [{{[0-9]+}} x { ptr, ptr, ptr, i32, i32, i32, i32, i32, i32, i32 }]
// SITES: @wp_check_site_count = constant i32 {{[0-9]+}}
