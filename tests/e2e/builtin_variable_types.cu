// SPDX-License-Identifier: Apache-2.0
/* gridDim and its like as objects of dim3 and uint3: they convert to classes made of one, as with nvcc. */
#include "check.h"

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

__global__ void kernel(unsigned *out)
{
    const place mine = threadIdx;
    const extent all = blockDim;
    if (mine.x == 3 && mine.y == 1 && block().x == 1) {
        out[0] = blocks().width;
        out[1] = threads().height;
        out[2] = all.width * all.depth;
        out[3] = block().x;
    }
}

int main()
{
    unsigned *out = check_managed<unsigned>(4);
    kernel<<<5, dim3(4, 2)>>>(out);
    KERNEL_OK();
    CHECK_EQ(out[0], 5u);
    CHECK_EQ(out[1], 2u);
    CHECK_EQ(out[2], 4u);
    CHECK_EQ(out[3], 1u);
    return check_done();
}
