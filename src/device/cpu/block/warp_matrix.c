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
#include "device/cpu/block/warp_matrix.h"

#include <math.h>
#include <string.h>

#include "device/cpu/block/matrix_numbers.h"

/* ---- operands ---- */

/* `each`: elements of a register. */
static inline void gather(const wp_cpu_request *requests, uint32_t lanes, uint32_t lines,
                          uint32_t steps, uint32_t first, uint32_t *raw, uint32_t line_step,
                          uint32_t k_step, const uint32_t each) {
    const uint32_t bits = 32 / each, mask = each == 1 ? UINT32_MAX : (1u << bits % 32) - 1;
    EACH_LANE(lane, lanes) {
        const uint32_t *at = words_of(&requests[lane]) + first;
        for (uint32_t step = 0; step < steps; step++) {
            uint32_t *out = raw + lane / 4 * line_step + (step * 4 + lane % 4) * each * k_step;
            for (uint32_t line = 0; line < lines; line += 8, at++, out += (size_t)8 * line_step)
                for (uint32_t i = 0; i < each; i++)
                    out[i * k_step] = *at >> (i * bits) & mask;
        }
    }
}

void wpi_tile_gather(const wp_cpu_request *requests, uint32_t lanes, uint32_t type, uint32_t lines,
                     uint32_t depth, uint32_t first, uint32_t *raw, uint32_t line_step,
                     uint32_t k_step) {
    const uint32_t each = 32 / wpi_matrix_bits(type), steps = depth / (4 * each);
    switch (each) {
    case 2: gather(requests, lanes, lines, steps, first, raw, line_step, k_step, 2); break;
    case 4: gather(requests, lanes, lines, steps, first, raw, line_step, k_step, 4); break;
    case 8: gather(requests, lanes, lines, steps, first, raw, line_step, k_step, 8); break;
    default: gather(requests, lanes, lines, steps, first, raw, line_step, k_step, 1); break;
    }
}

/* ---- products ---- */

/* A tile of D, and the rows and columns that it is of. */
typedef struct product_tile {
    uint32_t rows, depth; /* depth: in elements; of 1-bit ones, in words */
    uint32_t a_raw[WPI_TILE_ROWS][WPI_TILE_DEPTH], b_raw[WPI_TILE_DEPTH][WPI_TILE_COLUMNS];
    double a[WPI_TILE_ROWS][WPI_TILE_DEPTH], b[WPI_TILE_DEPTH][WPI_TILE_COLUMNS];
    double sums[WPI_TILE_ROWS][WPI_TILE_COLUMNS];
} product_tile;

static void count_bits(const wp_matrix_shape *s, product_tile *t) {
    for (uint32_t row = 0; row < t->rows; row++)
        for (uint32_t column = 0; column < WPI_TILE_COLUMNS; column++)
            for (uint32_t w = 0; w < t->depth; w++) {
                const uint32_t a = t->a_raw[row][w], b = t->b_raw[w][column];
                t->sums[row][column] +=
                    __builtin_popcount((s->flags & WP_MATRIX_AND) != 0 ? a & b : a ^ b);
            }
}

/* Two words each, which are no numbers of a vector's loop. */
static void read_doubles(const wp_cpu_request *requests, uint32_t lanes, uint32_t a_first,
                         uint32_t b_first, product_tile *t) {
    const uint32_t groups = t->rows / 8;
    memset(t->a, 0, sizeof t->a);
    memset(t->b, 0, sizeof t->b);
    EACH_LANE(lane, lanes) {
        const uint32_t *a = words_of(&requests[lane]) + a_first;
        const uint32_t *b = words_of(&requests[lane]) + b_first;
        for (uint32_t r = 0; r < groups * t->depth / 4; r++)
            memcpy(&t->a[r % groups * 8 + lane / 4][r / groups * 4 + lane % 4], a + 2 * r, 8);
        for (uint32_t r = 0; r < t->depth / 4; r++)
            memcpy(&t->b[r * 4 + lane % 4][lane / 4], b + 2 * r, 8);
    }
}

static void multiply_doubles(product_tile *t) {
    for (uint32_t row = 0; row < t->rows; row++)
        for (uint32_t column = 0; column < WPI_TILE_COLUMNS; column++)
            for (uint32_t k = 0; k < t->depth; k++)
                t->sums[row][column] = fma(t->a[row][k], t->b[k][column], t->sums[row][column]);
}

/* The bits that say where the elements of a row of a sparse A belong, in lanes 4 (row % 8) to 4
 * (row % 8) + 3, or of these in the one or two that the selector names. Of types of 16 bits and
 * more a lane has 16 bits for the upper and, above them, 16 for the lower of the rows; of smaller
 * ones lanes have 32 for the upper and for the lower row in turn. */
static uint64_t metadata(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes,
                         uint32_t row, uint32_t row_bits) {
    const uint32_t at = s->a_words + s->b_words + wpi_matrix_words(s->c, s->m, s->n);
    const bool has_both = wpi_matrix_bits(s->a) >= 16;
    const uint32_t first = row % 8 * 4 + s->count * (row_bits / 16), each = has_both ? 16 : 32;
    uint64_t bits = 0;
    for (uint32_t p = 0; p < row_bits / each; p++) {
        const uint32_t lane = first + (has_both ? p : 2 * p + row / 8);
        if ((lanes >> lane & 1) == 0) continue;
        const uint32_t meta = words_of(&requests[lane])[at];
        bits |= (uint64_t)(has_both ? meta >> row / 8 * 16 & 0xffffu : meta) << p * each;
    }
    return bits;
}

/* Half of the elements of A are stored: two of each four, one of each two TF32, two pairs of each
 * eight of 4 bits. */
static void spread(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes,
                   product_tile *t) {
    const uint32_t bits = wpi_matrix_bits(s->a), stored = s->k / 2;
    const uint32_t row_bits = bits == 32 ? 2 * s->k : bits == 4 ? s->k / 2 : s->k;
    for (uint32_t row = 0; row < t->rows; row++) {
        uint32_t packed[WPI_TILE_DEPTH / 2];
        const uint64_t meta = metadata(s, requests, lanes, row, row_bits);
        memcpy(packed, t->a_raw[row], stored * sizeof *packed);
        memset(t->a_raw[row], 0, s->k * sizeof *packed);
        for (uint32_t i = 0; i < stored; i++) {
            uint32_t k;
            if (bits == 32)
                k = 2 * i + (uint32_t)(meta >> (4 * i + 1) & 1);
            else if (bits == 4)
                k = i / 4 * 8 + (uint32_t)(meta >> i / 2 * 2 & 3) * 2 + i % 2;
            else
                k = i / 2 * 4 + (uint32_t)(meta >> 2 * i & 3);
            t->a_raw[row][k] = packed[i];
        }
    }
}

/* What no lane has is 0. */
static void read_rows(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes,
                      uint32_t first, product_tile *t) {
    const bool is_sparse = s->op == WP_MATRIX_SPARSE;
    if (lanes != UINT32_MAX || t->depth % 8 != 0) memset(t->a_raw, 0, sizeof t->a_raw);
    wpi_tile_gather(requests, lanes, s->a, t->rows, is_sparse ? s->k / 2 : s->k, first, t->a_raw[0],
                    WPI_TILE_DEPTH, 1);
    if (is_sparse) spread(s, requests, lanes, t);
    if (s->a == WP_MATRIX_B1) return;
    for (uint32_t row = 0; row < t->rows; row++)
        wpi_tile_widen(s->a, t->a_raw[row], (t->depth + 7) / 8 * 8, t->a[row]);
}

static void read_columns(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes,
                         uint32_t first, product_tile *t) {
    if (lanes != UINT32_MAX) memset(t->b_raw, 0, sizeof t->b_raw);
    wpi_tile_gather(requests, lanes, s->b, WPI_TILE_COLUMNS, s->k, first, t->b_raw[0], 1,
                    WPI_TILE_COLUMNS);
    if (s->a != WP_MATRIX_B1)
        wpi_tile_widen(s->b, t->b_raw[0], t->depth * WPI_TILE_COLUMNS, t->b[0]);
}

/* Two neighbours in a row of C or D, of the lane's `pair`-th pair: of halves they are in one word.
 */
static void read_pair(const uint32_t *words, uint32_t type, uint32_t pair, uint32_t *raw) {
    if (type == WP_MATRIX_F16) {
        raw[0] = words[pair] & 0xffffu;
        raw[1] = words[pair] >> 16;
    } else {
        memcpy(raw, words + (size_t)2 * pair, 2 * sizeof *raw);
    }
}

static void write_pair(uint32_t *words, uint32_t type, uint32_t pair, const uint32_t *raw) {
    if (type == WP_MATRIX_F16)
        words[pair] = raw[0] | raw[1] << 16;
    else
        memcpy(words + (size_t)2 * pair, raw, 2 * sizeof *raw);
}

/* Moves pairs `first` and, of 16 rows, the next of each lane: rows lane / 4, and that plus 8. */
static void read_sums(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes,
                      uint32_t first, product_tile *t) {
    uint32_t raw[WPI_TILE_ROWS][WPI_TILE_COLUMNS];
    if (lanes != UINT32_MAX) memset(raw, 0, sizeof raw);
    EACH_LANE(lane, lanes) {
        const uint32_t *c = words_of(&requests[lane]) + s->a_words + s->b_words;
        for (uint32_t row = lane / 4, pair = first; row < t->rows; row += 8, pair++) {
            if (s->c == WP_MATRIX_F64)
                memcpy(&t->sums[row][lane % 4 * 2], c + (size_t)4 * pair, 2 * sizeof(double));
            else
                read_pair(c, s->c, pair, &raw[row][lane % 4 * 2]);
        }
    }
    if (s->c != WP_MATRIX_F64) wpi_tile_widen(s->c, raw[0], t->rows * WPI_TILE_COLUMNS, t->sums[0]);
}

static void write_sums(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes,
                       uint32_t first, const product_tile *t) {
    uint32_t raw[WPI_TILE_ROWS][WPI_TILE_COLUMNS];
    const uint32_t d_first =
        s->a_words + s->b_words + wpi_matrix_words(s->c, s->m, s->n) + (s->op == WP_MATRIX_SPARSE);
    if (s->d != WP_MATRIX_F64)
        wpi_tile_narrow(s->d, t->sums[0], t->rows * WPI_TILE_COLUMNS,
                        (s->flags & WP_MATRIX_SATURATE) != 0, raw[0]);
    EACH_LANE(lane, lanes) {
        uint32_t *d = words_of(&requests[lane]) + d_first;
        for (uint32_t row = lane / 4, pair = first; row < t->rows; row += 8, pair++) {
            if (s->d == WP_MATRIX_F64)
                memcpy(d + (size_t)4 * pair, &t->sums[row][lane % 4 * 2], 2 * sizeof(double));
            else
                write_pair(d, s->d, pair, &raw[row][lane % 4 * 2]);
        }
    }
}

static void multiply(const wp_matrix_shape *s, product_tile *t) {
    if (s->a == WP_MATRIX_B1)
        count_bits(s, t);
    else if (s->a == WP_MATRIX_F64)
        multiply_doubles(t);
    else
        wpi_tile_multiply(t->rows, t->depth, (const double(*)[WPI_TILE_DEPTH])t->a,
                          (const double(*)[WPI_TILE_COLUMNS])t->b, t->sums);
}

static void product(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes) {
    product_tile t;
    t.rows = s->m < WPI_TILE_ROWS ? s->m : WPI_TILE_ROWS;
    t.depth = s->a == WP_MATRIX_B1 ? s->k / 32 : s->k;
    const uint32_t down = s->m / t.rows, across = s->n / WPI_TILE_COLUMNS, pairs = t.rows / 8;
    const uint32_t a_words = wpi_matrix_words(s->a, t.rows, s->k),
                   b_words = wpi_matrix_words(s->b, s->k, WPI_TILE_COLUMNS);
    for (uint32_t y = 0; y < down; y++) {
        if (s->a != WP_MATRIX_F64) read_rows(s, requests, lanes, y * a_words, &t);
        for (uint32_t x = 0; x < across; x++) {
            const uint32_t b_first = s->a_words + x * b_words, pair = (y * across + x) * pairs;
            if (s->a == WP_MATRIX_F64)
                read_doubles(requests, lanes, y * a_words, b_first, &t);
            else
                read_columns(s, requests, lanes, b_first, &t);
            read_sums(s, requests, lanes, pair, &t);
            multiply(s, &t);
            write_sums(s, requests, lanes, pair, &t);
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
    case WP_MATRIX_PRODUCT:
    case WP_MATRIX_SPARSE: product(&shape, requests, lanes); break;
    case WP_MATRIX_QUARTERS: quarters(&shape, requests, lanes); break;
    case WP_MATRIX_GROUP: wpi_warp_group(&shape, block, w, requests, lanes); break;
    case WP_MATRIX_TRANSPOSE: transpose(&shape, requests, lanes); break;
    default: rows(&shape, requests, lanes); break;
    }
}
