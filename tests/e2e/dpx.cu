/* SPDX-License-Identifier: Apache-2.0 */
/* The integer functions for dynamic programming, against plain arithmetic on host and device. */
#include "check.h"

#define RESULTS 34

struct results {
    unsigned v[RESULTS];
};

static __host__ __device__ results compute(unsigned a, unsigned b, unsigned c)
{
    results r;
    int n = 0;
    bool p, q;
    const int i = (int)a, j = (int)b, k = (int)c;
    r.v[n++] = __viaddmax_s32(i, j, k);
    r.v[n++] = __viaddmin_s32(i, j, k);
    r.v[n++] = __viaddmax_s32_relu(i, j, k);
    r.v[n++] = __viaddmin_s32_relu(i, j, k);
    r.v[n++] = __vimax3_s32(i, j, k);
    r.v[n++] = __vimin3_s32(i, j, k);
    r.v[n++] = __vimax3_s32_relu(i, j, k);
    r.v[n++] = __vimin3_s32_relu(i, j, k);
    r.v[n++] = __vimax_s32_relu(i, j);
    r.v[n++] = __vimin_s32_relu(i, j);
    r.v[n++] = __vibmax_s32(i, j, &p);
    r.v[n++] = p;
    r.v[n++] = __vibmin_s32(i, j, &p);
    r.v[n++] = p;
    r.v[n++] = __viaddmax_u32(a, b, c);
    r.v[n++] = __viaddmin_u32(a, b, c);
    r.v[n++] = __vimax3_u32(a, b, c);
    r.v[n++] = __vibmin_u32(a, b, &p);
    r.v[n++] = __viaddmax_s16x2(a, b, c);
    r.v[n++] = __viaddmin_s16x2(a, b, c);
    r.v[n++] = __viaddmax_s16x2_relu(a, b, c);
    r.v[n++] = __vimax3_s16x2(a, b, c);
    r.v[n++] = __vimin3_s16x2_relu(a, b, c);
    r.v[n++] = __vimax_s16x2_relu(a, b);
    r.v[n++] = __vibmax_s16x2(a, b, &p, &q);
    r.v[n++] = p;
    r.v[n++] = q;
    r.v[n++] = __viaddmax_u16x2(a, b, c);
    r.v[n++] = __viaddmin_u16x2(a, b, c);
    r.v[n++] = __vimin3_u16x2(a, b, c);
    r.v[n++] = __vibmin_u16x2(a, b, &p, &q);
    r.v[n++] = p;
    r.v[n++] = q;
    r.v[n++] = __vimax3_u16x2(a, b, c);
    return r;
}

static long long most(long long a, long long b) { return a > b ? a : b; }
static long long least(long long a, long long b) { return a < b ? a : b; }

/* For each half: the function of its value, put back. */
#define HALVES(type, expression)                                                                   \
    ({                                                                                             \
        unsigned word = 0;                                                                         \
        for (int shift = 0; shift < 32; shift += 16) {                                             \
            const type x = (type)(a >> shift), y = (type)(b >> shift), z = (type)(c >> shift);     \
            (void)z;                                                                               \
            word |= (unsigned)(unsigned short)(expression) << shift;                               \
        }                                                                                          \
        word;                                                                                      \
    })

static results expect(unsigned a, unsigned b, unsigned c)
{
    const int i = (int)a, j = (int)b, k = (int)c, sum = (int)(a + b);
    const short ah = (short)(a >> 16), bh = (short)(b >> 16), al = (short)a, bl = (short)b;
    const unsigned short uah = a >> 16, ubh = b >> 16, ual = a, ubl = b;
    const results r = {{
        (unsigned)most(sum, k), (unsigned)least(sum, k), (unsigned)most(most(sum, k), 0),
        (unsigned)most(least(sum, k), 0), (unsigned)most(most(i, j), k),
        (unsigned)least(least(i, j), k), (unsigned)most(most(most(i, j), k), 0),
        (unsigned)most(least(least(i, j), k), 0), (unsigned)most(most(i, j), 0),
        (unsigned)most(least(i, j), 0), (unsigned)most(i, j), i >= j, (unsigned)least(i, j), i <= j,
        (unsigned)most((unsigned)sum, c), (unsigned)least((unsigned)sum, c),
        (unsigned)most(most(a, b), c), (unsigned)least(a, b),
        HALVES(short, most((short)(x + y), z)), HALVES(short, least((short)(x + y), z)),
        HALVES(short, most(most((short)(x + y), z), 0)), HALVES(short, most(most(x, y), z)),
        HALVES(short, most(least(least(x, y), z), 0)), HALVES(short, most(most(x, y), 0)),
        HALVES(short, most(x, y)), ah >= bh, al >= bl,
        HALVES(unsigned short, most((unsigned short)(x + y), z)),
        HALVES(unsigned short, least((unsigned short)(x + y), z)),
        HALVES(unsigned short, least(least(x, y), z)), HALVES(unsigned short, least(x, y)),
        uah <= ubh, ual <= ubl, HALVES(unsigned short, most(most(x, y), z)),
    }};
    return r;
}

__global__ void run(const unsigned *in, results *out)
{
    out[threadIdx.x] = compute(in[3 * threadIdx.x], in[3 * threadIdx.x + 1], in[3 * threadIdx.x + 2]);
}

int main(void)
{
    static const unsigned special[] = {0, 1, 0xffffffffu, 0x7fffffffu, 0x80000000u, 0x7fff8000u,
                                       0x80007fffu, 0x00010001u, 0xffff0001u};
    const int count = 512;
    unsigned *in = check_managed<unsigned>(3 * count);
    results *out = check_managed<results>(count);
    uint32_t state = 7;
    for (int i = 0; i < 3 * count; i++) {
        const uint32_t random = check_random(&state);
        in[i] = random % 3 == 0 ? special[random / 3 % 9] : random;
    }
    run<<<1, count>>>(in, out);
    KERNEL_OK();
    for (int i = 0; i < count; i++) {
        const results expected = expect(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
        const results host = compute(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
        for (int n = 0; n < RESULTS; n++) {
            CHECK_EQ(out[i].v[n], expected.v[n]);
            CHECK_EQ(host.v[n], expected.v[n]);
        }
    }
    return check_done();
}
