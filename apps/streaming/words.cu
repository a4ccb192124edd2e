/* SPDX-License-Identifier: Apache-2.0 */
#include "streaming/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"

unsigned long long app_word_hash_all(const char *word, uint64_t length) {
    unsigned long long hash = APP_WORD_NONE;
    for (uint64_t i = 0; i < length; i++) {
        if (app_word_has((unsigned char)word[i])) {
            hash = app_word_hash(hash, (unsigned char)word[i]);
        }
    }
    return hash;
}

uint32_t app_word_spell(char *out, uint32_t rank) {
    static const char consonants[] = "bcdfghklmnprstvz", vowels[] = "aeiou";
    uint32_t length = 0;
    do {
        out[length++] = consonants[rank % 16];
        rank /= 16;
        out[length++] = vowels[rank % 5];
        rank /= 5;
    } while (rank != 0 && length < 16);
    return length;
}

uint32_t app_word_rank(uint64_t random, uint32_t words) {
    const double unit = (double)(random >> 11) * 0x1p-53;
    return (uint32_t)pow((double)words, unit) - 1;
}

#define LONGEST 256

/* The next word of the text from *p on, without apostrophes and in small letters; false: there is
 * none. [*start, *p) is where it is. Letters after the LONGEST-th do not count. */
static bool next_word(const char *text, uint64_t bytes, uint64_t *p, uint64_t *start, char *word,
                      uint32_t *length) {
    uint64_t i = *p;
    *length = 0;
    while (i < bytes && !app_word_has((unsigned char)text[i])) {
        i++;
    }
    *start = i;
    for (; i < bytes && (app_word_has((unsigned char)text[i]) || text[i] == '\''); i++) {
        const unsigned char c = (unsigned char)text[i];
        if (c != '\'' && *length < LONGEST) {
            word[(*length)++] = (char)(c > 127 ? c : c | 0x20);
        }
    }
    *p = i;
    return *length != 0;
}

void app_vocabulary_create(app_vocabulary *v, const char *text, uint64_t bytes, uint64_t seed) {
    uint32_t *keys = NULL;
    uint64_t count = 0, capacity = 0, p = 0, start;
    char word[LONGEST];
    uint32_t length;
    memset(v, 0, sizeof *v);
    while (next_word(text, bytes, &p, &start, word, &length)) {
        if (count == capacity) {
            capacity = capacity != 0 ? 2 * capacity : 4096;
            keys = (uint32_t *)app_reallocate(keys, capacity, sizeof *keys, "the words");
        }
        keys[count++] = app_names_number(&v->names, word, length);
    }
    v->growth = app_growth_measure(keys, count, v->names.count, seed);
    v->words = v->names.count;
    v->is_kept = (bool *)app_allocate(v->words, sizeof(bool), "the words");
    v->is_renamed = (bool *)app_allocate(v->words, sizeof(bool), "the words");
    for (uint32_t w = 0; w < v->words; w++) {
        v->is_kept[w] = v->is_renamed[w] = false;
    }
    free(keys);
}

void app_vocabulary_free(app_vocabulary *v) {
    app_names_free(&v->names);
    app_growth_free(&v->growth);
    free(v->is_kept);
    free(v->is_renamed);
}

void app_vocabulary_keep(app_vocabulary *v, const char *word, uint64_t length) {
    const uint32_t number = app_names_number(&v->names, word, length);
    if (number + 1 > v->words) {
        v->words = v->names.count;
        v->is_kept = (bool *)app_reallocate(v->is_kept, v->words, sizeof(bool), "the words");
        v->is_renamed = (bool *)app_reallocate(v->is_renamed, v->words, sizeof(bool), "the words");
        v->is_renamed[number] = false;
    }
    v->is_kept[number] = true;
}

/* q and more letters, which tell the copy. */
static uint32_t spell_copy(char *out, uint64_t copy) {
    uint32_t length = 0;
    out[length++] = 'q';
    for (; copy != 0; copy /= 25) {
        const char letter = (char)('a' + copy % 25);
        out[length++] = letter >= 'q' ? (char)(letter + 1) : letter;
    }
    return length;
}

uint64_t app_vocabulary_write(app_vocabulary *v, const char *text, uint64_t bytes, uint64_t copy,
                              char *out, uint64_t capacity) {
    uint64_t p = 0, start, copied = 0, written = 0;
    char word[LONGEST], suffix[16];
    uint32_t length;
    if (copy != v->copy) {
        for (uint32_t w = 0; w < v->words; w++) {
            v->is_renamed[w] = !v->is_kept[w] && app_growth_renames(&v->growth, w, copy);
        }
        v->copy = copy;
    }
    const uint32_t suffix_length = spell_copy(suffix, copy);
    while (next_word(text, bytes, &p, &start, word, &length)) {
        if (v->is_renamed[app_names_number(&v->names, word, length)]) {
            if (written + (p - copied) + suffix_length > capacity) {
                break; /* a cut suffix would be another word */
            }
            memcpy(out + written, text + copied, p - copied);
            written += p - copied;
            memcpy(out + written, suffix, suffix_length);
            written += suffix_length;
            copied = p;
        }
    }
    const uint64_t rest = bytes - copied < capacity - written ? bytes - copied : capacity - written;
    memcpy(out + written, text + copied, rest);
    return written + rest;
}
