// Atomics on 16-bit values, and what becomes a loop around a compare-and-swap.
#include <cuda_fp16.h>

__global__ void halves(__half *h, __half2 *h2, unsigned short *s, float *f, double *d) {
    atomicAdd(h, __float2half(1.0f));
    atomicAdd(h2, __floats2half2_rn(1.0f, 2.0f));
    atomicCAS(s, (unsigned short)1, (unsigned short)2);
    atomicAdd(f, 1.0f);
    atomicAdd(d, 1.0);
    __atomic_fetch_add(s, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n((int *)f, 3, __ATOMIC_RELEASE);
    *(int *)d = __atomic_load_n((int *)f, __ATOMIC_ACQUIRE);
}

int main() {
    return 0;
}
