/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Matrix operations of a warp (WP_STOP_MATRIX): the operation in one 64-bit word, and the registers
 * of a lane as 32-bit words in its own memory: the operands in the order A, B, C, and the results
 * behind them. SPARSE has the word that says where elements of A belong behind C, and the selector
 * of the lanes whose words count as `count`.
 *
 * Fragments are those of PTX's mma (docs/rooms/tensor.md). A matrix is cut into tiles: A into 16 by
 * K (8 by K, if it has 8 rows), B into K by 8, C into 16 by 8 (8 by 8), in rows of tiles.
 */
#ifndef WP_BASE_MATRIX_H
#define WP_BASE_MATRIX_H

#include <stdint.h>

#define WP_MATRIX_WORDS_MAX 48u

typedef enum wp_matrix_op {
    WP_MATRIX_PRODUCT = 0, /* D = A * B + C, all lanes together */
    WP_MATRIX_QUARTERS,    /* mma.m8n8k4 of halves: four products, by eight lanes each */
    WP_MATRIX_TRANSPOSE,   /* words: each an 8 by 8 matrix of 16-bit elements */
    WP_MATRIX_ROWS,  /* ldmatrix: in: the address of a row, out: of each matrix's row lane / 4 */
    WP_MATRIX_GROUP, /* wgmma: a warp's 16 rows of 64 */
    WP_MATRIX_SPARSE /* mma.sp: PRODUCT, and half of A is stored */
} wp_matrix_op;

typedef enum wp_matrix_type {
    WP_MATRIX_F16 = 0,
    WP_MATRIX_BF16,
    WP_MATRIX_TF32,
    WP_MATRIX_F32,
    WP_MATRIX_F64,
    WP_MATRIX_E4M3,
    WP_MATRIX_E5M2,
    WP_MATRIX_S8,
    WP_MATRIX_U8,
    WP_MATRIX_S4,
    WP_MATRIX_U4,
    WP_MATRIX_B1,
    WP_MATRIX_S32,
    WP_MATRIX_TYPE_COUNT /* must be last */
} wp_matrix_type;

/** Flags. */
#define WP_MATRIX_SATURATE 1u  /* .satfinite: of s32, clamped to the type's range */
#define WP_MATRIX_AND 2u       /* of b1: .and.popc; else .xor.popc */
#define WP_MATRIX_A_COLUMNS 4u /* of QUARTERS: A is .col */
#define WP_MATRIX_B_ROWS 8u    /* of QUARTERS: B is .row */

/**
 * GROUP: `n` counts columns by eights. The words of a lane are A's registers, or two of its
 * descriptor in shared memory; two of B's descriptor; one that is 0 where D = A * B, and 1 where
 * D = A * B + D; then D. The operation leaves in the third a status: 0, or 1 if a descriptor leads
 * outside of the block's shared memory. A_COLUMNS and B_ROWS: M and N are the dimension that is
 * contiguous. Of `count`:
 */
#define WP_MATRIX_GROUP_SHARED_A 1u /* A is a descriptor */
#define WP_MATRIX_GROUP_MINUS_A 2u
#define WP_MATRIX_GROUP_MINUS_B 4u
#define WP_MATRIX_GROUP_WORDS_MAX 136u
#define WP_MATRIX_GROUP_B_WORDS 3u /* the descriptor, and the third word */

typedef struct wp_matrix_shape {
    uint32_t op;         /* wp_matrix_op */
    uint32_t a, b, c, d; /* wp_matrix_type */
    uint32_t m, n, k;
    uint32_t flags;
    uint32_t a_words, b_words; /* registers of A and B, which may hold elements more than once */
    uint32_t count; /* of TRANSPOSE and ROWS: matrices; of GROUP: flags; of SPARSE: selector */
} wp_matrix_shape;

static inline uint64_t wpi_matrix_pack(const wp_matrix_shape *s) {
    return (uint64_t)s->op | (uint64_t)s->a << 4 | (uint64_t)s->b << 8 | (uint64_t)s->c << 12 |
           (uint64_t)s->d << 16 | (uint64_t)s->m << 20 | (uint64_t)s->n << 26 |
           (uint64_t)s->k << 32 | (uint64_t)s->flags << 42 | (uint64_t)s->a_words << 46 |
           (uint64_t)s->b_words << 52 | (uint64_t)s->count << 58;
}

static inline wp_matrix_shape wpi_matrix_unpack(uint64_t word) {
    return (wp_matrix_shape){.op = word & 15,
                             .a = word >> 4 & 15,
                             .b = word >> 8 & 15,
                             .c = word >> 12 & 15,
                             .d = word >> 16 & 15,
                             .m = word >> 20 & 63,
                             .n = word >> 26 & 63,
                             .k = word >> 32 & 1023,
                             .flags = word >> 42 & 15,
                             .a_words = word >> 46 & 63,
                             .b_words = word >> 52 & 63,
                             .count = (uint32_t)(word >> 58)};
}

/** Bits of an element; of a register, that is also the width at least. */
static inline uint32_t wpi_matrix_bits(uint32_t type) {
    static const uint8_t bits[WP_MATRIX_TYPE_COUNT] = {16, 16, 32, 32, 64, 8, 8, 8, 8, 4, 4, 1, 32};
    return type < WP_MATRIX_TYPE_COUNT ? bits[type] : 32;
}

/** Words of a lane that a rows by columns matrix fills, each element once. */
static inline uint32_t wpi_matrix_words(uint32_t type, uint32_t rows, uint32_t columns) {
    return rows * columns * wpi_matrix_bits(type) / (32u * 32u);
}

#endif
