// RUN: %wpcc -c %s -o %t.o --print-after=warp-synchronous 2>&1 | FileCheck %s
// Plain shared memory by which lanes rely on each other: a step where one lane's access follows another's.

// Loads after the stores of other lanes, and stores after their loads.
// CHECK-LABEL: define {{.*}}@_Z8exchangePf(
// CHECK: store float {{.*}} addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: load float, ptr addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: store float {{.*}} addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: load float, ptr addrspace(3)
// CHECK-NOT: wp_rt_stop
// CHECK: ret void
__global__ void exchange(float *out) {
    __shared__ float s[33];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[31 - t];
    s[t] = out[t] * 2;
    out[t] += s[(t + 1) & 31];
}

// The last steps of a reduction run in one warp. The barrier parts the first of them, the guards the loads from the store of
// the same line.
// CHECK-LABEL: define {{.*}}@_Z9last_warpPKiPi(
// CHECK: call i64 @wp_rt_stop(i32 1,
// CHECK: icmp ult i32 {{.*}}, 16
// CHECK: icmp ult i32 {{.*}}, 8
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK: icmp ult i32 {{.*}}, 4
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK: icmp eq i32 {{.*}}, 0
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK: ret void
__global__ void last_warp(const int *in, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 16)
        s[t] += s[t + 16];
    if (t < 8)
        s[t] += s[t + 8];
    if (t < 4)
        s[t] += s[t + 4];
    if (t == 0)
        out[0] = s[0] + s[1] + s[2] + s[3];
}

// Lanes above 15 do not take part; the guard counts.
// CHECK-LABEL: define {{.*}}@_Z7guardedPi(
// CHECK: call i64 @wp_rt_stop(i32 1,
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: icmp
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: load i32, ptr addrspace(3)
// CHECK-NOT: call i64 @wp_rt_stop
// CHECK: ret void
__global__ void guarded(int *data) {
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    if (t < 16)
        s[t] += s[t + 16];
    if (t < 8)
        data[t] = s[t + 8];
}

// A row a warp; the block may have any number of them.
// CHECK-LABEL: define {{.*}}@_Z4rowsPii(
// CHECK: store i32 {{.*}} addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: load i32, ptr addrspace(3)
// CHECK-NOT: wp_rt_stop
// CHECK: ret void
__global__ void rows(int *data, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x, lane = t % 32, warp = t / 32;
    if (blockIdx.x * blockDim.x + t >= n)
        return;
    s[warp * 33 + lane] = data[t];
    data[t] = s[warp * 33 + (lane ^ 5)];
}

// One lane's word for its warp.
// CHECK-LABEL: define {{.*}}@_Z5firstPiS_(
// CHECK: store i32 {{.*}} addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: load i32, ptr addrspace(3)
// CHECK: ret void
__global__ void first(int *next, int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    if (t % 32 == 0)
        s[t / 32] = atomicAdd(next, 32);
    out[s[t / 32] + t % 32] = t;
}

// Two stores to one place: the later line wins.
// CHECK-LABEL: define {{.*}}@_Z5laterPi(
// CHECK: store i32 {{.*}} addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: store i32
// CHECK: ret void
__global__ void later(int *data) {
    __shared__ int s[33];
    int t = threadIdx.x;
    s[31 - t] = data[t];
    s[t + 1] = data[t] * 3;
    __syncwarp();
    data[t] = s[t];
}

// Blocks in two dimensions: groups of eight lanes transpose a tile.
// CHECK-LABEL: define {{.*}}@_Z9transposePf(
// CHECK-COUNT-8: store float {{.*}} addrspace(3)
// CHECK: call i64 @wp_rt_stop(i32 26,
// CHECK-NEXT: load float, ptr addrspace(3)
// CHECK-NOT: wp_rt_stop
// CHECK: ret void
__global__ void transpose(float *data) {
    __shared__ float s[16 * 33];
    int x = threadIdx.x, y = threadIdx.y * 8;
    float *column = &s[y * 33 + x], *row = &s[(y + (x & 7)) * 33 + (x & ~7)];
    data += (y * 32 + x) * 8;
    for (int i = 0; i < 8; i++)
        column[i * 33] = data[i];
    for (int i = 0; i < 8; i++)
        data[i] = row[i];
}

// A flag that one thread clears while others may still look: a race between warps, in which GPUs' warps have looked
// before the next round begins.
// CHECK-LABEL: define {{.*}}@_Z5levelPii(
// CHECK: call i64 @wp_rt_stop(i32 26,{{.*}} !wp.close
// CHECK-NEXT: store i32 0, ptr addrspace(3)
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
// CHECK: ret void
__global__ void level(int *data, int n) {
    __shared__ int changed;
    int t = threadIdx.x;
    do {
        if (t == 0)
            changed = 0;
        __syncthreads();
        if (data[t] > n) {
            data[t] /= 2;
            changed = 1;
        }
        __syncthreads();
    } while (changed);
}
