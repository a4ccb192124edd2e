/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of reduction.cu in OpenCL C. */
#define THREADS 256

kernel void reduce(uint n, global const float *x, global float *sums) {
    local float part[THREADS];
    uint t = get_local_id(0), i = get_group_id(0) * 2 * THREADS + t;
    float mine = i < n ? x[i] : 0.0f;
    if (i + THREADS < n) {
        mine += x[i + THREADS];
    }
    part[t] = mine;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = THREADS / 2; half_ > 0; half_ /= 2) {
        if (t < half_) {
            part[t] += part[t + half_];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) {
        sums[get_group_id(0)] = part[0];
    }
}
