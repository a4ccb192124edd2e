/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_80
// DEVICES: cpu cuda sim:a100 (the usual one has no tensor cores)
/* A product of matrices of halves as programs of today write it: once by wmma from shared memory,
 * and once by cp.async in two stages, ldmatrix and mma, four warps of a block on a tile of 64
 * by 64. */
#include <cuda_pipeline.h>
#include <mma.h>

#include "check.h"

enum { M = 128, N = 128, K = 96, TILE = 64, DEPTH = 32, PITCH = DEPTH + 8 };

/* C = A * B; A row-major, B column-major: both have K along their rows in memory. */
__global__ void by_wmma(const half *a, const half *b, float *c) {
    using namespace nvcuda;
    __shared__ __align__(32) half as[TILE * PITCH], bs[TILE * PITCH];
    int warp = threadIdx.x / 32, row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[4];
    for (int j = 0; j < 4; j++)
        wmma::fill_fragment(sums[j], 0.0f);
    for (int k = 0; k < K; k += DEPTH) {
        for (int i = threadIdx.x; i < TILE * DEPTH; i += blockDim.x) {
            as[i / DEPTH * PITCH + i % DEPTH] = a[(row + i / DEPTH) * K + k + i % DEPTH];
            bs[i / DEPTH * PITCH + i % DEPTH] = b[(column + i / DEPTH) * K + k + i % DEPTH];
        }
        __syncthreads();
        for (int s = 0; s < DEPTH; s += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa;
            wmma::load_matrix_sync(fa, as + warp * 16 * PITCH + s, PITCH);
            for (int j = 0; j < 4; j++) {
                wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
                wmma::load_matrix_sync(fb, bs + j * 16 * PITCH + s, PITCH);
                wmma::mma_sync(sums[j], fa, fb, sums[j]);
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 4; j++)
        wmma::store_matrix_sync(c + (row + warp * 16) * N + column + j * 16, sums[j], N,
                                wmma::mem_row_major);
}

__device__ unsigned shared_address(const void *p) {
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ void load_tile(half *to, const half *from) {
    for (int i = threadIdx.x; i < TILE * DEPTH / 8; i += blockDim.x)
        __pipeline_memcpy_async(to + i / (DEPTH / 8) * PITCH + i % (DEPTH / 8) * 8,
                                from + i / (DEPTH / 8) * K + i % (DEPTH / 8) * 8, 16);
}

__global__ void by_mma(const half *a, const half *b, float *c) {
    __shared__ __align__(16) half as[2][TILE * PITCH], bs[2][TILE * PITCH];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    int row = blockIdx.y * TILE, column = blockIdx.x * TILE;
    float sums[8][4] = {};
    load_tile(as[0], a + row * K);
    load_tile(bs[0], b + column * K);
    __pipeline_commit();
    for (int k = 0; k < K; k += DEPTH) {
        int now = k / DEPTH % 2;
        if (k + DEPTH < K) {
            load_tile(as[1 - now], a + row * K + k + DEPTH);
            load_tile(bs[1 - now], b + column * K + k + DEPTH);
        }
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        for (int s = 0; s < DEPTH; s += 16) {
            unsigned x[4];
            unsigned at =
                shared_address(&as[now][(warp * 16 + lane % 16) * PITCH + s + lane / 16 * 8]);
            asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                         : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                         : "r"(at));
            for (int j = 0; j < 8; j++) {
                unsigned y[2];
                at = shared_address(&bs[now][(j * 8 + lane % 8) * PITCH + s + lane / 8 % 2 * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                             : "=r"(y[0]), "=r"(y[1])
                             : "r"(at));
                asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                             "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                             : "+f"(sums[j][0]), "+f"(sums[j][1]), "+f"(sums[j][2]),
                               "+f"(sums[j][3])
                             : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
            }
        }
        __syncthreads();
    }
    for (int j = 0; j < 8; j++)
        for (int i = 0; i < 4; i++)
            c[(row + warp * 16 + lane / 4 + i / 2 * 8) * N + column + j * 8 + lane % 4 * 2 +
              i % 2] = sums[j][i];
}

int main(void) {
    half *a = check_managed<half>(M * K), *b = check_managed<half>(N * K);
    float *c = check_managed<float>(M * N), *d = check_managed<float>(M * N);
    for (int i = 0; i < M * K; i++)
        a[i] = __float2half((float)(i * 7 % 23 - 11));
    for (int i = 0; i < N * K; i++)
        b[i] = __float2half((float)(i * 5 % 19 - 9));
    by_wmma<<<dim3(N / TILE, M / TILE), 128>>>(a, b, c);
    KERNEL_OK();
    by_mma<<<dim3(N / TILE, M / TILE), 128>>>(a, b, d);
    KERNEL_OK();
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += __half2float(a[i * K + k]) * __half2float(b[j * K + k]);
            CHECK_EQ(c[i * N + j], sum);
            CHECK_EQ(d[i * N + j], sum);
        }
    return check_done();
}
