/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of gather.cu in OpenCL C. */
kernel void gather(uint n, global const float *table, global const uint *index, global float *out) {
    uint i = get_global_id(0);
    if (i < n) {
        out[i] = table[index[i]];
    }
}
