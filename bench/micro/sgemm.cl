/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of sgemm.cu in OpenCL C. */
#define TILE 16

#ifndef FUSED
#pragma OPENCL FP_CONTRACT OFF
#endif

kernel void sgemm(uint n, global const float *a, global const float *b, global float *c) {
    local float a_tile[TILE][TILE];
    local float b_tile[TILE][TILE];
    uint x = get_local_id(0), y = get_local_id(1);
    uint row = get_group_id(1) * TILE + y, column = get_group_id(0) * TILE + x;
    float sum = 0.0f;
    for (uint k0 = 0; k0 < n; k0 += TILE) {
        a_tile[y][x] = a[row * n + k0 + x];
        b_tile[y][x] = b[(k0 + y) * n + column];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint k = 0; k < TILE; k++) {
            sum += a_tile[y][k] * b_tile[k][x];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[row * n + column] = sum;
}
