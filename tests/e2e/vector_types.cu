/* SPDX-License-Identifier: Apache-2.0 */
/* Vector types: sizes and alignments as CUDA lays them out, constructors, members, loads and stores,
 * in structs, in shared memory, as arguments and results. */
#include "check.h"

#define LAYOUT(type, size, align)                                                                  \
    static_assert(sizeof(type) == size, #type " has another size");                                \
    static_assert(alignof(type) == align, #type " has another alignment");
#define LAYOUTS(base, bytes)                                                                       \
    LAYOUT(base##1, bytes, bytes)                                                                  \
    LAYOUT(base##2, 2 * bytes, 2 * bytes)                                                          \
    LAYOUT(base##3, 3 * bytes, bytes)
LAYOUTS(char, 1) LAYOUTS(uchar, 1) LAYOUTS(short, 2) LAYOUTS(ushort, 2) LAYOUTS(int, 4) LAYOUTS(uint, 4)
LAYOUTS(long, 8) LAYOUTS(ulong, 8) LAYOUTS(longlong, 8) LAYOUTS(ulonglong, 8) LAYOUTS(float, 4) LAYOUTS(double, 8)
LAYOUT(char4, 4, 4) LAYOUT(uchar4, 4, 4) LAYOUT(short4, 8, 8) LAYOUT(ushort4, 8, 8) LAYOUT(int4, 16, 16)
LAYOUT(uint4, 16, 16) LAYOUT(float4, 16, 16) LAYOUT(dim3, 12, 4)
#if CUDART_VERSION < 13000
LAYOUT(double4, 32, 16) LAYOUT(longlong4, 32, 16)
#endif

struct cell {
    char tag;
    float4 position;
    uchar3 colour;
    double2 weight;
};
static_assert(sizeof(cell) == 64 && alignof(cell) == 16, "structs with vectors are laid out as by nvcc");

__host__ __device__ float4 operator+(float4 a, float4 b)
{
    return make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
}

__device__ float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }

__global__ void floats(const float4 *in, float4 *out, float4 add, float *dots)
{
    __shared__ float4 tile[64];
    int t = threadIdx.x;
    tile[t] = in[t] + add;
    __syncthreads();
    float4 v = tile[63 - t];
    float w = v.w;
    v.w = v.x;
    v.x = w;
    out[t] = v;
    dots[t] = dot(v, add);
}

__global__ void all_makes(double *out)
{
    int i = 0;
#define SUM2(v) (double)((v).x) + (double)((v).y)
    out[i++] = make_char1(-3).x;
    out[i++] = SUM2(make_char2(-3, 4));
    out[i++] = make_char3(1, 2, -3).z + make_char4(1, 2, 3, -4).w;
    out[i++] = make_uchar1(250).x + make_uchar2(1, 251).y + make_uchar3(1, 2, 252).z + make_uchar4(1, 2, 3, 253).w;
    out[i++] = make_short1(-300).x + make_short2(1, -301).y + make_short3(1, 2, -302).z + make_short4(1, 2, 3, -303).w;
    out[i++] = make_ushort1(60000).x + make_ushort2(1, 60001).y + make_ushort3(1, 2, 60002).z + make_ushort4(1, 2, 3, 60003).w;
    out[i++] = make_int1(-5).x + make_int2(1, -6).y + make_int3(1, 2, -7).z + make_int4(1, 2, 3, -8).w;
    out[i++] = (double)make_uint1(4000000000u).x + make_uint2(1, 4000000001u).y + make_uint3(1, 2, 4000000002u).z + make_uint4(1, 2, 3, 4000000003u).w;
    out[i++] = (double)(make_long1(-1L << 40).x + make_long2(1, 2).y + make_long3(1, 2, 3).z + (long)make_ulong1(7).x + (long)make_ulong2(1, 8).y);
    out[i++] = (double)(make_longlong1(1LL << 41).x + make_longlong2(1, 2).y + make_longlong3(1, 2, 3).z);
    out[i++] = (double)(make_ulonglong1(1ull << 42).x + make_ulonglong2(1, 2).y + make_ulonglong3(1, 2, 3).z);
    out[i++] = make_float1(0.5f).x + make_float2(0.5f, 1.5f).y + make_float3(1, 2, 2.5f).z + make_float4(1, 2, 3, 3.5f).w;
    out[i++] = make_double1(0.25).x + make_double2(1, 1.25).y + make_double3(1, 2, 2.25).z;
    int4 v = {1, 2, 3, 4};
    int *p = &v.x;
    out[i++] = p[0] + 10 * p[1] + 100 * p[2] + 1000 * p[3];
    dim3 d(2, 3);
    out[i++] = d.x * 100 + d.y * 10 + d.z;
    uint3 u = threadIdx;
    out[i++] = u.x + u.y + u.z;
}

__global__ void bytes_as_words(const uchar4 *in, unsigned *sums, cell *cells)
{
    uchar4 c = in[threadIdx.x];
    sums[threadIdx.x] = c.x + 256u * c.y + 65536u * c.z + 16777216u * c.w;
    cell *k = &cells[threadIdx.x];
    k->position = make_float4(c.x, c.y, c.z, c.w);
    k->colour = make_uchar3(c.w, c.z, c.y);
    k->weight = make_double2(c.x / 4.0, c.y / 8.0);
    k->tag = (char)(threadIdx.x + 1);
}

int main(void)
{
    float4 *in = check_managed<float4>(64), *out = check_managed<float4>(64);
    float4 add = make_float4(1, 10, 100, 1000);
    float *dots = check_managed<float>(64);
    for (int i = 0; i < 64; i++)
        in[i] = make_float4(i, 2 * i, 3 * i, 4 * i);
    floats<<<1, 64>>>(in, out, add, dots);
    KERNEL_OK();
    for (int t = 0; t < 64; t++) {
        float4 e = in[63 - t] + add;
        CHECK_EQ(out[t].x, e.w);
        CHECK_EQ(out[t].y, e.y);
        CHECK_EQ(out[t].z, e.z);
        CHECK_EQ(out[t].w, e.x);
        CHECK_EQ(dots[t], e.w + 10 * e.y + 100 * e.z + 1000 * e.x);
    }
    double *made = check_managed<double>(16);
    all_makes<<<1, 1>>>(made);
    KERNEL_OK();
    const double expected[] = {-3, 1, -7, 1006, -1206, 240006, -26, 16000000006.0, -1099511627776.0 + 20,
                               2199023255552.0 + 5, 4398046511104.0 + 5, 8.0, 3.75, 4321, 231, 0};
    for (int i = 0; i < 16; i++)
        CHECK_EQ(made[i], expected[i]);
    uchar4 *words = check_managed<uchar4>(50);
    unsigned *sums = check_managed<unsigned>(50), raw;
    cell *cells = check_managed<cell>(50);
    for (int i = 0; i < 50; i++)
        words[i] = make_uchar4(i, 255 - i, i * 3, 128 + i);
    bytes_as_words<<<1, 50>>>(words, sums, cells);
    KERNEL_OK();
    for (int i = 0; i < 50; i++) {
        memcpy(&raw, &words[i], 4);
        CHECK_EQ(sums[i], raw);
        CHECK_EQ(cells[i].position.w, 128.0f + i);
        CHECK_EQ(cells[i].colour.y, i * 3);
        CHECK_EQ(cells[i].weight.y, (255 - i) / 8.0);
        CHECK_EQ(cells[i].tag, i + 1);
    }
    return check_done();
}
