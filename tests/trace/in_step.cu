// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=instep %t.bc -o %t.so --print-after=trace 2>%t.ll && trace_show %t.so >%t.txt
// RUN: FileCheck %s <%t.txt
// RUN: FileCheck %s --check-prefix=CODE <%t.ll
// In step, each access ends its block, and the thread waits before it.

// CHECK-LABEL: function steps
// CHECK-NEXT: block [[#B:]] line
// CHECK: access [[#A:]] load global
// CHECK-NEXT: block [[#B+1]] line
// CHECK-NEXT: wait [[#A]]
// CHECK: access [[#A+1]] store global
// CHECK-NEXT: block [[#B+2]] line {{[0-9]+}} join none
// CHECK-NEXT: issue control 1 chain 1
// CHECK-NEXT: return

// CODE-LABEL: define {{.*}}@steps(
// CODE: %[[LANE:.*]] = call ptr @wp_rt_trace_lane()
// CODE: call void @wp_rt_trace_full(ptr %[[LANE]], i32 2)
// CODE: store i64 0, ptr
// CODE: call void @wp_rt_trace_step(ptr %[[LANE]])
// CODE: load i32, ptr addrspace(1)
// CODE: call void @wp_rt_trace_step(ptr %[[LANE]])
// CODE-NEXT: getelementptr
// CODE: store i32
// CODE: ret void
extern "C" __global__ void steps(const int *x, int *y) { y[threadIdx.x] = x[threadIdx.x] + 1; }
