/* SPDX-License-Identifier: Apache-2.0 */
/* Grey images. A PGM file is a few numbers in text, with comments, and then the pixels. */
#include "common/image.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"
#include "common/text.h"

/* Moves past blanks, line ends and comments. */
static void skip_blanks(char **cursor) {
    for (;;) {
        *cursor += strspn(*cursor, " \t\r\n\v\f");
        if (**cursor != '#') {
            return;
        }
        *cursor += strcspn(*cursor, "\n");
    }
}

static uint64_t header_number(char **cursor, const char *path, const char *what, uint64_t max) {
    uint64_t value;
    skip_blanks(cursor);
    /* One blank ends the header, and the pixels may begin with a byte that looks like another. */
    size_t digits = strspn(*cursor, "0123456789");
    char *end = *cursor + digits;
    if (!app_parse_number(cursor, &value) || value < 1 || value > max) {
        app_fail("%s: the %s of the image must be a number from 1 to %s", path, what,
                 app_count(max));
    }
    *cursor = end;
    return value;
}

static void read_plain(app_image *image, char *cursor, uint64_t white, const char *path) {
    for (size_t i = 0; i < image->width * image->height; i++) {
        uint64_t value;
        skip_blanks(&cursor);
        if (!app_parse_number(&cursor, &value) || value > white) {
            app_fail("%s: pixel %s of %s is not a number up to %s", path, app_count(i + 1),
                     app_count(image->width * image->height), app_count(white));
        }
        image->grey[i] = (float)((double)value / (double)white);
    }
}

static void read_raw(app_image *image, const char *pixels, uint64_t white, size_t pixel_bytes) {
    const unsigned char *byte = (const unsigned char *)pixels;
    for (size_t i = 0; i < image->width * image->height; i++, byte += pixel_bytes) {
        unsigned value = pixel_bytes == 2 ? (unsigned)byte[0] << 8 | byte[1] : byte[0];
        image->grey[i] = (float)((double)value / (double)white);
    }
}

void app_image_read(app_image *image, const char *path) {
    size_t size_bytes;
    char *bytes = app_text_read_all(path, &size_bytes);
    bool is_raw = strncmp(bytes, "P5", 2) == 0;
    if (!is_raw && strncmp(bytes, "P2", 2) != 0) {
        app_fail("%s is not a PGM image: it begins with neither P2 nor P5", path);
    }
    char *cursor = bytes + 2;
    image->width = header_number(&cursor, path, "width", UINT64_C(1) << 24);
    image->height = header_number(&cursor, path, "height", UINT64_C(1) << 24);
    uint64_t white = header_number(&cursor, path, "white value", 65535);
    size_t pixel_count = image->width * image->height;
    size_t pixel_bytes = white > 255 ? 2 : 1;
    size_t left_bytes = size_bytes - (size_t)(cursor - bytes);
    if (is_raw && left_bytes < 1 + pixel_count * pixel_bytes) {
        app_fail("%s is cut off: %s x %s pixels of %zu bytes, but %s bytes are left", path,
                 app_count(image->width), app_count(image->height), pixel_bytes,
                 app_count(left_bytes));
    }
    image->grey = app_allocate(pixel_count, sizeof *image->grey, "the image");
    if (is_raw) {
        read_raw(image, cursor + 1, white, pixel_bytes);
    } else {
        read_plain(image, cursor, white, path);
    }
    free(bytes);
    const char *slash = strrchr(path, '/');
    snprintf(image->title, sizeof image->title, "%.150s", slash != NULL ? slash + 1 : path);
}

void app_image_generate(app_image *image, size_t side, uint64_t seed) {
    enum { DISCS = 12 };
    double centre_x[DISCS];
    double centre_y[DISCS];
    double radius[DISCS];
    app_random random = {seed, 0};
    for (int d = 0; d < DISCS; d++) {
        centre_x[d] = app_random_unit(&random) * (double)side;
        centre_y[d] = app_random_unit(&random) * (double)side;
        radius[d] = app_random_unit(&random) * (double)side / 6.0;
    }
    image->grey = app_allocate(side, side * sizeof *image->grey, "the image");
    image->width = side;
    image->height = side;
    for (size_t y = 0; y < side; y++) {
        for (size_t x = 0; x < side; x++) {
            bool is_even = x < side / 4 && y < side / 4;
            double grey = 0.4;
            for (int d = 0; d < DISCS && !is_even; d++) {
                double away_x = (double)x - centre_x[d];
                double away_y = (double)y - centre_y[d];
                if (away_x * away_x + away_y * away_y < radius[d] * radius[d]) {
                    grey = d % 2 == 0 ? 0.7 : 0.1;
                }
            }
            grey += 0.3 * (app_random_unit(&random) - 0.5);
            image->grey[y * side + x] = (float)(grey > 0.0 ? grey : 0.0);
        }
    }
    snprintf(image->title, sizeof image->title, "generated, seed %llu", (unsigned long long)seed);
}

void app_image_free(app_image *image) {
    free(image->grey);
    *image = (app_image){0};
}
