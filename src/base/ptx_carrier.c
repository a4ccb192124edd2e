/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ptx_carrier.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/fail.h"
#include "base/hash.h"

#define HEAD "// wp-image: "
#define VERSION 1
#define LINE_CHARACTERS 76
#define IMAGE_BYTES_MAX ((size_t)1 << 31)

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* ---- writing ---- */

/* The four characters of up to three bytes. */
static void encode(const uint8_t *from, size_t count, char to[4]) {
    const uint32_t word = (uint32_t)from[0] << 16 | (count > 1 ? (uint32_t)from[1] << 8 : 0) |
                          (count > 2 ? (uint32_t)from[2] : 0);
    to[0] = digits[word >> 18];
    to[1] = digits[word >> 12 & 63];
    to[2] = count > 1 ? digits[word >> 6 & 63] : '=';
    to[3] = count > 2 ? digits[word & 63] : '=';
}

void wpi_ptx_carrier_append(wpi_text *ptx, const void *image, size_t size_bytes) {
    const uint8_t *bytes = image;
    if (ptx->length != 0 && ptx->data[ptx->length - 1] != '\n') wpi_text_append(ptx, "\n");
    wpi_text_appendf(ptx, HEAD "%d %zu %016" PRIx64 "\n", VERSION, size_bytes,
                     wpi_hash64(wpi_text_string(ptx), ptx->length, 0));
    char line[LINE_CHARACTERS];
    size_t length = 0;
    for (size_t i = 0; i < size_bytes; i += 3) {
        encode(bytes + i, size_bytes - i, line + length);
        length += 4;
        if (length < LINE_CHARACTERS && i + 3 < size_bytes) continue;
        wpi_text_append(ptx, "// ");
        wpi_text_append_n(ptx, line, length);
        wpi_text_append(ptx, "\n");
        length = 0;
    }
    wpi_text_append(ptx, HEAD "end\n");
}

/* ---- reading ---- */

/* The last line of the text that begins with the head and a digit; NULL: none. */
static const char *find_head(const char *ptx) {
    const char *found = NULL;
    for (const char *at = ptx; (at = strstr(at, HEAD)) != NULL; at += strlen(HEAD)) {
        const char next = at[strlen(HEAD)];
        if ((at == ptx || at[-1] == '\n') && next >= '0' && next <= '9') found = at;
    }
    return found;
}

static int value_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Decodes the lines at `at`; false: they are not base64 of this size. */
static bool decode(const char *at, uint8_t *to, size_t size_bytes) {
    uint32_t word = 0, bits = 0;
    size_t count = 0;
    while (strncmp(at, "// ", 3) == 0 && strncmp(at, HEAD, strlen(HEAD)) != 0) {
        for (at += 3; *at != '\n' && *at != '\r' && *at != '\0'; at++) {
            const int value = value_of(*at);
            if (value < 0 && *at != '=') return false;
            if (value < 0) continue;
            word = word << 6 | (uint32_t)value;
            bits += 6;
            if (bits < 8) continue;
            bits -= 8;
            if (count == size_bytes) return false;
            to[count++] = (uint8_t)(word >> bits);
        }
        while (*at == '\r' || *at == '\n')
            at++;
    }
    return count == size_bytes && strncmp(at, HEAD "end", strlen(HEAD "end")) == 0;
}

wp_status wpi_ptx_carrier_read(const char *ptx, void **image, size_t *size_bytes,
                               size_t *text_length, wp_error *err) {
    *image = NULL;
    const char *head = find_head(ptx);
    if (head == NULL) return WP_FAIL(err, NOT_FOUND, "the PTX carries no image of wpcc");
    char *at;
    const unsigned long version = strtoul(head + strlen(HEAD), &at, 10);
    const unsigned long long bytes = strtoull(at, &at, 10);
    const uint64_t hash = strtoull(at, &at, 16);
    at += strspn(at, "\r");
    if (version != VERSION)
        return WP_FAIL(err, PARSE,
                       "the PTX carries an image of format %lu, this library reads %d: compile it "
                       "again",
                       version, VERSION);
    if (*at != '\n' || bytes > IMAGE_BYTES_MAX)
        return WP_FAIL(err, PARSE, "the image at the end of the PTX is damaged");
    *text_length = (size_t)(head - ptx);
    if (wpi_hash64(ptx, *text_length, 0) != hash)
        return WP_FAIL(err, PARSE,
                       "the PTX was changed after wpcc wrote it, but not the image at its end that "
                       "this device runs: compile the source again");
    *size_bytes = (size_t)bytes;
    *image = wpi_malloc_aligned(16, (size_t)bytes + 16);
    if (*image == NULL) return WP_FAIL(err, NOMEM, "%llu bytes of device code", bytes);
    if (decode(at + 1, *image, *size_bytes)) return WP_STATUS_OK;
    wpi_free(*image);
    *image = NULL;
    return WP_FAIL(err, PARSE, "the image at the end of the PTX is damaged");
}
