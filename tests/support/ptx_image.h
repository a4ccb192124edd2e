/* SPDX-License-Identifier: Apache-2.0 */
/** An image as wpcc embeds it, around PTX text of a test's own. */
#ifndef WP_TEST_PTX_IMAGE_H
#define WP_TEST_PTX_IMAGE_H

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/abi.h"

/** The caller frees the result (free). `arch`: of the PTX section, 70 for sm_70. */
static inline wp_image_header *make_ptx_image(const char *ptx, uint32_t arch, uint64_t id) {
    const size_t raw_bytes = strlen(ptx) + 1, bound = ZSTD_compressBound(raw_bytes);
    const size_t offset = sizeof(wp_image_header) + sizeof(wp_image_section) + 8;
    char *bytes = calloc(1, offset + bound);
    const size_t size_bytes = ZSTD_compress(bytes + offset, bound, ptx, raw_bytes, 1);
    wp_image_header *header = (wp_image_header *)(void *)bytes;
    *header = (wp_image_header){.abi_version = WP_ABI_VERSION,
                                .section_count = 1,
                                .id = id,
                                .size_bytes = offset + size_bytes};
    memcpy(header->magic, WP_IMAGE_MAGIC, sizeof header->magic);
    wp_image_section *section = (wp_image_section *)(void *)(header + 1);
    *section = (wp_image_section){.kind = WP_SECTION_PTX,
                                  .arch = arch,
                                  .offset = offset,
                                  .size_bytes = size_bytes,
                                  .raw_size_bytes = raw_bytes};
    return header;
}

#endif
