/* SPDX-License-Identifier: Apache-2.0 */
/* Devices, streams and memory pools of libcu++, which CCCL 3 calls the driver API for. */
#include "check.h"
#if __has_include(<cuda/memory_pool>)
#include <cuda/devices>
#include <cuda/memory_pool>
#include <cuda/stream>

__global__ void fill(int *p) {
    p[threadIdx.x] = threadIdx.x;
}

int main() {
    CHECK_EQ(cuda::devices.size(), (size_t)1);
    cuda::stream stream{cuda::devices[0]};
    auto pool = cuda::device_default_memory_pool(cuda::devices[0]);
    int *p = (int *)pool.allocate(stream, 32 * sizeof(int), 256);
    fill<<<1, 32, 0, stream.get()>>>(p);
    int h[32] = {0};
    CUDA_OK(cudaMemcpyAsync(h, p, sizeof h, cudaMemcpyDeviceToHost, stream.get()));
    pool.deallocate(stream, p, 32 * sizeof(int), 256);
    stream.sync();
    CHECK_EQ(h[31], 31);
    return check_done();
}
#else
int main() {
    return check_done();
}
#endif
