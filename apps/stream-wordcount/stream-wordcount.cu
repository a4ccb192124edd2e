/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Word count: how often each word of a text occurs, in one hash table for all threads. A thread
 * takes the words that begin in its part of the text. Two words are equal if their 64-bit hashes
 * are; where a word was seen first by a thread is noted, so that the host can print it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/report.h"
#include "common/text.h"
#include "stream-wordcount/wordcount.h"
#include "streaming/corpus.h"
#include "streaming/streaming.h"
#include "streaming/table.h"
#include "streaming/words.h"

typedef struct wordcount {
    app_table words;
    uint64_t *where; /* [entries] of the table: an occurrence of the word */
    unsigned blocks, threads;
} wordcount;

/* Apostrophes are passed over, but a run of letters goes on behind them. */
static __host__ __device__ __forceinline__ bool is_inside(unsigned char c) {
    return app_word_has(c) || c == '\'';
}

/* The words that begin in text[start, end); text[0] is byte `base` of the whole. */
static __host__ __device__ __forceinline__ void count_words(const char *text, uint64_t base,
                                                            uint64_t start, uint64_t end,
                                                            uint64_t bytes, const app_table words,
                                                            uint64_t *where) {
    uint64_t p = start;
    if (p != 0 && is_inside((unsigned char)text[p - 1])) {
        while (p < end && is_inside((unsigned char)text[p])) {
            p++; /* begun before */
        }
    }
    while (p < end) {
        const uint64_t begin = p;
        unsigned long long hash = APP_WORD_NONE;
        for (; p < bytes; p++) {
            const unsigned char c = (unsigned char)text[p];
            if (!is_inside(c)) {
                break;
            }
            if (c != '\'') {
                hash = app_word_hash(hash, c);
            }
        }
        p++;
        if (hash != APP_WORD_NONE) {
            app_table_entry *entry = app_table_put(words, hash);
            if (app_add(&entry->count, 1) == 0) {
                where[entry - words.entry] = base + begin;
            }
        }
    }
}

static __global__ void count_all(const char *text, uint64_t base, uint64_t bytes,
                                 app_table_entry *entries, uint64_t mask, uint64_t *where) {
    const app_table words = {entries, mask};
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t each = (bytes + threads - 1) / threads;
    const uint64_t start = thread * each;
    const uint64_t end = start + each < bytes ? start + each : bytes;
    if (start < end) {
        count_words(text, base, start, end, bytes, words, where);
    }
}

static void launch(void *object, void *records, uint64_t first, uint64_t count,
                   cudaStream_t stream) {
    const wordcount *w = (const wordcount *)object;
    count_all<<<w->blocks, w->threads, 0, stream>>>((const char *)records, first, count,
                                                    w->words.entry, w->words.mask, w->where);
}

static void on_host(void *object, void *records, uint64_t first, uint64_t outer) {
    const wordcount *w = (const wordcount *)object;
    if (first < outer) {
        count_words((const char *)records, 0, first, outer, outer, w->words, w->where);
    }
}

/* ---- results ---- */

typedef struct word {
    char name[48];
    uint32_t count;
} word;

static int by_count(const void *x, const void *y) {
    const word *a = (const word *)x, *b = (const word *)y;
    if (a->count != b->count) {
        return a->count < b->count ? 1 : -1;
    }
    return strcmp(a->name, b->name);
}

/* The word that begins at `at`, in small letters, at most as much as there is room for. */
static void spell(word *w, const app_corpus *t, uint64_t at) {
    uint32_t length = 0;
    for (; at < t->count && is_inside((unsigned char)t->bytes[at]); at++) {
        const unsigned char c = (unsigned char)t->bytes[at];
        if (c != '\'' && length + 1 < sizeof w->name) {
            w->name[length++] = (char)(c > 127 ? c : c | 0x20);
        }
    }
    w->name[length] = '\0';
}

static void print_words(const app_corpus *t, const app_table_entry *entries, uint64_t room,
                        const uint64_t *where, uint64_t top) {
    uint64_t different = 0, all = 0, once = 0;
    uint32_t least = 1; /* words with fewer are not among the first: not sorted */
    uint64_t more[33] = {0};
    for (uint64_t i = 0; i < room; i++) {
        if (entries[i].key != 0) {
            different++;
            all += entries[i].count;
            once += entries[i].count == 1;
            more[31 - __builtin_clz(entries[i].count)]++; /* an entry has been counted once */
        }
    }
    uint64_t above = 0;
    for (int c = 31; c >= 0 && above < top; c--) {
        above += more[c];
        least = 1u << c;
    }
    word *list = (word *)app_allocate(above, sizeof *list, "the result");
    uint64_t kept = 0;
    for (uint64_t i = 0; i < room; i++) {
        if (entries[i].key != 0 && entries[i].count >= least) {
            spell(&list[kept], t, where[i]);
            list[kept++].count = entries[i].count;
        }
    }
    if (kept != 0) {
        qsort(list, kept, sizeof *list, by_count);
    }
    printf("words      %s, %s different, %s of them once\n\n    times  word\n", app_count(all),
           app_count(different), app_count(once));
    for (uint64_t i = 0; i < kept && i < top; i++) {
        printf("%9s  %-16s  ", app_count(list[i].count), list[i].name);
        app_bar(stdout, (double)list[i].count / (double)list[0].count, 24);
        putchar('\n');
    }
    putchar('\n');
    free(list);
}

/* Of the options for tables, --host-memory is for --text, too. */
static void check_text(const app_common *common, const app_sepo_options *sepo, int variant) {
    app_sepo_options others = *sepo;
    if (common->input != NULL || common->size.value != 0 || sepo->table >= 0) {
        app_fail_usage("--text is the whole input, and goes with --table whole: leave out --input, "
                       "--size and other tables");
    }
    if (!app_streaming_has_files(variant) && !app_streaming_is_host(variant)) {
        app_fail_usage("--text is for --variant full, volume, overlap, serial or threads");
    }
    if (sepo->host.value != 0 && !sepo->host.is_bytes) {
        app_fail_usage("--host-memory needs a unit, as in 64MiB");
    }
    others.host.value = 0;
    app_sepo_check_unused(&others, false);
}

int main(int argc, char **argv) {
    const app_program program = {"stream-wordcount",
                                 "how often words occur, over text that need not fit the GPU",
                                 "bytes of text", "text, or a tar archive of texts (also .zst)",
                                 "stream-wordcount --size 16MiB --variant double --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_streaming_options how = APP_STREAMING_DEFAULTS;
    app_sepo_options sepo = APP_SEPO_DEFAULTS;
    uint64_t top = 10, keys = 0;
    const char *text = NULL;
    double random_pct = 0;
    const char *written_path = NULL;
    int table_kind = 0, combine = 0;
    const app_option options[] = {
        APP_STREAMING_ROWS(how),
        {"--table", APP_OPTION_CHOICE, &table_kind, "whole|" APP_SEPO_TABLES, 0, 0,
         "whole: a hash table in device memory, filled by --variant. Else words are counted by "
         "MapReduce into a table that is, " APP_SEPO_TABLES_HELP},
        APP_SEPO_SIZE_ROWS(sepo),
        {"--combine", APP_OPTION_CHOICE, &combine, "atomics|lock", 0, 0,
         "how a table that is filled by MapReduce adds to a word's count: by atomics, or under the "
         "lock of the word's entry, as with a function of one's own (default: atomics)"},
        {"--keys", APP_OPTION_COUNT, &keys, "N", 0, 1e10,
         "different words that the table is made for; 0: 30 times the square root of --size"},
        {"--text", APP_OPTION_TEXT, &text, "FILE", 0, 0,
         "stream this plain text from its file, with --host-memory bytes of host memory for its "
         "parts (default 256MiB)"},
        {"--random-words", APP_OPTION_REAL, &random_pct, "PERCENT", 0, 99,
         "put random words into the text, so many percent of all words (default: none)"},
        {"--write", APP_OPTION_TEXT, &written_path, "FILE", 0, 0,
         "write the text to a file instead of counting, for other programs"},
        {"--top", APP_OPTION_COUNT, &top, "N", 1, 1e6, "words to print"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    sepo.table = table_kind - 1;
    if (table_kind != 0) {
        app_sepo_check_options(&common, &sepo);
    } else if (text == NULL) {
        app_sepo_check_unused(&sepo, false);
    }
    if (table_kind == 0 && combine != 0) {
        app_fail_usage("--combine is for tables that are filled by MapReduce: add --table sepo, "
                       "memory, pinned or managed");
    }
    app_streaming job = {};
    app_streaming_set(&job, &how);
    if (text != NULL) {
        check_text(&common, &sepo, how.variant);
    }
    if (text != NULL && (random_pct > 0 || written_path != NULL)) {
        app_fail_usage("--text is counted as it is: leave out --random-words and --write");
    }

    app_corpus all = {};
    const uint64_t wanted = app_size_items(common.size, 1.0, 1 << 20, 1, UINT64_C(1) << 42);
    if (text != NULL) {
        app_corpus_map(&all, text);
    } else if (common.input != NULL) {
        app_corpus_read(&all, common.input);
        app_corpus_enlarge(&all, common.size.value != 0 ? wanted : all.count, common.seed);
    } else {
        app_corpus_generate(&all, wanted, common.seed);
    }
    if (random_pct > 0) {
        app_corpus_mix(&all, random_pct, common.seed);
    }
    if (written_path != NULL) {
        app_text_write(written_path, all.bytes, all.count);
        app_corpus_free(&all);
        return 0;
    }
    if (table_kind != 0) {
        printf("text       %s: %s bytes\n", all.title, app_count(all.count));
        const bool is_right = app_wordcount_map(&all, &sepo, combine == 1, top, common.check);
        app_corpus_free(&all);
        return is_right ? 0 : 1;
    }
    keys = keys != 0 ? keys : (uint64_t)(30.0 * sqrt((double)all.count)) + 1024;

    app_state table, where;
    wordcount task = {};
    task.words = app_table_create(&table, how.variant, keys, "words");
    app_state_create(&where, how.variant, NULL, (task.words.mask + 2) * sizeof(uint64_t),
                     "where words are");
    task.where = (uint64_t *)where.data;
    task.blocks = (unsigned)how.blocks;
    task.threads = (unsigned)how.threads;
    job.records = all.bytes;
    job.source = app_streaming_has_files(how.variant) ? text : NULL;
    job.host_bytes = text != NULL ? sepo.host.value : 0;
    job.count = all.count;
    job.record_bytes = 1;
    job.is_text = true;
    job.launch = launch;
    job.on_host = on_host;
    job.object = &task;
    app_streaming_times times = {};
    app_streaming_run(&job, how.variant, &times);
    uint64_t found;
    app_table_entry *words = app_table_take(&table, &found, "--keys");
    app_table_entry *entries = (app_table_entry *)app_state_copy(&table);
    uint64_t *places = (uint64_t *)app_state_copy(&where);
    printf("text       %s: %s bytes\n", all.title, app_count(all.count));
    print_words(&all, entries, task.words.mask + 1, places, top);
    app_streaming_report(&job, how.variant, &times);
    uint64_t different = 0;
    if (common.check) {
        app_state serial, serial_where;
        app_streaming_times ignored = {};
        uint64_t serial_found;
        task.words = app_table_create(&serial, APP_STREAMING_SERIAL, keys, "words");
        app_state_create(&serial_where, APP_STREAMING_SERIAL, NULL, where.bytes, "where words are");
        task.where = (uint64_t *)serial_where.data;
        app_streaming_run(&job, APP_STREAMING_SERIAL, &ignored);
        app_table_entry *serial_words = app_table_take(&serial, &serial_found, "--keys");
        different = app_table_compare(words, found, serial_words, serial_found);
        printf("check      counts of %s words against a serial count: %s, %s differ\n",
               app_count(serial_found), different == 0 ? "equal" : "DIFFERENT",
               app_count(different));
        free(serial_words);
        app_state_free(&serial);
        app_state_free(&serial_where);
    }
    app_state_free(&table);
    app_state_free(&where);
    free(words);
    free(entries);
    free(places);
    app_corpus_free(&all);
    return different == 0 ? 0 : 1;
}
