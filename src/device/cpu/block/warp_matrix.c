/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Matrix operations of a warp (base/matrix_abi.h): products of tiles, transposition, addresses of
 * rows.
 *
 * PTX leaves open in which order the terms of a product are added, and how the sum is rounded on
 * the way. Here products of 16-bit floats, TF32 and 8-bit floats are exact, the terms are added to
 * C in the order of K in double precision, and the sum is rounded once, to nearest even. Doubles
 * are chains of fused multiply-adds, as PTX requires. Integers are exact, and wrap or saturate at
 * the end.
 */
#include <math.h>
#include <string.h>

#include "base/log.h"
#include "base/matrix_abi.h"
#include "device/cpu/cpu.h"

enum { ROWS_MAX = 32, COLUMNS_MAX = 32, DEPTH_MAX = 64, DEPTH_WORDS_MAX = 8 };

#define EACH_LANE(lane, lanes)                                                                     \
    for (uint32_t wpi_left = (lanes), lane;                                                        \
         wpi_left != 0 && (lane = (uint32_t)__builtin_ctz(wpi_left), true);                        \
         wpi_left &= wpi_left - 1)

static uint32_t *words_of(const wp_cpu_request *request) {
    return (uint32_t *)(uintptr_t)request->a;
}

/* ---- numbers ---- */

static double single(uint32_t bits) {
    float value;
    memcpy(&value, &bits, sizeof value);
    return (double)value;
}

/* The bits of a half, moved to their places in a single, and scaled: subnormals need no case. */
static double half(uint32_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16, rest = (bits & 0x7fffu) << 13;
    if (rest >= 0x0f800000u) return single(sign | 0x7f800000u | (rest & 0x7fffffu));
    return single(sign | rest) * 0x1p112;
}

static double e4m3(uint32_t bits) {
    if ((bits & 0x7fu) == 0x7fu) return (double)NAN;
    return single((bits & 0x80u) << 24 | (bits & 0x7fu) << 20) * 0x1p120;
}

static uint32_t half_bits(double value) {
    if (isnan(value)) return 0x7fff;
    const uint32_t sign = signbit(value) ? 0x8000u : 0;
    const double size = fabs(value);
    if (size == 0.0) return sign;
    if (size >= 65520.0) return sign | 0x7c00u;
    int exponent = 0;
    (void)frexp(size, &exponent); /* size < 2^exponent */
    const int unit = exponent - 11 > -24 ? exponent - 11 : -24;
    const uint32_t steps = (uint32_t)rint(ldexp(size, -unit)); /* at most 2^11; ties to even */
    return sign | (((uint32_t)(unit + 24) << 10) + steps);
}

static uint32_t single_bits(double value) {
    if (isnan(value)) return 0x7fffffffu;
    const float rounded = (float)value;
    uint32_t bits;
    memcpy(&bits, &rounded, sizeof bits);
    return bits;
}

static double float_of(uint32_t type, uint32_t bits) {
    switch (type) {
    case WP_MATRIX_F16: return half(bits);
    case WP_MATRIX_BF16: return single(bits << 16);
    case WP_MATRIX_TF32: return single(bits & 0xffffe000u);
    case WP_MATRIX_E4M3: return e4m3(bits);
    case WP_MATRIX_E5M2: return half(bits << 8);
    default: return single(bits);
    }
}

static int32_t integer_of(uint32_t type, uint32_t bits) {
    switch (type) {
    case WP_MATRIX_S8: return (int8_t)bits;
    case WP_MATRIX_S4: return (int32_t)(bits ^ 8u) - 8;
    default: return (int32_t)bits;
    }
}

static bool is_integer(uint32_t type) {
    return (type >= WP_MATRIX_S8 && type <= WP_MATRIX_B1) || type == WP_MATRIX_S32;
}

/* ---- operands and results ---- */

/* A row of A, or a column of B: numbers in the order of K. Of 1-bit elements, words of them. */
typedef union line {
    double floats[DEPTH_MAX];
    int32_t integers[DEPTH_MAX];
    uint32_t bits[DEPTH_WORDS_MAX];
} line;

/* Reads A, or B with its columns as `lines`, from the lanes' words, `first` of which come before.
 * A register holds neighbours in K; lane l has those of line l / 4 of each eight lines. */
static void gather(const wp_cpu_request *requests, uint32_t lanes, uint32_t type, uint32_t count,
                   uint32_t tile, uint32_t depth, uint32_t first, line *lines) {
    const uint32_t bits = wpi_matrix_bits(type), width = bits == 64 ? 2 : 1;
    const uint32_t each = bits < 32 ? 32 / bits : 1, groups = tile / 8;
    const uint32_t registers = groups * depth / (4 * each);
    EACH_LANE(lane, lanes) {
        const uint32_t *at = words_of(&requests[lane]) + first;
        for (uint32_t r = 0; r < count / tile * registers; r++, at += width) {
            const uint32_t in_tile = r % registers, step = in_tile / groups;
            line *to = &lines[r / registers * tile + in_tile % groups * 8 + lane / 4];
            const uint32_t k = (step * 4 + lane % 4) * each;
            if (type == WP_MATRIX_F64) {
                memcpy(&to->floats[k], at, sizeof(double));
            } else if (type == WP_MATRIX_B1) {
                to->bits[step * 4 + lane % 4] = *at;
            } else {
                for (uint32_t i = 0; i < each; i++) {
                    const uint32_t raw = bits == 32 ? *at : *at >> (i * bits) & ((1u << bits) - 1);
                    if (is_integer(type))
                        to->integers[k + i] = integer_of(type, raw);
                    else
                        to->floats[k + i] = float_of(type, raw);
                }
            }
        }
    }
}

/* The place of element `i` of a lane's part of C. */
static void place_of(uint32_t m, uint32_t n, uint32_t lane, uint32_t i, uint32_t *row,
                     uint32_t *column) {
    const uint32_t tile_rows = m < 16 ? m : 16, each = tile_rows / 4;
    const uint32_t tile = i / each, in_tile = i % each, across = n / 8;
    *row = tile / across * tile_rows + in_tile / 2 * 8 + lane / 4;
    *column = tile % across * 8 + lane % 4 * 2 + in_tile % 2;
}

static double accumulator(const uint32_t *words, uint32_t type, uint32_t i) {
    double value;
    switch (type) {
    case WP_MATRIX_F64: memcpy(&value, words + (size_t)2 * i, sizeof value); return value;
    case WP_MATRIX_F16: return half(words[i / 2] >> (i % 2 * 16) & 0xffffu);
    case WP_MATRIX_S32: return (double)(int32_t)words[i];
    default: return single(words[i]);
    }
}

static void put(uint32_t *words, uint32_t type, uint32_t i, double value) {
    switch (type) {
    case WP_MATRIX_F64: memcpy(words + (size_t)2 * i, &value, sizeof value); break;
    case WP_MATRIX_F16: {
        const uint32_t bits = half_bits(value);
        words[i / 2] = i % 2 == 0 ? bits : (words[i / 2] & 0xffffu) | bits << 16;
        break;
    }
    default: words[i] = single_bits(value); break;
    }
}

/* ---- products ---- */

/* To nearest even, as one instruction of doubles: sum + a * b, rounded once. */
static double fused_sum(const line *a, const line *b, uint32_t depth, double sum) {
    for (uint32_t k = 0; k < depth; k++)
        sum = fma(a->floats[k], b->floats[k], sum);
    return sum;
}

static double float_sum(const line *a, const line *b, uint32_t depth, double sum) {
    for (uint32_t k = 0; k < depth; k++)
        sum += a->floats[k] * b->floats[k]; /* the product is exact */
    return sum;
}

static int64_t integer_sum(const line *a, const line *b, const wp_matrix_shape *s) {
    int64_t sum = 0;
    if (s->a == WP_MATRIX_B1) {
        for (uint32_t w = 0; w < s->k / 32; w++)
            sum += __builtin_popcount((s->flags & WP_MATRIX_AND) != 0 ? a->bits[w] & b->bits[w]
                                                                      : a->bits[w] ^ b->bits[w]);
        return sum;
    }
    for (uint32_t k = 0; k < s->k; k++)
        sum += (int64_t)a->integers[k] * b->integers[k];
    return sum;
}

static uint32_t integer_bits(int64_t sum, bool saturates) {
    if (saturates && sum > INT32_MAX) sum = INT32_MAX;
    if (saturates && sum < INT32_MIN) sum = INT32_MIN;
    return (uint32_t)sum;
}

static void product(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes) {
    line a[ROWS_MAX], b[COLUMNS_MAX];
    memset(a, 0, s->m * sizeof *a);
    memset(b, 0, s->n * sizeof *b);
    gather(requests, lanes, s->a, s->m, s->m < 16 ? s->m : 16, s->k, 0, a);
    gather(requests, lanes, s->b, s->n, 8, s->k, s->a_words, b);
    const uint32_t c_first = s->a_words + s->b_words;
    const uint32_t d_first = c_first + wpi_matrix_words(s->c, s->m, s->n);
    EACH_LANE(lane, lanes) {
        const uint32_t *c = words_of(&requests[lane]) + c_first;
        uint32_t *d = words_of(&requests[lane]) + d_first;
        for (uint32_t i = 0; i < s->m * s->n / WP_WARP_LANES; i++) {
            uint32_t row, column;
            place_of(s->m, s->n, lane, i, &row, &column);
            const line *x = &a[row], *y = &b[column];
            if (s->d == WP_MATRIX_S32)
                d[i] = integer_bits((int32_t)c[i] + integer_sum(x, y, s),
                                    (s->flags & WP_MATRIX_SATURATE) != 0);
            else if (s->a == WP_MATRIX_F64)
                put(d, s->d, i, fused_sum(x, y, s->k, accumulator(c, s->c, i)));
            else
                put(d, s->d, i, float_sum(x, y, s->k, accumulator(c, s->c, i)));
        }
    }
}

/* ---- mma.m8n8k4 of halves: lanes 4q to 4q + 3 and 16 + 4q to 19 + 4q multiply 8 by 4 by 8 ---- */

/* The place of element `i` of C in a lane, of the eight lanes' own matrix. */
static void quarter_place(uint32_t type, uint32_t lane, uint32_t i, uint32_t *row,
                          uint32_t *column) {
    const uint32_t upper = lane / 16 * 4;
    if (type == WP_MATRIX_F16) {
        *row = lane % 4 + upper;
        *column = i;
    } else {
        *row = (lane & 1) + (i & 2) + upper;
        *column = (i & 4) + (lane & 2) + (i & 1);
    }
}

static void quarters(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes) {
    double a[4][8][4] = {0}, b[4][4][8] = {0};
    EACH_LANE(lane, lanes) {
        const uint32_t *words = words_of(&requests[lane]);
        const uint32_t q = lane % 16 / 4, here = lane % 4, upper = lane / 16 * 4;
        for (uint32_t i = 0; i < 4; i++) {
            const double x = half(words[i / 2] >> (i % 2 * 16) & 0xffffu);
            const double y = half(words[2 + i / 2] >> (i % 2 * 16) & 0xffffu);
            if ((s->flags & WP_MATRIX_A_COLUMNS) != 0)
                a[q][i + upper][here] = x;
            else
                a[q][here + upper][i] = x;
            if ((s->flags & WP_MATRIX_B_ROWS) != 0)
                b[q][here][i + upper] = y;
            else
                b[q][i][here + upper] = y;
        }
    }
    const uint32_t c_words = s->c == WP_MATRIX_F16 ? 4 : 8;
    EACH_LANE(lane, lanes) {
        uint32_t *words = words_of(&requests[lane]);
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t row, column;
            quarter_place(s->c, lane, i, &row, &column);
            double c = accumulator(words + 4, s->c, i);
            if (s->c != s->d) { /* C and D of different types lie in different lanes */
                quarter_place(s->d, lane, i, &row, &column);
                for (uint32_t other = lane % 16 / 4 * 4, n = 0; n < 8; n++) {
                    const uint32_t from = other + n % 4 + n / 4 * 16;
                    for (uint32_t j = 0; j < 8 && (lanes >> from & 1u) != 0; j++) {
                        uint32_t at_row, at_column;
                        quarter_place(s->c, from, j, &at_row, &at_column);
                        if (at_row == row && at_column == column)
                            c = accumulator(words_of(&requests[from]) + 4, s->c, j);
                    }
                }
            }
            for (uint32_t k = 0; k < 4; k++)
                c += a[lane % 16 / 4][row][k] * b[lane % 16 / 4][k][column];
            put(words + 4 + c_words, s->d, i, c);
        }
    }
}

/* ---- wgmma: a warp's 16 rows of a product by four warps, with operands in shared memory ---- */

enum { GROUP_ROWS = 16, GROUP_COLUMNS = 8, GROUP_DEPTH_MAX = 32, DESCRIPTOR_BITS = 18 };

/* A matrix in shared memory, as a descriptor says: rows of a swizzle's width, in groups of eight.
 */
typedef struct stored_matrix {
    const char *shared;
    uint32_t shared_bytes;
    uint32_t start;           /* low bits of the address */
    uint32_t leading, stride; /* bytes */
    uint32_t swizzle;         /* 0 to 3: rows of 16, 32, 64, 128 bytes */
    uint32_t base_offset;
    uint32_t element_bytes;
    bool is_across; /* M or N is contiguous, not K */
    bool *is_outside;
} stored_matrix;

static stored_matrix stored(const wpi_block *block, const uint32_t *words, uint32_t type,
                            bool is_across, bool *is_outside) {
    static const uint8_t swizzles[4] = {0, 3, 2, 1};
    const uint64_t d = words[0] | (uint64_t)words[1] << 32;
    return (stored_matrix){.shared = block->pub.shared,
                           .shared_bytes = block->pub.shared_bytes,
                           .start = (uint32_t)(d & 0x3fff) << 4,
                           .leading = (uint32_t)(d >> 16 & 0x3fff) << 4,
                           .stride = (uint32_t)(d >> 32 & 0x3fff) << 4,
                           .swizzle = swizzles[d >> 62],
                           .base_offset = (uint32_t)(d >> 49 & 7),
                           .element_bytes = wpi_matrix_bits(type) / 8,
                           .is_across = is_across,
                           .is_outside = is_outside};
}

/* Element k of a row of A, or of a column of B. */
static uint32_t stored_element(const stored_matrix *m, uint32_t row, uint32_t k) {
    const uint32_t pitch = 16u << m->swizzle, bytes = m->element_bytes;
    uint32_t at = m->start;
    if (m->is_across) { /* pieces of 16 bytes along the row's dimension */
        const uint32_t each = 16 / bytes, piece = row / each;
        const uint32_t unit = piece >> m->swizzle, in_unit = piece & ((1u << m->swizzle) - 1);
        at += in_unit * 16 + k % 8 * pitch + row % each * bytes;
        at += m->swizzle == 0 ? unit * m->stride + k / 8 * m->leading
                              : unit * m->leading + k / 8 * m->stride;
    } else {
        const uint32_t in_row = k * bytes;
        at += row / 8 * m->stride + row % 8 * pitch;
        at += m->swizzle == 0 ? in_row / 16 * m->leading + in_row % 16 : in_row;
    }
    at ^= (((at >> 7) - m->base_offset) & ((1u << m->swizzle) - 1)) << 4;
    const uint32_t mask = (1u << DESCRIPTOR_BITS) - 1;
    const uint32_t offset = (at - (uint32_t)(uintptr_t)m->shared) & mask;
    uint32_t value = 0;
    if (offset > m->shared_bytes || m->shared_bytes - offset < bytes)
        *m->is_outside = true;
    else
        memcpy(&value, m->shared + offset, bytes);
    return value;
}

static uint32_t group_depth(const wp_matrix_shape *s) {
    return s->k <= GROUP_DEPTH_MAX ? s->k : GROUP_DEPTH_MAX;
}

/* As a number of the type, which a double holds exactly. */
static double number_of(uint32_t type, uint32_t bits, bool is_minus) {
    const double value = is_integer(type) ? (double)integer_of(type, bits) : float_of(type, bits);
    return is_minus ? -value : value;
}

static void group_rows(const wp_matrix_shape *s, const wpi_block *block, uint32_t w,
                       const wp_cpu_request *requests, uint32_t lanes, bool *is_outside,
                       double (*a)[GROUP_DEPTH_MAX]) {
    const bool is_minus = (s->count & WP_MATRIX_GROUP_MINUS_A) != 0;
    if ((s->count & WP_MATRIX_GROUP_SHARED_A) != 0) {
        const stored_matrix m = stored(block, words_of(&requests[__builtin_ctz(lanes)]), s->a,
                                       (s->flags & WP_MATRIX_A_COLUMNS) != 0, is_outside);
        for (uint32_t row = 0; row < GROUP_ROWS; row++)
            for (uint32_t k = 0; k < group_depth(s); k++)
                a[row][k] =
                    number_of(s->a, stored_element(&m, w % 4 * GROUP_ROWS + row, k), is_minus);
        return;
    }
    line lines[GROUP_ROWS];
    memset(lines, 0, sizeof lines);
    gather(requests, lanes, s->a, GROUP_ROWS, GROUP_ROWS, group_depth(s), 0, lines);
    for (uint32_t row = 0; row < GROUP_ROWS; row++)
        for (uint32_t k = 0; k < group_depth(s); k++) {
            const double value =
                is_integer(s->a) ? (double)lines[row].integers[k] : lines[row].floats[k];
            a[row][k] = is_minus ? -value : value;
        }
}

/* Eight columns of D. Sums of integers are exact in double precision. */
static void group_tile(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes,
                       uint32_t tile, bool adds, const double (*a)[GROUP_DEPTH_MAX],
                       const double (*b)[GROUP_COLUMNS]) {
    double sums[GROUP_ROWS][GROUP_COLUMNS] = {0};
    const uint32_t first = s->a_words + s->b_words;
    EACH_LANE(lane, lanes) {
        for (uint32_t i = 0; adds && i < 4; i++)
            sums[i / 2 * 8 + lane / 4][lane % 4 * 2 + i % 2] =
                accumulator(words_of(&requests[lane]) + first, s->d, tile * 4 + i);
    }
    for (uint32_t row = 0; row < GROUP_ROWS; row++)
        for (uint32_t k = 0; k < group_depth(s); k++)
            for (uint32_t column = 0; column < GROUP_COLUMNS; column++)
                sums[row][column] += a[row][k] * b[k][column]; /* the product is exact */
    EACH_LANE(lane, lanes) {
        uint32_t *d = words_of(&requests[lane]) + first;
        for (uint32_t i = 0; i < 4; i++) {
            const double sum = sums[i / 2 * 8 + lane / 4][lane % 4 * 2 + i % 2];
            if (s->d == WP_MATRIX_S32)
                d[tile * 4 + i] = integer_bits((int64_t)sum, (s->flags & WP_MATRIX_SATURATE) != 0);
            else
                put(d, s->d, tile * 4 + i, sum);
        }
    }
}

static void group(const wp_matrix_shape *s, const wpi_block *block, uint32_t w,
                  const wp_cpu_request *requests, uint32_t lanes) {
    double a[GROUP_ROWS][GROUP_DEPTH_MAX], b[GROUP_DEPTH_MAX][GROUP_COLUMNS];
    bool is_outside = false;
    group_rows(s, block, w, requests, lanes, &is_outside, a);
    const uint32_t *words = words_of(&requests[__builtin_ctz(lanes)]) + s->a_words;
    const bool adds = words[2] != 0;
    const stored_matrix m =
        stored(block, words, s->b, (s->flags & WP_MATRIX_B_ROWS) != 0, &is_outside);
    for (uint32_t tile = 0; tile < s->n; tile++) {
        for (uint32_t k = 0; k < group_depth(s); k++)
            for (uint32_t column = 0; column < GROUP_COLUMNS; column++)
                b[k][column] = number_of(s->b, stored_element(&m, tile * GROUP_COLUMNS + column, k),
                                         (s->count & WP_MATRIX_GROUP_MINUS_B) != 0);
        group_tile(s, requests, lanes, tile, adds, (const double(*)[GROUP_DEPTH_MAX])a,
                   (const double(*)[GROUP_COLUMNS])b);
    }
    if (is_outside)
        wpi_log(WP_LOG_ERROR, "cpu",
                "wgmma: a matrix descriptor leads outside of the block's %u bytes of shared memory",
                block->pub.shared_bytes);
    EACH_LANE(lane, lanes) words_of(&requests[lane])[s->a_words + 2] = is_outside;
}

/* ---- moves ---- */

/* Word w of lane l has elements 2 (l % 4) and the next of row l / 4 of matrix w. */
static void transpose(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes) {
    for (uint32_t w = 0; w < s->count; w++) {
        uint16_t matrix[8][8] = {0};
        EACH_LANE(lane, lanes) {
            const uint32_t word = words_of(&requests[lane])[w];
            matrix[lane / 4][lane % 4 * 2] = (uint16_t)word;
            matrix[lane / 4][lane % 4 * 2 + 1] = (uint16_t)(word >> 16);
        }
        EACH_LANE(lane, lanes) {
            const uint32_t row = lane % 4 * 2, column = lane / 4;
            words_of(&requests[lane])[s->count + w] =
                matrix[row][column] | (uint32_t)matrix[row + 1][column] << 16;
        }
    }
}

/* Lane 8 w + r has the address of row r of matrix w. */
static void rows(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes) {
    EACH_LANE(lane, lanes) {
        for (uint32_t w = 0; w < s->count; w++) {
            const uint32_t from = w * 8 + lane / 4;
            const uint32_t *address = words_of(&requests[(lanes >> from & 1u) != 0 ? from : lane]);
            memcpy(words_of(&requests[lane]) + 2 + (size_t)2 * w, address, 8);
        }
    }
}

void wpi_warp_matrix(const wpi_block *block, uint32_t w, wp_cpu_request *requests, uint32_t lanes) {
    const wp_matrix_shape shape = wpi_matrix_unpack(requests[__builtin_ctz(lanes)].b);
    switch (shape.op) {
    case WP_MATRIX_PRODUCT: product(&shape, requests, lanes); break;
    case WP_MATRIX_QUARTERS: quarters(&shape, requests, lanes); break;
    case WP_MATRIX_GROUP: group(&shape, block, w, requests, lanes); break;
    case WP_MATRIX_TRANSPOSE: transpose(&shape, requests, lanes); break;
    default: rows(&shape, requests, lanes); break;
    }
}
