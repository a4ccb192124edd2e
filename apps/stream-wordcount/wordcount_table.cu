/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Word count by the MapReduce runtime (warpage/mapreduce.h): a line is a record, and each of its
 * words makes a pair (word, 1). Ones of equal words are added up as they are emitted, in a table
 * that may be larger than device memory.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "stream-wordcount/wordcount.h"
#include "streaming/words.h"

#define LONGEST 64 /* letters of a word that count */

static __device__ void count_line(const wp_map_record *line, wp_emitter *to) {
    const uint64_t one = 1;
    for (uint32_t at = 0; at < line->bytes; at++) {
        char word[LONGEST];
        uint32_t length = 0;
        for (; at < line->bytes; at++) {
            const unsigned char c = (unsigned char)line->data[at];
            if (app_word_has(c)) {
                if (length < LONGEST) {
                    word[length++] = (char)(c > 127 ? c : c | 0x20);
                }
            } else if (c != '\'') {
                break;
            }
        }
        if (length != 0) {
            wp_emit(to, word, length, &one, sizeof one);
        }
    }
}

/* A wp_table_combine, which the table calls under the entry's lock. */
static __device__ void add_count(const void *value, void *existing) {
    *(uint64_t *)existing += *(const uint64_t *)value;
}

WP_MAPREDUCE(word_count, count_line)
WP_MAPREDUCE_WITH(word_count_locked, count_line, add_count)

/* Marks and shortens the words in a copy of the text, with the C library. */
static void list_words(const app_corpus *text, char *copy, app_pairs *words) {
    uint64_t letters = 0;
    for (uint64_t i = 0; i < text->count; i++) {
        const unsigned char c = (unsigned char)text->bytes[i];
        if (c != '\'') { /* passed over: letters on both sides are one word */
            copy[letters++] = c > 127 || (c >= 'a' && c <= 'z') ? (char)c
                              : c >= 'A' && c <= 'Z'             ? (char)(c - 'A' + 'a')
                                                                 : ' ';
        }
    }
    copy[letters] = '\0';
    for (const char *word = copy + strspn(copy, " "); *word != '\0';) {
        const size_t length = strcspn(word, " ");
        app_pairs_add_number(words, word, length < LONGEST ? length : LONGEST, 1);
        word += length + strspn(word + length, " ");
    }
    app_pairs_sum(words);
}

static void print_result(const app_pairs *words, uint64_t top) {
    uint64_t all = 0, once = 0;
    for (uint64_t i = 0; i < words->count; i++) {
        all += words->pair[i].number;
        once += words->pair[i].number == 1;
    }
    printf("words      %s, %s different, %s of them once\n", app_count(all),
           app_count(words->count), app_count(once));
    app_value("words", (double)all);
    app_pairs_print(words, top, "times", "word");
}

bool app_wordcount_map(const app_corpus *text, const app_sepo_options *options, bool is_locked,
                       uint64_t top, bool is_checked) {
    app_device device;
    app_pairs words = {};
    bool is_right = true;
    app_device_open(&device, options->memory);
    wp_mapreduce_spec spec = WP_MAPREDUCE_SPEC_INIT;
    spec.program = is_locked ? &word_count_locked : &word_count;
    spec.partitioner = wp_partition_lines();
    wp_mapreduce *job = app_sepo_map(&device, options, &spec, text->bytes, text->count);
    app_pairs_read(&words, wp_mapreduce_table(job));
    print_result(&words, top);
    app_device_report(&device, (double)text->count, "B");
    if (is_checked) {
        app_pairs wanted = {};
        char *copy = (char *)app_allocate(text->count + 1, 1, "the check");
        list_words(text, copy, &wanted);
        is_right = app_pairs_check(&words, &wanted, "words");
        app_pairs_free(&wanted);
        free(copy);
    }
    app_pairs_free(&words);
    wp_mapreduce_close(job);
    app_device_close(&device);
    return is_right;
}
