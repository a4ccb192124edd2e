// RUN: %wpcc -c %s -o %t.o --print-after=fences 2>&1 | FileCheck %s
// A fence next to an atomic operation on global memory is part of it; other fences stay.

// CHECK-LABEL: define {{.*}}@_Z7publishPiS_(
// CHECK-NOT: fence
// CHECK: atomicrmw xchg ptr {{.*}} seq_cst
// CHECK-NOT: fence
// CHECK: ret void
__global__ void publish(int *data, int *flag) {
    *data = 1;
    __threadfence();
    atomicExch(flag, 1);
}

// CHECK-LABEL: define {{.*}}@_Z4takePiS_(
// CHECK: cmpxchg ptr {{.*}} seq_cst seq_cst
// CHECK-NOT: fence
// CHECK: ret void
__global__ void take(int *data, int *flag) {
    int was = atomicCAS(flag, 1, 2);
    __threadfence();
    if (was == 1) *data += 1;
}

// CHECK-LABEL: define {{.*}}@_Z4bothPViS0_(
// CHECK: fence
// CHECK: ret void
__global__ void both(volatile int *data, volatile int *flag) {
    *data = 1;
    __threadfence();
    *flag = 1;
}

// Atomics on shared memory are plain operations: they order nothing.
// CHECK-LABEL: define {{.*}}@_Z6sharedPi(
// CHECK: fence
// CHECK: ret void
__global__ void shared(int *data) {
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    *data = 1;
    __threadfence();
    atomicAdd(&count, 1);
    __syncthreads();
    data[1] = count;
}
