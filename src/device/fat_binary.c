/* SPDX-License-Identifier: Apache-2.0 */
/* The layout, little-endian, as cuobjdump and ZLUDA read it:
 *
 *     header   0xba55ed50 u32, version u16, bytes of the header u16, bytes after the header u64
 *     entry    kind u16 (1: PTX, 2: machine code), version u16, bytes of the entry's header u32,
 *              bytes after that u64, …, at 16: compressed bytes u32, at 28: NN of sm_NN u32,
 *              at 40: flags u64, at 56: bytes once decompressed u64
 *     entry    … */
#include "device/fat_binary.h"

#include <stdint.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/fail.h"

#define MAGIC "\x50\xed\x55\xba"
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define HEADER_BYTES 16u
#define ENTRY_BYTES 64u
#define KIND_PTX 1u
#define TEXT_BYTES_MAX (UINT64_C(1) << 30)

typedef struct entry {
    const unsigned char *payload;
    uint64_t payload_bytes;
    uint64_t raw_bytes; /* 0: not compressed */
    uint64_t flags;
    uint32_t arch;
} entry;

static uint64_t number(const unsigned char *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = bytes; i-- > 0;)
        value = value << 8 | at[i];
    return value;
}

bool wpi_fat_binary_is(const void *data) {
    return strncmp(data, MAGIC, strlen(MAGIC)) == 0; /* reads no further than a text that differs */
}

static wp_status damaged(wp_error *err) {
    return WP_FAIL(err, PARSE, "the fat binary is damaged");
}

/* A block of LZ4: runs of literals, each followed by a copy from what is already there. False: it
 * is damaged. */
static bool lz4_decompress(const unsigned char *in, uint64_t in_bytes, unsigned char *out,
                           uint64_t out_bytes) {
    uint64_t i = 0, o = 0;
    while (i < in_bytes) {
        const unsigned token = in[i++];
        uint64_t literals = token >> 4, copy = (token & 15) + 4;
        for (unsigned more = 255; literals >= 15 && more == 255;) {
            if (i == in_bytes) return false;
            more = in[i++];
            literals += more;
        }
        if (literals > in_bytes - i || literals > out_bytes - o) return false;
        memcpy(out + o, in + i, literals);
        i += literals;
        o += literals;
        if (i == in_bytes) break; /* the last run has no copy */
        if (in_bytes - i < 2) return false;
        const uint64_t distance = number(in + i, 2);
        i += 2;
        for (unsigned more = 255; copy >= 19 && more == 255;) {
            if (i == in_bytes) return false;
            more = in[i++];
            copy += more;
        }
        if (distance == 0 || distance > o || copy > out_bytes - o) return false;
        for (; copy > 0; copy--, o++)
            out[o] = out[o - distance];
    }
    return o == out_bytes;
}

static bool decompress(const entry *e, unsigned char *out) {
    if ((e->flags & FLAG_ZSTD) != 0)
        return ZSTD_decompress(out, e->raw_bytes, e->payload, e->payload_bytes) == e->raw_bytes;
    return lz4_decompress(e->payload, e->payload_bytes, out, e->raw_bytes);
}

static wp_status text_of(const entry *e, char **text, wp_error *err) {
    const bool is_packed = (e->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0;
    const uint64_t bytes = is_packed ? e->raw_bytes : e->payload_bytes;
    if (bytes > TEXT_BYTES_MAX) return damaged(err);
    char *made = wpi_malloc((size_t)bytes + 1);
    if (made == NULL) return WP_FAIL(err, NOMEM, "%zu bytes of PTX", (size_t)bytes);
    bool is_right = true;
    if (is_packed)
        is_right = decompress(e, (unsigned char *)made);
    else
        memcpy(made, e->payload, (size_t)bytes);
    made[bytes] = '\0';
    if (!is_right) {
        wpi_free(made);
        return damaged(err);
    }
    *text = made;
    return WP_STATUS_OK;
}

/* Reads the entry at `at`, of which `left` bytes are there; `*bytes`: its length. */
static bool read_entry(const unsigned char *at, uint64_t left, entry *out, uint64_t *bytes) {
    if (left < ENTRY_BYTES) return false;
    const uint64_t header = number(at + 4, 4), payload = number(at + 8, 8);
    if (header < ENTRY_BYTES || header > left || payload > left - header) return false;
    const uint64_t packed = number(at + 16, 4);
    *out = (entry){.payload = at + header,
                   .payload_bytes = payload,
                   .flags = number(at + 40, 8),
                   .raw_bytes = number(at + 56, 8),
                   .arch = (uint32_t)number(at + 28, 4)};
    if ((out->flags & (FLAG_LZ4 | FLAG_ZSTD)) != 0 && packed != 0) {
        if (packed > payload) return false;
        out->payload_bytes = packed;
    }
    *bytes = header + payload;
    return true;
}

wp_status wpi_fat_binary_ptx(const void *data, size_t size_bytes, char **text, wp_error *err) {
    const unsigned char *at = data;
    *text = NULL;
    if (size_bytes != 0 && size_bytes < HEADER_BYTES) return damaged(err);
    const uint64_t header = number(at + 6, 2), body = number(at + 8, 8);
    if (body != 0 && header < HEADER_BYTES) return damaged(err);
    if (size_bytes != 0 && (header > size_bytes || body > size_bytes - header)) return damaged(err);
    entry best = {0};
    bool is_found = false;
    for (uint64_t offset = 0; offset < body;) {
        entry e;
        uint64_t bytes;
        if (!read_entry(at + header + offset, body - offset, &e, &bytes)) return damaged(err);
        const bool is_ptx = number(at + header + offset, 2) == KIND_PTX;
        if (is_ptx && (!is_found || e.arch > best.arch)) best = e;
        is_found = is_found || is_ptx;
        offset += bytes;
    }
    if (!is_found)
        return WP_FAIL(err, UNSUPPORTED,
                       "the program contains GPU code from another compiler, and no PTX, which "
                       "alone can be translated; compile it with wpcc, or let nvcc embed PTX "
                       "(-gencode arch=compute_70,code=compute_70)");
    return text_of(&best, text, err);
}
