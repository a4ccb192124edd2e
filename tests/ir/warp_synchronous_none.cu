// RUN: %wpcc -c %s -o %t.o --print-after=warp-synchronous 2>&1 | FileCheck %s
// Kernels without races, and indices that prove nothing: no steps.

// CHECK-LABEL: define {{.*}}@_Z5sgemmPKfS0_Pfi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void sgemm(const float *a, const float *b, float *c, int n) {
    __shared__ float ta[16][16], tb[16][16];
    int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        ta[y][x] = a[row * n + k + x];
        tb[y][x] = b[(k + y) * n + column];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += ta[y][i] * tb[i][x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

// CHECK-LABEL: define {{.*}}@_Z6reducePKiPii(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void reduce(const int *in, int *out, int n) {
    extern __shared__ int s[];
    int t = threadIdx.x;
    s[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int half = blockDim.x / 2; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[0] = s[0];
}

// CHECK-LABEL: define {{.*}}@_Z15reduce_unrolledPKiPi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void reduce_unrolled(const int *in, int *out) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
#pragma unroll
    for (int half = 128; half > 0; half /= 2) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    if (t == 0)
        out[0] = s[0];
}

// CHECK-LABEL: define {{.*}}@_Z12reduce_warpsPKiPi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void reduce_warps(const int *in, int *out) {
    __shared__ int s[32];
    int t = threadIdx.x, v = in[t];
    for (int d = 16; d > 0; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    if (t % 32 == 0)
        s[t / 32] = v;
    __syncthreads();
    if (t < 32) {
        v = t < blockDim.x / 32 ? s[t] : 0;
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_down_sync(0xffffffff, v, d);
        if (t == 0)
            out[0] = v;
    }
}

// CHECK-LABEL: define {{.*}}@_Z9with_syncPi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void with_sync(int *data) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncwarp();
    int v = s[t ^ 1];
    __syncwarp();
    s[t] = v + 1;
    __syncwarp();
    data[t] = s[t ^ 2];
}

// CHECK-LABEL: define {{.*}}@_Z9histogramPKhPii(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void histogram(const unsigned char *in, int *bins, int n) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += blockDim.x)
        s[in[i]]++; /* wrong on any device, but nothing that the indices prove */
    __syncthreads();
    bins[t] = s[t];
}

// CHECK-LABEL: define {{.*}}@_Z9transposePKfPfi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void transpose(const float *in, float *out, int n) {
    __shared__ float s[32][33];
    int x = threadIdx.x, y = threadIdx.y;
    for (int i = 0; i < 32; i += 8)
        s[y + i][x] = in[(blockIdx.y * 32 + y + i) * n + blockIdx.x * 32 + x];
    __syncthreads();
    for (int i = 0; i < 32; i += 8)
        out[(blockIdx.x * 32 + y + i) * n + blockIdx.y * 32 + x] = s[x][y + i];
}

// A stencil with its rim, in two buffers used in turn.
// CHECK-LABEL: define {{.*}}@_Z7stencilPKfPfi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void stencil(const float *in, float *out, int steps) {
    __shared__ float s[2][258];
    int t = threadIdx.x;
    s[0][t + 1] = in[t];
    if (t == 0) {
        s[0][0] = s[1][0] = 0;
        s[0][257] = s[1][257] = 0;
    }
    __syncthreads();
    for (int i = 0; i < steps; i++) {
        int from = i & 1;
        s[1 - from][t + 1] = (s[from][t] + s[from][t + 1] + s[from][t + 2]) / 3;
        __syncthreads();
    }
    out[t] = s[steps & 1][t + 1];
}

// A 16 by 16 tile with a rim whose corners two threads fill alike.
// CHECK-LABEL: define {{.*}}@_Z10stencil_2dPKfPfi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void stencil_2d(const float *in, float *out, int n) {
    __shared__ float s[18 * 18];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 16 + y) * n + blockIdx.x * 16 + x;
    float *own = &s[(y + 1) * 18 + x + 1];
    *own = in[at];
    if (x == 0)
        own[-1] = 0;
    if (x == 15)
        own[1] = 0;
    if (y == 0)
        own[-18] = 0;
    if (y == 15)
        own[18] = 0;
    __syncthreads();
    out[at] = own[0] + own[-1] + own[1] + own[-18] + own[18];
}

// Memory of each thread's own, in any order of the indices.
// CHECK-LABEL: define {{.*}}@_Z3ownPfi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void own(float *data, int n) {
    extern __shared__ float slots[];
    float *mine = slots + threadIdx.x;
    for (int i = 0; i < 4; i++)
        mine[i * blockDim.x] = data[i];
    for (int i = 0; i < n; i++)
        mine[(i & 3) * blockDim.x] += mine[((i + 1) & 3) * blockDim.x];
    data[threadIdx.x] = mine[0];
}

// All lanes of a warp store one value to one place, and one lane another there behind a barrier of the warp.
// CHECK-LABEL: define {{.*}}@_Z6negatePi(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void negate(int *out) {
    extern __shared__ int s[];
    int t = threadIdx.x, last = blockDim.x - 1;
    s[t] = out[t];
    __syncthreads();
    if (t < 32)
        s[last] = __shfl_sync(~0u, s[t], 0);
    __syncwarp();
    if (t == 0)
        s[last] = -s[last];
    __syncwarp();
    if (t == 0)
        out[0] = s[last];
}

// All threads load a word, and a barrier parts them from the stores of the next round.
// CHECK-LABEL: define {{.*}}@_Z6roundsPKiPii(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void rounds(const int *in, int *out, int count) {
    __shared__ int s[256];
    for (int i = 0; i < count; i++) {
        s[threadIdx.x] = in[i * 256 + threadIdx.x];
        __syncthreads();
        out[i * 256 + threadIdx.x] = s[0] + s[255];
        __syncthreads();
    }
}

// One thread looks at a variable before it stores there, though all threads load it.
// CHECK-LABEL: define {{.*}}@_Z5firstPKfPii(
// CHECK-NOT: call i64 @wp_rt_stop(i32 26,
__global__ void first(const float *in, int *out, int count) {
    __shared__ int at;
    const int t = threadIdx.x;
    if (t == 0)
        at = 0;
    for (int i = 0; i < count; i++) {
        if (in[i] == 0 && t == 0 && at == 0)
            at = i + 1;
        __syncthreads();
    }
    if (t == 0)
        out[0] = at;
}
