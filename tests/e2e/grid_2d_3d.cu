/* SPDX-License-Identifier: Apache-2.0 */
/* Two- and three-dimensional grids and blocks: every built-in variable has the value its place gives. */
#include "check.h"

struct place {
    unsigned tx, ty, tz, bx, by, bz, dx, dy, dz, gx, gy, gz, warp;
};

__global__ void record(place *places)
{
    unsigned block = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    unsigned thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    place p = {threadIdx.x, threadIdx.y, threadIdx.z, blockIdx.x, blockIdx.y, blockIdx.z, blockDim.x,
               blockDim.y, blockDim.z, gridDim.x, gridDim.y, gridDim.z, (unsigned)warpSize};
    places[block * blockDim.x * blockDim.y * blockDim.z + thread] = p;
}

static void check_shape(dim3 grid, dim3 block)
{
    size_t count = (size_t)grid.x * grid.y * grid.z * block.x * block.y * block.z;
    place *places = check_managed<place>(count);
    record<<<grid, block>>>(places);
    KERNEL_OK();
    size_t i = 0;
    for (unsigned bz = 0; bz < grid.z; bz++)
        for (unsigned by = 0; by < grid.y; by++)
            for (unsigned bx = 0; bx < grid.x; bx++)
                for (unsigned tz = 0; tz < block.z; tz++)
                    for (unsigned ty = 0; ty < block.y; ty++)
                        for (unsigned tx = 0; tx < block.x; tx++, i++) {
                            place e = {tx,      ty,      tz,      bx,     by,     bz, block.x,
                                       block.y, block.z, grid.x, grid.y, grid.z, 32};
                            CHECK(memcmp(&e, &places[i], sizeof e) == 0);
                        }
    CUDA_OK(cudaFree(places));
}

int main(void)
{
    check_shape(dim3(5), dim3(33));
    check_shape(dim3(3, 4), dim3(16, 16));
    check_shape(dim3(1, 7), dim3(1, 31));
    check_shape(dim3(2, 3, 4), dim3(5, 6, 7));
    check_shape(dim3(1, 1, 9), dim3(2, 2, 64));
    check_shape(dim3(4, 1, 2), dim3(8, 128, 1));
    check_shape(3, 4); /* integers convert to dim3 */
    return check_done();
}
