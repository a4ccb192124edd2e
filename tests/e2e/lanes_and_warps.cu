/* SPDX-License-Identifier: Apache-2.0 */
/* Indices made of a thread's lane and warp, in all forms, for blocks of whole warps, parts of warps, and several rows. */
#include "check.h"

enum { FORMS = 20, TABLE = 1 << 14, THREADS_MOST = 1024, BLOCKS = 3 };

struct place {
    unsigned x, thread, block, width;
};

// Each form is a different use of shifts and masks; some take a warp apart, some are none of ours.
template <int FORM> __host__ __device__ static unsigned form(place p) {
    const unsigned grid = p.block * p.width + p.x, fixed = p.block * 256 + p.x, beside = p.block * 48 + p.x;
    switch (FORM) {
    case 0: return (p.x >> 5) * 40 + (p.x & 31);
    case 1: return (p.thread >> 5) * 40 + (p.thread & 31);
    case 2: return (p.x << 3 & 7936) + (p.x & 31);
    case 3: return (p.x & ~31u) + 31 - (p.x & 31);
    case 4: return (p.x & 15) + (p.x >> 4) * 17;
    case 5: return (p.x & 63) + (p.x >> 6) * 65;
    case 6: return (p.x * 4 & 127) + (p.x >> 5) * 129;
    case 7: return (grid >> 5) * 33 + (grid & 31);
    case 8: return (fixed >> 5) * 33 + (fixed & 31);
    case 9: return (beside >> 5) * 33 + (beside & 31);
    case 10: return (unsigned)((int)p.x / 32 * 35 + (int)p.x % 32);
    case 11: return (p.x >> 6) * 3 + 7;
    case 12: return (p.thread & 31) * 15 + (p.thread >> 5) * 480;
    case 13: return (unsigned)((size_t)(p.x & 31) * 8 + (size_t)(p.x >> 5 << 9)) & (TABLE - 1);
    case 14: return (p.x & 0x3e0) + (p.x & 0x1f) * 2;
    case 15: return (p.x & 33) + p.thread;
    case 16: return ((p.x + 96) >> 5) * 33 + ((p.x + 96) & 31);
    case 17: return ((p.x + 7) >> 5) * 33 + ((p.x + 7) & 31);
    case 18: return (p.x >> 3 & 124) + (p.x & 31);
    default: return ((p.x | 1024) >> 5) * 33 + ((p.x | 1024) & 31);
    }
}

__device__ __host__ static unsigned numbered(unsigned thread, unsigned block) {
    return block * THREADS_MOST + thread;
}

template <int FORM> __global__ void gather(const unsigned *table, unsigned *out, unsigned threshold) {
    const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const place p = {threadIdx.x, thread, blockIdx.x, blockDim.x};
    if (thread % 7 == threshold) return;
    unsigned sum = table[form<FORM>(p)];
    __syncthreads();
    if (thread >= threshold) sum += table[form<FORM>(p) + 1];
    out[numbered(thread, blockIdx.x)] = sum;
}

// Through shared memory by warps, as scans do it.
__global__ void transpose(const unsigned *in, unsigned *out) {
    enum { EACH = 5 };
    __shared__ unsigned words[THREADS_MOST * EACH];
    const unsigned lane = threadIdx.x & 31, first = (threadIdx.x >> 5) * 32 * EACH;
    in += blockIdx.x * blockDim.x * EACH, out += blockIdx.x * blockDim.x * EACH;
    for (unsigned i = 0; i < EACH; i++) words[first + i * 32 + lane] = in[first + i * 32 + lane];
    __syncwarp();
    unsigned mine[EACH], sum = 0;
    for (unsigned i = 0; i < EACH; i++) sum += mine[i] = words[first + lane * EACH + i];
    __syncwarp();
    for (unsigned i = 0; i < EACH; i++) words[first + lane * EACH + i] = mine[i] + sum;
    __syncwarp();
    for (unsigned i = 0; i < EACH; i++) out[first + i * 32 + lane] = words[first + i * 32 + lane];
}

// A warp a row: lanes take turns along it.
template <unsigned STEP>
__global__ void rows(const unsigned *in, unsigned *out, unsigned width, unsigned skipped) {
    const unsigned thread = blockIdx.x * blockDim.x + threadIdx.x, lane = thread & 31, row = thread >> 5;
    unsigned sum = 0;
    for (unsigned i = skipped + lane; i < width; i += STEP) sum = sum * 3 + in[row * width + i];
    for (unsigned i = threadIdx.x % 32; i < width; i += STEP) sum += in[row * width + i] * i;
    out[thread] = sum;
}

// Groups of 32 with a factor each, as quantised weights have them.
__global__ void quantised(const unsigned *in, unsigned *out, unsigned width) {
    const unsigned row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    unsigned sum = 0;
    for (unsigned i = threadIdx.x % 32; i < width; i += 32)
        sum += in[row * width + i] * in[row * (width / 32 + 1) + i / 32] + (i & 31) * in[i & 63];
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

static unsigned *table, *in_device, *out_device;
static unsigned host_table[TABLE], out[BLOCKS * THREADS_MOST * 5];

template <int FORM> static void check_form(dim3 block, unsigned threshold) {
    const unsigned threads = block.x * block.y * block.z;
    CUDA_OK(cudaMemset(out_device, 0, sizeof out));
    gather<FORM><<<BLOCKS, block>>>(table, out_device, threshold);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(out, out_device, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned t = 0; t < threads; t++) {
            const place p = {t % block.x, t, b, block.x};
            unsigned expected = host_table[form<FORM>(p)];
            if (t >= threshold) expected += host_table[form<FORM>(p) + 1];
            if (t % 7 == threshold) expected = 0;
            CHECK_EQ(out[numbered(t, b)], expected);
        }
}

template <int FORM> static void check_forms(dim3 block, unsigned threshold) {
    if constexpr (FORM < FORMS) {
        check_form<FORM>(block, threshold);
        check_forms<FORM + 1>(block, threshold);
    }
}

static void check_transpose(unsigned threads) {
    transpose<<<BLOCKS, threads>>>(table, out_device);
    CUDA_OK(cudaMemcpy(out, out_device, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < BLOCKS * threads; i++) {
        unsigned sum = 0;
        for (unsigned k = 0; k < 5; k++) sum += host_table[i * 5 + k];
        for (unsigned k = 0; k < 5; k++) CHECK_EQ(out[i * 5 + k], host_table[i * 5 + k] + sum);
    }
}

template <unsigned STEP> static void check_rows(unsigned threads, unsigned width, unsigned skipped) {
    rows<STEP><<<BLOCKS, threads>>>(table, out_device, width, skipped);
    CUDA_OK(cudaMemcpy(out, out_device, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned t = 0; t < threads; t++) {
            const unsigned thread = b * threads + t, row = thread >> 5;
            unsigned sum = 0;
            for (unsigned i = skipped + (thread & 31); i < width; i += STEP) sum = sum * 3 + host_table[row * width + i];
            for (unsigned i = t % 32; i < width; i += STEP) sum += host_table[row * width + i] * i;
            CHECK_EQ(out[thread], sum);
        }
}

static void check_quantised(unsigned threads, unsigned width) {
    quantised<<<BLOCKS, threads>>>(table, out_device, width);
    CUDA_OK(cudaMemcpy(out, out_device, sizeof out, cudaMemcpyDeviceToHost));
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned t = 0; t < threads; t++) {
            const unsigned row = b * (threads / 32) + t / 32, *in = host_table;
            unsigned sum = 0;
            for (unsigned i = t % 32; i < width; i += 32)
                sum += in[row * width + i] * in[row * (width / 32 + 1) + i / 32] + (i & 31) * in[i & 63];
            CHECK_EQ(out[b * threads + t], sum);
        }
}

int main() {
    CUDA_OK(cudaMalloc(&table, sizeof host_table));
    CUDA_OK(cudaMalloc(&out_device, sizeof out));
    for (unsigned i = 0; i < TABLE; i++) host_table[i] = i * 2654435761u;
    CUDA_OK(cudaMemcpy(table, host_table, sizeof host_table, cudaMemcpyHostToDevice));
    const dim3 blocks[] = {1, 31, 32, 33, 100, 256, 300, dim3(17, 5), dim3(8, 8, 3), dim3(64, 3), dim3(33, 2, 2)};
    for (dim3 block : blocks) {
        check_forms<0>(block, 0);
        check_forms<0>(block, 40);
    }
    for (unsigned threads : {32u, 96u, 1024u}) check_transpose(threads);
    for (unsigned threads : {20u, 32u, 48u, 256u})
        for (unsigned width : {0u, 1u, 31u, 33u, 100u, 130u}) {
            check_rows<32>(threads, width, 0);
            check_rows<32>(threads, width, 3);
            check_rows<48>(threads, width, 1);
            check_rows<16>(threads, width, 0);
        }
    for (unsigned threads : {20u, 32u, 100u, 256u})
        for (unsigned width : {0u, 31u, 64u, 100u, 128u}) check_quantised(threads, width);
    return check_done();
}
