/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opinion finder: what tweets on a subject think of it. A thread looks up each word of a tweet in
 * lists of positive, negative and adverb words; adverbs strengthen, weaken or turn round the
 * opinion that follows. Of a record of 192 bytes the kernel reads the 140 of the text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/random.h"
#include "common/report.h"
#include "common/text.h"
#include "streaming/streaming.h"
#include "streaming/table.h"
#include "streaming/words.h"

#define TEXT_BYTES 140

typedef struct record {
    char text[TEXT_BYTES]; /* filled up with blanks */
    uint32_t user;         /* from here on the kernel has no use for it */
    uint64_t time;
    uint64_t number;
    char place[32];
} record;

/* Notes of the dictionary's entries. Bits 8 and up: an adverb's factor in halves, plus 128. */
enum { POSITIVE = 1, NEGATIVE = 2, ADVERB = 4, SUBJECT = 8 };

enum { HALVES = 2, MOST_HALVES = 16 };

/* Our own list: in halves, what the word makes of the opinion behind it. */
static const struct {
    const char *word;
    int halves;
} adverbs[] = {
    {"absolutely", 4}, {"almost", 1},     {"always", 3},   {"aint", -2},      {"arent", -2},
    {"awfully", 4},    {"badly", 3},      {"barely", -1},  {"cannot", -2},    {"cant", -2},
    {"certainly", 3},  {"completely", 4}, {"couldnt", -2}, {"deeply", 4},     {"definitely", 3},
    {"didnt", -2},     {"doesnt", -2},    {"dont", -2},    {"enormously", 4}, {"entirely", 4},
    {"especially", 3}, {"extremely", 5},  {"fairly", 1},   {"fully", 4},      {"greatly", 4},
    {"hardly", -1},    {"hasnt", -2},     {"highly", 4},   {"hugely", 4},     {"incredibly", 5},
    {"isnt", -2},      {"just", 2},       {"less", 1},     {"little", 1},     {"mildly", 1},
    {"more", 3},       {"most", 4},       {"mostly", 2},   {"much", 3},       {"neither", -2},
    {"never", -3},     {"no", -2},        {"nor", -2},     {"not", -2},       {"partly", 1},
    {"perfectly", 4},  {"pretty", 3},     {"quite", 3},    {"rarely", -1},    {"rather", 1},
    {"really", 4},     {"scarcely", -1},  {"seldom", -1},  {"slightly", 1},   {"so", 3},
    {"somewhat", 1},   {"strongly", 4},   {"super", 4},    {"terribly", 4},   {"thoroughly", 4},
    {"too", 3},        {"totally", 4},    {"truly", 4},    {"utterly", 5},    {"very", 4},
    {"wasnt", -2},     {"werent", -2},    {"without", -2}, {"wont", -2},      {"wouldnt", -2}};

/* Without lists from files: a few words, our own. */
#define FEW 15
static const char *const few_positive[FEW] = {"good",  "great", "love",  "nice", "happy",
                                              "fine",  "sweet", "fun",   "best", "wonderful",
                                              "enjoy", "like",  "proud", "cool", "beautiful"};
static const char *const few_negative[FEW] = {"bad",   "awful", "hate",  "sad",   "angry",
                                              "worst", "poor",  "sick",  "ugly",  "boring",
                                              "fear",  "pain",  "wrong", "cruel", "stupid"};

typedef struct totals {
    unsigned long long tweets; /* on the subject */
    unsigned long long positive_tweets, negative_tweets;
    unsigned long long positive_words, negative_words, adverbs;
    unsigned long long score; /* sum of signed scores, in halves, modulo 2^64 */
} totals;

typedef struct opinion {
    app_table words;
    totals *sum;
    int is_any; /* every tweet is on the subject */
    unsigned blocks, threads;
} opinion;

/* Of one tweet, while it is read. */
typedef struct reading {
    unsigned long long hash;
    int score, halves; /* halves: the factor for the next opinion */
    int since;         /* words since the last adverb */
    uint32_t is_on_subject, positive, negative, adverbs;
} reading;

static __host__ __device__ __forceinline__ void end_word(reading *r, const app_table words) {
    const app_table_entry *entry = app_table_find(words, r->hash);
    const uint32_t note = entry != NULL ? entry->note : 0;
    r->is_on_subject |= note & SUBJECT;
    if (note & (POSITIVE | NEGATIVE)) {
        r->score += note & POSITIVE ? r->halves : -r->halves;
        r->positive += note & POSITIVE ? 1 : 0;
        r->negative += note & POSITIVE ? 0 : 1;
        r->halves = HALVES;
    } else if (note & ADVERB) {
        int halves = r->halves * ((int)(note >> 8) - 128) / HALVES;
        halves = halves > MOST_HALVES ? MOST_HALVES : halves;
        r->halves = halves < -MOST_HALVES ? -MOST_HALVES : halves;
        r->adverbs++;
        r->since = 0;
    } else if (++r->since > 2) { /* adverbs reach over two words, as in "not a very good" */
        r->halves = HALVES;
    }
    r->hash = APP_WORD_NONE;
}

static __host__ __device__ __forceinline__ void
read_tweet(const record *tweet, const app_table words, int is_any, totals *sum) {
    reading r = {APP_WORD_NONE, 0, HALVES, 0, 0, 0, 0, 0};
    for (int i = 0; i < TEXT_BYTES; i++) {
        const unsigned char c = (unsigned char)tweet->text[i];
        if (app_word_has(c)) {
            r.hash = app_word_hash(r.hash, c);
        } else if (c != '\'' && r.hash != APP_WORD_NONE) {
            end_word(&r, words);
        }
    }
    if (r.hash != APP_WORD_NONE) {
        end_word(&r, words);
    }
    if (r.is_on_subject || is_any) {
        sum->tweets++;
        sum->positive_tweets += r.score > 0;
        sum->negative_tweets += r.score < 0;
        sum->positive_words += r.positive;
        sum->negative_words += r.negative;
        sum->adverbs += r.adverbs;
        sum->score += (unsigned long long)(long long)r.score;
    }
}

static __host__ __device__ __forceinline__ void add_totals(totals *to, const totals *sum) {
    app_add(&to->tweets, sum->tweets);
    app_add(&to->positive_tweets, sum->positive_tweets);
    app_add(&to->negative_tweets, sum->negative_tweets);
    app_add(&to->positive_words, sum->positive_words);
    app_add(&to->negative_words, sum->negative_words);
    app_add(&to->adverbs, sum->adverbs);
    app_add(&to->score, sum->score);
}

static __global__ void find_opinions(const record *records, uint64_t count, const app_table words,
                                     int is_any, totals *result) {
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t each = (count + threads - 1) / threads;
    const uint64_t start = thread * each;
    const uint64_t end = start + each < count ? start + each : count;
    totals sum = {0, 0, 0, 0, 0, 0, 0};
    for (uint64_t i = start; i < end; i++) {
        read_tweet(&records[i], words, is_any, &sum);
    }
    add_totals(result, &sum);
}

static void launch(void *object, void *records, uint64_t first, uint64_t count,
                   cudaStream_t stream) {
    (void)first;
    const opinion *o = (const opinion *)object;
    find_opinions<<<o->blocks, o->threads, 0, stream>>>((const record *)records, count, o->words,
                                                        o->is_any, o->sum);
}

static void on_host(void *object, void *records, uint64_t first, uint64_t outer) {
    const opinion *o = (const opinion *)object;
    totals sum = {0, 0, 0, 0, 0, 0, 0};
    for (uint64_t i = first; i < outer; i++) {
        read_tweet((const record *)records + i, o->words, o->is_any, &sum);
    }
    add_totals(o->sum, &sum);
}

/* ---- words ---- */

static void add_word(app_table *dictionary, const char *word, size_t length, uint32_t note) {
    const unsigned long long hash = app_word_hash_all(word, length);
    if (hash == APP_WORD_NONE) {
        return;
    }
    app_table_entry *entry = app_table_put(*dictionary, hash);
    if ((note & (POSITIVE | NEGATIVE)) != 0 && (entry->note & (POSITIVE | NEGATIVE)) != 0) {
        return; /* in both lists: the first counts */
    }
    entry->note |= note;
}

/* A word a line; lines that begin with a semicolon, and words with more than letters, are passed
 * over. Returns how many were taken. `dictionary` NULL: only counts them. */
static uint64_t read_list(app_table *dictionary, const char *path, uint32_t note) {
    app_text *text = app_text_open(path);
    char *line;
    size_t length;
    uint64_t taken = 0;
    while (app_text_line(text, &line, &length)) {
        bool is_word = length != 0;
        for (size_t i = 0; i < length; i++) {
            is_word = is_word && (app_word_has((unsigned char)line[i]) || line[i] == '\'');
        }
        if (is_word && dictionary != NULL) {
            add_word(dictionary, line, length, note);
        }
        taken += is_word;
    }
    app_text_close(text);
    if (taken == 0) {
        app_fail("%s holds no words", path);
    }
    return taken;
}

static uint64_t take_list(app_table *dictionary, const char *path, const char *const *few,
                          uint32_t note) {
    if (path != NULL) {
        return read_list(dictionary, path, note);
    }
    for (int i = 0; i < FEW && dictionary != NULL; i++) {
        add_word(dictionary, few[i], strlen(few[i]), note);
    }
    return FEW;
}

/* Words separated by commas. */
static void add_subject(app_table *dictionary, const char *subject) {
    for (const char *p = subject; *p != '\0';) {
        const size_t length = strcspn(p, ",");
        if (app_word_hash_all(p, length) == APP_WORD_NONE) {
            app_fail_usage("--subject needs words separated by commas, not '%s'", subject);
        }
        add_word(dictionary, p, length, SUBJECT);
        p += length + (p[length] == ',');
    }
}

/* ---- input ---- */

typedef struct tweets {
    char *text; /* a tweet a line */
    uint64_t bytes;
    uint64_t *start; /* [count + 1] */
    uint64_t count;
    char title[160];
} tweets;

static void add_tweet(tweets *all, uint64_t *capacity, uint64_t *starts, const char *text,
                      uint64_t length) {
    if (*capacity - all->bytes < length + 1) {
        *capacity = 2 * *capacity + length + 65536;
        all->text = (char *)app_reallocate(all->text, *capacity, 1, "the tweets");
    }
    if (all->count + 2 > *starts) {
        *starts = 2 * *starts + 1024;
        all->start =
            (uint64_t *)app_reallocate(all->start, *starts, sizeof(uint64_t), "the tweets");
    }
    all->start[all->count++] = all->bytes;
    memcpy(all->text + all->bytes, text, length);
    all->bytes += length;
    all->text[all->bytes++] = '\n';
    all->start[all->count] = all->bytes;
}

/* The text is what follows the last tab of a line. */
static void read_tweets(tweets *all, const char *path) {
    app_text *text = app_text_open(path);
    uint64_t capacity = 0, starts = 0;
    char *line;
    size_t length;
    while (app_text_line(text, &line, &length)) {
        const char *tab = strrchr(line, '\t');
        const char *tweet = tab != NULL ? tab + 1 : line;
        add_tweet(all, &capacity, &starts, tweet, (uint64_t)(line + length - tweet));
    }
    app_text_close(text);
    if (all->count == 0) {
        app_fail("%s holds no tweets", path);
    }
    const char *slash = strrchr(path, '/');
    snprintf(all->title, sizeof all->title, "%.150s", slash != NULL ? slash + 1 : path);
}

static uint64_t generate_tweet(char *out, uint64_t seed, uint64_t number) {
    app_random random = {app_random_at(seed, number), 0};
    const uint32_t words = 4 + app_random_below(&random, 18);
    uint64_t length = 0;
    for (uint32_t w = 0; w < words; w++) {
        const uint32_t kind = app_random_below(&random, 30);
        const char *word = NULL;
        if (kind < 2) {
            word = (kind == 0 ? few_positive : few_negative)[app_random_below(&random, FEW)];
        } else if (kind < 4) {
            word = adverbs[app_random_below(&random, sizeof adverbs / sizeof adverbs[0])].word;
        } else if (kind == 4) {
            word = "phone";
        }
        if (word != NULL) {
            length += (uint64_t)sprintf(out + length, "%s", word);
        } else {
            length += app_word_spell(out + length, app_word_rank(app_random_next(&random), 20000));
        }
        out[length++] = w + 1 == words ? '!' : ' ';
    }
    return length;
}

static void generate_tweets(tweets *all, uint64_t count, uint64_t seed) {
    uint64_t capacity = 0, starts = 0;
    char tweet[22 * 20];
    for (uint64_t i = 0; i < count; i++) {
        add_tweet(all, &capacity, &starts, tweet, generate_tweet(tweet, seed, i));
    }
    snprintf(all->title, sizeof all->title, "generated, seed %llu", (unsigned long long)seed);
}

/* Words of the lists keep their names in enlarged input. */
static void keep_words(app_vocabulary *v, const app_table *dictionary) {
    const uint32_t words = v->words;
    for (uint32_t w = 0; w < words; w++) {
        const char *word = app_names_word(&v->names, w);
        if (app_table_find(*dictionary, app_word_hash_all(word, strlen(word))) != NULL) {
            app_vocabulary_keep(v, word, strlen(word));
        }
    }
}

static record *make_records(const tweets *all, uint64_t count, const app_table *dictionary,
                            uint64_t seed) {
    record *records = (record *)app_allocate(count, sizeof *records, "the records");
    app_vocabulary vocabulary = {};
    if (count > all->count) {
        app_vocabulary_create(&vocabulary, all->text, all->bytes, seed);
        keep_words(&vocabulary, dictionary);
    }
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t tweet = i % all->count, copy = i / all->count;
        const char *text = all->text + all->start[tweet];
        const uint64_t length = all->start[tweet + 1] - 1 - all->start[tweet];
        record *r = &records[i];
        app_random random = {app_random_at(seed + 1, i), 0};
        memset(r, ' ', sizeof *r);
        if (copy == 0) {
            memcpy(r->text, text, length < TEXT_BYTES ? length : TEXT_BYTES);
        } else {
            app_vocabulary_write(&vocabulary, text, length, copy, r->text, TEXT_BYTES);
        }
        r->user = app_random_below(&random, 1u << 30);
        r->time = 1400000000u + i;
        r->number = i;
    }
    if (count > all->count) {
        app_vocabulary_free(&vocabulary);
    }
    return records;
}

/* ---- results ---- */

static void print_tweets(const char *what, uint64_t tweets, uint64_t all) {
    printf("%-10s %12s  ", what, app_count(tweets));
    app_bar(stdout, all != 0 ? (double)tweets / (double)all : 0.0, 24);
    putchar('\n');
}

static void print_totals(const totals *t) {
    const long long halves = (long long)t->score;
    printf("on subject %12s\n", app_count(t->tweets));
    print_tweets("positive", t->positive_tweets, t->tweets);
    print_tweets("negative", t->negative_tweets, t->tweets);
    print_tweets("neither", t->tweets - t->positive_tweets - t->negative_tweets, t->tweets);
    printf("\nwords      %s positive, %s negative, %s adverbs\n", app_count(t->positive_words),
           app_count(t->negative_words), app_count(t->adverbs));
    printf("sentiment  %.1f, %.4f a tweet\n\n", (double)halves / HALVES,
           t->tweets != 0 ? (double)halves / HALVES / (double)t->tweets : 0.0);
}

int main(int argc, char **argv) {
    const app_program program = {
        "stream-opinion", "sentiment of tweets, over records that need not fit the GPU",
        "records: tweets, or bytes such as 1GiB",
        "tweets, one a line; what stands before a line's last tab is passed over (also .zst)",
        "stream-opinion --size 100K --subject phone --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_streaming_options how = APP_STREAMING_DEFAULTS;
    const char *positive = NULL, *negative = NULL, *subject = NULL;
    const app_option options[] = {
        APP_STREAMING_ROWS(how),
        {"--positive", APP_OPTION_TEXT, &positive, "FILE", 0, 0,
         "positive words, one a line (default: 15 words)"},
        {"--negative", APP_OPTION_TEXT, &negative, "FILE", 0, 0,
         "negative words, one a line (default: 15 words)"},
        {"--subject", APP_OPTION_TEXT, &subject, "WORDS", 0, 0,
         "only tweets with one of these words, separated by commas (default: all)"},
        {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    app_streaming job = {0};
    app_streaming_set(&job, &how);

    app_state host_words, words, sum;
    const uint64_t positives = take_list(NULL, positive, few_positive, POSITIVE);
    const uint64_t negatives = take_list(NULL, negative, few_negative, NEGATIVE);
    const uint64_t subjects = subject != NULL ? strlen(subject) : 0; /* at most */
    app_table dictionary = app_table_create(
        &host_words, APP_STREAMING_SERIAL,
        positives + negatives + subjects + sizeof adverbs / sizeof adverbs[0], "the dictionary");
    for (size_t i = 0; i < sizeof adverbs / sizeof adverbs[0]; i++) {
        add_word(&dictionary, adverbs[i].word, strlen(adverbs[i].word),
                 ADVERB | (uint32_t)(adverbs[i].halves + 128) << 8);
    }
    take_list(&dictionary, positive, few_positive, POSITIVE);
    take_list(&dictionary, negative, few_negative, NEGATIVE);
    if (subject != NULL) {
        add_subject(&dictionary, subject);
    }
    tweets all = {};
    uint64_t count = app_size_items(common.size, sizeof(record), 50000, 1, UINT64_C(1) << 40);
    if (common.input != NULL) {
        read_tweets(&all, common.input);
        count = common.size.value != 0 ? count : all.count;
    } else {
        generate_tweets(&all, count < 50000 ? count : 50000, common.seed);
    }
    record *records = make_records(&all, count, &dictionary, common.seed);

    opinion task = {};
    task.words = app_table_move(&words, how.variant, &dictionary, "the dictionary");
    app_state_create(&sum, how.variant, NULL, sizeof(totals), "the totals");
    task.sum = (totals *)sum.data;
    task.is_any = subject == NULL;
    task.blocks = (unsigned)how.blocks;
    task.threads = (unsigned)how.threads;
    job.records = records;
    job.count = count;
    job.record_bytes = sizeof *records;
    job.launch = launch;
    job.on_host = on_host;
    job.object = &task;
    app_streaming_times times = {0};
    app_streaming_run(&job, how.variant, &times);
    totals *result = (totals *)app_state_copy(&sum);
    printf("tweets     %s: %s\n", all.title, app_count(all.count));
    printf("records    %s of %zu bytes\n", app_count(count), sizeof *records);
    printf("lists      %s positive and %s negative words, %zu adverbs\n\n", app_count(positives),
           app_count(negatives), sizeof adverbs / sizeof adverbs[0]);
    print_totals(result);
    app_streaming_report(&job, how.variant, &times);
    bool is_right = true;
    if (common.check) {
        totals serial = {0, 0, 0, 0, 0, 0, 0};
        app_streaming_times ignored = {0};
        task.words = dictionary;
        task.sum = &serial;
        app_streaming_run(&job, APP_STREAMING_SERIAL, &ignored);
        is_right = memcmp(&serial, result, sizeof serial) == 0;
        printf("check      totals of %s tweets against a serial computation: %s\n",
               app_count(count), is_right ? "equal" : "DIFFERENT");
    }
    free(result);
    app_state_free(&sum);
    app_state_free(&words);
    app_state_free(&host_words);
    free(records);
    free(all.text);
    free(all.start);
    return is_right ? 0 : 1;
}
