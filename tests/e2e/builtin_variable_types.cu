// SPDX-License-Identifier: Apache-2.0
// FLAGS: -std=c++14
/* gridDim and its like as objects of dim3 and uint3: they convert to classes made of one, as with nvcc,
 * and a program may declare them again. */
#include "check.h"

extern const dim3 blockDim;
extern const uint3 threadIdx, blockIdx;
#ifndef __CUDA_ARCH__
extern const dim3 gridDim;
#endif

struct extent {
    unsigned width, height, depth;
    __host__ __device__ extent(dim3 d) : width(d.x), height(d.y), depth(d.z) {}
};

struct place {
    unsigned x, y;
    __host__ __device__ place(uint3 p) : x(p.x), y(p.y) {}
};

__device__ extent blocks() { return gridDim; }
__device__ extent threads() { return /* of a block */ blockDim; }
__device__ place block() { return blockIdx; }

__device__ unsigned volume(extent e) { return e.width * e.height * e.depth; }
__device__ unsigned row(unsigned first, place p, extent e) { return first + p.y * e.width; }

__global__ void kernel(unsigned *out)
{
    const place mine = threadIdx;
    const extent all = blockDim;
    if (mine.x == 3 && mine.y == 1 && block().x == 1) {
        out[0] = blocks().width;
        out[1] = threads().height;
        out[2] = all.width * all.depth;
        out[3] = block().x;
        out[4] = volume(gridDim) + row(10, threadIdx, blockDim);
    }
}

int main()
{
    unsigned *out = check_managed<unsigned>(5);
    kernel<<<5, dim3(4, 2)>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 5u);
    CHECK_EQ(out[1], 2u);
    CHECK_EQ(out[2], 4u);
    CHECK_EQ(out[3], 1u);
    CHECK_EQ(out[4], 5u + 14);
    return check_done();
}
