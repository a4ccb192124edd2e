/* SPDX-License-Identifier: Apache-2.0 */
/**
 * PTX text that carries an image in comments at its end, so that a module whose only form is a text
 * (wpcc -ptx, nvrtcGetPTX) also runs on devices that do not execute PTX:
 *
 *     .version 6.3 …                         the text, which a GPU's driver takes as it is
 *     // wp-image: <version> <bytes of the image> <hash of the text before, hexadecimal>
 *     // <base64, 76 characters a line>
 *     // wp-image: end
 */
#ifndef WP_BASE_PTX_CARRIER_H
#define WP_BASE_PTX_CARRIER_H

#include <stddef.h>

#include "base/text.h"
#include "warpage/error.h"

/** Appends the image's lines to the text. */
void wpi_ptx_carrier_append(wpi_text *ptx, const void *image, size_t size_bytes);
/** The image in a text (wpi_free; aligned to 16 bytes), and the length of the text before it.
 * NOT_FOUND: the text carries none; PARSE: it is damaged, or the text was changed; NOMEM. */
WP_NODISCARD wp_status wpi_ptx_carrier_read(const char *ptx, void **image, size_t *size_bytes,
                                            size_t *text_length, wp_error *err);

#endif
