/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of vecadd.cu in OpenCL C. */
kernel void vecadd(uint n, global const float *a, global const float *b, global float *sum) {
    uint i = get_global_id(0);
    if (i < n) {
        sum[i] = a[i] + b[i];
    }
}
