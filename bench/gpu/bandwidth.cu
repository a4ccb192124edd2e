/* SPDX-License-Identifier: Apache-2.0 */
/* Bandwidths: device memory (read and written by a kernel, read alone), and copies from and to page-locked
 * memory, each way and both at once.   bandwidth [MiB of each buffer: 256] */
#include "gpu.h"

__global__ void copy(float4 *dst, const float4 *src, size_t count) {
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x)
        dst[i] = src[i];
}

__global__ void read(float *out, const float4 *src, size_t count) {
    float sum = 0;
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count;
         i += (size_t)gridDim.x * blockDim.x) {
        const float4 v = src[i];
        sum += v.x + v.y + v.z + v.w;
    }
    if (sum != 0) out[0] = sum; /* never: the memory holds zeros */
}

enum way { COPY, READ, IN, OUT, BOTH, WAYS };

struct buffers {
    char *a, *b, *host_a, *host_b;
    size_t bytes;
    cudaStream_t one, two;
    int blocks;
};

/* Whether the kernel put b's zeros where a had ones. */
static bool is_copied(const buffers &m) {
    CHECK(cudaMemset(m.a, 0xff, m.bytes));
    copy<<<m.blocks, 256>>>((float4 *)m.a, (const float4 *)m.b, m.bytes / 16);
    CHECK(cudaMemcpy(m.host_b, m.a, m.bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < m.bytes; i += 1000)
        if (m.host_b[i] != 0) return false;
    return true;
}

static void run(const buffers &m, int way) {
    switch (way) {
    case COPY: copy<<<m.blocks, 256>>>((float4 *)m.a, (const float4 *)m.b, m.bytes / 16); break;
    case READ: read<<<m.blocks, 256>>>((float *)m.a, (const float4 *)m.b, m.bytes / 16); break;
    case IN: CHECK(cudaMemcpyAsync(m.a, m.host_a, m.bytes, cudaMemcpyHostToDevice, m.one)); break;
    case OUT: CHECK(cudaMemcpyAsync(m.host_b, m.b, m.bytes, cudaMemcpyDeviceToHost, m.one)); break;
    case BOTH:
        CHECK(cudaMemcpyAsync(m.a, m.host_a, m.bytes, cudaMemcpyHostToDevice, m.one));
        CHECK(cudaMemcpyAsync(m.host_b, m.b, m.bytes, cudaMemcpyDeviceToHost, m.two));
        break;
    }
    CHECK(cudaGetLastError());
}

int main(int argc, char **argv) {
    static const char *const names[WAYS] = {"device, read and written", "device, read",
                                            "page-locked to device", "device to page-locked",
                                            "both ways at once"};
    static const int moved[WAYS] = {2, 1, 1, 1, 2}; /* times the size of a buffer */
    buffers m = {};
    cudaDeviceProp properties;
    CHECK(cudaGetDeviceProperties(&properties, 0));
    m.blocks = properties.multiProcessorCount * 16;
    m.bytes = argument(argc, argv, 1, 256) << 20;
    CHECK(cudaMalloc(&m.a, m.bytes));
    CHECK(cudaMalloc(&m.b, m.bytes));
    CHECK(cudaMallocHost(&m.host_a, m.bytes));
    CHECK(cudaMallocHost(&m.host_b, m.bytes));
    CHECK(cudaStreamCreate(&m.one));
    CHECK(cudaStreamCreate(&m.two));
    CHECK(cudaMemset(m.b, 0, m.bytes));
    for (size_t i = 0; i < m.bytes; i += 4096)
        m.host_a[i] = (char)(i >> 12);
    if (!is_copied(m)) {
        fprintf(stderr, "the copy in device memory is wrong\n");
        return 1;
    }
    timer t;
    for (int way = 0; way < WAYS; way++) {
        double rates[REPEATS];
        run(m, way);
        CHECK(cudaDeviceSynchronize());
        for (int i = 0; i < REPEATS; i++) {
            t.start(); /* the streams wait for it, and the second mark for them */
            run(m, way);
            rates[i] = (double)m.bytes * moved[way] / t.stop() * 1e-9;
        }
        report(names[way], "GB/s", rates, REPEATS);
    }
    /* What was copied in is what is there. */
    CHECK(cudaMemcpy(m.host_b, m.a, m.bytes, cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < m.bytes; i += 4096)
        if (m.host_b[i] != m.host_a[i]) {
            fprintf(stderr, "byte %zu was copied wrongly\n", i);
            return 1;
        }
    puts("PASS");
    return 0;
}
