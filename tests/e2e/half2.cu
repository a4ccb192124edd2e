/* SPDX-License-Identifier: Apache-2.0 */
/* __half2: packing, arithmetic on both halves, comparison, conversion, a dot product. */
#include "check.h"
#include <cuda_fp16.h>

__global__ void pairs(float *out)
{
    float x = threadIdx.x * 0.25f, y = 3.0f - threadIdx.x;
    __half2 a = __floats2half2_rn(x, y), b = __float2half2_rn(0.5f), c = __halves2half2(__float2half(y), __float2half(x));
    __half2 r[12];
    int k = 0;
    r[k++] = __hadd2(a, b);
    r[k++] = __hsub2(a, c);
    r[k++] = __hmul2(a, c);
    r[k++] = __hfma2(a, b, c);
    r[k++] = __hneg2(a);
    r[k++] = a + c;
    r[k++] = a * b;
    r[k++] = __lowhigh2highlow(a);
    r[k++] = __low2half2(a);
    r[k++] = __high2half2(a);
    r[k++] = __hgt2(a, c);
    r[k++] = __h2div(a, b);
    for (int i = 0; i < k; i++) {
        float2 f = __half22float2(r[i]);
        out[threadIdx.x * 26 + 2 * i] = f.x;
        out[threadIdx.x * 26 + 2 * i + 1] = f.y;
    }
    out[threadIdx.x * 26 + 24] = __low2float(a) + __high2float(c);
    out[threadIdx.x * 26 + 25] = __hbeq2(a, a) + 2 * __hbeq2(a, b);
}

__global__ void dot(const __half2 *a, const __half2 *b, int n, float *out)
{
    __shared__ float tile[64];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += 64) {
        float2 p = __half22float2(__hmul2(a[i], b[i]));
        sum += p.x + p.y;
    }
    tile[threadIdx.x] = sum;
    __syncthreads();
    for (int h = 32; h > 0; h /= 2) {
        if (threadIdx.x < h)
            tile[threadIdx.x] += tile[threadIdx.x + h];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *out = tile[0];
}

int main(void)
{
    float *out = check_managed<float>(32 * 26);
    pairs<<<1, 32>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 32; t++) { /* every number here is a half exactly */
        float x = t * 0.25f, y = 3.0f - t;
        const float e[26] = {x + 0.5f, y + 0.5f, x - y, y - x, x * y, y * x, x / 2 + y, y / 2 + x, -x, -y,
                             x + y, x + y, x / 2, y / 2, y, x, x, x, y, y, x > y ? 1.f : 0.f,
                             y > x ? 1.f : 0.f, x * 2, y * 2, x + x, x == 0.5f && y == 0.5f ? 3.f : 1.f};
        for (int k = 0; k < 26; k++)
            CHECK_EQ(out[t * 26 + k], e[k]);
    }
    const int n = 500;
    __half2 *a = (__half2 *)check_managed<int>(n), *b = (__half2 *)check_managed<int>(n);
    float expected = 0;
    for (int i = 0; i < n; i++) {
        float x = (float)(i % 9 - 4), y = (float)(i % 5), z = (float)(i % 4) / 2;
        a[i] = __floats2half2_rn(x, y);
        b[i] = __floats2half2_rn(z, x);
        expected += x * z + y * x;
    }
    dot<<<1, 64>>>(a, b, n, out);
    KERNEL_OK();
    CHECK_EQ(out[0], expected);
    CHECK_EQ(sizeof(__half2), (size_t)4);
    return check_done();
}
