/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Grey images: from portable graymap files, or generated.
 */
#ifndef APP_IMAGE_H
#define APP_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct app_image {
    float *grey; /* height rows of width, 0 (black) to 1 (white); malloc'ed */
    size_t width;
    size_t height;
    char title[160];
} app_image;

/** Reads a PGM file, plain (P2) or raw (P5) with one or two bytes a pixel; plain or `.zst`. */
void app_image_read(app_image *image, const char *path);
/** A square with a dozen bright and dark discs, but for the first quarter of rows and columns,
 *  seeded; each pixel is darkened or lightened at random, as speckle does to ultrasound images. */
void app_image_generate(app_image *image, size_t side, uint64_t seed);
void app_image_free(app_image *image);

#ifdef __cplusplus
}
#endif
#endif
