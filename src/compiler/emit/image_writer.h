/* SPDX-License-Identifier: Apache-2.0 */
/** Writes the image (base/abi.h) that a program embeds: compressed bitcode, and PTX where there is
 * any. */
#ifndef WP_EMIT_IMAGE_H
#define WP_EMIT_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include "base/text.h"
#include "warpage/error.h"

typedef struct wpi_image_part {
    uint32_t kind; /* wp_section_kind */
    uint32_t arch;
    const void *data;
    size_t size_bytes;
} wpi_image_part;

/** Makes an image in `out`, which is empty. */
WP_NODISCARD wp_status wpi_image_make(uint64_t id, const wpi_image_part *parts, uint32_t count,
                                      wpi_text *out, wp_error *err);
WP_NODISCARD wp_status wpi_image_write(const char *path, uint64_t id, const wpi_image_part *parts,
                                       uint32_t count, wp_error *err);

#endif
