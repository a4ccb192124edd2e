/* SPDX-License-Identifier: Apache-2.0 */
/** Reading the image that wpcc embeds in a program (layout: base/abi.h). */
#ifndef WP_DEVICE_IMAGE_H
#define WP_DEVICE_IMAGE_H

#include "base/abi.h"
#include "warpage/error.h"

/** Checks the header and the section table. The bytes that `image` names must be readable up to the
 *  size in the header. PARSE: not an image, or a damaged one. UNSUPPORTED: another version.
 */
WP_NODISCARD wp_status wpi_image_check(const void *image, const wp_image_header **out,
                                       wp_error *err);
const wp_image_section *wpi_image_sections(const wp_image_header *header);
/** The first section of `kind`; NULL if there is none. */
const wp_image_section *wpi_image_find(const wp_image_header *header, wp_section_kind kind);
const void *wpi_image_section_data(const wp_image_header *header, const wp_image_section *section);

/** Notes what a program's code was compiled for. Any thread. */
void wpi_image_note_arch(const wp_image_header *header);
/** The highest of them, as 70 for sm_70; 0: none. */
uint32_t wpi_image_arch_highest(void);

#endif
