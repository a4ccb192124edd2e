/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: --cache
/* Kernels compiled with wpcc --cache do what they do without: around the 64 and the 300 accesses at which a thread leaves
 * monitoring, with early returns, with shared memory of their own and with none left, with several loops. */
#include "check.h"

enum { THREADS = 96, BLOCKS = 3, ALL = THREADS * BLOCKS };

__global__ void sums(const unsigned char *in, unsigned *out, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = 0;
    for (int i = 0; i < n; i++) s = s * 31 + in[t * n + i];
    out[t] = s;
}

/* Returns in the loop: what was written before must be in memory. */
__global__ void until_zero(unsigned char *data, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) {
        if (data[t * n + i] == 0) return;
        data[t * n + i] ^= 0x55;
    }
}

/* Two loops, the second reads what the first wrote; dynamic shared memory of its own. */
__global__ void twice(unsigned short *data, int n) {
    extern __shared__ unsigned short last[];
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    last[threadIdx.x] = 0;
    for (int i = 0; i < n; i++) data[t * n + i] = (unsigned short)(data[t * n + i] * 3 + t);
    for (int i = 0; i < n; i++) last[threadIdx.x] = (unsigned short)(last[threadIdx.x] * 5 + data[t * n + i]);
    __syncthreads();
    if (n != 0) data[t * n] = last[THREADS - 1 - threadIdx.x];
}

/* All shared memory of a block: nothing is left for lines. */
__global__ void crowded(const unsigned char *in, unsigned *out, int n) {
    __shared__ unsigned part[12 * 1024];
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    part[threadIdx.x] = 7;
    for (int i = 0; i < n; i++) part[threadIdx.x] = part[threadIdx.x] * 31 + in[t * n + i];
    out[t] = part[threadIdx.x];
}

/* Neighbours' bytes are in one line, and change between two barriers. */
__global__ void shift(unsigned char *data, int n) {
    for (int i = 0; i < n; i++) {
        const unsigned char next = data[(threadIdx.x + 1) % blockDim.x];
        __syncthreads();
        data[threadIdx.x] = next;
        __syncthreads();
    }
}

/* One parameter is the other, a byte on. */
__global__ void overlapping(unsigned char *a, unsigned char *b, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i + 1 < n; i++) b[t * n + i] = (unsigned char)(a[t * n + i] + 1);
}

__global__ void no_loop(unsigned char *data) { data[threadIdx.x]++; }

static unsigned char *fill(size_t bytes, unsigned seed) {
    unsigned char *host = (unsigned char *)malloc(bytes + 1);
    for (size_t i = 0; i < bytes; i++) host[i] = (unsigned char)((i + 1) * 2654435761u >> 13 ^ seed);
    return host;
}

struct both {
    unsigned char *host, *device;
    size_t bytes;
    both(size_t count, unsigned seed) : host(fill(count, seed)), bytes(count) {
        CUDA_OK(cudaMalloc(&device, count + 1));
        CUDA_OK(cudaMemcpy(device, host, count, cudaMemcpyHostToDevice));
    }
    ~both() {
        CUDA_OK(cudaFree(device));
        free(host);
    }
    int differences() {
        unsigned char *found = (unsigned char *)malloc(bytes + 1);
        CUDA_OK(cudaMemcpy(found, device, bytes, cudaMemcpyDeviceToHost));
        int count = 0;
        for (size_t i = 0; i < bytes; i++) count += found[i] != host[i];
        free(found);
        return count;
    }
};

static void check_sums(void (*kernel)(const unsigned char *, unsigned *, int), int n, unsigned first) {
    both in((size_t)ALL * n, 1), out(ALL * sizeof(unsigned), 2);
    kernel<<<BLOCKS, THREADS>>>(in.device, (unsigned *)out.device, n);
    KERNEL_OK();
    for (int t = 0; t < ALL; t++) {
        unsigned s = first;
        for (int i = 0; i < n; i++) s = s * 31 + in.host[t * n + i];
        memcpy(out.host + t * sizeof s, &s, sizeof s);
    }
    CHECK_EQ(out.differences(), 0);
}

static void check_until_zero(int n) {
    both data((size_t)ALL * n, 3);
    until_zero<<<BLOCKS, THREADS>>>(data.device, n);
    KERNEL_OK();
    for (int t = 0; t < ALL; t++)
        for (int i = 0; i < n && data.host[t * n + i] != 0; i++) data.host[t * n + i] ^= 0x55;
    CHECK_EQ(data.differences(), 0);
}

static void check_twice(int n) {
    both data((size_t)ALL * n * 2, 4);
    twice<<<BLOCKS, THREADS, THREADS * 2>>>((unsigned short *)data.device, n);
    KERNEL_OK();
    unsigned short *host = (unsigned short *)data.host, last[ALL] = {0};
    for (int t = 0; t < ALL; t++)
        for (int i = 0; i < n; i++) host[t * n + i] = (unsigned short)(host[t * n + i] * 3 + t);
    for (int t = 0; t < ALL; t++)
        for (int i = 0; i < n; i++) last[t] = (unsigned short)(last[t] * 5 + host[t * n + i]);
    for (int t = 0; t < ALL && n != 0; t++) host[t * n] = last[t / THREADS * THREADS + THREADS - 1 - t % THREADS];
    CHECK_EQ(data.differences(), 0);
}

static void check_shift(int n) {
    both data(THREADS, 5);
    unsigned char *before = fill(THREADS, 5);
    shift<<<1, THREADS>>>(data.device, n);
    KERNEL_OK();
    for (int t = 0; t < THREADS; t++) data.host[t] = before[(t + n) % THREADS];
    CHECK_EQ(data.differences(), 0);
    free(before);
}

static void check_overlapping(int n) {
    both data((size_t)ALL * n + 1, 6);
    overlapping<<<BLOCKS, THREADS>>>(data.device, data.device + 1, n);
    KERNEL_OK();
    for (int t = 0; t < ALL; t++)
        for (int i = 0; i + 1 < n; i++) data.host[t * n + i + 1] = (unsigned char)(data.host[t * n + i] + 1);
    CHECK_EQ(data.differences(), 0);
}

/* Counts under a lock: what waits for it stays as it is, what is around it is cached. */
__global__ void locked(const unsigned char *in, unsigned *locks, unsigned *counts, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < n; i++) {
        const unsigned slot = in[t * n + i] & 31;
        if (slot > 1) continue;
        for (bool done = false; !done;) {
            if (atomicCAS(&locks[slot], 0u, 1u) != 0) continue;
            *(volatile unsigned *)&counts[slot] += 1;
            __threadfence();
            atomicExch(&locks[slot], 0u);
            done = true;
        }
    }
}

static void check_locked(int n) {
    both data((size_t)ALL * n, 8);
    unsigned *words, got[4], counts[2] = {0};
    CUDA_OK(cudaMalloc(&words, sizeof got));
    CUDA_OK(cudaMemset(words, 0, sizeof got));
    locked<<<BLOCKS, THREADS>>>(data.device, words, words + 2, n);
    KERNEL_OK();
    CUDA_OK(cudaMemcpy(got, words, sizeof got, cudaMemcpyDeviceToHost));
    CUDA_OK(cudaFree(words));
    for (int i = 0; i < ALL * n; i++)
        if ((data.host[i] & 31) <= 1) counts[data.host[i] & 31]++;
    CHECK_EQ(got[2], counts[0]);
    CHECK_EQ(got[3], counts[1]);
}

/* Its dynamic shared memory ends where the launch says. */
__global__ void sized(const unsigned char *in, unsigned *out, int n) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s, bytes;
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(bytes));
    s = bytes;
    for (int i = 0; i < n; i++) s = s * 31 + in[t * n + i];
    out[t] = s;
}

/* All bytes of parameters that a GPU takes. */
struct table { unsigned char at[4096 - 2 * sizeof(void *) - sizeof(int)]; };
__global__ void wide(const unsigned char *in, unsigned *out, int n, table factors) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned s = 0;
    for (int i = 0; i < n; i++) s += in[t * n + i] * factors.at[i];
    out[t] = s;
}

static void check_wide(int n) {
    both in((size_t)ALL * n, 9), out(ALL * sizeof(unsigned), 2);
    table factors;
    for (int i = 0; i < n; i++) factors.at[i] = (unsigned char)(i + 1);
    wide<<<BLOCKS, THREADS>>>(in.device, (unsigned *)out.device, n, factors);
    KERNEL_OK();
    for (int t = 0; t < ALL; t++) {
        unsigned s = 0;
        for (int i = 0; i < n; i++) s += in.host[t * n + i] * factors.at[i];
        memcpy(out.host + t * sizeof s, &s, sizeof s);
    }
    CHECK_EQ(out.differences(), 0);
}

int main(void) {
    setenv("WARPAGE_SOFTWARE_CACHE_RUNS", "off", 1); /* lines, by the rule of the thesis */
    setenv("WARPAGE_SOFTWARE_CACHE_DATA_EXITS", "on", 1);
    static const int counts[] = {0, 1, 63, 64, 65, 299, 300, 301, 700};
    for (int n : counts) {
        check_sums(sums, n, 0);
        check_sums(crowded, n, 7);
        check_sums(sized, n, 0);
        check_wide(n);
        check_until_zero(n);
        check_twice(n);
        check_overlapping(n);
    }
    check_shift(1);
    check_shift(500);
    check_locked(3);
    check_locked(100);
    both data(THREADS, 7);
    no_loop<<<1, THREADS>>>(data.device);
    KERNEL_OK();
    for (int t = 0; t < THREADS; t++) data.host[t]++;
    CHECK_EQ(data.differences(), 0);

    int blocks = 0;
    cudaDeviceProp device;
    CUDA_OK(cudaGetDeviceProperties(&device, 0));
    CUDA_OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, sums, 256, 0));
    CHECK(blocks >= 1 && blocks * 256 <= device.maxThreadsPerMultiProcessor);
    return check_done();
}
