/* SPDX-License-Identifier: Apache-2.0 */
#include "compiler/emit/image_writer.h"

#include <string.h>
#include <zstd.h>

#include "base/abi.h"
#include "base/fail.h"
#include "base/file.h"
#include "base/must.h"
#include "base/text.h"

#define COMPRESSION_LEVEL 3 /* bitcode is small; higher levels cost more time than they save */

static size_t align16(size_t value) {
    return (value + 15) & ~(size_t)15;
}

static wp_status compress(wpi_text *out, const wpi_image_part *part, size_t *size_bytes,
                          wp_error *err) {
    size_t bound = ZSTD_compressBound(part->size_bytes);
    void *packed = wpi_malloc(bound ? bound : 1);
    if (!packed)
        return WP_FAIL(err, NOMEM, "no memory to compress %zu bytes of device code",
                       part->size_bytes);
    *size_bytes = ZSTD_compress(packed, bound, part->data, part->size_bytes, COMPRESSION_LEVEL);
    bool failed = ZSTD_isError(*size_bytes);
    if (!failed) wpi_text_append_n(out, packed, *size_bytes);
    wpi_free(packed);
    return failed ? WP_FAIL(err, TOOLCHAIN, "device code could not be compressed") : WP_STATUS_OK;
}

wp_status wpi_image_make(uint64_t id, const wpi_image_part *parts, uint32_t count, wpi_text *out,
                         wp_error *err) {
    static const char zeros[16];
    wp_image_header header = {.abi_version = WP_ABI_VERSION, .section_count = count, .id = id};
    memcpy(header.magic, WP_IMAGE_MAGIC, sizeof header.magic);
    wp_image_section *sections = wpi_must_calloc(count + 1, sizeof *sections);
    size_t start = align16(sizeof header + count * sizeof *sections);
    wpi_text body = {0};
    wp_status status = WP_STATUS_OK;
    for (uint32_t p = 0; p < count; p++) {
        size_t size_bytes = 0;
        sections[p] = (wp_image_section){.kind = parts[p].kind,
                                         .arch = parts[p].arch,
                                         .offset = start + body.length,
                                         .raw_size_bytes = parts[p].size_bytes};
        WP_TRY_GOTO(compress(&body, &parts[p], &size_bytes, err), done);
        sections[p].size_bytes = size_bytes;
        wpi_text_append_n(&body, zeros, align16(body.length) - body.length);
    }
    header.size_bytes = start + body.length;
    wpi_text_append_n(out, &header, sizeof header);
    wpi_text_append_n(out, sections, count * sizeof *sections);
    wpi_text_append_n(out, zeros, start - out->length);
    if (body.length) wpi_text_append_n(out, body.data, body.length);
done:
    wpi_text_deinit(&body);
    wpi_free(sections);
    return status;
}

wp_status wpi_image_write(const char *path, uint64_t id, const wpi_image_part *parts,
                          uint32_t count, wp_error *err) {
    wpi_text whole = {0};
    wp_status status = wpi_image_make(id, parts, count, &whole, err);
    if (status == WP_STATUS_OK) status = wpi_file_write(path, whole.data, whole.length, err);
    wpi_text_deinit(&whole);
    return status;
}
