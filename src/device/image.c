/* SPDX-License-Identifier: Apache-2.0 */
/** Every offset is checked before use: a damaged program gets an error message, not a crash.
 */
#include "device/image.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <string.h>

#include "base/fail.h"

wp_status wpi_image_check(const void *image, const wp_image_header **out, wp_error *err) {
    *out = NULL;
    const wp_image_header *header = image;
    if (memcmp(header->magic, WP_IMAGE_MAGIC, sizeof header->magic) != 0) {
        return WP_FAIL(err, PARSE, "the embedded device code was not made by wpcc");
    }
    if (header->abi_version != WP_ABI_VERSION) {
        return WP_FAIL(err, UNSUPPORTED,
                       "the embedded device code has format %" PRIu32 ", this library reads %u: "
                       "compile the program again",
                       header->abi_version, WP_ABI_VERSION);
    }
    const uint64_t table_bytes = (uint64_t)header->section_count * sizeof(wp_image_section);
    if (header->size_bytes < sizeof *header || table_bytes > header->size_bytes - sizeof *header) {
        return WP_FAIL(err, PARSE,
                       "the embedded device code is damaged: %" PRIu32
                       " sections do not fit its %" PRIu64 " bytes",
                       header->section_count, header->size_bytes);
    }
    const wp_image_section *sections = wpi_image_sections(header);
    for (uint32_t i = 0; i < header->section_count; i++) {
        const wp_image_section *s = &sections[i];
        if (s->offset < sizeof *header + table_bytes || s->offset > header->size_bytes ||
            s->size_bytes > header->size_bytes - s->offset) {
            return WP_FAIL(err, PARSE,
                           "the embedded device code is damaged: section %" PRIu32
                           " at offset %" PRIu64 " with %" PRIu64 " bytes lies outside its %" PRIu64
                           " bytes",
                           i, s->offset, s->size_bytes, header->size_bytes);
        }
    }
    *out = header;
    return WP_STATUS_OK;
}

const wp_image_section *wpi_image_sections(const wp_image_header *header) {
    return (const wp_image_section *)(header + 1);
}

const wp_image_section *wpi_image_find(const wp_image_header *header, wp_section_kind kind) {
    const wp_image_section *sections = wpi_image_sections(header);
    for (uint32_t i = 0; i < header->section_count; i++) {
        if (sections[i].kind == (uint32_t)kind) return &sections[i];
    }
    return NULL;
}

const void *wpi_image_section_data(const wp_image_header *header, const wp_image_section *section) {
    return (const char *)header + section->offset;
}

static atomic_uint highest;

void wpi_image_note_arch(const wp_image_header *header) {
    const wp_image_header *checked;
    if (wpi_image_check(header, &checked, NULL) != WP_STATUS_OK) return;
    const wp_image_section *ptx = wpi_image_find(checked, WP_SECTION_PTX);
    unsigned before = atomic_load(&highest);
    while (ptx != NULL && ptx->arch > before &&
           !atomic_compare_exchange_weak(&highest, &before, ptx->arch)) {
    }
}

uint32_t wpi_image_arch_highest(void) {
    return atomic_load(&highest);
}
