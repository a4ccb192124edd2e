// RUN: %wpcc --resource-usage -c %s -o %t.o 2>&1 | FileCheck %s
// Registers of simulated GPUs: 10, and those of values that are alive at the same time. What has no register on a GPU is
// free: parameters, constants of the launch, predicates, casts, addresses at a constant distance from another.

#define AGAIN(n, v) for (int i = 0; i < n; i++) v

// Forty numbers go around a loop, and are alive at its head at the same time; doubles are two each.
// CHECK: wpcc: _Z6aroundIiEvPT_i: about {{5[0-9]}} registers, 0 bytes of shared memory
// CHECK: wpcc: _Z6aroundIdEvPT_i: about {{9[0-9]}} registers
template <class T> __global__ void around(T *p, int n) {
    T v[40];
#pragma unroll
    AGAIN(40, v[i] = p[threadIdx.x + 64 * i]);
    for (int r = 0; r < n; r++)
#pragma unroll
        AGAIN(40, v[i] = v[i] * v[(i + 7) % 40] + r);
#pragma unroll
    AGAIN(40, p[threadIdx.x + 64 * i] = v[i]);
}
template __global__ void around(int *, int);
template __global__ void around(double *, int);

// Nothing of this stays: sixteen parameters, and the constants of the launch.
// CHECK: wpcc: _Z4freePiiiiiiiiiiiiiii: about {{1[6-9]}} registers
__global__ void free(int *p, int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int l, int m,
                     int n) {
    for (int r = 0; r < n; r++)
        p[r] += (((((((((((a * r + b) * r + c) * r + d) * r + e) * r + f) * r + g) * r + h) * r + i) * r + j) * r + k) *
                     r + l) * (int)blockDim.x + m * (int)gridDim.x;
}

// Functions work with registers of their own, which add to what is alive where they are called; and so do divisions.
// CHECK: wpcc: _Z8functionIdEvPT_: about {{5[0-9]}} registers
// CHECK: wpcc: _Z8functionIfEvPT_: about {{5[0-9]}} registers
// CHECK: wpcc: _Z6dividePd: about {{2[2-9]}} registers
template <class T> __global__ void function(T *p) {
    p[threadIdx.x] = tgamma(p[threadIdx.x]);
}
template __global__ void function(double *);
template __global__ void function(float *);

__global__ void divide(double *p) {
    p[threadIdx.x] /= p[threadIdx.x + 1];
}
