/* SPDX-License-Identifier: Apache-2.0 */
#include "trace/warp_code.h"

enum { HEAD_SAME_LANES = 0, HEAD_LANES, HEAD_EXIT };

/* How the other lanes' addresses are derived from the first one's. */
typedef enum pattern {
    PATTERN_SAME = 0, /* all lanes at one address */
    PATTERN_ROW,      /* consecutive elements */
    PATTERN_STRIDE,   /* a fixed number of bytes apart */
    PATTERN_ELEMENTS, /* differences from lane to lane, in elements */
    PATTERN_BYTES,    /* … in bytes */
    PATTERN_COUNT
} pattern;

static uint32_t lowest(uint32_t lanes) {
    return (uint32_t)__builtin_ctz(lanes);
}

/* Iterates over the words of a block: those of its accesses, and others, such as that of a barrier
 * whose number is known only at run time. */
typedef struct word {
    uint32_t step; /* next step to examine */
    uint32_t slot; /* index into `last` */
    uint32_t size; /* of an element; a power of two in most cases */
} word;

static void next_word(const wp_trace_tables *tables, const wp_trace_block *block, word *w) {
    w->slot = WPI_WARP_SLOTS - 1;
    w->size = 1;
    while (w->step < block->step_count) {
        const wp_trace_step *step = &tables->steps[block->first_step + w->step++];
        if (step->op != WP_TRACE_ACCESS) continue;
        w->slot = step->value % WPI_WARP_SLOTS;
        w->size = tables->sites[step->value].size_bytes;
        return;
    }
}

/* ---- coding --------------------------------------------------------------------------------- */

static bool has_stride(const uint64_t *a, uint32_t first, uint32_t others, uint64_t stride) {
    for (uint32_t left = others; left != 0; left &= left - 1) {
        const uint32_t lane = lowest(left);
        if (a[lane] != a[first] + (lane - first) * stride) return false;
    }
    return true;
}

static bool are_elements(const uint64_t *a, uint32_t first, uint32_t others, uint32_t size) {
    uint64_t rest = 0;
    for (uint32_t left = others; left != 0; left &= left - 1)
        rest |= (a[lowest(left)] - a[first]) & (size - 1);
    return rest == 0 && (size & (size - 1)) == 0;
}

/* The stride between the first two lanes, if it is a whole number. */
static uint64_t first_stride(const uint64_t *a, uint32_t first, uint32_t others) {
    const uint32_t second = lowest(others);
    return (uint64_t)((int64_t)(a[second] - a[first]) / (int64_t)(second - first));
}

static pattern pattern_of(const uint64_t *a, uint32_t first, uint32_t others, uint32_t size,
                          uint64_t *stride) {
    *stride = others != 0 ? first_stride(a, first, others) : 0;
    if (has_stride(a, first, others, *stride)) {
        if (*stride == 0) return PATTERN_SAME;
        return *stride == size ? PATTERN_ROW : PATTERN_STRIDE;
    }
    return are_elements(a, first, others, size) ? PATTERN_ELEMENTS : PATTERN_BYTES;
}

/* A signed difference in elements; PATTERN_ELEMENTS divides exactly. */
static uint64_t in_elements(uint64_t difference, uint32_t size) {
    return (uint64_t)((int64_t)difference / (int64_t)size);
}

/* Writes the pattern, and the difference of the first address: 4 bits beside it, the rest after
 * it. */
static uint8_t *put_tag(uint8_t *to, pattern p, uint64_t difference) {
    const uint64_t folded = wpi_zigzag(difference), rest = folded >> 4;
    *to++ = (uint8_t)((uint32_t)p | (folded & 0xf) << 3 | (uint64_t)(rest != 0) << 7);
    return rest != 0 ? wpi_varint_put(to, rest) : to;
}

static uint8_t *put_word(wpi_warp_code *code, const word *w, uint32_t mask, const uint64_t *a,
                         uint8_t *to) {
    const uint32_t first = lowest(mask), others = mask & (mask - 1), size = w->size;
    uint64_t stride;
    const pattern p = pattern_of(a, first, others, size, &stride);
    to = put_tag(to, p, a[first] - code->last[w->slot]);
    code->last[w->slot] = a[first];
    if (p == PATTERN_STRIDE) return wpi_varint_put(to, wpi_zigzag(stride));
    if (p != PATTERN_ELEMENTS && p != PATTERN_BYTES) return to;
    uint64_t before = a[first];
    for (uint32_t left = others; left != 0; left &= left - 1) {
        const uint64_t address = a[lowest(left)], difference = address - before;
        to = wpi_varint_put(
            to, wpi_zigzag(p == PATTERN_ELEMENTS ? in_elements(difference, size) : difference));
        before = address;
    }
    return to;
}

uint8_t *wpi_warp_encode_block(wpi_warp_code *code, const wp_trace_tables *tables,
                               const wpi_warp_block *block, uint8_t *to) {
    const bool has_lanes = block->mask != code->mask;
    const uint64_t difference = wpi_zigzag((uint64_t)block->block - code->block);
    to = wpi_varint_put(to, difference << 2 | (has_lanes ? HEAD_LANES : HEAD_SAME_LANES));
    if (has_lanes) to = wpi_varint_put(to, block->mask);
    code->block = block->block;
    code->mask = block->mask;
    const wp_trace_block *b = &tables->blocks[block->block];
    word w = {0};
    for (uint32_t i = 0; i < b->access_count; i++) {
        next_word(tables, b, &w);
        to = put_word(code, &w, block->mask, block->addresses + (size_t)i * WPI_LANES, to);
    }
    return to;
}

uint8_t *wpi_warp_encode_exit(uint32_t lanes, uint8_t *to) {
    *to++ = HEAD_EXIT;
    return wpi_varint_put(to, lanes);
}

/* ---- decoding ------------------------------------------------------------------------------- */

static pattern get_tag(wpi_cursor *from, uint64_t *difference) {
    const uint8_t *tag = wpi_cursor_bytes(from, 1);
    if (tag == NULL) return PATTERN_COUNT;
    uint64_t folded = *tag >> 3 & 0xf;
    if ((*tag & 0x80) != 0) folded |= wpi_cursor_varint(from) << 4;
    *difference = wpi_unzigzag(folded);
    return (pattern)(*tag & 7);
}

/* False: no such pattern. */
static bool get_word(wpi_warp_code *code, const word *w, wpi_cursor *from, uint64_t *a) {
    uint64_t difference = 0, stride = 0;
    const pattern p = get_tag(from, &difference);
    const uint32_t first = lowest(code->mask);
    if (p >= PATTERN_COUNT) return false;
    uint64_t address = code->last[w->slot] + difference;
    code->last[w->slot] = address;
    a[first] = address;
    if (p == PATTERN_ROW) stride = w->size;
    if (p == PATTERN_STRIDE) stride = wpi_unzigzag(wpi_cursor_varint(from));
    const bool is_list = p == PATTERN_ELEMENTS || p == PATTERN_BYTES;
    const uint32_t unit = p == PATTERN_ELEMENTS ? w->size : 1;
    for (uint32_t left = code->mask & (code->mask - 1); left != 0; left &= left - 1) {
        const uint32_t lane = lowest(left);
        if (is_list) address += wpi_unzigzag(wpi_cursor_varint(from)) * unit;
        a[lane] = is_list ? address : address + (lane - first) * stride;
    }
    return true;
}

static bool get_words(wpi_warp_code *code, const wp_trace_tables *tables, wpi_cursor *from,
                      uint64_t *addresses) {
    const wp_trace_block *b = &tables->blocks[code->block];
    word w = {0};
    for (uint32_t i = 0; i < b->access_count; i++) {
        next_word(tables, b, &w);
        if (!get_word(code, &w, from, addresses + (size_t)i * WPI_LANES)) return false;
    }
    return true;
}

wpi_warp_entry wpi_warp_decode(wpi_warp_code *code, const wp_trace_tables *tables, wpi_cursor *from,
                               uint32_t *block, uint32_t *mask, uint64_t *addresses) {
    const uint64_t head = wpi_cursor_varint(from);
    const uint32_t kind = (uint32_t)(head & 3);
    if (kind != HEAD_SAME_LANES) *mask = wpi_cursor_u32(from);
    if (kind == HEAD_EXIT)
        return head == HEAD_EXIT && !from->is_bad && *mask != 0 ? WPI_WARP_EXIT : WPI_WARP_BAD;
    if (kind == HEAD_LANES) code->mask = *mask;
    const uint64_t number = code->block + wpi_unzigzag(head >> 2);
    if (kind > HEAD_EXIT || number >= tables->block_count || code->mask == 0) return WPI_WARP_BAD;
    code->block = (uint32_t)number;
    if (!get_words(code, tables, from, addresses) || from->is_bad) return WPI_WARP_BAD;
    *block = code->block;
    *mask = code->mask;
    return WPI_WARP_BLOCK;
}
