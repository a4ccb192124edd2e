/* SPDX-License-Identifier: Apache-2.0 */
/** What the matrix operations of a warp share (base/matrix_abi.h): products of tiles. */
#ifndef WP_CPU_WARP_MATRIX_H
#define WP_CPU_WARP_MATRIX_H

#include "base/matrix_abi.h"
#include "device/cpu/cpu.h"

/** Of a tile: A has 8 or 16 rows, C as many, and 8 columns. */
enum { WPI_TILE_ROWS = 16, WPI_TILE_COLUMNS = 8, WPI_TILE_DEPTH = 128 };

/** Reads rows of a tile of A, or columns of one of B, from the lanes' words, `first` of which come
 * before: element k of line l to `raw[l * line_step + k * k_step]`, as it is in registers. A
 * register holds neighbours in K; lane l has those of line l / 4 of each eight lines. Elements of
 * lanes that do not take part stay. 1-bit elements are read in words of 32, which k then counts. */
void wpi_tile_gather(const wp_cpu_request *requests, uint32_t lanes, uint32_t type, uint32_t lines,
                     uint32_t depth, uint32_t first, uint32_t *raw, uint32_t line_step,
                     uint32_t k_step);
/** The numbers of `count` elements, a multiple of 8, that are not doubles. */
void wpi_tile_widen(uint32_t type, const uint32_t *raw, uint32_t count, double *out);
/** The bits of `count` sums, a multiple of 8, as F16, F32 or S32: rounded once, to nearest even,
 * NaN as PTX has it; whole numbers wrap, or saturate. */
void wpi_tile_narrow(uint32_t type, const double *sums, uint32_t count, bool saturates,
                     uint32_t *raw);
/** `sums` += a * b, each product added in the order of K. */
void wpi_tile_multiply(uint32_t rows, uint32_t depth, const double (*a)[WPI_TILE_DEPTH],
                       const double (*b)[WPI_TILE_COLUMNS], double (*sums)[WPI_TILE_COLUMNS]);

void wpi_warp_group(const wp_matrix_shape *s, const wpi_block *block, uint32_t w,
                    const wp_cpu_request *requests, uint32_t lanes);

#endif
