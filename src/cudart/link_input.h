/* SPDX-License-Identifier: Apache-2.0 */
/** What a program links at run time (cuLink…, nvJitLink): PTX texts, or one image. One thread at a
 * time for a link. */
#ifndef WP_CUDART_LINK_INPUT_H
#define WP_CUDART_LINK_INPUT_H

#include <stddef.h>

#include "base/abi.h"
#include "base/text.h"
#include "warpage/error.h"

typedef struct wpi_link_input {
    wpi_text ptx;           /* the texts, one after the other, with the first one's header */
    wp_image_header *image; /* of the input, or of the texts after wpi_link_input_complete */
    size_t count;
} wpi_link_input;

/** Copies the input: PTX, an image, or a fat binary with one of them; texts may end in NUL.
 * UNSUPPORTED: another compiler's machine code, or an image beside other inputs; PARSE, NOMEM. */
WP_NODISCARD wp_status wpi_link_input_add(wpi_link_input *link, const void *data, size_t size_bytes,
                                          wp_error *err);
/** Makes `link->image`. UNSUPPORTED: the PTX cannot be translated; the message has the line. */
WP_NODISCARD wp_status wpi_link_input_complete(wpi_link_input *link, wp_error *err);
void wpi_link_input_deinit(wpi_link_input *link);

#endif
