/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full. */
#include "table_io/dictionary.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIRST_STRINGS 512u
#define PAGE_BYTES ((size_t)1 << 18)

static uint64_t word_of(const char *text, size_t length) {
    uint64_t word;
    memcpy(&word, text, sizeof word);
    return length < 8 ? word & (((uint64_t)1 << (8 * length)) - 1) : word;
}

static uint64_t mix(uint64_t word) {
    word *= 0x9e3779b97f4a7c15u; /* 2^64 / golden ratio */
    return word ^ word >> 32;
}

static uint32_t hash_of(const char *text, size_t length) {
    uint64_t hash = mix(length + 1);
    for (size_t at = 0; at < length; at += 8)
        hash = mix(hash ^ word_of(text + at, length - at));
    return (uint32_t)mix(hash);
}

static bool is_same(const wpi_slice *a, const wpi_slice *b) {
    return a->hash == b->hash && a->length == b->length && memcmp(a->text, b->text, a->length) == 0;
}

static uint32_t slot_of(const wpi_dictionary *dictionary, const wpi_slice *slice) {
    uint32_t at = slice->hash & dictionary->mask;
    while (dictionary->slots[at] != 0 &&
           !is_same(&dictionary->strings[dictionary->slots[at] - 1], slice))
        at = (at + 1) & dictionary->mask;
    return at;
}

static wp_status grow(wpi_dictionary *dictionary, wp_error *err) {
    if (dictionary->capacity > UINT32_MAX / 8)
        return WP_FAIL(err, NOMEM, "more than %u distinct texts in a column", dictionary->capacity);
    const uint32_t capacity = dictionary->capacity == 0 ? FIRST_STRINGS : 2 * dictionary->capacity;
    uint32_t *slots = wpi_calloc(2 * (size_t)capacity, sizeof *slots);
    wpi_slice *strings = wpi_realloc(dictionary->strings, capacity * sizeof *strings);
    if (strings != NULL) dictionary->strings = strings;
    if (slots == NULL || strings == NULL) {
        wpi_free(slots);
        return WP_FAIL(err, NOMEM, "%u distinct texts in a column", capacity);
    }
    wpi_free(dictionary->slots);
    dictionary->slots = slots;
    dictionary->mask = 2 * capacity - 1;
    dictionary->capacity = capacity;
    for (uint32_t i = 0; i < dictionary->count; i++)
        slots[slot_of(dictionary, &strings[i])] = i + 1;
    return WP_STATUS_OK;
}

static wp_status add_page(wpi_dictionary *dictionary, size_t at_least_bytes, wp_error *err) {
    const size_t page_bytes = at_least_bytes > PAGE_BYTES ? at_least_bytes : PAGE_BYTES;
    char **pages = wpi_realloc(dictionary->pages, (dictionary->page_count + 1) * sizeof *pages);
    if (pages == NULL) return WP_FAIL(err, NOMEM, "texts of a column");
    dictionary->pages = pages;
    char *page = wpi_malloc(page_bytes);
    if (page == NULL) return WP_FAIL(err, NOMEM, "texts of a column");
    pages[dictionary->page_count++] = page;
    dictionary->page_bytes = page_bytes;
    dictionary->page_used_bytes = 0;
    return WP_STATUS_OK;
}

static wp_status keep(wpi_dictionary *dictionary, wpi_slice *slice, wp_error *err) {
    if (slice->length > dictionary->page_bytes - dictionary->page_used_bytes)
        WP_TRY(add_page(dictionary, slice->length, err));
    if (slice->length == 0) {
        slice->text = "";
        return WP_STATUS_OK;
    }
    char *copy = dictionary->pages[dictionary->page_count - 1] + dictionary->page_used_bytes;
    memcpy(copy, slice->text, slice->length);
    dictionary->page_used_bytes += slice->length;
    slice->text = copy;
    return WP_STATUS_OK;
}

wp_status wpi_dictionary_slice_code(wpi_dictionary *dictionary, const wpi_slice *slice,
                                    uint32_t *out, wp_error *err) {
    if (dictionary->count == dictionary->capacity) WP_TRY(grow(dictionary, err));
    const uint32_t at = slot_of(dictionary, slice);
    if (dictionary->slots[at] == 0) {
        wpi_slice kept = *slice;
        if (dictionary->is_owner) WP_TRY(keep(dictionary, &kept, err));
        dictionary->strings[dictionary->count++] = kept;
        dictionary->slots[at] = dictionary->count;
    }
    *out = dictionary->slots[at];
    return WP_STATUS_OK;
}

wp_status wpi_dictionary_code(wpi_dictionary *dictionary, const char *text, uint32_t length,
                              uint32_t *out, wp_error *err) {
    const wpi_slice slice = {text, length, hash_of(text, length)};
    return wpi_dictionary_slice_code(dictionary, &slice, out, err);
}

void wpi_dictionary_clear(wpi_dictionary *dictionary) {
    if (dictionary->count != 0)
        memset(dictionary->slots, 0, (dictionary->mask + 1) * sizeof *dictionary->slots);
    dictionary->count = 0;
}

void wpi_dictionary_deinit(wpi_dictionary *dictionary) {
    for (size_t i = 0; i < dictionary->page_count; i++)
        wpi_free(dictionary->pages[i]);
    wpi_free(dictionary->pages);
    wpi_free(dictionary->strings);
    wpi_free(dictionary->slots);
    *dictionary = (wpi_dictionary){.is_owner = dictionary->is_owner};
}

/* ---- order ---- */

static int compare(const void *a, const void *b) {
    const wpi_slice *const left = *(const wpi_slice *const *)a, *const right =
                                                                    *(const wpi_slice *const *)b;
    const uint32_t common = left->length < right->length ? left->length : right->length;
    const int order = common == 0 ? 0 : memcmp(left->text, right->text, common);
    return order != 0 ? order : (left->length > right->length) - (left->length < right->length);
}

wp_status wpi_dictionary_rank(const wpi_dictionary *dictionary, uint32_t **ranks, wp_error *err) {
    const uint32_t count = dictionary->count;
    const wpi_slice **sorted = wpi_malloc((count + (size_t)1) * sizeof *sorted);
    *ranks = wpi_malloc((count + (size_t)1) * sizeof **ranks);
    if (sorted == NULL || *ranks == NULL) {
        wpi_free(sorted);
        wpi_free(*ranks);
        *ranks = NULL;
        return WP_FAIL(err, NOMEM, "order of %u texts", count);
    }
    for (uint32_t i = 0; i < count; i++)
        sorted[i] = &dictionary->strings[i];
    if (count > 0) qsort(sorted, count, sizeof *sorted, compare);
    for (uint32_t i = 0; i < count; i++)
        (*ranks)[sorted[i] - dictionary->strings + 1] = i;
    (*ranks)[0] = count;
    wpi_free(sorted);
    return WP_STATUS_OK;
}
