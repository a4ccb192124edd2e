/* SPDX-License-Identifier: Apache-2.0 */
/* Optimal string alignment distance over three rows; names longer than a row are compared by their
 * start. */
#include "base/nearest.h"

#include <string.h>

#define NAME_LENGTH_MAX 63

static size_t min3(size_t a, size_t b, size_t c) {
    const size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

size_t wpi_edit_distance(const char *a, const char *b) {
    const size_t a_length = strnlen(a, NAME_LENGTH_MAX);
    const size_t b_length = strnlen(b, NAME_LENGTH_MAX);
    size_t rows[3][NAME_LENGTH_MAX + 1]; /* row i lies at rows[i % 3] */
    for (size_t j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= a_length; i++) {
        size_t *row = rows[i % 3];
        const size_t *above = rows[(i - 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= b_length; j++) {
            row[j] = min3(above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1]));
            const int is_swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (is_swap) row[j] = min3(row[j], rows[(i - 2) % 3][j - 2] + 1, row[j]);
        }
    }
    return rows[a_length % 3][b_length];
}

void wpi_nearest_offer(wpi_nearest *nearest, const char *candidate) {
    const size_t length = strlen(candidate);
    if (length > WP_NEAREST_NAME_MAX) return;
    const size_t distance = wpi_edit_distance(nearest->wanted, candidate);
    if (nearest->best[0] != '\0' && distance >= nearest->best_distance) return;
    memcpy(nearest->best, candidate, length + 1);
    nearest->best_distance = distance;
}

const char *wpi_nearest_result(const wpi_nearest *nearest) {
    if (nearest->best[0] == '\0') return NULL;
    return nearest->best_distance <= (strlen(nearest->best) + 2) / 3 ? nearest->best : NULL;
}
