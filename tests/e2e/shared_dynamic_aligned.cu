// Dynamic shared memory begins as aligned as its declaration says, behind static memory of any size.
// DEVICES: cpu cuda sim:h200
#include "check.h"

template <class T, int BYTES> __global__ void addresses(unsigned long long *out) {
    extern __shared__ __align__(1024) unsigned char aligned[];
    __shared__ T before[BYTES];
    if (threadIdx.x < BYTES) before[threadIdx.x] = (T)threadIdx.x;
    aligned[threadIdx.x] = (unsigned char)threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        out[0] = (unsigned long long)(size_t)aligned % 1024;
        out[1] = before[1] == 1 && aligned[31] == 31;
    }
}

__device__ unsigned char *in_function() {
    extern __shared__ __align__(128) unsigned char elsewhere[];
    return elsewhere;
}

__global__ void by_function(unsigned long long *out) {
    __shared__ int before[5];
    if (threadIdx.x < 5) before[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0) out[0] = (unsigned long long)(size_t)in_function() % 128, out[1] = before[0] == 1;
}

int main() {
    unsigned long long *out = check_managed<unsigned long long>(2);
    addresses<char, 5><<<1, 32, 64>>>(out);
    KERNEL_OK();
    CHECK(out[0] == 0 && out[1] == 1);
    addresses<double, 10><<<1, 32, 64>>>(out);
    KERNEL_OK();
    CHECK(out[0] == 0 && out[1] == 1);
    by_function<<<1, 32, 64>>>(out);
    KERNEL_OK();
    CHECK(out[0] == 0 && out[1] == 1);
    cudaFree(out);
    return check_done();
}
