/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel parameters by value: large, nested, with arrays, aligned, packed, empty, many small ones. */
#include "check.h"

struct small { char c; };
struct mixed { char c; double d; short s; float f; };
struct nested { mixed m[3]; struct { int a[5]; long long b; } inner; union { int i; float f; } u; };
struct __align__(16) aligned16 { float x, y, z; };
struct alignas(64) aligned64 { int v[3]; };
struct large { int v[900]; };
struct __attribute__((packed)) packed { char c; int i; short s; double d; };
struct empty {};
struct bits { unsigned a : 3; int b : 7; unsigned c : 22; };

struct pointers { int *out; const int *in; int n; };

__global__ void many(char a, short b, int c, long long d, float e, double f, bool g, unsigned char h,
                     small s, mixed m, int *out)
{
    out[0] = a + b + c + (int)d + (int)e + (int)f + g + h + s.c + m.c + (int)m.d + m.s + (int)m.f;
}

__global__ void odd(int3 i3, double2 d2, char3 c3, empty, packed p, bits b, aligned64 big, double *out)
{
    out[0] = i3.x + 10 * i3.y + 100 * i3.z;
    out[1] = d2.x - d2.y;
    out[2] = c3.x + c3.y + c3.z;
    out[3] = p.c + p.i + p.s + p.d;
    out[4] = b.a + b.b + (double)b.c;
    out[5] = big.v[0] + big.v[1] + big.v[2];
}

__global__ void sum_nested(nested n, aligned16 v, double *out)
{
    double s = 0;
    for (int i = 0; i < 3; i++)
        s += n.m[i].c + n.m[i].d + n.m[i].s + n.m[i].f;
    for (int i = 0; i < 5; i++)
        s += n.inner.a[i];
    out[threadIdx.x] = s + n.inner.b + n.u.f + v.x + v.y + v.z + threadIdx.x;
}

/* dynamic index into a parameter, and a write to the thread's own copy */
__global__ void index_large(large a, int *out)
{
    int t = threadIdx.x;
    a.v[(t + 1) % 900] = -1;
    out[t] = a.v[t] + a.v[(t + 1) % 900];
}

__device__ large make_large(int base)
{
    large l;
    for (int i = 0; i < 900; i++)
        l.v[i] = base + i;
    return l;
}
__global__ void return_large(int *out) { out[threadIdx.x] = make_large(threadIdx.x).v[899 - threadIdx.x]; }

__global__ void through_pointers(pointers p)
{
    if (threadIdx.x < p.n)
        p.out[threadIdx.x] = p.in[threadIdx.x] * 2;
}

int main(void)
{
    int *out = check_managed<int>(900), *in = check_managed<int>(900);
    double *reals = check_managed<double>(32);
    small s = {9};
    mixed m = {1, 20.0, 300, 4000.0f};
    many<<<1, 1>>>(1, 2, 3, 4, 5.0f, 6.0, true, 200, s, m, out);
    KERNEL_OK();
    CHECK_EQ(out[0], 1 + 2 + 3 + 4 + 5 + 6 + 1 + 200 + 9 + 1 + 20 + 300 + 4000);
    nested n = {{m, m, m}, {{1, 2, 3, 4, 5}, 1LL << 40}, {0}};
    n.u.f = 0.5f;
    aligned16 v = {1.f, 2.f, 3.f};
    sum_nested<<<1, 32>>>(n, v, reals);
    KERNEL_OK();
    for (int t = 0; t < 32; t++)
        CHECK_EQ(reals[t], 3 * 4321.0 + 15 + (double)(1LL << 40) + 0.5 + 6 + t);
    packed p = {1, 20, 300, 0.25};
    bits b = {5, -33, 4000000};
    aligned64 big = {{7, 8, 9}};
    odd<<<1, 1>>>(make_int3(1, 2, 3), make_double2(5.5, 2.25), make_char3(1, -2, 4), empty(), p, b, big,
                  reals);
    KERNEL_OK();
    const double expected[] = {321, 3.25, 3, 321.25, 5 - 33 + 4000000.0, 24};
    for (int i = 0; i < 6; i++)
        CHECK_EQ(reals[i], expected[i]);
    large l;
    for (int i = 0; i < 900; i++)
        l.v[i] = i * 3;
    index_large<<<1, 900>>>(l, out);
    KERNEL_OK();
    for (int t = 0; t < 900; t++)
        CHECK_EQ(out[t], t * 3 - 1);
    return_large<<<1, 300>>>(out);
    KERNEL_OK();
    for (int t = 0; t < 300; t++)
        CHECK_EQ(out[t], 899);
    for (int i = 0; i < 900; i++)
        in[i] = i;
    pointers ps = {out, in, 700};
    through_pointers<<<1, 800>>>(ps);
    KERNEL_OK();
    for (int i = 0; i < 700; i++)
        CHECK_EQ(out[i], 2 * i);
    return check_done();
}
