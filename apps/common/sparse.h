/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Sparse matrices as compressed rows, from Matrix Market files, or generated.
 *
 *     first   [row_count + 1]   entries of row r: first[r] <= e < first[r + 1]
 *     column  [entry_count]     in ascending order within a row
 *     value   [entry_count]
 *
 * All arrays are malloc'ed and belong to the matrix. Limits: 2^32 - 1 rows and columns, any number
 * of entries that fit memory.
 */
#ifndef APP_SPARSE_H
#define APP_SPARSE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app_sparse {
    uint64_t *first;
    uint32_t *column;
    double *value;
    uint64_t entry_count;
    uint32_t row_count;
    uint32_t column_count;
    char title[160];
} app_sparse;

#define APP_SPARSE_INPUT                                                                           \
    "Matrix Market file (coordinate; real, integer or pattern; general, symmetric or "             \
    "skew-symmetric; also .zst)"

/** Reads a Matrix Market file. What a symmetric file leaves out is put in; entries given twice stay
 *  two; the entries of a pattern are 1. */
void app_sparse_read(app_sparse *matrix, const char *path);

/** Square, `width` (odd) entries in a row around the diagonal, fewer at the corners; values are
 *  random in [-1, 1). */
void app_sparse_generate_band(app_sparse *matrix, uint32_t row_count, uint32_t width,
                              uint64_t seed);
/** Square, 1 to 2 * `mean` - 1 entries in a row, anywhere; values are random in [-1, 1). */
void app_sparse_generate_random(app_sparse *matrix, uint32_t row_count, uint32_t mean,
                                uint64_t seed);
void app_sparse_free(app_sparse *matrix);

#ifdef __cplusplus
}
#endif
#endif
