/* SPDX-License-Identifier: Apache-2.0 */
/* Loops that all threads take equally often, whose accesses run along the threads: alone, behind guards of
 * every kind, nested, with something before, between and after them, and where no thread gets in. */
#include "check.h"

#define W 83
#define H 61

__global__ void columns(const int *a, int *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    if (x < w) {
        for (int k = 0; k < h; k++)
            sum += a[k * w + x];
        out[x] = sum;
    }
}

__global__ void product(const int *a, const int *b, int *c, int m, int n, int depth)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < n && y < m) {
        int sum = c[y * n + x]; /* read before the loop, by threads that got in only */
        for (int k = 0; k < depth; k++)
            sum += a[y * depth + k] * b[k * n + x];
        c[y * n + x] = sum;
    }
}

__global__ void product_in_place(const int *a, const int *b, int *c, int m, int n, int depth)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (y < m)
        if (x < n)
            for (int k = 0; k < depth; k++)
                c[y * n + x] += a[y * depth + k] * b[k * n + x];
}

__global__ void either(const int *a, int *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, value;
    if (x >= w)
        return;
    if (x % 2) {
        value = 1;
        for (int k = 0; k < h; k++)
            value = value * 3 + a[k * w + x];
    } else {
        value = 2;
        for (int k = h - 1; k >= 0; k--)
            value = value * 5 + a[k * w + x];
    }
    out[x] = value;
}

__global__ void nested(const int *a, int *out, int w, int h, int times)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < w) {
        int best = 0;
        for (int t = 0; t < times; t++) {
            int sum = t;
            for (int k = t; k < h; k += 2)
                sum += a[k * w + x] ^ t;
            best = sum > best ? sum : best;
            out[(t + 1) * w + x] = sum;
        }
        out[x] = best;
    }
}

__global__ void divided(const int *a, int *out, int w, int h, int by) /* by is 0 where no thread enters */
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < w) {
        int step = h / by, sum = 0;
        for (int k = 0; k < h; k++)
            sum += a[k * w + x] / by + step;
        out[x] = sum;
    }
}

__global__ void branches(const int *a, int *out, int w, int h, int flip)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    if (x < w) {
        int sum = 0;
        for (int k = 0; k < h; k++) {
            if (k & flip)
                sum -= a[k * w + x];
            else
                sum += 2 * a[k * w + x];
            if (a[k * w + x] > 90)
                sum ^= k;
        }
        out[x] = sum;
    }
}

__global__ void through_shared(const int *a, int *out, int w, int h)
{
    __shared__ int tile[64];
    int t = threadIdx.x, x = blockIdx.x * 64 + t, sum = 0;
    for (int k = 0; k < h; k++) {
        tile[t] = x < w ? a[k * w + x] : 0;
        __syncthreads();
        sum += tile[63 - t];
        __syncthreads();
    }
    if (x < w) {
        int last = 0;
        for (int k = 0; k < h; k++)
            last = last * 7 + a[k * w + x];
        out[x] = sum + last;
    }
}

__global__ void several(const int *a, int *out, int w, int h) /* two elements a thread, a block apart */
{
    int base = blockIdx.x * blockDim.x * 2 + threadIdx.x;
    int mine = base < w * h ? a[base] : -1;
    if (base + blockDim.x < w * h)
        mine += 1000 * a[base + blockDim.x];
    out[blockIdx.x * blockDim.x + threadIdx.x] = mine;
}

static int *a, *b, *out;

static void clear(void)
{
    cudaDeviceSynchronize();
    for (int i = 0; i < W * H * 2; i++)
        out[i] = i % 11;
}

static void check_columns(int w, int h, int threads)
{
    const int blocks = (w + threads - 1) / threads + 1;
    clear();
    columns<<<blocks, threads>>>(a, out, w, h);
    cudaDeviceSynchronize();
    for (int x = 0; x < w; x++) {
        int sum = 0;
        for (int k = 0; k < h; k++)
            sum += a[k * w + x];
        CHECK_EQ(out[x], sum);
    }
    CHECK_EQ(out[w], w % 11);
    clear();
    either<<<blocks, threads>>>(a, out, w, h);
    cudaDeviceSynchronize();
    for (int x = 0; x < w; x++) {
        int value = x % 2 ? 1 : 2;
        for (int k = 0; k < h; k++)
            value = x % 2 ? value * 3 + a[k * w + x] : value * 5 + a[(h - 1 - k) * w + x];
        CHECK_EQ(out[x], value);
    }
    clear();
    nested<<<blocks, threads>>>(a, out, w, h, 4);
    cudaDeviceSynchronize();
    for (int x = 0; x < w; x++) {
        int best = 0;
        for (int t = 0; t < 4; t++) {
            int sum = t;
            for (int k = t; k < h; k += 2)
                sum += a[k * w + x] ^ t;
            best = sum > best ? sum : best;
            CHECK_EQ(out[(t + 1) * w + x], sum);
        }
        CHECK_EQ(out[x], best);
    }
    clear();
    divided<<<blocks, threads>>>(a, out, w, h, 7);
    divided<<<blocks, threads>>>(a, out, 0, h, 0);
    cudaDeviceSynchronize();
    for (int x = 0; x < w; x++) {
        int sum = 0;
        for (int k = 0; k < h; k++)
            sum += a[k * w + x] / 7 + h / 7;
        CHECK_EQ(out[x], sum);
    }
    clear();
    branches<<<blocks, threads>>>(a, out, w, h, 2);
    cudaDeviceSynchronize();
    for (int x = 0; x < w; x++) {
        int sum = 0;
        for (int k = 0; k < h; k++) {
            sum += k & 2 ? -a[k * w + x] : 2 * a[k * w + x];
            if (a[k * w + x] > 90)
                sum ^= k;
        }
        CHECK_EQ(out[x], sum);
    }
    clear();
    through_shared<<<(w + 63) / 64, 64>>>(a, out, w, h);
    cudaDeviceSynchronize();
    for (int x = 0; x < w; x++) {
        int sum = 0, last = 0, other = x / 64 * 64 + 63 - x % 64;
        for (int k = 0; k < h; k++) {
            sum += other < w ? a[k * w + other] : 0;
            last = last * 7 + a[k * w + x];
        }
        CHECK_EQ(out[x], sum + last);
    }
    clear();
    const int pairs = (w * h + 2 * threads - 1) / (2 * threads);
    if (pairs)
        several<<<pairs, threads>>>(a, out, w, h);
    cudaDeviceSynchronize();
    for (int i = 0; i < pairs * threads && i < W * H * 2; i++) {
        int base = i / threads * threads * 2 + i % threads;
        int mine = base < w * h ? a[base] : -1;
        if (base + threads < w * h)
            mine += 1000 * a[base + threads];
        CHECK_EQ(out[i], mine);
    }
}

static void check_product(int m, int n, int depth, dim3 block)
{
    const dim3 grid((n + block.x - 1) / block.x, (m + block.y - 1) / block.y);
    for (int in_place = 0; in_place < 2; in_place++) {
        clear();
        if (in_place)
            product_in_place<<<grid, block>>>(a, b, out, m, n, depth);
        else
            product<<<grid, block>>>(a, b, out, m, n, depth);
        cudaDeviceSynchronize();
        for (int y = 0; y < m; y++)
            for (int x = 0; x < n; x++) {
                int sum = (y * n + x) % 11;
                for (int k = 0; k < depth; k++)
                    sum += a[y * depth + k] * b[k * n + x];
                CHECK_EQ(out[y * n + x], sum);
            }
        CHECK_EQ(out[m * n], m * n % 11);
    }
}

int main(void)
{
    CUDA_OK(cudaMallocManaged(&a, W * H * sizeof *a));
    CUDA_OK(cudaMallocManaged(&b, W * H * sizeof *b));
    CUDA_OK(cudaMallocManaged(&out, W * H * 2 * sizeof *out));
    for (int i = 0; i < W * H; i++) {
        a[i] = i * 37 % 101;
        b[i] = i * 53 % 97;
    }
    check_columns(W, H, 32);
    check_columns(W, H, 128);
    check_columns(W, 1, 64);
    check_columns(W, 0, 64);
    check_columns(5, H, 7);
    check_columns(1, 3, 1);
    check_product(H, 60, 83, dim3(16, 16));
    check_product(33, 31, 7, dim3(32, 4));
    check_product(3, 70, 0, dim3(8, 8, 1));
    check_product(1, 1, 1, dim3(1, 1));
    CHECK_EQ(cudaGetLastError(), cudaSuccess);
    return check_done();
}
