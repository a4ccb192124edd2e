// RUN: %wpcc -emit-llvm %s -o %t.bc
// RUN: %wpcc --variant=races %t.bc -o %t.so --print-after=check 2>%t.ll
// RUN: FileCheck %s <%t.ll
// RUN: %wpcc --variant=check %t.bc -o %t.so --print-after=check 2>%t.plain.ll
// RUN: ! grep wp_rt_race %t.plain.ll
// What other threads may access is reported, with the value that a store puts there; a meeting of lanes on both
// sides; barriers of all threads are the scheduler's.

// An array that the kernel does not write is left out, and so is what only the thread has.
// CHECK-LABEL: define {{.*}}@only_writes(
// Twice: where a run of accesses is tested together, there is a copy without guards.
// CHECK-COUNT-2: call void @wp_rt_race(ptr %{{.*}}, i64 4, i64 %{{.*}}, i32 {{[0-9]+}}, i32 %{{.*}})
// CHECK-NOT: wp_rt_race
// CHECK: ret void
extern "C" __global__ void only_writes(const int *in, int *out)
{
    int own[4];
    for (int i = 0; i < 4; i++) own[(i + threadIdx.x) & 3] = i;
    out[threadIdx.x] = in[threadIdx.x] + own[in[0] & 3];
}

// CHECK-LABEL: define {{.*}}@exchange(
// CHECK: call void @wp_rt_race(
// CHECK: call void @wp_rt_race_sync(i32 %
// CHECK-NEXT: call i64 @wp_rt_stop(i32 6,
// CHECK-NEXT: call i32 @wp.id.thread
// CHECK-NEXT: call void @wp_rt_race_sync(i32 %
// CHECK: call void @wp_rt_race(ptr %{{.*}}, i64 4, i64 0,
// CHECK-NOT: wp_rt_race_sync
// CHECK: call i64 @wp_rt_stop(i32 1,
// CHECK-NOT: wp_rt_race_sync
// CHECK: ret void
extern "C" __global__ void exchange(int *out)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    __syncwarp();
    int other = tile[threadIdx.x ^ 1];
    __syncthreads();
    out[threadIdx.x] = other;
}
