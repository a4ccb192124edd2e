/* SPDX-License-Identifier: Apache-2.0 */
/* Order of texts: a radix sort by 8 bytes at a time, where texts that have these in common are
 * sorted by the next 8; a few are sorted by comparison. */
#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "ops/texts/texts.h"

#define FEW 24u
#define DEPTH_MAX 64u /* of recursion; then all are compared */

typedef struct item {
    uint64_t key; /* 8 bytes of the text, the first one highest; zeros behind its end */
    uint32_t code;
} item;

typedef struct sorting {
    const wp_texts *texts;
    uint32_t counts[8][256];
} sorting;

static int compare(const sorting *s, const item *a, const item *b) {
    const wpi_text_view *left = wpi_texts_view(s->texts, a->code);
    const wpi_text_view *right = wpi_texts_view(s->texts, b->code);
    const uint32_t left_length = wpi_text_length(left), right_length = wpi_text_length(right);
    const uint32_t common = left_length < right_length ? left_length : right_length;
    const int order = memcmp(wpi_text_bytes(left), wpi_text_bytes(right), common);
    if (order != 0) return order;
    return (left_length > right_length) - (left_length < right_length);
}

static void insertion_sort(const sorting *s, item *items, uint32_t count) {
    for (uint32_t i = 1; i < count; i++) {
        const item moved = items[i];
        uint32_t at = i;
        for (; at > 0 && compare(s, &items[at - 1], &moved) > 0; at--)
            items[at] = items[at - 1];
        items[at] = moved;
    }
}

static void merge_sort(const sorting *s, item *items, item *scratch, uint32_t count) {
    for (uint32_t first = 0; first < count; first += FEW)
        insertion_sort(s, items + first, count - first < FEW ? count - first : FEW);
    for (uint64_t run = FEW; run < count; run *= 2) {
        for (uint64_t first = 0; first < count; first += 2 * run) {
            const uint64_t middle = first + run < count ? first + run : count;
            const uint64_t outer = first + 2 * run < count ? first + 2 * run : count;
            for (uint64_t left = first, right = middle, to = first; to < outer; to++) {
                const bool is_left =
                    right == outer ||
                    (left < middle && compare(s, &items[left], &items[right]) <= 0);
                scratch[to] = is_left ? items[left++] : items[right++];
            }
        }
        memcpy(items, scratch, count * sizeof *items);
    }
}

/* 8 bytes of the text from `offset` on. */
static uint64_t key_of(const wp_texts *texts, uint32_t code, uint64_t offset) {
    const wpi_text_view *view = wpi_texts_view(texts, code);
    const uint32_t length = wpi_text_length(view);
    uint64_t key = 0;
    if (length > offset)
        memcpy(&key, wpi_text_bytes(view) + offset, length - offset < 8 ? length - offset : 8);
    return __builtin_bswap64(key);
}

/* By keys; a byte that all have in common takes no pass. */
static void radix_sort(sorting *s, item *items, item *scratch, uint32_t count) {
    item *from = items, *to = scratch;
    memset(s->counts, 0, sizeof s->counts);
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t byte = 0; byte < 8; byte++)
            s->counts[byte][items[i].key >> 8 * byte & 255]++;
    for (uint32_t byte = 0; byte < 8; byte++) {
        uint32_t *starts = s->counts[byte];
        if (starts[items[0].key >> 8 * byte & 255] == count) continue;
        for (uint32_t i = 0, sum = 0; i < 256; i++) {
            const uint32_t here = starts[i];
            starts[i] = sum;
            sum += here;
        }
        for (uint32_t i = 0; i < count; i++)
            to[starts[from[i].key >> 8 * byte & 255]++] = from[i];
        item *swap = from;
        from = to;
        to = swap;
    }
    if (from != items) memcpy(items, from, count * sizeof *items);
}

/* Bytes that all texts have in common, the first `from` of which are known to be. */
static uint64_t common_bytes(const wp_texts *texts, const item *items, uint32_t count,
                             uint64_t from) {
    const wpi_text_view *first = wpi_texts_view(texts, items[0].code);
    const char *bytes = wpi_text_bytes(first);
    uint64_t common = wpi_text_length(first);
    for (uint32_t i = 1; i < count && common > from; i++) {
        const wpi_text_view *view = wpi_texts_view(texts, items[i].code);
        const char *others = wpi_text_bytes(view);
        uint64_t at = from;
        if (wpi_text_length(view) < common) common = wpi_text_length(view);
        while (at + 8 <= common && wpi_text_load_8(bytes + at) == wpi_text_load_8(others + at))
            at += 8;
        while (at < common && bytes[at] == others[at])
            at++;
        common = at;
    }
    return common;
}

/* Sets keys; false: they are all the same. */
static bool set_keys(const wp_texts *texts, item *items, uint32_t count, uint64_t offset) {
    uint64_t differing = 0;
    for (uint32_t i = 0; i < count; i++) {
        items[i].key = key_of(texts, items[i].code, offset);
        differing |= items[i].key ^ items[0].key;
    }
    return differing != 0;
}

static void sort(sorting *s, item *items, item *scratch, uint32_t count, uint64_t offset,
                 uint32_t depth) {
    if (count <= FEW) {
        insertion_sort(s, items, count);
        return;
    }
    if (depth > DEPTH_MAX) {
        merge_sort(s, items, scratch, count);
        return;
    }
    while (!set_keys(s->texts, items, count, offset)) {
        /* Such as the beginning of an address. */
        const uint64_t common = common_bytes(s->texts, items, count, offset);
        if (common < offset + 8) break;
        offset = common;
    }
    radix_sort(s, items, scratch, count);
    for (uint32_t first = 0, outer; first < count; first = outer) {
        for (outer = first + 1; outer < count && items[outer].key == items[first].key; outer++)
            ;
        if (outer - first > 1)
            sort(s, items + first, scratch, outer - first, offset + 8, depth + 1);
    }
}

wp_status wpi_texts_sort(wp_texts *texts, uint32_t **ranks, wp_error *err) {
    const uint32_t count = (uint32_t)wp_texts_count(texts);
    sorting *s = wpi_malloc(sizeof *s);
    item *items = wpi_cpu_memory_alloc((count + 1) * sizeof *items);
    item *scratch = wpi_cpu_memory_alloc((count + 1) * sizeof *scratch);
    uint32_t *order = wpi_cpu_memory_alloc((count + 1) * sizeof *order);
    *ranks = wpi_cpu_memory_alloc(((size_t)count + 1) * sizeof **ranks);
    const bool is_complete =
        s != NULL && items != NULL && scratch != NULL && order != NULL && *ranks != NULL;
    if (is_complete) {
        s->texts = texts;
        for (uint32_t i = 0; i < count; i++)
            items[i].code = i + 1;
        sort(s, items, scratch, count, 0, 0);
        (*ranks)[0] = count;
        for (uint32_t i = 0; i < count; i++) {
            order[i] = items[i].code;
            (*ranks)[order[i]] = i;
        }
        wpi_free(texts->order);
        texts->order = order;
    } else {
        wpi_free(order);
        wpi_free(*ranks);
        *ranks = NULL;
    }
    wpi_free(scratch);
    wpi_free(items);
    wpi_free(s);
    return is_complete ? WP_STATUS_OK : WP_FAIL(err, NOMEM, "the order of %u texts", count);
}
