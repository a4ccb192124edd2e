/* SPDX-License-Identifier: Apache-2.0 */
/** wgmma: a warp's 16 rows of a product by four warps, with operands in shared memory. */
#include "base/log.h"
#include "device/cpu/block/matrix_numbers.h"
#include "device/cpu/block/warp_matrix.h"

enum { GROUP_ROWS = WPI_TILE_ROWS, GROUP_DEPTH_MAX = 32, PIECE_BYTES = 16, DESCRIPTOR_BITS = 18 };

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

/* The 16 bytes that begin with element k of a row of A, or of a column of B: they hold its next
 * elements, or, if M or N is contiguous, those of the next rows. */
static void stored_piece(const stored_matrix *m, uint32_t row, uint32_t k, void *piece) {
    const uint32_t pitch = PIECE_BYTES << m->swizzle, bytes = m->element_bytes;
    uint32_t at = m->start;
    if (m->is_across) {
        const uint32_t number = row * bytes / PIECE_BYTES;
        const uint32_t unit = number >> m->swizzle, in_unit = number & ((1u << m->swizzle) - 1);
        at += in_unit * PIECE_BYTES + k % 8 * pitch;
        at += m->swizzle == 0 ? unit * m->stride + k / 8 * m->leading
                              : unit * m->leading + k / 8 * m->stride;
    } else {
        const uint32_t in_row = k * bytes;
        at += row / 8 * m->stride + row % 8 * pitch;
        at += m->swizzle == 0 ? in_row / PIECE_BYTES * m->leading : in_row;
    }
    at ^= (((at >> 7) - m->base_offset) & ((1u << m->swizzle) - 1)) << 4;
    const uint32_t mask = (1u << DESCRIPTOR_BITS) - 1;
    const uint32_t offset = (at - (uint32_t)(uintptr_t)m->shared) & mask;
    if (offset > m->shared_bytes || m->shared_bytes - offset < PIECE_BYTES) {
        *m->is_outside = true;
        memset(piece, 0, PIECE_BYTES);
    } else {
        memcpy(piece, m->shared + offset, PIECE_BYTES);
    }
}

/* Elements of a piece, `step` apart in `raw`. */
static void unpack(const void *piece, uint32_t bytes, uint32_t *raw, uint32_t step) {
    for (uint32_t i = 0; i < PIECE_BYTES / bytes; i++)
        switch (bytes) {
        case 1: raw[i * step] = ((const uint8_t *)piece)[i]; break;
        case 2: raw[i * step] = ((const uint16_t *)piece)[i]; break;
        default: raw[i * step] = ((const uint32_t *)piece)[i]; break;
        }
}

/* `lines` rows of A, or columns of B, of `depth` elements: element k of line l to `raw[l *
 * line_step
 * + k * k_step]`. */
static void stored_lines(const stored_matrix *m, uint32_t first, uint32_t lines, uint32_t depth,
                         uint32_t *raw, uint32_t line_step, uint32_t k_step) {
    _Alignas(PIECE_BYTES) char piece[PIECE_BYTES];
    const uint32_t each = PIECE_BYTES / m->element_bytes;
    const uint32_t lines_each = m->is_across ? each : 1, k_each = m->is_across ? 1 : each;
    for (uint32_t line = 0; line < lines; line += lines_each)
        for (uint32_t k = 0; k < depth; k += k_each) {
            stored_piece(m, first + line, k, piece);
            unpack(piece, m->element_bytes, raw + line * line_step + k * k_step,
                   m->is_across ? line_step : k_step);
        }
}

static uint32_t group_depth(const wp_matrix_shape *s) {
    return s->k <= GROUP_DEPTH_MAX ? s->k : GROUP_DEPTH_MAX;
}

/* The numbers of a line of 8 or more elements. */
static void widen(uint32_t type, const uint32_t *raw, uint32_t count, bool is_minus, double *out) {
    wpi_tile_widen(type, raw, count, out);
    for (uint32_t i = 0; is_minus && i < count; i++)
        out[i] = -out[i];
}

static void group_rows(const wp_matrix_shape *s, const wpi_block *block, uint32_t w,
                       const wp_cpu_request *requests, uint32_t lanes, bool *is_outside,
                       double (*a)[WPI_TILE_DEPTH]) {
    const bool is_minus = (s->count & WP_MATRIX_GROUP_MINUS_A) != 0;
    uint32_t raw[GROUP_ROWS][GROUP_DEPTH_MAX] = {0};
    if ((s->count & WP_MATRIX_GROUP_SHARED_A) != 0) {
        const stored_matrix m = stored(block, words_of(&requests[__builtin_ctz(lanes)]), s->a,
                                       (s->flags & WP_MATRIX_A_COLUMNS) != 0, is_outside);
        stored_lines(&m, w % 4 * GROUP_ROWS, GROUP_ROWS, group_depth(s), raw[0], GROUP_DEPTH_MAX,
                     1);
    } else {
        wpi_tile_gather(requests, lanes, s->a, GROUP_ROWS, group_depth(s), 0, raw[0],
                        GROUP_DEPTH_MAX, 1);
    }
    for (uint32_t row = 0; row < GROUP_ROWS; row++)
        widen(s->a, raw[row], group_depth(s), is_minus, a[row]);
}

/* Eight columns of D. Sums of integers are exact in double precision. */
static void group_tile(const wp_matrix_shape *s, const wp_cpu_request *requests, uint32_t lanes,
                       uint32_t tile, bool adds, const double (*a)[WPI_TILE_DEPTH],
                       const double (*b)[WPI_TILE_COLUMNS]) {
    double sums[GROUP_ROWS][WPI_TILE_COLUMNS] = {0};
    const uint32_t first = s->a_words + s->b_words;
    EACH_LANE(lane, lanes) {
        for (uint32_t i = 0; adds && i < 4; i++)
            sums[i / 2 * 8 + lane / 4][lane % 4 * 2 + i % 2] =
                accumulator(words_of(&requests[lane]) + first, s->d, tile * 4 + i);
    }
    wpi_tile_multiply(GROUP_ROWS, group_depth(s), a, b, sums);
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

void wpi_warp_group(const wp_matrix_shape *s, const wpi_block *block, uint32_t w,
                    const wp_cpu_request *requests, uint32_t lanes) {
    double a[GROUP_ROWS][WPI_TILE_DEPTH], b[GROUP_DEPTH_MAX][WPI_TILE_COLUMNS];
    uint32_t raw[GROUP_DEPTH_MAX][WPI_TILE_COLUMNS];
    bool is_outside = false;
    group_rows(s, block, w, requests, lanes, &is_outside, a);
    const uint32_t *words = words_of(&requests[__builtin_ctz(lanes)]) + s->a_words;
    const bool adds = words[2] != 0, is_minus = (s->count & WP_MATRIX_GROUP_MINUS_B) != 0;
    const stored_matrix m =
        stored(block, words, s->b, (s->flags & WP_MATRIX_B_ROWS) != 0, &is_outside);
    for (uint32_t tile = 0; tile < s->n; tile++) {
        stored_lines(&m, tile * WPI_TILE_COLUMNS, WPI_TILE_COLUMNS, group_depth(s), raw[0], 1,
                     WPI_TILE_COLUMNS);
        widen(s->b, raw[0], group_depth(s) * WPI_TILE_COLUMNS, is_minus, b[0]);
        group_tile(s, requests, lanes, tile, adds, (const double(*)[WPI_TILE_DEPTH])a,
                   (const double(*)[WPI_TILE_COLUMNS])b);
    }
    if (is_outside)
        wpi_log(WP_LOG_ERROR, "cpu",
                "wgmma: a matrix descriptor leads outside of the block's %u bytes of shared memory",
                block->pub.shared_bytes);
    EACH_LANE(lane, lanes) words_of(&requests[lane])[s->a_words + 2] = is_outside;
}
