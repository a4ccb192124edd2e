/* SPDX-License-Identifier: Apache-2.0 */
/* A field as seen by a coarse camera. */
#include "common/picture.h"

#include <math.h>

enum { COLUMNS = 48, ROWS = 16 };

/* The mean over the part of `values` that lies under one character. */
static double mean_under(const float *values, size_t width, size_t first_y, size_t outer_y,
                         size_t first_x, size_t outer_x) {
    double sum = 0.0;
    for (size_t y = first_y; y < outer_y; y++) {
        for (size_t x = first_x; x < outer_x; x++) {
            sum += (double)values[y * width + x];
        }
    }
    return sum / (double)((outer_y - first_y) * (outer_x - first_x));
}

void app_picture(FILE *out, const float *values, size_t width, size_t height) {
    static const char *const shades[] = {" ", "\u2591", "\u2592", "\u2593", "\u2588"};
    double seen[ROWS][COLUMNS];
    size_t columns = width < COLUMNS ? width : COLUMNS;
    size_t rows = height < ROWS ? height : ROWS;
    double low = (double)INFINITY;
    double high = -(double)INFINITY;
    for (size_t row = 0; row < rows; row++) {
        for (size_t column = 0; column < columns; column++) {
            double value = mean_under(values, width, row * height / rows, (row + 1) * height / rows,
                                      column * width / columns, (column + 1) * width / columns);
            seen[row][column] = value;
            low = fmin(low, value);
            high = fmax(high, value);
        }
    }
    for (size_t row = 0; row < rows; row++) {
        fputs("  ", out);
        for (size_t column = 0; column < columns; column++) {
            double place = high > low ? (seen[row][column] - low) / (high - low) : 0.0;
            fputs(shades[place > 0.0 ? (int)(place * 4.999) : 0], out); /* NaN is blank */
        }
        putc('\n', out);
    }
}
