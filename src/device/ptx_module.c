/* SPDX-License-Identifier: Apache-2.0 */
#include "device/ptx_module.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/ptx_carrier.h"
#include "device/foreign_ptx.h"
#include "device/image.h"

#define ALIGN_BYTES 16u
#define COMPRESSION_LEVEL 3

static size_t align(size_t value) {
    return (value + ALIGN_BYTES - 1) / ALIGN_BYTES * ALIGN_BYTES;
}

static wp_status copy_image(const void *data, size_t size_bytes, wp_image_header **out,
                            wp_error *err) {
    const wp_image_header *header;
    if (size_bytes != 0 &&
        (size_bytes < sizeof *header || size_bytes < ((const wp_image_header *)data)->size_bytes))
        return WP_FAIL(err, PARSE, "the module is damaged: it is cut short");
    WP_TRY(wpi_image_check(data, &header, err));
    *out = wpi_malloc_aligned(ALIGN_BYTES, align((size_t)header->size_bytes));
    if (*out == NULL)
        return WP_FAIL(err, NOMEM, "%llu bytes of device code",
                       (unsigned long long)header->size_bytes);
    memcpy(*out, header, (size_t)header->size_bytes);
    return WP_STATUS_OK;
}

/* NN of ".target sm_NN"; 0: none. */
static uint32_t target_of(const char *ptx) {
    const char *at = strstr(ptx, ".target sm_");
    return at != NULL ? (uint32_t)strtoul(at + strlen(".target sm_"), NULL, 10) : 0;
}

/* An image with the sections of `carried`, and the text as one more. */
static wp_status join(const wp_image_header *carried, const char *ptx, size_t length,
                      wp_image_header **out, wp_error *err) {
    const uint32_t count = carried->section_count + 1;
    const size_t moved_bytes = sizeof(wp_image_section);
    const size_t old_bytes = align((size_t)carried->size_bytes + moved_bytes);
    const size_t bound = ZSTD_compressBound(length + 1);
    char *text = wpi_strndup(ptx, length);
    char *image = wpi_malloc_aligned(ALIGN_BYTES, align(old_bytes + moved_bytes + bound));
    if (text == NULL || image == NULL) {
        wpi_free(text);
        wpi_free(image);
        return WP_FAIL(err, NOMEM, "%zu bytes of device code", old_bytes + bound);
    }
    /* The table grows by a row; what follows it moves by as much, to an aligned place. */
    const size_t table_end = sizeof *carried + carried->section_count * moved_bytes;
    const size_t shift = align(table_end + moved_bytes) - align(table_end);
    const size_t body = align(table_end);
    memset(image, 0, body + shift);
    memcpy(image, carried, table_end);
    memcpy(image + body + shift, (const char *)carried + body, (size_t)carried->size_bytes - body);
    wp_image_header *header = (wp_image_header *)(void *)image;
    wp_image_section *sections = (wp_image_section *)(void *)(image + sizeof *header);
    for (uint32_t i = 0; i < carried->section_count; i++)
        sections[i].offset += shift;
    const size_t start = align((size_t)carried->size_bytes + shift);
    const size_t packed = ZSTD_compress(image + start, bound, text, length + 1, COMPRESSION_LEVEL);
    wpi_free(text);
    if (ZSTD_isError(packed)) {
        wpi_free(image);
        return WP_FAIL(err, NOMEM, "the PTX cannot be compressed");
    }
    sections[count - 1] = (wp_image_section){.kind = WP_SECTION_PTX,
                                             .arch = target_of(ptx),
                                             .offset = start,
                                             .size_bytes = packed,
                                             .raw_size_bytes = length + 1};
    header->section_count = count;
    header->size_bytes = start + packed;
    *out = header;
    return WP_STATUS_OK;
}

static bool looks_like_ptx(const char *text) {
    return strstr(text, ".version") != NULL && strstr(text, ".target") != NULL;
}

/* PTX of another compiler. */
static wp_status read_foreign(const char *ptx, wp_image_header **out, wp_error *err) {
    char *made;
    size_t size_bytes;
    WP_TRY(wpi_foreign_ptx_image(ptx, strlen(ptx), &made, &size_bytes, err));
    const wp_status status = size_bytes != 0
                                 ? copy_image(made, size_bytes, out, err)
                                 : WP_FAIL(err, TOOLCHAIN, "wpcc made an empty image of a module");
    wpi_free(made);
    return status;
}

static wp_status read_ptx(const char *ptx, wp_image_header **out, wp_error *err) {
    void *image;
    size_t size_bytes, length;
    const wp_status status = wpi_ptx_carrier_read(ptx, &image, &size_bytes, &length, err);
    if (status == WP_STATUS_NOT_FOUND) return read_foreign(ptx, out, err);
    WP_TRY(status);
    const wp_image_header *header;
    wp_status made = wpi_image_check(image, &header, err);
    if (made == WP_STATUS_OK && header->size_bytes > size_bytes)
        made = WP_FAIL(err, PARSE, "the image at the end of the PTX is damaged");
    if (made == WP_STATUS_OK) made = join(header, ptx, length, out, err);
    wpi_free(image);
    return made;
}

wp_status wpi_module_image_copy(const void *data, size_t size_bytes, wp_image_header **out,
                                wp_error *err) {
    static const char elf[] = "\x7f"
                              "ELF",
                      fatbin[] = "\x50\xed\x55\xba";
    *out = NULL;
    if (size_bytes != 0 && size_bytes < strlen(elf))
        return WP_FAIL(err, PARSE, "the module is damaged: it is cut short");
    const size_t magic_bytes = sizeof((const wp_image_header *)data)->magic;
    if (strncmp(data, WP_IMAGE_MAGIC, magic_bytes) == 0)
        return copy_image(data, size_bytes, out, err);
    if (strncmp(data, elf, strlen(elf)) == 0 || strncmp(data, fatbin, strlen(fatbin)) == 0)
        return WP_FAIL(err, UNSUPPORTED,
                       "the module is GPU code of another compiler, which Warpage cannot run; "
                       "compile its source with wpcc -cubin, -fatbin or -ptx");
    char *text = size_bytes != 0 ? wpi_strndup(data, size_bytes) : wpi_strdup(data);
    if (text == NULL) return WP_FAIL(err, NOMEM, "the text of a module");
    const wp_status status =
        looks_like_ptx(text)
            ? read_ptx(text, out, err)
            : WP_FAIL(err, PARSE,
                      "the module is neither an image nor PTX: pass what wpcc -cubin, -fatbin or "
                      "-ptx wrote, or NVRTC");
    wpi_free(text);
    return status;
}
