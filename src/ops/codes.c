/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full; the table holds numbers, so growing moves no words. */
#include "ops/codes.h"

#include "base/alloc.h"
#include "ops/hash.h"

#define FIRST_SLOTS 1024u
#define COUNT_MAX (UINT32_MAX / 2)

static uint32_t slot_of(const wpi_codes *codes, uint64_t word) {
    uint32_t at = (uint32_t)wpi_hash_word(word) & codes->mask;
    while (codes->slots[at] != 0 && codes->words[codes->slots[at] - 1] != word)
        at = (at + 1) & codes->mask;
    return at;
}

static wp_status grow(wpi_codes *codes, wp_error *err) {
    const uint32_t slots = codes->capacity == 0 ? FIRST_SLOTS : 4 * codes->capacity;
    if (codes->capacity > COUNT_MAX / 2) return WP_FAIL(err, NOMEM, "too many different keys");
    uint32_t *table = wp_calloc(slots, sizeof *table);
    uint64_t *words = wp_realloc(codes->words, slots / 2 * sizeof *words);
    if (words != NULL) codes->words = words;
    if (table == NULL || words == NULL) {
        wp_free(table);
        return WP_FAIL(err, NOMEM, "numbers for %u keys", slots / 2);
    }
    wp_free(codes->slots);
    codes->slots = table;
    codes->mask = slots - 1;
    codes->capacity = slots / 2;
    for (uint32_t i = 0; i < codes->count; i++)
        table[slot_of(codes, words[i])] = i + 1;
    return WP_STATUS_OK;
}

wp_status wpi_codes_number(wpi_codes *codes, uint64_t word, uint32_t *out, wp_error *err) {
    if (codes->count == codes->capacity) WP_TRY(grow(codes, err));
    const uint32_t at = slot_of(codes, word);
    if (codes->slots[at] == 0) {
        codes->words[codes->count++] = word;
        codes->slots[at] = codes->count;
    }
    *out = codes->slots[at] - 1;
    return WP_STATUS_OK;
}

void wpi_codes_deinit(wpi_codes *codes) {
    wp_free(codes->words);
    wp_free(codes->slots);
    *codes = (wpi_codes){0};
}
