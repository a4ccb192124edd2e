/* SPDX-License-Identifier: Apache-2.0 */
/**
 * Words of texts: what kernels and host code take for a word, and texts that are enlarged with a
 * vocabulary that grows as theirs does (growth.h).
 *
 * A word is a run of letters; bytes above 127 are letters, small and large letters are the same,
 * and apostrophes are skipped: "don't" is "dont". Two words are equal if their 64-bit hashes are.
 */
#ifndef APP_STREAMING_WORDS_H
#define APP_STREAMING_WORDS_H

#include <cuda_runtime.h>
#include <stdbool.h>
#include <stdint.h>

#include "common/names.h"
#include "streaming/growth.h"

#define APP_WORD_NONE 0xcbf29ce484222325ull /* the hash of no letters (FNV-1a) */

static __host__ __device__ __forceinline__ bool app_word_has(unsigned char c) {
    return (unsigned char)((c | 0x20) - 'a') < 26 || c > 127;
}

static __host__ __device__ __forceinline__ unsigned long long app_word_hash(unsigned long long hash,
                                                                            unsigned char c) {
    return (hash ^ (c > 127 ? c : c | 0x20u)) * 0x100000001b3ull;
}

/** The hash of a word of a list; APP_WORD_NONE if there is no letter. */
unsigned long long app_word_hash_all(const char *word, uint64_t length);
/** Writes the `rank`-th word of a language of syllables (at most 16 letters); returns its length.
 */
uint32_t app_word_spell(char *out, uint32_t rank);
/** A rank below `words`, of which low ones are as frequent as in texts (Zipf). */
uint32_t app_word_rank(uint64_t random, uint32_t words);

typedef struct app_vocabulary {
    app_names names;
    app_growth growth;
    bool *is_kept, *is_renamed; /* [words] */
    uint32_t words;
    uint64_t copy; /* of which is_renamed is */
} app_vocabulary;

/** Numbers the words of a text and measures how their number grows. */
void app_vocabulary_create(app_vocabulary *v, const char *text, uint64_t bytes, uint64_t seed);
void app_vocabulary_free(app_vocabulary *v);
/** This word never gets another name. */
void app_vocabulary_keep(app_vocabulary *v, const char *word, uint64_t length);
/** Writes the text, all of whose words are in the vocabulary, as it is in this copy: at most
 *  `capacity` bytes, what exceeds is left out. Returns how many. */
uint64_t app_vocabulary_write(app_vocabulary *v, const char *text, uint64_t bytes, uint64_t copy,
                              char *out, uint64_t capacity);

#endif
