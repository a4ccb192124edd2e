/* SPDX-License-Identifier: Apache-2.0 */
/** Fields of numbers as people see them on a terminal. */
#ifndef APP_PICTURE_H
#define APP_PICTURE_H

#include <stddef.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Draws `values`, height rows of width each, at least one, in at most 48 x 16 characters: the
 *  mean of the values under each, from the lowest (blank) to the highest (full) in five shades. */
void app_picture(FILE *out, const float *values, size_t width, size_t height);

#ifdef __cplusplus
}
#endif
#endif
