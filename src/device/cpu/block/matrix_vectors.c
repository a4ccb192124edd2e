/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of matrix operations that take their time, eight numbers at once. */
#include <string.h>

#include "base/cpu_vectors.h"
#include "device/cpu/block/matrix_numbers.h"
#include "device/cpu/block/warp_matrix.h"

enum { EACH = WPI_TILE_COLUMNS, ROWS_TOGETHER = 4 };

typedef double doubles __attribute__((vector_size(EACH * sizeof(double))));
typedef float floats __attribute__((vector_size(EACH * sizeof(float))));
typedef uint32_t words __attribute__((vector_size(EACH * sizeof(uint32_t))));
typedef int32_t integers __attribute__((vector_size(EACH * sizeof(int32_t))));

/* Macros, as a function that is called would not be compiled for the caller's processor. */
#define LOAD(type, at)                                                                             \
    __extension__({                                                                                \
        type wpi_loaded;                                                                           \
        memcpy(&wpi_loaded, at, sizeof wpi_loaded);                                                \
        wpi_loaded;                                                                                \
    })
#define EACH_EIGHT(value, expression)                                                              \
    for (uint32_t i = 0; i < count; i += EACH) {                                                   \
        const words value = LOAD(words, raw + i);                                                  \
        const doubles wide = __builtin_convertvector(expression, doubles);                         \
        memcpy(out + i, &wide, sizeof wide);                                                       \
    }
#define CHOOSE(mask, yes, no) (((yes) & (words)(mask)) | ((no) & ~(words)(mask)))

/* The bits of a small float are moved to their places in a single, and scaled: subnormals need no
 * case. `special`: infinities and NaN. */
#define SCALED(bits, scale) ((words)((floats)(bits) * (scale)))
#define HALF(v)                                                                                    \
    (floats) CHOOSE(((v) & 0x7c00u) == 0x7c00u,                                                    \
                    ((v) & 0x8000u) << 16 | 0x7f800000u | ((v) & 0x3ffu) << 13,                    \
                    SCALED(((v) & 0x8000u) << 16 | ((v) & 0x7fffu) << 13, 0x1p112f))
#define E4M3(v)                                                                                    \
    (floats) CHOOSE(((v) & 0x7fu) == 0x7fu, (words){0} + 0x7fc00000u,                              \
                    SCALED(((v) & 0x80u) << 24 | ((v) & 0x7fu) << 20, 0x1p120f))

WPI_CPU_VECTORS void wpi_tile_widen(uint32_t type, const uint32_t *raw, uint32_t count,
                                    double *out) {
    switch (type) {
    case WP_MATRIX_F16: EACH_EIGHT(v, HALF(v)) break;
    case WP_MATRIX_BF16: EACH_EIGHT(v, (floats)(v << 16)) break;
    case WP_MATRIX_TF32: EACH_EIGHT(v, (floats)(v & 0xffffe000u)) break;
    case WP_MATRIX_E4M3: EACH_EIGHT(v, E4M3(v)) break;
    case WP_MATRIX_E5M2: EACH_EIGHT(v, HALF(v << 8)) break;
    case WP_MATRIX_S8: EACH_EIGHT(v, (integers)(v ^ 0x80u) - 0x80) break;
    case WP_MATRIX_S4: EACH_EIGHT(v, (integers)(v ^ 8u) - 8) break;
    case WP_MATRIX_U8:
    case WP_MATRIX_U4:
    case WP_MATRIX_S32: EACH_EIGHT(v, (integers)v) break;
    default: EACH_EIGHT(v, (floats)v) break;
    }
}

WPI_CPU_VECTORS static void narrow_singles(const double *sums, uint32_t count, uint32_t *raw) {
    for (uint32_t i = 0; i < count; i += EACH) {
        const floats value = __builtin_convertvector(LOAD(doubles, sums + i), floats);
        const words bits = CHOOSE(value != value, (words){0} + 0x7fffffffu, (words)value);
        memcpy(raw + i, &bits, sizeof bits);
    }
}

void wpi_tile_narrow(uint32_t type, const double *sums, uint32_t count, bool saturates,
                     uint32_t *raw) {
    if (type == WP_MATRIX_F32) {
        narrow_singles(sums, count, raw);
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        raw[i] =
            type == WP_MATRIX_F16 ? half_bits(sums[i]) : integer_bits((int64_t)sums[i], saturates);
}

/* Products of numbers of 16 bits and less are exact, so that it does not matter whether they are
 * fused with the sums. */
WPI_CPU_VECTORS void wpi_tile_multiply(uint32_t rows, uint32_t depth,
                                       const double (*a)[WPI_TILE_DEPTH],
                                       const double (*b)[WPI_TILE_COLUMNS],
                                       double (*sums)[WPI_TILE_COLUMNS]) {
    for (uint32_t row = 0; row < rows; row += ROWS_TOGETHER) {
        doubles sum[ROWS_TOGETHER];
        memcpy(sum, sums[row], sizeof sum);
        for (uint32_t k = 0; k < depth; k++) {
            const doubles line = LOAD(doubles, b[k]);
            for (uint32_t r = 0; r < ROWS_TOGETHER; r++)
                sum[r] += a[row + r][k] * line;
        }
        memcpy(sums[row], sum, sizeof sum);
    }
}
