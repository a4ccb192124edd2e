/* SPDX-License-Identifier: Apache-2.0 */
/** An image as wpcc embeds it, around PTX text of a test's own. */
#ifndef WP_TEST_PTX_IMAGE_H
#define WP_TEST_PTX_IMAGE_H

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/abi.h"

typedef struct test_section {
    uint32_t kind, arch;
    const char *data;
    size_t bytes;
} test_section;

/** The caller frees the result (free). */
static inline wp_image_header *make_image(const test_section *parts, uint32_t count, uint64_t id) {
    const size_t start = sizeof(wp_image_header) + count * sizeof(wp_image_section);
    size_t room = (start + 15) / 16 * 16;
    for (uint32_t i = 0; i < count; i++)
        room += ZSTD_compressBound(parts[i].bytes) + 16;
    char *bytes = calloc(1, room);
    wp_image_header *header = (wp_image_header *)(void *)bytes;
    *header = (wp_image_header){.abi_version = WP_ABI_VERSION, .section_count = count, .id = id};
    memcpy(header->magic, WP_IMAGE_MAGIC, sizeof header->magic);
    wp_image_section *sections = (wp_image_section *)(void *)(header + 1);
    size_t offset = (start + 15) / 16 * 16;
    for (uint32_t i = 0; i < count; i++) {
        const size_t size_bytes =
            ZSTD_compress(bytes + offset, room - offset, parts[i].data, parts[i].bytes, 1);
        sections[i] = (wp_image_section){.kind = parts[i].kind,
                                         .arch = parts[i].arch,
                                         .offset = offset,
                                         .size_bytes = size_bytes,
                                         .raw_size_bytes = parts[i].bytes};
        offset += (size_bytes + 15) / 16 * 16;
    }
    header->size_bytes = offset;
    return header;
}

/** The caller frees the result (free). `arch`: of the PTX section, 70 for sm_70. */
static inline wp_image_header *make_ptx_image(const char *ptx, uint32_t arch, uint64_t id) {
    const test_section part = {WP_SECTION_PTX, arch, ptx, strlen(ptx) + 1};
    return make_image(&part, 1, id);
}

#endif
