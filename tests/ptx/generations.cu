// Inline PTX of later GPUs: the file as a whole asks for the GPU that has all of it.
#include <cstdint>

__global__ void reduce(unsigned *sum) {
    unsigned r;
    asm volatile("redux.sync.add.u32 %0, %1, 0xffffffff;" : "=r"(r) : "r"(threadIdx.x));
    *sum = r;
}

__global__ void stage(const float *from, float *to) {
    __shared__ float tile[128];
    uint32_t at = (uint32_t)__cvta_generic_to_shared(&tile[threadIdx.x]);
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(at), "l"(from + threadIdx.x));
    asm volatile("cp.async.commit_group;\n\tcp.async.wait_group 0;");
    __syncthreads();
    to[threadIdx.x] = tile[threadIdx.x ^ 1];
}

int main() {
    return 0;
}
