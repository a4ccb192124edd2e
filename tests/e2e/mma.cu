/* SPDX-License-Identifier: Apache-2.0 */
// FLAGS: -arch=sm_90
// ENV: FAKE_CUDA_SM=90
// DEVICES: cpu cuda sim:v100 (the usual one has no tensor cores)
/* mma: every shape and type against a product in plain C. The host places elements as the figures
 * of the PTX manual say; small integers must come back exactly, random halves within a bound. */
#include "check.h"

/* Each lane's words: A, then B, then C; results likewise. */
#define R2(x, i) "r"((x)[i]), "r"((x)[i + 1])
#define R4(x, i) R2(x, i), R2(x, i + 2)
#define W2 "=r"(d[0]), "=r"(d[1])
#define W4 W2, "=r"(d[2]), "=r"(d[3])

#define KERNEL(name, text, words_in, words_out, outputs, ...)                                      \
    __global__ void name(const unsigned *in, unsigned *out) {                                      \
        const unsigned *x = in + threadIdx.x * words_in;                                           \
        unsigned d[words_out];                                                                     \
        asm volatile(text : outputs : __VA_ARGS__);                                                \
        for (int i = 0; i < words_out; i++)                                                        \
            out[threadIdx.x * words_out + i] = d[i];                                               \
    }
#define D4A4B2C4 " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
#define D4A2B1C4 " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%7,%8,%9,%10};"
#define D2A1B1C2 " {%0,%1}, {%2}, {%3}, {%4,%5};"
#define D2A4B2C2 " {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%8,%9};"
#define D2A2B1C2 " {%0,%1}, {%2,%3}, {%4}, {%5,%6};"
#define WIDE(name, text) KERNEL(name, text D4A4B2C4, 10, 4, W4, R4(x, 0), R2(x, 4), R4(x, 6))
#define NARROW(name, text) KERNEL(name, text D4A2B1C4, 7, 4, W4, R2(x, 0), "r"(x[2]), R4(x, 3))
#define SMALL(name, text) KERNEL(name, text D2A1B1C2, 4, 2, W2, R2(x, 0), R2(x, 2))

WIDE(f16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
NARROW(f16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32")
KERNEL(f16_k16_half, "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16" D2A4B2C2, 8, 2, W2,
       R4(x, 0), R2(x, 4), R2(x, 6))
KERNEL(f16_k8_half, "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16" D2A2B1C2, 5, 2, W2, R2(x, 0),
       "r"(x[2]), R2(x, 3))
WIDE(bf16_k16, "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32")
NARROW(bf16_k8, "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32")
WIDE(tf32_k8, "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32")
NARROW(tf32_k4, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32")
WIDE(e4m3_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32")
WIDE(e5m2_k32, "mma.sync.aligned.m16n8k32.row.col.f32.e5m2.e4m3.f32")
WIDE(s8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32")
WIDE(u8_k32, "mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32")
NARROW(s8_k16, "mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32")
SMALL(s8_m8, "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.u8.s32")
WIDE(s4_k64, "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32")
NARROW(s4_k32, "mma.sync.aligned.m16n8k32.row.col.s32.s4.u4.s32")
SMALL(u4_m8, "mma.sync.aligned.m8n8k32.row.col.s32.u4.u4.s32")
WIDE(xor_k256, "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
NARROW(and_k128, "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc")
SMALL(xor_m8, "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc")

__global__ void f64_m8(const double *in, double *out) {
    const double *x = in + threadIdx.x * 4;
    double d[2];
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%4,%5};"
                 : "=d"(d[0]), "=d"(d[1])
                 : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]));
    out[threadIdx.x * 2] = d[0];
    out[threadIdx.x * 2 + 1] = d[1];
}

__global__ void f64_k8(const double *in, double *out) {
    const double *x = in + threadIdx.x * 10;
    double *d = out + threadIdx.x * 4;
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64 "
                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%10,%11,%12,%13};"
                 : "=d"(d[0]), "=d"(d[1]), "=d"(d[2]), "=d"(d[3])
                 : "d"(x[0]), "d"(x[1]), "d"(x[2]), "d"(x[3]), "d"(x[4]), "d"(x[5]), "d"(x[6]),
                   "d"(x[7]), "d"(x[8]), "d"(x[9]));
}

/* m8n8k4: C and D in eight registers of floats, or in four pairs of halves. */
#define QUARTERS(name, layouts)                                                                    \
    __global__ void name(const unsigned *in, unsigned *out) {                                      \
        const unsigned *x = in + threadIdx.x * 12;                                                 \
        unsigned d[8];                                                                             \
        asm volatile("mma.sync.aligned.m8n8k4." layouts ".f32.f16.f16.f32 "                        \
                     "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9}, {%10,%11}, "                             \
                     "{%12,%13,%14,%15,%16,%17,%18,%19};"                                          \
                     : W4, "=r"(d[4]), "=r"(d[5]), "=r"(d[6]), "=r"(d[7])                          \
                     : R4(x, 0), R4(x, 4), R4(x, 8));                                              \
        for (int i = 0; i < 8; i++)                                                                \
            out[threadIdx.x * 8 + i] = d[i];                                                       \
    }
QUARTERS(quarters_rr, "row.row")
QUARTERS(quarters_rc, "row.col")
QUARTERS(quarters_cr, "col.row")
QUARTERS(quarters_cc, "col.col")

__global__ void quarters_half(const unsigned *in, unsigned *out) {
    const unsigned *x = in + threadIdx.x * 8;
    unsigned *d = out + threadIdx.x * 4;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16 "
                 "{%0,%1,%2,%3}, {%4,%5}, {%6,%7}, {%8,%9,%10,%11};"
                 : W4
                 : R4(x, 0), R4(x, 4));
}

/* ---- the host: numbers as bits ---- */

typedef enum { F16, BF16, TF32, F32, E4M3, E5M2, INT, BIT } Format;

/* A number that the format has, as its bits. */
static unsigned bits_of(Format format, int bits, double value) {
    static const int mantissas[] = {10, 7, 23, 23, 3, 2}, biases[] = {15, 127, 127, 127, 7, 15};
    if (format >= INT) return (unsigned)(int)value & (bits == 32 ? ~0u : (1u << bits) - 1);
    if (value == 0) return 0;
    int exponent;
    double fraction = frexp(fabs(value), &exponent); /* 0.5 <= fraction < 1 */
    unsigned mantissa = (unsigned)ldexp(fraction - 0.5, mantissas[format] + 1);
    unsigned biased = (unsigned)(exponent - 1 + biases[format]);
    return (value < 0 ? 1u << (bits - 1) : 0) | biased << mantissas[format] | mantissa;
}

static double number_of(Format format, unsigned bits) {
    if (format == INT) return (int)bits;
    if (format == F32) {
        float value;
        memcpy(&value, &bits, 4);
        return value;
    }
    double size = (bits & 0x7c00) ? ldexp((bits & 0x3ff) + 1024, (int)(bits >> 10 & 31) - 25)
                                  : ldexp(bits & 0x3ff, -24);
    return bits & 0x8000 ? -size : size;
}

static unsigned seed = 12345;
static int below(int limit) {
    seed = seed * 1664525u + 1013904223u;
    return (int)((seed >> 8) % (unsigned)limit);
}

typedef void (*Kernel)(const unsigned *, unsigned *);
typedef struct {
    const char *name;
    Kernel kernel;
    int m, k, bits; /* n is 8 */
    Format a, b, c;
    int a_from, a_to, b_from, b_to;
} Case;

static void put(unsigned *words, int bits, int element, unsigned value) {
    int each = bits < 32 ? 32 / bits : 1;
    words[element / each] |= value << (element % each * bits % 32);
}

static void try_case(const Case *t) {
    static double a[16][256], b[256][8], c[16][8];
    unsigned *in = check_managed<unsigned>(32 * 10), *out = check_managed<unsigned>(32 * 4);
    int a_words = t->m * t->k * t->bits / 1024, b_words = 8 * t->k * t->bits / 1024;
    int c_bits = t->c == F16 ? 16 : 32, c_words = t->m * 8 * c_bits / 1024;
    int words = a_words + b_words + c_words, each = 32 / t->bits;
    for (int i = 0; i < t->m; i++)
        for (int k = 0; k < t->k; k++)
            a[i][k] = t->a_from + below(t->a_to - t->a_from + 1);
    for (int k = 0; k < t->k; k++)
        for (int j = 0; j < 8; j++)
            b[k][j] = t->b_from + below(t->b_to - t->b_from + 1);
    for (int i = 0; i < t->m; i++)
        for (int j = 0; j < 8; j++)
            c[i][j] = below(41) - 20;
    memset(in, 0, 32 * 10 * sizeof *in);
    for (int lane = 0; lane < 32; lane++) {
        int group = lane / 4, in_group = lane % 4;
        unsigned *x = in + lane * words;
        for (int e = 0; e < a_words * each; e++) { /* registers in turn: upper rows, lower rows */
            int r = e / each;
            int row = t->m == 8 || r % 2 == 0 ? group : group + 8;
            int column = in_group * each + e % each + (t->m == 8 ? r : r / 2) * 4 * each;
            put(x, t->bits, e, bits_of(t->a, t->bits, a[row][column]));
        }
        for (int e = 0; e < b_words * each; e++) {
            int row = in_group * each + e % each + e / each * 4 * each;
            put(x + a_words, t->bits, e, bits_of(t->b, t->bits, b[row][group]));
        }
        for (int e = 0; e < t->m / 4; e++)
            put(x + a_words + b_words, c_bits, e,
                bits_of(t->c, c_bits, c[e < 2 ? group : group + 8][in_group * 2 + e % 2]));
    }
    t->kernel<<<1, 32>>>(in, out);
    KERNEL_OK();
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < t->m / 4; e++) {
            int row = e < 2 ? lane / 4 : lane / 4 + 8, column = lane % 4 * 2 + e % 2;
            double sum = c[row][column];
            for (int k = 0; k < t->k; k++) {
                int x = (int)a[row][k], y = (int)b[k][column];
                sum += t->a != BIT ? x * y : strncmp(t->name, "and", 3) == 0 ? (x & y) : (x ^ y);
            }
            const unsigned *d = out + lane * c_words;
            unsigned got = t->c == F16 ? d[e / 2] >> (e % 2 * 16) & 0xffff : d[e];
            if (number_of(t->c, got) != sum) printf("%s, lane %d, element %d\n", t->name, lane, e);
            CHECK_EQ(number_of(t->c, got), sum);
        }
    CUDA_OK(cudaFree(in));
    CUDA_OK(cudaFree(out));
}

static const Case cases[] = {
    {"f16_k16", f16_k16, 16, 16, 16, F16, F16, F32, -9, 9, -9, 9},
    {"f16_k8", f16_k8, 16, 8, 16, F16, F16, F32, -9, 9, -9, 9},
    {"f16_k16_half", f16_k16_half, 16, 16, 16, F16, F16, F16, -9, 9, -9, 9},
    {"f16_k8_half", f16_k8_half, 16, 8, 16, F16, F16, F16, -9, 9, -9, 9},
    {"bf16_k16", bf16_k16, 16, 16, 16, BF16, BF16, F32, -99, 99, -99, 99},
    {"bf16_k8", bf16_k8, 16, 8, 16, BF16, BF16, F32, -99, 99, -99, 99},
    {"tf32_k8", tf32_k8, 16, 8, 32, TF32, TF32, F32, -999, 999, -999, 999},
    {"tf32_k4", tf32_k4, 16, 4, 32, TF32, TF32, F32, -999, 999, -999, 999},
    {"e4m3_k32", e4m3_k32, 16, 32, 8, E4M3, E4M3, F32, -15, 15, -15, 15},
    {"e5m2_k32", e5m2_k32, 16, 32, 8, E5M2, E4M3, F32, -4, 4, -15, 15},
    {"s8_k32", s8_k32, 16, 32, 8, INT, INT, INT, -128, 127, -128, 127},
    {"u8_k32", u8_k32, 16, 32, 8, INT, INT, INT, 0, 255, -128, 127},
    {"s8_k16", s8_k16, 16, 16, 8, INT, INT, INT, -128, 127, -128, 127},
    {"s8_m8", s8_m8, 8, 16, 8, INT, INT, INT, -128, 127, 0, 255},
    {"s4_k64", s4_k64, 16, 64, 4, INT, INT, INT, -8, 7, -8, 7},
    {"s4_k32", s4_k32, 16, 32, 4, INT, INT, INT, -8, 7, 0, 15},
    {"u4_m8", u4_m8, 8, 32, 4, INT, INT, INT, 0, 15, 0, 15},
    {"xor_k256", xor_k256, 16, 256, 1, BIT, BIT, INT, 0, 1, 0, 1},
    {"and_k128", and_k128, 16, 128, 1, BIT, BIT, INT, 0, 1, 0, 1},
    {"xor_m8", xor_m8, 8, 128, 1, BIT, BIT, INT, 0, 1, 0, 1},
};

/* ---- doubles ---- */

static void try_doubles(int m, int depth, void (*kernel)(const double *, double *)) {
    double a[16][8], b[8][8], c[16][8];
    int a_count = m * depth / 32, b_count = depth / 4, c_count = m / 4;
    int count = a_count + b_count + c_count;
    double *in = check_managed<double>(32 * 10), *out = check_managed<double>(32 * 4);
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 8; k++) {
            a[i][k] = below(1000001) * 1e-6 - 0.5;
            b[i % 8][k] = below(1000001) * 1e-6 - 0.5;
            c[i][k] = below(1000001) * 1e-6 - 0.5;
        }
    for (int lane = 0; lane < 32; lane++) {
        double *x = in + lane * count;
        for (int r = 0; r < a_count; r++)
            *x++ = m == 8 ? a[lane / 4][lane % 4]
                          : a[r % 2 ? lane / 4 + 8 : lane / 4][r / 2 * 4 + lane % 4];
        for (int r = 0; r < b_count; r++)
            *x++ = b[r * 4 + lane % 4][lane / 4];
        for (int r = 0; r < c_count; r++)
            *x++ = c[r / 2 * 8 + lane / 4][lane % 4 * 2 + r % 2];
    }
    kernel<<<1, 32>>>(in, out);
    KERNEL_OK();
    for (int lane = 0; lane < 32; lane++)
        for (int r = 0; r < c_count; r++) {
            int row = r / 2 * 8 + lane / 4, column = lane % 4 * 2 + r % 2;
            double sum = c[row][column];
            for (int k = 0; k < depth; k++)
                sum = fma(a[row][k], b[k][column], sum);
            CHECK_NEAR(out[lane * c_count + r], sum, 8);
        }
}

/* ---- m8n8k4 of halves: four products, each by lanes q to q + 3 and q + 16 to q + 19 ---- */

static void try_quarters(Kernel kernel, bool is_a_row, bool is_b_row, bool is_half) {
    int a[4][8][4], b[4][4][8], c[4][8][8];
    int words = is_half ? 8 : 12;
    unsigned *in = check_managed<unsigned>(32 * 12), *out = check_managed<unsigned>(32 * 8);
    memset(in, 0, 32 * 12 * sizeof *in);
    for (int q = 0; q < 4; q++)
        for (int i = 0; i < 8; i++) {
            for (int k = 0; k < 4; k++) {
                a[q][i][k] = below(19) - 9;
                b[q][k][i] = below(19) - 9;
            }
            for (int j = 0; j < 8; j++)
                c[q][i][j] = below(41) - 20;
        }
    for (int lane = 0; lane < 32; lane++) {
        int q = lane % 16 / 4, low = lane % 4, high = lane < 16 ? 0 : 4;
        unsigned *x = in + lane * words;
        for (int i = 0; i < 4; i++) {
            put(x, 16, i, bits_of(F16, 16, is_a_row ? a[q][low + high][i] : a[q][i + high][low]));
            put(x + 2, 16, i,
                bits_of(F16, 16, is_b_row ? b[q][low][i + high] : b[q][i][low + high]));
        }
        for (int i = 0; i < 8; i++) {
            int row = is_half ? low + high : (lane & 1) + (i & 2) + high;
            int column = is_half ? i : (i & 4) + (lane & 2) + (i & 1);
            put(x + 4, is_half ? 16 : 32, i,
                bits_of(is_half ? F16 : F32, is_half ? 16 : 32, c[q][row][column]));
        }
    }
    kernel<<<1, 32>>>(in, out);
    KERNEL_OK();
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 8; i++) {
            int q = lane % 16 / 4, low = lane % 4, high = lane < 16 ? 0 : 4;
            int row = is_half ? low + high : (lane & 1) + (i & 2) + high;
            int column = is_half ? i : (i & 4) + (lane & 2) + (i & 1);
            int sum = c[q][row][column];
            for (int k = 0; k < 4; k++)
                sum += a[q][row][k] * b[q][k][column];
            unsigned got =
                is_half ? out[lane * 4 + i / 2] >> (i % 2 * 16) & 0xffff : out[lane * 8 + i];
            CHECK_EQ(number_of(is_half ? F16 : F32, got), sum);
        }
}

/* ---- random halves: PTX leaves rounding open; within 2^-21 of the sum of sizes ---- */

static void try_random(void) {
    double a[16][16], b[16][8], c[16][8];
    unsigned *in = check_managed<unsigned>(320), *out = check_managed<unsigned>(128);
    memset(in, 0, 320 * sizeof *in);
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 16; k++) {
            a[i][k] = (below(4095) - 2047) * 0x1p-11;
            if (k < 8) b[i][k] = (below(4095) - 2047) * 0x1p-9;
            if (k < 8) c[i][k] = (float)((below(2000001) - 1000000) * 1e-6);
        }
    for (int lane = 0; lane < 32; lane++) {
        unsigned *x = in + lane * 10;
        for (int e = 0; e < 8; e++)
            put(x, 16, e,
                bits_of(F16, 16, a[lane / 4 + e / 2 % 2 * 8][lane % 4 * 2 + e % 2 + e / 4 * 8]));
        for (int e = 0; e < 4; e++)
            put(x + 4, 16, e, bits_of(F16, 16, b[lane % 4 * 2 + e % 2 + e / 2 * 8][lane / 4]));
        for (int e = 0; e < 4; e++)
            put(x + 6, 32, e, bits_of(F32, 32, c[lane / 4 + e / 2 * 8][lane % 4 * 2 + e % 2]));
    }
    f16_k16<<<1, 32>>>(in, out);
    KERNEL_OK();
    for (int lane = 0; lane < 32; lane++)
        for (int e = 0; e < 4; e++) {
            int row = lane / 4 + e / 2 * 8, column = lane % 4 * 2 + e % 2;
            double sum = c[row][column], size = fabs(sum);
            for (int k = 0; k < 16; k++) {
                sum += a[row][k] * b[k][column];
                size += fabs(a[row][k] * b[k][column]);
            }
            CHECK(fabs(number_of(F32, out[lane * 4 + e]) - sum) <= size * 0x1p-21);
        }
}

/* ---- s32: a sum that does not fit wraps, or saturates ---- */

static void try_overflow(void) {
    unsigned *in = check_managed<unsigned>(320), *out = check_managed<unsigned>(128);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++)
            in[lane * 4 + i] = i < 2 ? 0x01010101 : 0x7fffffff;
    s8_m8<<<1, 32>>>(in, out);
    KERNEL_OK();
    CHECK_EQ(out[5], 0x7fffffffu);
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 10; i++)
            in[lane * 10 + i] = i < 6 ? 0x01010101 : 0x7fffffff;
    s8_k32<<<1, 32>>>(in, out);
    KERNEL_OK();
    CHECK_EQ(out[5], 0x7fffffffu + 32);
}

int main(void) {
    for (const Case &t : cases)
        try_case(&t);
    try_doubles(8, 4, f64_m8);
    try_doubles(16, 8, f64_k8);
    try_quarters(quarters_rr, true, true, false);
    try_quarters(quarters_rc, true, false, false);
    try_quarters(quarters_cr, false, true, false);
    try_quarters(quarters_cc, false, false, false);
    try_quarters(quarters_half, true, false, true);
    try_random();
    try_overflow();
    return check_done();
}
