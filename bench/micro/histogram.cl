/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of histogram.cu in OpenCL C. */
#define BINS 256

kernel void histogram_shared(uint n, global const uchar *text, global uint *total) {
    local uint count[BINS];
    uint t = get_local_id(0);
    count[t] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        atomic_add(&count[text[i]], 1u);
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&total[t], count[t]);
}

kernel void histogram_global(uint n, global const uchar *text, global uint *total) {
    for (uint i = get_global_id(0); i < n; i += get_global_size(0)) {
        atomic_add(&total[text[i]], 1u);
    }
}
