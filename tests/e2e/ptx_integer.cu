/* SPDX-License-Identifier: Apache-2.0 */
/* Inline PTX arithmetic: add mul mad bfe bfi lop3 prmt shf popc clz brev sad min max, carries,
 * predicates, vectors of statements in one block, cvt; against reference code. */
#include "check.h"

#define OPS 30

__global__ void compute(const unsigned *in, unsigned *out)
{
    unsigned a = in[threadIdx.x * 3], b = in[threadIdx.x * 3 + 1], c = in[threadIdx.x * 3 + 2], r;
    unsigned *o = out + threadIdx.x * OPS;
    int i = 0;
    asm("add.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("sub.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("mul.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("mul.hi.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("mul.hi.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("mad.lo.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[i++] = r;
    asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[i++] = r;
    asm("mul24.lo.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("bfe.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 31), "r"(c & 31));
    o[i++] = r;
    asm("bfe.s32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b & 31), "r"(c & 31));
    o[i++] = r;
    asm("bfi.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c & 31), "r"(a & 31));
    o[i++] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0xE8;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); /* majority */
    o[i++] = r;
    asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r) : "r"(a), "r"(b), "r"(c)); /* a ^ b ^ c */
    o[i++] = r;
    asm("prmt.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c & 0x7777));
    o[i++] = r;
    asm("prmt.b32 %0, %1, %2, 0x3715;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[i++] = r;
    asm("shf.r.wrap.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[i++] = r;
    asm("shf.r.clamp.b32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c & 63));
    o[i++] = r;
    asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c & 63));
    o[i++] = r;
    asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(c & 63));
    o[i++] = r;
    asm("popc.b32 %0, %1;" : "=r"(r) : "r"(a));
    o[i++] = r;
    asm("clz.b32 %0, %1;" : "=r"(r) : "r"(a));
    o[i++] = r;
    asm("brev.b32 %0, %1;" : "=r"(r) : "r"(a));
    o[i++] = r;
    asm("sad.u32 %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[i++] = r;
    asm("min.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("max.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));
    o[i++] = r;
    asm("{\n\t.reg .pred p;\n\tsetp.lt.s32 p, %1, %2;\n\tselp.b32 %0, %3, 7, p;\n\t}"
        : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[i++] = r;
    asm("{\n\t.reg .u32 t;\n\txor.b32 t, %1, %2;\n\tnot.b32 t, t;\n\tand.b32 %0, t, %3;\n\t}"
        : "=r"(r) : "r"(a), "r"(b), "r"(c));
    o[i++] = r;
    unsigned low, high; /* a 64-bit sum through the carry flag */
    asm("add.cc.u32 %0, %2, %3;\n\taddc.u32 %1, %4, %5;"
        : "=r"(low), "=r"(high) : "r"(a), "r"(b), "r"(c), "r"(a));
    o[i++] = low;
    o[i++] = high;
}

static void reference(unsigned a, unsigned b, unsigned c, unsigned *o)
{
    int i = 0;
    unsigned pos = b & 31, len = c & 31;
    unsigned long long ab = (unsigned long long)a * b, pair = (unsigned long long)b << 32 | a;
    o[i++] = a + b;
    o[i++] = a - b;
    o[i++] = a * b;
    o[i++] = (unsigned)(ab >> 32);
    o[i++] = (unsigned)(((long long)(int)a * (int)b) >> 32);
    o[i++] = a * b + c;
    o[i++] = (unsigned)(ab >> 32) + c;
    o[i++] = (a & 0xffffff) * (b & 0xffffff);
    unsigned field = 0, top = pos + len - 1 > 31 ? 31 : pos + len - 1;
    for (unsigned k = 0; k < len && pos + k < 32; k++)
        field |= (a >> (pos + k) & 1) << k;
    o[i++] = field;
    if (len > 0 && (a >> top & 1))
        for (unsigned k = 0; k < 32; k++)
            if (k >= len || pos + k > 31)
                field |= 1u << k;
    o[i++] = field;
    unsigned at = c & 31, count = a & 31, merged = b;
    for (unsigned k = 0; k < count && at + k < 32; k++)
        merged = (merged & ~(1u << (at + k))) | (a >> k & 1) << (at + k);
    o[i++] = merged;
    o[i++] = (a & b) | (a & c) | (b & c);
    o[i++] = a ^ b ^ c;
    for (int n = 0; n < 2; n++) {
        unsigned s = n ? 0x3715u : c & 0x7777u, r = 0;
        for (int k = 0; k < 4; k++)
            r |= (unsigned)(pair >> 8 * (s >> 4 * k & 7) & 0xff) << 8 * k;
        o[i++] = r;
    }
    o[i++] = (unsigned)(pair << (c & 31) >> 32);
    o[i++] = (unsigned)(pair >> (c & 31));
    o[i++] = (unsigned)(pair >> ((c & 63) > 32 ? 32 : c & 63));
    o[i++] = (c & 63) > 31 ? 0 : a << (c & 31);
    o[i++] = (c & 63) > 31 ? 0 : a >> (c & 31);
    o[i++] = (unsigned)__builtin_popcount(a);
    o[i++] = a ? (unsigned)__builtin_clz(a) : 32;
    unsigned rev = 0;
    for (int k = 0; k < 32; k++)
        rev |= (a >> k & 1) << (31 - k);
    o[i++] = rev;
    o[i++] = (a > b ? a - b : b - a) + c;
    o[i++] = (int)a < (int)b ? a : b;
    o[i++] = a > b ? a : b;
    o[i++] = (int)a < (int)b ? c : 7;
    o[i++] = ~(a ^ b) & c;
    unsigned long long wide = (unsigned long long)a + b;
    o[i++] = (unsigned)wide;
    o[i++] = c + a + (unsigned)(wide >> 32);
    CHECK_EQ(i, OPS);
}

__global__ void wide_and_real(unsigned long long x, float f, double d, unsigned long long *out)
{
    unsigned long long r;
    unsigned low, high, u;
    int s;
    float g;
    double e;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(r) : "r"(0xfffffff0u), "r"(0xffffff01u));
    out[0] = r;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(r) : "r"(-5), "r"(1 << 30), "l"(x));
    out[1] = r;
    asm("mul.hi.u64 %0, %1, %2;" : "=l"(r) : "l"(x), "l"(x));
    out[2] = r;
    asm("mov.b64 {%0, %1}, %2;" : "=r"(low), "=r"(high) : "l"(x));
    out[3] = low;
    out[4] = high;
    asm("mov.b64 %0, {%1, %2};" : "=l"(r) : "r"(high), "r"(low));
    out[5] = r;
    asm("cvt.rni.s32.f32 %0, %1;" : "=r"(s) : "f"(f));
    out[6] = (unsigned long long)(long long)s;
    asm("cvt.rzi.u32.f64 %0, %1;" : "=r"(u) : "d"(d));
    out[7] = u;
    asm("cvt.rn.f32.s32 %0, %1;" : "=f"(g) : "r"(-7));
    out[8] = (unsigned long long)(long long)(g * 2);
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(g) : "f"(f), "f"(4.0f), "f"(0.5f));
    out[9] = (unsigned long long)g;
    asm("add.f64 %0, %1, %2;" : "=d"(e) : "d"(d), "d"(0.75));
    out[10] = (unsigned long long)(e * 4);
    asm("popc.b64 %0, %1;" : "=r"(u) : "l"(x));
    out[11] = u;
    asm("clz.b64 %0, %1;" : "=r"(u) : "l"(x));
    out[12] = u;
    asm("cvt.u64.u32 %0, %1;" : "=l"(r) : "r"(0x80000000u));
    out[13] = r;
    asm("cvt.s64.s32 %0, %1;" : "=l"(r) : "r"(-2));
    out[14] = r;
    int in_out = 5;
    asm("add.s32 %0, %0, %1;" : "+r"(in_out) : "n"(37));
    out[15] = in_out;
    asm("abs.s32 %0, %1;" : "=r"(s) : "r"(-12));
    out[16] = s;
    asm("neg.s32 %0, %1;" : "=r"(s) : "r"(s));
    out[17] = (unsigned long long)(long long)s;
    unsigned short h;
    asm("cvt.u16.u32 %0, %1;" : "=h"(h) : "r"(0x12345));
    out[18] = h;
}

int main(void)
{
    unsigned *in = check_managed<unsigned>(64 * 3), *out = check_managed<unsigned>(64 * OPS);
    uint32_t seed = 2024;
    for (int i = 0; i < 64 * 3; i++)
        in[i] = check_random(&seed) >> (i % 4 == 3 ? seed % 32 : 0);
    in[0] = 0;
    in[4] = 0;
    compute<<<1, 64>>>(in, out);
    KERNEL_OK();
    for (int t = 0; t < 64; t++) {
        unsigned e[OPS];
        reference(in[t * 3], in[t * 3 + 1], in[t * 3 + 2], e);
        for (int i = 0; i < OPS; i++)
            if (out[t * OPS + i] != e[i] && check_note_failure())
                printf("FAIL: operation %d of %x, %x, %x: expected %x, got %x\n", i, in[t * 3],
                       in[t * 3 + 1], in[t * 3 + 2], e[i], out[t * OPS + i]);
    }
    unsigned long long *wide = check_managed<unsigned long long>(19), x = 0x123456789abcdef0ull;
    wide_and_real<<<1, 1>>>(x, 2.5f, 3000000000.75, wide);
    KERNEL_OK();
    const unsigned long long e[19] = {0xfffffff0ull * 0xffffff01ull,
                                      x - (5ull << 30),
                                      (unsigned long long)((unsigned __int128)x * x >> 64),
                                      0x9abcdef0u,
                                      0x12345678u,
                                      0x9abcdef012345678ull,
                                      2,
                                      3000000000u,
                                      (unsigned long long)-14LL,
                                      10,
                                      12000000006ull,
                                      (unsigned long long)__builtin_popcountll(x),
                                      3,
                                      0x80000000ull,
                                      (unsigned long long)-2LL,
                                      42,
                                      12,
                                      (unsigned long long)-12LL,
                                      0x2345};
    for (int i = 0; i < 19; i++)
        CHECK_EQ(wide[i], e[i]);
    return check_done();
}
