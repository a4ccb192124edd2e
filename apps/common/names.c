/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing with linear probing; the table holds word numbers, the words lie in one array. */
#include "common/names.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"

static uint64_t hash_word(const char *word, size_t length) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (size_t i = 0; i < length; i++) {
        hash = (hash ^ (unsigned char)word[i]) * 0x100000001b3u;
    }
    return hash ^ hash >> 32;
}

static void rehash(app_names *names) {
    free(names->slot);
    names->slot_count = names->slot_count != 0 ? 2 * names->slot_count : 1024;
    names->slot = app_allocate(names->slot_count, sizeof *names->slot, "names");
    memset(names->slot, 0, names->slot_count * sizeof *names->slot);
    for (uint32_t i = 0; i < names->count; i++) {
        const char *word = app_names_word(names, i);
        size_t place = hash_word(word, strlen(word)) & (names->slot_count - 1);
        while (names->slot[place] != 0) {
            place = (place + 1) & (names->slot_count - 1);
        }
        names->slot[place] = i + 1;
    }
}

uint32_t app_names_number(app_names *names, const char *word, size_t length) {
    if (2 * ((size_t)names->count + 1) > names->slot_count) {
        rehash(names);
    }
    size_t place = hash_word(word, length) & (names->slot_count - 1);
    while (names->slot[place] != 0) {
        const char *known = app_names_word(names, names->slot[place] - 1);
        if (strncmp(known, word, length) == 0 && known[length] == '\0') {
            return names->slot[place] - 1;
        }
        place = (place + 1) & (names->slot_count - 1);
    }
    while (names->capacity_bytes - names->size_bytes < length + 1) {
        names->capacity_bytes = names->capacity_bytes != 0 ? 2 * names->capacity_bytes : 1 << 16;
        names->bytes = app_reallocate(names->bytes, names->capacity_bytes, 1, "names");
    }
    if (names->count == names->capacity) {
        names->capacity = names->capacity != 0 ? 2 * names->capacity : 1024;
        names->start = app_reallocate(names->start, names->capacity, sizeof *names->start, "names");
    }
    names->start[names->count] = names->size_bytes;
    memcpy(names->bytes + names->size_bytes, word, length);
    names->bytes[names->size_bytes + length] = '\0';
    names->size_bytes += length + 1;
    names->slot[place] = ++names->count;
    return names->count - 1;
}

const char *app_names_word(const app_names *names, uint32_t number) {
    return names->bytes + names->start[number];
}

void app_names_free(app_names *names) {
    free(names->bytes);
    free(names->start);
    free(names->slot);
    *names = (app_names){0};
}
