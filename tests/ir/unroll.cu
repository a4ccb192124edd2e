// RUN: %wpcc -ptx %s -o %t.ptx && FileCheck %s --input-file %t.ptx
// Inner loops are unrolled whole as far as nvcc and ptxas do it; loops around a loop with a varying number of turns,
// large ones, and those of which the program says so stay.

// Both loops, and then the sums are registers.
// CHECK-LABEL: .visible .entry tile(
// CHECK-NOT: .local
// CHECK-NOT: bra
// CHECK: ret;
extern "C" __global__ void tile(const float *a, int pitch, float *out) {
    __shared__ float b[8][16];
    float sum[16] = {};
    b[threadIdx.y][threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int j = 0; j < 8; j++) {
        float x = a[j * pitch + threadIdx.x];
        for (int k = 0; k < 16; k++) sum[k] += x * b[j][k];
    }
    for (int k = 0; k < 16; k++) out[k * pitch + threadIdx.x] = sum[k];
}

// CHECK-LABEL: .visible .entry triangle(
// CHECK: setp.eq.s32 {{.*}}, 16;
// CHECK: bra
// CHECK: ret;
extern "C" __global__ void triangle(float *x) {
    for (int i = 1; i < 16; i++)
        for (int j = 0; j < i; j++) x[i * 64 + threadIdx.x] -= x[i * 64 + j] * x[j * 64 + threadIdx.x];
}

// CHECK-LABEL: .visible .entry large(
// CHECK: bra
// CHECK: ret;
extern "C" __global__ void large(const float *x, float *out) {
    float sum = 0;
    for (int i = 0; i < 1024; i++) sum += x[i * threadIdx.x] * sum;
    *out = sum;
}

// CHECK-LABEL: .visible .entry asked(
// CHECK: fma.rn.f32
// CHECK-NOT: fma
// CHECK: ret;
extern "C" __global__ void asked(const float *x, float *out) {
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < 4; i++) sum += x[i * threadIdx.x] * sum;
    *out = sum;
}
