// A kernel's own loop that counts in 64 bits to a bound of each thread, with a compare of the count
// inside: it looks like the loops over threads, which count in 32 bits.
#include "check.h"

__host__ __device__ unsigned turned(unsigned x, unsigned long long length) {
    return (x << 5 | x >> 27) + (unsigned)length;
}

/* Sums over the parts of total[t]: all of `size`, the last of what remains. */
__global__ void parts(const int *total, unsigned long long size, unsigned *out) {
    int n = total[threadIdx.x];
    if (n == 0) return;
    unsigned long long count = (n + size - 1) / size;
    unsigned x = threadIdx.x;
#pragma unroll 1
    for (unsigned long long i = 0; i < count; i++) {
        unsigned long long length = i < count - 1 ? size : n - size * i;
        x = turned(x, length);
        atomicMax(&out[threadIdx.x + i], x);
    }
}

int main() {
    const int threads = 96, parts_most = 20, size = 7;
    int *total;
    unsigned *out, expected[threads + parts_most] = {0};
    CUDA_OK(cudaMallocManaged(&total, threads * sizeof *total));
    CUDA_OK(cudaMallocManaged(&out, sizeof expected));
    for (int t = 0; t < threads; t++) {
        total[t] = t * 37 % 120;
        unsigned x = t;
        for (int i = 0; i * size < total[t]; i++) {
            int rest = total[t] - i * size;
            x = turned(x, rest < size ? rest : size);
            if (x > expected[t + i]) expected[t + i] = x;
        }
    }
    CUDA_OK(cudaMemset(out, 0, sizeof expected));
    parts<<<1, threads>>>(total, size, out);
    KERNEL_OK();
    int wrong = 0;
    for (int i = 0; i < threads + parts_most; i++)
        wrong += out[i] != expected[i];
    CHECK_EQ(wrong, 0);
    return check_done();
}
