/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_89
// DEVICES: cpu sim:h200 (the driver's stand-in does not have these instructions)
/* mma.sp: products with a matrix of which half of the elements are stored, beside sums on the host. Where the words of
 * metadata are was compared with what CUTLASS passes to GPUs, for the deeper shape of each type but E4M3. */
#include <cuda_fp16.h>
#include <string.h>

#include "check.h"

enum { HALF, TF32, BYTES, NIBBLES, EIGHTS }; /* types: of 16, 32, 8, 4 bits, and 8-bit floats */

struct shape {
    int type, bits, depth, selector;
};
#define SHAPES(X)                                                                                                       \
    X(0, HALF, 16, 16, 0, SPARSE_2, "m16n8k16.row.col.f32.f16.f16.f32", "0", "f")                                       \
    X(1, HALF, 16, 16, 3, SPARSE_2, "m16n8k16.row.col.f32.f16.f16.f32", "3", "f")                                       \
    X(2, HALF, 16, 32, 0, SPARSE_4, "m16n8k32.row.col.f32.f16.f16.f32", "0", "f")                                       \
    X(3, HALF, 16, 32, 1, SPARSE_4, "m16n8k32.row.col.f32.f16.f16.f32", "1", "f")                                       \
    X(4, TF32, 32, 8, 2, SPARSE_2, "m16n8k8.row.col.f32.tf32.tf32.f32", "2", "f")                                       \
    X(5, TF32, 32, 16, 1, SPARSE_4, "m16n8k16.row.col.f32.tf32.tf32.f32", "1", "f")                                     \
    X(6, BYTES, 8, 32, 1, SPARSE_2, "m16n8k32.row.col.s32.s8.s8.s32", "1", "r")                                         \
    X(7, BYTES, 8, 64, 0, SPARSE_4, "m16n8k64.row.col.satfinite.s32.s8.s8.s32", "0", "r")                               \
    X(8, NIBBLES, 4, 64, 0, SPARSE_2, "m16n8k64.row.col.s32.s4.s4.s32", "0", "r")                                       \
    X(9, NIBBLES, 4, 128, 0, SPARSE_4, "m16n8k128.row.col.s32.s4.s4.s32", "0", "r")                                     \
    X(10, EIGHTS, 8, 64, 0, SPARSE_4, "m16n8k64.row.col.f32.e4m3.e4m3.f32", "0", "f")
#define AS_SHAPE(n, type, bits, depth, selector, ...) {type, bits, depth, selector},
static const shape shapes[] = {SHAPES(AS_SHAPE)};
enum { SHAPES_COUNT = sizeof shapes / sizeof *shapes };

/* The words of a lane. */
struct fragment {
    unsigned a[4], b[4], c[4], d[4], meta;
};

#define SPARSE_2(name, selector, type)                                                                                  \
    asm("mma.sp.sync.aligned." name " {%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11}, %12, " selector ";"               \
        : "=" type(d[0]), "=" type(d[1]), "=" type(d[2]), "=" type(d[3])                                                \
        : "r"(f.a[0]), "r"(f.a[1]), "r"(f.b[0]), "r"(f.b[1]), type(c[0]), type(c[1]), type(c[2]), type(c[3]), "r"(f.meta))
#define SPARSE_4(name, selector, type)                                                                                  \
    asm("mma.sp.sync.aligned." name " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9,%10,%11}, {%12,%13,%14,%15}, %16, " selector   \
        ";"                                                                                                             \
        : "=" type(d[0]), "=" type(d[1]), "=" type(d[2]), "=" type(d[3])                                                \
        : "r"(f.a[0]), "r"(f.a[1]), "r"(f.a[2]), "r"(f.a[3]), "r"(f.b[0]), "r"(f.b[1]), "r"(f.b[2]), "r"(f.b[3]),       \
          type(c[0]), type(c[1]), type(c[2]), type(c[3]), "r"(f.meta))

template <typename T> union words {
    unsigned bits[4];
    T numbers[4];
};
template <char> struct number_of;
template <> struct number_of<'f'> {
    using type = float;
};
template <> struct number_of<'r'> {
    using type = int;
};

#define AS_CASE(n, type_, bits_, depth, selector_, macro, name, selector, kind)                                         \
    case n: {                                                                                                           \
        words<number_of<kind[0]>::type> in, out;                                                                        \
        for (int i = 0; i < 4; i++)                                                                                     \
            in.bits[i] = f.c[i];                                                                                        \
        auto &c = in.numbers, &d = out.numbers;                                                                         \
        macro(name, selector, kind);                                                                                    \
        for (int i = 0; i < 4; i++)                                                                                     \
            f.d[i] = out.bits[i];                                                                                       \
        break;                                                                                                          \
    }

__global__ void multiply(fragment *fragments, int number)
{
    fragment f = fragments[threadIdx.x];
    switch (number) { SHAPES(AS_CASE) }
    fragments[threadIdx.x] = f;
}

/* A whole number from -3 to 3 in the type. */
static unsigned encode(int type, int value)
{
    static const unsigned char eights[4] = {0, 0x38, 0x40, 0x44};
    float single = (float)value;
    unsigned bits;
    switch (type) {
    case HALF: return __half_as_ushort(__float2half(single));
    case TF32: memcpy(&bits, &single, sizeof bits); return bits;
    case BYTES: return value & 0xff;
    case NIBBLES: return value & 0xf;
    default: return eights[abs(value)] | (value < 0 ? 0x80 : 0);
    }
}

static int random_below(int count)
{
    static unsigned state = 1;
    return (int)((state = state * 1664525u + 1013904223u) >> 16) % count;
}

static int dense_a[16][128], dense_b[128][8], packed[16][64];
static unsigned long long places[16]; /* bits of metadata, a row's */

/* Which two of four, which one of two TF32, or which two pairs of eight of 4 bits. */
static void choose(const shape *s, int row)
{
    const int each = s->type == TF32 ? 1 : s->type == NIBBLES ? 4 : 2; /* stored, of twice as many */
    places[row] = 0;
    for (int k = 0; k < s->depth; k++)
        dense_a[row][k] = 0;
    for (int chunk = 0; chunk < s->depth / (2 * each); chunk++) {
        int first = random_below(3), second = first + 1 + random_below(3 - first);
        if (s->type == TF32) first = random_below(2) * 2, second = first + 1;
        places[row] |= (unsigned long long)(first | second << 2) << chunk * 4;
        for (int i = 0; i < each; i++) {
            const int value = random_below(7) - 3, which = (each == 4 ? i / 2 : i) == 0 ? first : second;
            const int k = each == 4 ? chunk * 8 + which * 2 + i % 2 : each == 2 ? chunk * 4 + which : chunk * 2 + which / 2;
            packed[row][chunk * each + i] = value;
            dense_a[row][k] = value;
        }
    }
}

static unsigned metadata(const shape *s, int lane)
{
    const int row_bits = s->type == TF32 ? 2 * s->depth : s->type == NIBBLES ? s->depth / 2 : s->depth;
    const int row = lane / 4, from = lane % 4 - (row_bits == 64 ? 0 : s->selector * (row_bits / 16));
    if (from < 0 || from >= row_bits / 16) return 0xdeadbeef; /* not looked at */
    if (s->bits >= 16) return (places[row] >> from * 16 & 0xffff) | (places[row + 8] >> from * 16 & 0xffff) << 16;
    return (unsigned)(places[row + from % 2 * 8] >> from / 2 * 32);
}

static void pack(const shape *s, fragment *f, int lane)
{
    const int each = 32 / s->bits;
    memset(f, 0, sizeof *f);
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < each; i++) {
            const int stored = (r / 2 * 4 + lane % 4) * each + i, k = (r * 4 + lane % 4) * each + i;
            if (stored < s->depth / 2)
                f->a[r] |= encode(s->type, packed[lane / 4 + r % 2 * 8][stored]) << i * s->bits % 32;
            if (k < s->depth) f->b[r] |= encode(s->type, dense_b[k][lane / 4]) << i * s->bits % 32;
        }
    f->meta = metadata(s, lane);
}

static bool is_float(const shape *s)
{
    return s->type != BYTES && s->type != NIBBLES;
}

int main(void)
{
    fragment *fragments = check_managed<fragment>(32);
    for (int n = 0; n < SHAPES_COUNT; n++) {
        const shape *s = &shapes[n];
        for (int row = 0; row < 16; row++)
            choose(s, row);
        for (int k = 0; k < s->depth; k++)
            for (int column = 0; column < 8; column++)
                dense_b[k][column] = random_below(7) - 3;
        for (int lane = 0; lane < 32; lane++) {
            pack(s, &fragments[lane], lane);
            for (int i = 0; i < 4; i++) {
                const float single = (float)(lane * 4 + i);
                if (is_float(s))
                    memcpy(&fragments[lane].c[i], &single, sizeof single);
                else
                    fragments[lane].c[i] = lane * 4 + i;
            }
        }
        multiply<<<1, 32>>>(fragments, n);
        KERNEL_OK();
        int wrong = 0;
        for (int lane = 0; lane < 32; lane++)
            for (int i = 0; i < 4; i++) {
                const int row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
                int sum = lane * 4 + i;
                for (int k = 0; k < s->depth; k++)
                    sum += dense_a[row][k] * dense_b[k][column];
                float single;
                memcpy(&single, &fragments[lane].d[i], sizeof single);
                wrong += is_float(s) ? single != (float)sum : (int)fragments[lane].d[i] != sum;
            }
        if (wrong != 0) printf("shape %d: %d of 128 sums\n", n, wrong);
        CHECK_EQ(wrong, 0);
    }
    return check_done();
}
