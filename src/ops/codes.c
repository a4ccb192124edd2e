/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing, at most half full; the table holds indices, so growing moves no words. */
#include "ops/codes.h"

#include <pthread.h>

#include "base/alloc.h"
#include "ops/key_hash.h"

#define SHARD_BITS 5u
#define SHARDS (1u << SHARD_BITS)
#define FIRST_SLOTS 64u
#define COUNT_MAX (UINT32_MAX >> SHARD_BITS >> 1)

typedef struct shard {
    pthread_mutex_t lock;
    uint64_t *words; /* [count] */
    uint32_t *slots; /* index + 1; 0: free */
    uint32_t mask, count, capacity;
    char apart[64]; /* threads in different shards share no cache line */
} shard;

struct wpi_codes {
    shard shards[SHARDS];
};

wp_status wpi_codes_create(wpi_codes **out, wp_error *err) {
    *out = wpi_calloc(1, sizeof **out);
    if (*out == NULL) return WP_FAIL(err, NOMEM, "numbers for keys");
    for (uint32_t i = 0; i < SHARDS; i++)
        pthread_mutex_init(&(*out)->shards[i].lock, NULL);
    return WP_STATUS_OK;
}

void wpi_codes_destroy(wpi_codes *codes) {
    if (codes == NULL) return;
    for (uint32_t i = 0; i < SHARDS; i++) {
        pthread_mutex_destroy(&codes->shards[i].lock);
        wpi_free(codes->shards[i].words);
        wpi_free(codes->shards[i].slots);
    }
    wpi_free(codes);
}

uint64_t wpi_codes_word(const wpi_codes *codes, uint32_t number) {
    return codes->shards[number % SHARDS].words[number / SHARDS];
}

/* ---- a shard ---- */

static uint32_t slot_of(const shard *s, uint64_t word, uint64_t hash) {
    uint32_t at = (uint32_t)hash & s->mask;
    while (s->slots[at] != 0 && s->words[s->slots[at] - 1] != word)
        at = (at + 1) & s->mask;
    return at;
}

static wp_status grow(shard *s, wp_error *err) {
    const uint32_t slots = s->capacity == 0 ? FIRST_SLOTS : 4 * s->capacity;
    if (s->capacity > COUNT_MAX / 2) return WP_FAIL(err, NOMEM, "too many distinct keys");
    uint32_t *table = wpi_calloc(slots, sizeof *table);
    uint64_t *words = wpi_realloc(s->words, slots / 2 * sizeof *words);
    if (words != NULL) s->words = words;
    if (table == NULL || words == NULL) {
        wpi_free(table);
        return WP_FAIL(err, NOMEM, "numbers for %u keys", slots / 2);
    }
    wpi_free(s->slots);
    s->slots = table;
    s->mask = slots - 1;
    s->capacity = slots / 2;
    for (uint32_t i = 0; i < s->count; i++)
        table[slot_of(s, words[i], wpi_hash_word(words[i]))] = i + 1;
    return WP_STATUS_OK;
}

static wp_status place_of(shard *s, uint64_t word, uint64_t hash, uint32_t *out, wp_error *err) {
    if (s->count == s->capacity) WP_TRY(grow(s, err));
    const uint32_t at = slot_of(s, word, hash);
    if (s->slots[at] == 0) {
        s->words[s->count++] = word;
        s->slots[at] = s->count;
    }
    *out = s->slots[at] - 1;
    return WP_STATUS_OK;
}

/* ---- all of them ---- */

/* A call's words, sorted by shard. */
typedef struct batch {
    const uint64_t *words;
    uint64_t hashes[WPI_CODES_BATCH];
    uint16_t order[WPI_CODES_BATCH];
    uint16_t begin[SHARDS + 1]; /* of a shard's, in `order` */
} batch;

static uint32_t shard_of(uint64_t hash) {
    return (uint32_t)(hash >> (64 - SHARD_BITS));
}

static void sort_by_shards(batch *b, uint32_t count) {
    uint16_t next[SHARDS];
    for (uint32_t i = 0; i <= SHARDS; i++)
        b->begin[i] = 0;
    for (uint32_t i = 0; i < count; i++) {
        b->hashes[i] = wpi_hash_word(b->words[i]);
        b->begin[shard_of(b->hashes[i]) + 1]++;
    }
    for (uint32_t i = 0; i < SHARDS; i++) {
        b->begin[i + 1] = (uint16_t)(b->begin[i + 1] + b->begin[i]);
        next[i] = b->begin[i];
    }
    for (uint32_t i = 0; i < count; i++)
        b->order[next[shard_of(b->hashes[i])]++] = (uint16_t)i;
}

/* Prefetches all slots, then all words that they refer to. */
static void prefetch(const shard *s, const batch *b, uint32_t first, uint32_t outer) {
    if (s->capacity == 0) return;
    for (uint32_t i = first; i < outer; i++)
        __builtin_prefetch(&s->slots[(uint32_t)b->hashes[b->order[i]] & s->mask]);
    for (uint32_t i = first; i < outer; i++) {
        const uint32_t place = s->slots[(uint32_t)b->hashes[b->order[i]] & s->mask];
        if (place != 0) __builtin_prefetch(&s->words[place - 1]);
    }
}

static wp_status number_shard(shard *s, uint32_t shard_number, const batch *b, uint32_t *numbers,
                              wp_error *err) {
    const uint32_t first = b->begin[shard_number], outer = b->begin[shard_number + 1];
    wp_status status = WP_STATUS_OK;
    if (first == outer) return status;
    pthread_mutex_lock(&s->lock);
    prefetch(s, b, first, outer);
    for (uint32_t i = first; i < outer && status == WP_STATUS_OK; i++) {
        const uint32_t row = b->order[i];
        uint32_t place = 0;
        status = place_of(s, b->words[row], b->hashes[row], &place, err);
        numbers[row] = place << SHARD_BITS | shard_number;
    }
    pthread_mutex_unlock(&s->lock);
    return status;
}

wp_status wpi_codes_number(wpi_codes *codes, const uint64_t *words, uint32_t count,
                           uint32_t *numbers, wp_error *err) {
    batch b = {.words = words};
    WP_CHECK(count <= WPI_CODES_BATCH);
    sort_by_shards(&b, count);
    for (uint32_t i = 0; i < SHARDS; i++)
        WP_TRY(number_shard(&codes->shards[i], i, &b, numbers, err));
    return WP_STATUS_OK;
}
