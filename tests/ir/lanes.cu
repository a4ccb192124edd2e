// RUN: %wpcc --cpu-isa=x86-64-v3 -c %s -o %t.o --print-after=optimize 2>&1 | FileCheck %s
// RUN: %wpcc -c %s -o %t.o --print-after=rounds 2>&1 | FileCheck %s --check-prefix=ROUNDS
// Addresses of lanes and warps: a loop over a warp's threads reads and writes rows. An index that is no lane, and a
// lane that only decides a branch, leave the loop over all threads of a row.

// CHECK-LABEL: define internal {{.*}}i32 @_Z4copyPKfPf.r0(
// CHECK: load <8 x float>
// CHECK: store <8 x float>
// CHECK-NOT: masked.gather
// CHECK: ret i32
__global__ void copy(const float *in, float *out) {
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    out[blockIdx.x * 512 + warp * 64 + lane] = in[blockIdx.x * 512 + warp * 64 + 32 + lane];
}

// CHECK-LABEL: define internal {{.*}}i32 @_Z4gridPKfPfj.r0(
// CHECK: load <8 x float>
// CHECK: store <8 x float>
// CHECK: ret i32
__global__ void grid(const float *in, float *out, unsigned width) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    out[thread] = in[(thread >> 5) * width + (thread & 31)];
}

// A step smaller than a warp would meet a neighbour's start.
// ROUNDS-LABEL: define dso_local void @_Z3dotPKfS0_Pfj(
// ROUNDS: br i1 {{.*}}, label %begin, label %plain
// ROUNDS: call i64 @wp_rt_stop(i32 29,
// ROUNDS-LABEL: define dso_local void @_Z8too_nearPKfPfj(
// ROUNDS: icmp uge i32 {{.*}}, 32
// ROUNDS: ret void
__global__ void dot(const float *in, const float *x, float *out, unsigned n) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (unsigned i = thread % 32; i < n; i += 32) sum += in[thread / 32 * n + i] * x[i];
    out[thread] = sum;
}

__global__ void too_near(const float *in, float *out, unsigned n) {
    float sum = 0;
    for (unsigned i = threadIdx.x % 32; i < n; i += gridDim.x) sum += in[i];
    out[threadIdx.x] = sum;
}
