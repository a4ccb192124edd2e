/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of sigmoid.cu in OpenCL C. */
kernel void sigmoid(uint n, global const float *x, global float *y) {
    uint i = get_global_id(0);
    if (i < n) {
        y[i] = 1.0f / (1.0f + exp(-x[i]));
    }
}
