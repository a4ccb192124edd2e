/* SPDX-License-Identifier: Apache-2.0 */
/* Lanes that went different ways meet again at warp operations: after loops of different lengths, after
 * breaks, at __syncwarp in both arms, in nested and early-continued loops; in blocks of odd shapes. */
#include "check.h"

#define ALL 0xffffffffu

__global__ void after_loops(int *out)
{
    int lane = threadIdx.x % 32, x = (int)threadIdx.x + 1, steps = 0;
    while (x != 1 && steps < 60) {
        x = x % 2 ? 3 * x + 1 : x / 2;
        if (x % 32 == 16)
            break;
        steps++;
    }
    int most = steps;
    for (int d = 16; d > 0; d /= 2) {
        int other = __shfl_xor_sync(ALL, most, d);
        most = other > most ? other : most;
    }
    int round = 0, sum = 0;
    for (int i = 0; i < steps; i++) {
        if (i % 3 == lane % 3)
            continue;
        sum += i;
        round++;
    }
    unsigned active = __ballot_sync(ALL, round > 5);
    out[threadIdx.x] = most * 10000 + __shfl_sync(ALL, sum, (lane + 1) % 32) + __popc(active) * 1000000;
}

__global__ void both_arms_meet(int *out)
{
    __shared__ int left[32], right[32];
    int lane = threadIdx.x;
    if (lane < 16) {
        left[lane] = lane * 3;
        __syncwarp();
        out[lane] = right[lane + 16] + 1;
    } else {
        right[lane] = lane * 5;
        __syncwarp();
        out[lane] = left[lane - 16] + 2;
    }
}

__global__ void worklist(const int *work, int *out) /* lanes fetch again when they are done: persistent style */
{
    __shared__ int next;
    int lane = threadIdx.x, item = -1, left = 0, done = 0;
    if (lane == 0)
        next = 0;
    __syncwarp();
    while (true) {
        unsigned idle = __ballot_sync(ALL, left == 0);
        if (idle) {
            int base = 0, leader = __ffs((int)idle) - 1;
            if (lane == leader)
                base = atomicAdd(&next, __popc(idle));
            base = __shfl_sync(ALL, base, leader);
            if (left == 0) {
                item = base + __popc(idle & ((1u << lane) - 1));
                left = item < 200 ? work[item] : -1;
            }
        }
        if (__all_sync(ALL, left < 0))
            break;
        if (left > 0 && --left == 0) {
            out[item] = work[item] * 2 + 1;
            done++;
        }
    }
    atomicAdd(&out[200], done);
}

__global__ void odd_shapes(int *sums)
{
    int t = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    int n = blockDim.x * blockDim.y * blockDim.z, lane = t % 32;
    unsigned mask = n - t / 32 * 32 >= 32 ? ALL : (1u << n % 32) - 1;
    int sum = 0, size = __popc(mask);
    for (int i = 0; i < size; i++)
        sum += __shfl_sync(mask, t, i);
    __syncthreads();
    unsigned third = __ballot_sync(mask, t % 3 == 0);
    sums[t] = sum * 100 + __popc(third & ((1u << lane) - 1));
}

int main(void)
{
    int *out = check_managed<int>(1024), *work = check_managed<int>(200);
    after_loops<<<1, 96>>>(out);
    KERNEL_OK();
    int steps[96], sums[96], rounds[96];
    for (int t = 0; t < 96; t++) {
        int x = t + 1;
        for (steps[t] = 0; x != 1 && steps[t] < 60; steps[t]++) {
            x = x % 2 ? 3 * x + 1 : x / 2;
            if (x % 32 == 16)
                break;
        }
        sums[t] = rounds[t] = 0;
        for (int i = 0; i < steps[t]; i++)
            if (i % 3 != t % 32 % 3) {
                sums[t] += i;
                rounds[t]++;
            }
    }
    for (int t = 0; t < 96; t++) {
        int most = 0, active = 0, base = t / 32 * 32;
        for (int l = 0; l < 32; l++) {
            most = steps[base + l] > most ? steps[base + l] : most;
            active += rounds[base + l] > 5;
        }
        CHECK_EQ(out[t], most * 10000 + sums[base + (t + 1) % 32] + active * 1000000);
    }
    both_arms_meet<<<1, 32>>>(out);
    KERNEL_OK();
    for (int l = 0; l < 32; l++)
        CHECK_EQ(out[l], l < 16 ? (l + 16) * 5 + 1 : (l - 16) * 3 + 2);
    uint32_t seed = 3;
    for (int i = 0; i < 200; i++)
        work[i] = 1 + (int)(check_random(&seed) % 30);
    memset(out, 0, 201 * sizeof(int));
    worklist<<<1, 32>>>(work, out);
    KERNEL_OK();
    for (int i = 0; i < 200; i++)
        CHECK_EQ(out[i], work[i] * 2 + 1);
    CHECK_EQ(out[200], 200);
    const dim3 shapes[] = {dim3(50), dim3(7, 5), dim3(3, 3, 11), dim3(33, 2), dim3(1, 1, 17), dim3(97)};
    for (int s = 0; s < 6; s++) {
        odd_shapes<<<1, shapes[s]>>>(out);
        KERNEL_OK();
        int n = shapes[s].x * shapes[s].y * shapes[s].z;
        for (int t = 0; t < n; t++) {
            int sum = 0, third = 0, base = t / 32 * 32;
            for (int i = base; i < base + 32 && i < n; i++) {
                sum += i;
                third += i < t && i % 3 == 0;
            }
            CHECK_EQ(out[t], sum * 100 + third);
        }
    }
    return check_done();
}
