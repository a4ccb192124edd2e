/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel of softmax.cu in OpenCL C, which has no shuffles on every device: a group of 32 a row,
 * which exchanges through local memory. */
#define LANES 32
#define ROW 256

kernel void softmax(uint rows, global const float *x, global float *y) {
    local float part[LANES];
    uint row = get_group_id(0), lane = get_local_id(0);
    x += row * ROW;
    y += row * ROW;
    float most = x[lane], sum = 0.0f;
    for (uint i = lane + LANES; i < ROW; i += LANES) {
        most = fmax(most, x[i]);
    }
    part[lane] = most;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = LANES / 2; half_ > 0; half_ /= 2) {
        if (lane < half_) {
            part[lane] = fmax(part[lane], part[lane + half_]);
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    most = part[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = lane; i < ROW; i += LANES) {
        sum += exp(x[i] - most);
    }
    part[lane] = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_ = LANES / 2; half_ > 0; half_ /= 2) {
        if (lane < half_) {
            part[lane] += part[lane + half_];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sum = part[0];
    for (uint i = lane; i < ROW; i += LANES) {
        y[i] = exp(x[i] - most) / sum;
    }
}
