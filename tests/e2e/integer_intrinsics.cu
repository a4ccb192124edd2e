/* SPDX-License-Identifier: Apache-2.0 */
/* Integer intrinsics against reference code: bit counts, reversal, byte permutation, funnel shifts,
 * high products, averages, absolute differences, packed SIMD in a word, dot products. */
#include "check.h"

#define OPS 44

__global__ void compute(const unsigned *in, unsigned long long *out)
{
    unsigned a = in[threadIdx.x * 3], b = in[threadIdx.x * 3 + 1], c = in[threadIdx.x * 3 + 2];
    unsigned long long w = (unsigned long long)a << 32 | b, x = (unsigned long long)c << 32 | a;
    unsigned long long *o = out + threadIdx.x * OPS;
    int i = 0;
    o[i++] = __popc(a);
    o[i++] = __popcll(w);
    o[i++] = __clz(a);
    o[i++] = __clzll(w >> (c & 63));
    o[i++] = __ffs(a);
    o[i++] = __ffsll(w << (c & 63));
    o[i++] = __brev(a);
    o[i++] = __brevll(w);
    o[i++] = __byte_perm(a, b, c & 0x7777);
    o[i++] = __funnelshift_l(a, b, c);
    o[i++] = __funnelshift_r(a, b, c);
    o[i++] = __funnelshift_lc(a, b, c & 63);
    o[i++] = __funnelshift_rc(a, b, c & 63);
    o[i++] = __umulhi(a, b);
    o[i++] = (unsigned)__mulhi(a, b);
    o[i++] = __umul64hi(w, x);
    o[i++] = (unsigned long long)__mul64hi(w, x);
    o[i++] = __umul24(a, b);
    o[i++] = (unsigned)__mul24(a, b);
    o[i++] = __sad(a, b, c);
    o[i++] = __usad(a, b, c);
    o[i++] = (unsigned)__hadd(a, b);
    o[i++] = (unsigned)__rhadd(a, b);
    o[i++] = __uhadd(a, b);
    o[i++] = __urhadd(a, b);
    o[i++] = (unsigned)abs((int)a);
    o[i++] = (unsigned)min((int)a, (int)b);
    o[i++] = (unsigned)max((int)a, (int)b);
    o[i++] = min(a, b);
    o[i++] = max(a, b);
    o[i++] = (unsigned long long)llabs((long long)w);
    o[i++] = min(w, x);
    o[i++] = (unsigned long long)max((long long)w, (long long)x);
    o[i++] = __vadd4(a, b);
    o[i++] = __vsub2(a, b);
    o[i++] = __vmaxu4(a, b);
    o[i++] = __vmins2(a, b);
    o[i++] = __vabsdiffu4(a, b);
    o[i++] = __vcmpeq4(a & 0x0f0f0f0f, b & 0x0f0f0f0f);
    o[i++] = __vavgu4(a, b);
    o[i++] = (unsigned)__dp4a((int)a, (int)b, (int)c);
    o[i++] = __dp4a(a, b, c);
    o[i++] = (unsigned)__dp2a_lo((int)a, (int)b, (int)c);
    o[i++] = __vsadu4(a, b);
}

static unsigned byte_of(unsigned v, int k) { return v >> 8 * k & 0xff; }

static void reference(unsigned a, unsigned b, unsigned c, unsigned long long *o)
{
    unsigned long long w = (unsigned long long)a << 32 | b, x = (unsigned long long)c << 32 | a;
    unsigned long long ba = (unsigned long long)b << 32 | a, v;
    int i = 0, sa = (int)a, sb = (int)b, dot = (int)c, dot2 = (int)c;
    unsigned r = 0, udot = c, sad4 = 0;
    o[i++] = (unsigned)__builtin_popcount(a);
    o[i++] = (unsigned)__builtin_popcountll(w);
    o[i++] = a ? (unsigned)__builtin_clz(a) : 32;
    v = w >> (c & 63);
    o[i++] = v ? (unsigned)__builtin_clzll(v) : 64;
    o[i++] = (unsigned)__builtin_ffs(sa);
    o[i++] = (unsigned)__builtin_ffsll((long long)(w << (c & 63)));
    for (int k = 0; k < 32; k++)
        r |= (a >> k & 1) << (31 - k);
    o[i++] = r;
    v = 0;
    for (int k = 0; k < 64; k++)
        v |= (w >> k & 1) << (63 - k);
    o[i++] = v;
    r = 0;
    for (int k = 0; k < 4; k++)
        r |= (unsigned)(ba >> 8 * (c >> 4 * k & 7) & 0xff) << 8 * k;
    o[i++] = r;
    o[i++] = (unsigned)(ba << (c & 31) >> 32);
    o[i++] = (unsigned)(ba >> (c & 31));
    unsigned clamped = (c & 63) > 32 ? 32 : c & 63;
    o[i++] = (unsigned)(ba << clamped >> 32);
    o[i++] = (unsigned)(ba >> clamped);
    o[i++] = (unsigned)((unsigned long long)a * b >> 32);
    o[i++] = (unsigned)(((long long)sa * sb) >> 32);
    o[i++] = (unsigned long long)((unsigned __int128)w * x >> 64);
    o[i++] = (unsigned long long)((__int128)(long long)w * (long long)x >> 64);
    o[i++] = (a & 0xffffff) * (b & 0xffffff);
    o[i++] = (unsigned)((int)(a << 8) >> 8) * (unsigned)((int)(b << 8) >> 8);
    o[i++] = (unsigned)(sa > sb ? (unsigned)sa - sb : (unsigned)sb - sa) + c;
    o[i++] = (a > b ? a - b : b - a) + c;
    o[i++] = (unsigned)(((long long)sa + sb) >> 1);
    o[i++] = (unsigned)(((long long)sa + sb + 1) >> 1);
    o[i++] = (unsigned)(((unsigned long long)a + b) >> 1);
    o[i++] = (unsigned)(((unsigned long long)a + b + 1) >> 1);
    o[i++] = sa < 0 ? 0u - a : a;
    o[i++] = (unsigned)(sa < sb ? sa : sb);
    o[i++] = (unsigned)(sa > sb ? sa : sb);
    o[i++] = a < b ? a : b;
    o[i++] = a > b ? a : b;
    o[i++] = (long long)w < 0 ? 0ull - w : w;
    o[i++] = w < x ? w : x;
    o[i++] = (long long)w > (long long)x ? w : x;
    unsigned add4 = 0, sub2 = 0, max4 = 0, min2 = 0, diff4 = 0, eq4 = 0, avg4 = 0;
    for (int k = 0; k < 4; k++) {
        unsigned p = byte_of(a, k), q = byte_of(b, k), d = p > q ? p - q : q - p;
        add4 |= ((p + q) & 0xff) << 8 * k;
        max4 |= (p > q ? p : q) << 8 * k;
        diff4 |= d << 8 * k;
        sad4 += d;
        eq4 |= ((p & 15) == (q & 15) ? 0xffu : 0) << 8 * k;
        avg4 |= ((p + q + 1) / 2) << 8 * k;
        dot += (signed char)p * (signed char)q;
        udot += p * q;
    }
    for (int k = 0; k < 2; k++) {
        short p = (short)(a >> 16 * k), q = (short)(b >> 16 * k);
        sub2 |= (unsigned)(unsigned short)(p - q) << 16 * k;
        min2 |= (unsigned)(unsigned short)(p < q ? p : q) << 16 * k;
        dot2 += p * (signed char)byte_of(b, k);
    }
    o[i++] = add4;
    o[i++] = sub2;
    o[i++] = max4;
    o[i++] = min2;
    o[i++] = diff4;
    o[i++] = eq4;
    o[i++] = avg4;
    o[i++] = (unsigned)dot;
    o[i++] = udot;
    o[i++] = (unsigned)dot2;
    o[i++] = sad4;
    CHECK_EQ(i, OPS);
}

int main(void)
{
    const int threads = 128;
    unsigned *in = check_managed<unsigned>(threads * 3);
    unsigned long long *out = check_managed<unsigned long long>(threads * OPS);
    uint32_t seed = 77;
    for (int i = 0; i < threads * 3; i++) {
        in[i] = check_random(&seed);
        if (i % 5 == 4)
            in[i] >>= seed % 32;
    }
    const unsigned corners[] = {0, 0, 0, ~0u, ~0u, 31, 0x7fffffffu, 0x80000000u, 32, 1, ~0u, 33};
    memcpy(in, corners, sizeof corners);
    compute<<<1, threads>>>(in, out);
    KERNEL_OK();
    for (int t = 0; t < threads; t++) {
        unsigned long long e[OPS];
        reference(in[t * 3], in[t * 3 + 1], in[t * 3 + 2], e);
        for (int i = 0; i < OPS; i++)
            if (out[t * OPS + i] != e[i] && check_note_failure())
                printf("FAIL: operation %d of %x, %x, %x: expected %llx, got %llx\n", i, in[t * 3],
                       in[t * 3 + 1], in[t * 3 + 2], e[i], out[t * OPS + i]);
    }
    return check_done();
}
