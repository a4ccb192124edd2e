// Kernels that write elements of one type and read words of them: nvcc draws no conclusions from types.
#include <cstdio>
#include <cuda_fp16.h>

__global__ void pack(const float *in, unsigned *out, int rounds) {
    __half halves[8];
    const unsigned *words = (const unsigned *)halves;
    for (int round = 0; round < rounds; round++) {
        for (int i = 0; i < 8; i++)
            halves[i] = __float2half(in[(threadIdx.x * rounds + round) * 8 + i]);
        unsigned sum;
        asm volatile("{ .reg .u32 t; add.u32 t, %1, %2; add.u32 t, t, %3; add.u32 %0, t, %4; }"
                     : "=r"(sum)
                     : "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3]));
        out[threadIdx.x * rounds + round] = sum;
    }
}

__global__ void set(int *p, float *q, int *out) {
    *p = 1;
    *q = 2.0f;
    *out = *p;
}

int main() {
    enum { THREADS = 64, ROUNDS = 3 };
    float *in;
    unsigned *out;
    int *word;
    cudaMallocManaged(&in, THREADS * ROUNDS * 8 * sizeof *in);
    cudaMallocManaged(&out, THREADS * ROUNDS * sizeof *out);
    cudaMallocManaged(&word, 2 * sizeof *word);
    for (int i = 0; i < THREADS * ROUNDS * 8; i++)
        in[i] = (float)(i % 1000);
    pack<<<1, THREADS>>>(in, out, ROUNDS);
    set<<<1, 1>>>(word, (float *)word, word + 1);
    if (cudaDeviceSynchronize() != cudaSuccess) return 1;
    int wrong = word[1] != 0x40000000;
    for (int i = 0; i < THREADS * ROUNDS; i++) {
        unsigned sum = 0;
        for (int j = 0; j < 8; j++) {
            const __half h = __float2half(in[i * 8 + j]);
            sum += (unsigned)*(const unsigned short *)&h << (j % 2 * 16);
        }
        wrong += out[i] != sum;
    }
    std::printf("%d wrong\n", wrong);
    if (wrong == 0) std::printf("PASS\n");
    return wrong != 0;
}
