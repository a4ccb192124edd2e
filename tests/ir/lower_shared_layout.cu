// RUN: %wpcc -c %s -o %t.o --print-after=lower-shared 2>&1 | FileCheck %s
// Each kernel lays out its own shared variables; dynamic shared memory follows, 16-byte aligned. Atomics on shared
// memory are plain operations that are marked as ordered.

extern __shared__ int dynamic_part[];

// CHECK-LABEL: define {{.*}}@_Z5firstPi(
// CHECK-DAG: [[BASE:%.*]] = call ptr @wp.shared()
// CHECK-DAG: getelementptr inbounds i8, ptr {{%.*}}, i64 0
// CHECK-DAG: getelementptr inbounds i8, ptr {{%.*}}, i64 48
// CHECK: load i32, ptr addrspace(3) {{.*}}, !wp.ordered
// CHECK: store i32 {{.*}}, ptr addrspace(3) {{.*}}, !wp.ordered
// CHECK-NOT: atomicrmw
// CHECK: ret void
__global__ void first(int *out) {
    __shared__ int own[10]; /* 40 bytes: dynamic memory begins at 48 */
    own[threadIdx.x] = dynamic_part[threadIdx.x];
    __syncthreads();
    atomicAdd(&own[out[0]], 1);
    __syncthreads();
    out[threadIdx.x] = own[threadIdx.x];
}

// CHECK-LABEL: define {{.*}}@_Z6secondPi(
// CHECK-NOT: i64 48
// CHECK: atomicrmw add ptr
// CHECK: ret void
__global__ void second(int *out) {
    atomicAdd(out, 1); /* global memory keeps its atomic */
}
