/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How well the ratings of a movie's other viewers predict a user's: each record has two users'
 * ratings of one movie, and adds to the sums of both users, from which the host computes Pearson's
 * correlation. Of a record of 40 bytes the kernel reads 12.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/names.h"
#include "common/random.h"
#include "common/report.h"
#include "common/room.h"
#include "common/text.h"
#include "stream-netflix/netflix.h"
#include "streaming/atomics.h"
#include "streaming/growth.h"
#include "streaming/streaming.h"

/* n counts a user's pairs in 32 bits, and so do the sums of squares. */
#define MOST_PAIRS (UINT32_MAX / (LARGEST_RATING * LARGEST_RATING))

/* Of a user's pairs: two sums a word, the first in the upper half. */
typedef struct sums {
    unsigned long long pairs_products; /* own rating times the other's */
    unsigned long long own_other;
    unsigned long long own_other_squares;
} sums;

typedef struct netflix {
    sums *users;
    unsigned blocks, threads;
} netflix;

static __host__ __device__ __forceinline__ unsigned long long two(uint32_t high, uint32_t low) {
    return (unsigned long long)high << 32 | low;
}

static __host__ __device__ __forceinline__ void add(sums *user, uint32_t own, uint32_t other) {
    app_add(&user->pairs_products, two(1, own * other));
    app_add(&user->own_other, two(own, other));
    app_add(&user->own_other_squares, two(own * own, other * other));
}

static __host__ __device__ __forceinline__ void correlate(const record *r, sums *users) {
    const uint32_t a = r->rating[0], b = r->rating[1];
    add(&users[r->user[0]], a, b);
    add(&users[r->user[1]], b, a);
}

static __global__ void correlate_all(const record *records, uint64_t count, sums *users) {
    const uint64_t threads = (uint64_t)gridDim.x * blockDim.x;
    const uint64_t thread = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    const uint64_t each = (count + threads - 1) / threads;
    const uint64_t start = thread * each;
    const uint64_t end = start + each < count ? start + each : count;
    for (uint64_t i = start; i < end; i++) {
        correlate(&records[i], users);
    }
}

static void launch(void *object, void *records, uint64_t first, uint64_t count,
                   cudaStream_t stream) {
    (void)first;
    const netflix *n = (const netflix *)object;
    correlate_all<<<n->blocks, n->threads, 0, stream>>>((const record *)records, count, n->users);
}

static void on_host(void *object, void *records, uint64_t first, uint64_t outer) {
    const netflix *n = (const netflix *)object;
    for (uint64_t i = first; i < outer; i++) {
        correlate((const record *)records + i, n->users);
    }
}

/* ---- input ---- */

typedef struct rating {
    uint32_t user, movie, value;
    uint64_t time;
} rating;

typedef struct ratings {
    rating *rating; /* by movie */
    uint64_t count;
    uint32_t users, movies;
    uint64_t *pairs_before; /* [movies + 1]: pairs of ratings of the movies before */
    uint64_t *first;        /* [movies + 1]: of a movie's ratings */
    char title[160];
} ratings;

static int by_movie(const void *x, const void *y) {
    const rating *a = (const rating *)x, *b = (const rating *)y;
    if (a->movie != b->movie) {
        return a->movie < b->movie ? -1 : 1;
    }
    return a->user != b->user ? (a->user < b->user ? -1 : 1)
                              : (a->time > b->time) - (a->time < b->time);
}

static void count_pairs(ratings *all) {
    qsort(all->rating, all->count, sizeof *all->rating, by_movie);
    all->pairs_before =
        (uint64_t *)app_allocate((size_t)all->movies + 1, sizeof(uint64_t), "the movies");
    all->first = (uint64_t *)app_allocate((size_t)all->movies + 1, sizeof(uint64_t), "the movies");
    uint64_t i = 0, pairs = 0;
    for (uint32_t m = 0; m < all->movies; m++) {
        all->first[m] = i;
        all->pairs_before[m] = pairs;
        while (i < all->count && all->rating[i].movie == m) {
            i++;
        }
        const uint64_t n = i - all->first[m];
        pairs += n * (n - 1) / 2;
    }
    all->first[all->movies] = i;
    all->pairs_before[all->movies] = pairs;
    if (pairs == 0) {
        app_fail("%s has no movie with two ratings", all->title);
    }
}

/* Moves past one separator: "::", or a comma, semicolon or tab. */
static bool skip_separator(char **cursor) {
    char *p = *cursor;
    if (p[0] == ':' && p[1] == ':') {
        *cursor = p + 2;
        return true;
    }
    *cursor = p + 1;
    return *p == ';' || *p == ',' || *p == '\t';
}

/* The number at *cursor, times two if `is_doubled`: 3.5 is 7. */
static bool read_number(char **cursor, bool is_doubled, uint64_t *value) {
    char *end;
    if (**cursor < '0' || **cursor > '9') {
        return false;
    }
    if (!is_doubled) {
        *value = strtoull(*cursor, &end, 10);
    } else {
        const double number = strtod(*cursor, &end) * 2.0;
        if (number < 0.0 || number > 1e6 || number != floor(number)) {
            return false;
        }
        *value = (uint64_t)number;
    }
    *cursor = end;
    return true;
}

static void read_ratings(ratings *all, const char *path) {
    app_text *text = app_text_open(path);
    app_names users = {0}, movies = {0};
    uint64_t capacity = 0;
    char *line;
    size_t length;
    const char *slash = strrchr(path, '/');
    snprintf(all->title, sizeof all->title, "%.150s", slash != NULL ? slash + 1 : path);
    while (app_text_line(text, &line, &length)) {
        uint64_t value[4];
        char *cell[4], *end[4], *cursor = line;
        const bool is_stars = strstr(line, "::") == NULL; /* 0.5 to 5 */
        for (int column = 0; column < 4; column++) {
            if (column != 0 && !skip_separator(&cursor)) {
                app_text_fail(text, "expected user, movie, rating and time");
            }
            cell[column] = cursor;
            if (!read_number(&cursor, column == 2 && is_stars, &value[column])) {
                app_text_fail(text, "expected user, movie, rating and time");
            }
            end[column] = cursor;
        }
        if (value[2] > LARGEST_RATING) {
            app_text_fail(text, "the rating is larger than %s", is_stars ? "5" : "10");
        }
        if (all->count == capacity) {
            capacity = capacity != 0 ? 2 * capacity : 4096;
            all->rating =
                (rating *)app_room_resize(all->rating, capacity, sizeof *all->rating, path);
        }
        rating *r = &all->rating[all->count++];
        r->user = app_names_number(&users, cell[0], (size_t)(end[0] - cell[0]));
        r->movie = app_names_number(&movies, cell[1], (size_t)(end[1] - cell[1]));
        r->value = (uint32_t)value[2];
        r->time = value[3];
    }
    app_text_close(text);
    if (all->count == 0) {
        app_fail("%s holds no ratings", path);
    }
    all->users = users.count;
    all->movies = movies.count;
    app_names_free(&users);
    app_names_free(&movies);
}

/* Users of different diligence rate movies of different fame; a user's ratings follow the movie's
 * quality more or less. */
static void generate_ratings(ratings *all, uint64_t seed) {
    all->count = 20000;
    all->users = 3000;
    all->movies = 1000;
    all->rating = (rating *)app_room_create(all->count, sizeof *all->rating, "the ratings");
    for (uint64_t i = 0; i < all->count; i++) {
        app_random random = {app_random_at(seed, i), 0};
        rating *r = &all->rating[i];
        r->user = (uint32_t)pow((double)all->users, app_random_unit(&random)) - 1;
        r->movie = (uint32_t)pow((double)all->movies, app_random_unit(&random)) - 1;
        const uint32_t quality = (uint32_t)(app_random_at(seed + 1, r->movie) % 11);
        const uint32_t eccentricity = (uint32_t)(app_random_at(seed + 2, r->user) % 9);
        const uint32_t mood = app_random_below(&random, LARGEST_RATING + 1);
        r->value = app_random_below(&random, 10) < eccentricity ? mood : quality;
        r->time = 1357000000u + app_random_below(&random, 10000000);
    }
    snprintf(all->title, sizeof all->title, "generated, seed %llu", (unsigned long long)seed);
}

/* Pair `p` of the ratings of one movie; the first rating's partners are the ones before it. */
static void find_pair(const ratings *all, uint64_t pair, const rating **a, const rating **b) {
    uint32_t low = 0, high = all->movies - 1; /* the movie is the last with pairs_before <= pair */
    while (low < high) {
        const uint32_t middle = low + (high - low + 1) / 2;
        if (all->pairs_before[middle] <= pair) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    const uint64_t p = pair - all->pairs_before[low];
    uint64_t j = (uint64_t)((1.0 + sqrt(1.0 + 8.0 * (double)p)) / 2.0);
    while (j * (j - 1) / 2 > p) {
        j--;
    }
    while (j * (j + 1) / 2 <= p) {
        j++;
    }
    *a = &all->rating[all->first[low] + j];
    *b = &all->rating[all->first[low] + p - j * (j - 1) / 2];
}

/* Pairs of the file, evenly chosen if fewer are wanted, and enlarged if more are. `users` becomes
 * the number of users that the records name. */
static record *make_records(ratings *all, uint64_t count, uint64_t seed, uint32_t *users) {
    record *records = (record *)app_room_create(count, sizeof *records, "the records");
    uint32_t *keys = (uint32_t *)app_allocate(all->count, sizeof *keys, "the users");
    uint32_t *name = (uint32_t *)app_allocate(all->users, sizeof *name, "the users");
    const uint64_t pairs = all->pairs_before[all->movies];
    for (uint64_t i = 0; i < all->count; i++) {
        keys[i] = all->rating[i].user;
    }
    app_growth growth = app_growth_measure(keys, all->count, all->users, seed);
    *users = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (i % pairs == 0) { /* a copy begins */
            for (uint32_t u = 0; u < all->users; u++) {
                if (i == 0 || app_growth_renames(&growth, u, i / pairs)) {
                    name[u] = i == 0 ? u : *users;
                    *users = i == 0 ? all->users : *users + 1;
                } else {
                    name[u] = u;
                }
            }
        }
        const rating *a, *b;
        const uint64_t pair =
            count < pairs ? (uint64_t)((double)i / (double)count * (double)pairs) : i % pairs;
        find_pair(all, pair, &a, &b);
        record *r = &records[i];
        r->user[0] = name[a->user];
        r->user[1] = name[b->user];
        r->rating[0] = (uint16_t)a->value;
        r->rating[1] = (uint16_t)b->value;
        r->movie = a->movie;
        r->time[0] = a->time;
        r->time[1] = b->time;
        r->number = i;
    }
    free(keys);
    free(name);
    app_growth_free(&growth);
    return records;
}

/* The sums of squares of a user with more pairs would not fit. */
static void check_pairs(const record *records, uint64_t count, uint32_t users) {
    uint32_t *pairs = (uint32_t *)app_allocate(users, sizeof *pairs, "the users");
    memset(pairs, 0, users * sizeof *pairs);
    for (uint64_t i = 0; i < count; i++) {
        for (int side = 0; side < 2; side++) {
            if (++pairs[records[i].user[side]] > MOST_PAIRS) {
                app_fail("user %u is in more than %s records, the most that are added up exactly",
                         records[i].user[side], app_count(MOST_PAIRS));
            }
        }
    }
    free(pairs);
}

/* ---- results ---- */

typedef struct result {
    uint32_t user;
    uint64_t pairs;
    double correlation; /* 0 where all ratings of one side are the same */
} result;

static result make_result(const sums *s, uint32_t user) {
    result r = {user, s->pairs_products >> 32, 0.0};
    const int64_t n = (int64_t)r.pairs, products = (uint32_t)s->pairs_products,
                  own = (int64_t)(s->own_other >> 32), other = (uint32_t)s->own_other;
    const int64_t own_variance = n * (int64_t)(s->own_other_squares >> 32) - own * own;
    const int64_t other_variance = n * (uint32_t)s->own_other_squares - other * other;
    if (own_variance > 0 && other_variance > 0) { /* n^2 times the variances: exact */
        r.correlation = (double)(n * products - own * other) /
                        (sqrt((double)own_variance) * sqrt((double)other_variance));
    }
    return r;
}

static int by_correlation(const void *x, const void *y) {
    const result *a = (const result *)x, *b = (const result *)y;
    if (a->correlation != b->correlation) {
        return a->correlation < b->correlation ? 1 : -1;
    }
    return (a->user > b->user) - (a->user < b->user);
}

static void print_users(const sums *users, uint32_t count, uint64_t least, uint64_t top) {
    result *results = (result *)app_allocate(count, sizeof *results, "the result");
    uint64_t kept = 0, named = 0;
    double sum = 0.0;
    for (uint32_t u = 0; u < count; u++) {
        const result r = make_result(&users[u], u);
        named += r.pairs != 0;
        if (r.pairs >= least) {
            results[kept++] = r;
            sum += r.correlation;
        }
    }
    printf("users      %s, %s of them in %s pairs or more; their mean correlation is %.4f\n\n",
           app_count(named), app_count(kept), app_count(least),
           kept != 0 ? sum / (double)kept : 0.0);
    if (kept != 0) {
        qsort(results, kept, sizeof *results, by_correlation);
    }
    printf("    user        pairs  correlation\n");
    for (uint64_t i = 0; i < kept && i < top; i++) {
        printf("%8u %12s  %11.4f\n", results[i].user, app_count(results[i].pairs),
               results[i].correlation);
    }
    putchar('\n');
    free(results);
}

static void print_input(const ratings *all, uint64_t count) {
    printf("ratings    %s: %s of %s movies\n", all->title, app_count(all->count),
           app_count(all->movies));
    printf("records    %s of %zu bytes\n", app_count(count), sizeof(record));
}

static void free_input(ratings *all, record *records) {
    app_room_free(records);
    app_room_free(all->rating);
    free(all->first);
    free(all->pairs_before);
}

int main(int argc, char **argv) {
    const app_program program = {
        "stream-netflix", "correlation of users' ratings, over records that need not fit the GPU",
        "records: pairs of ratings of one movie, or bytes such as 1GiB",
        "ratings: user, movie, rating, time, separated by ::, commas, semicolons or tabs (also "
        ".zst)",
        "stream-netflix --size 1M --variant full --check"};
    app_common common = {NULL, {0, false}, 1, APP_MEMORY_COPY, false};
    app_streaming_options how = APP_STREAMING_DEFAULTS;
    app_sepo_options sepo = APP_SEPO_DEFAULTS;
    uint64_t least = 20, top = 10;
    int table_kind = 0;
    const app_option options[] = {APP_STREAMING_ROWS(how),
                                  {"--table", APP_OPTION_CHOICE, &table_kind,
                                   "whole|" APP_SEPO_TABLES_AND_THREADS, 0, 0,
                                   "whole: sums of each user in device memory, filled by --variant. "
                                   "Else the records in chunks, and the similarity of each two users "
                                   "in a table that is, " APP_SEPO_TABLES_HELP APP_SEPO_THREADS_HELP},
                                  APP_SEPO_SIZE_ROWS(sepo),
                                  APP_SEPO_WORKERS_ROW(sepo),
                                  {"--least", APP_OPTION_COUNT, &least, "N", 1, 1e9,
                                   "users in fewer pairs are not in the result"},
                                  {"--top", APP_OPTION_COUNT, &top, "N", 1, 1e6, "users to print"},
                                  {NULL, APP_OPTION_FLAG, NULL, NULL, 0, 0, NULL}};
    app_options_parse(argc, argv, &program, &common, options);
    sepo.table = table_kind - 1;
    if (table_kind != 0) {
        app_sepo_check_options(&common, &sepo);
    } else {
        app_sepo_check_unused(&sepo, false);
    }
    app_streaming job = {0};
    app_streaming_set(&job, &how);

    ratings all = {0};
    if (common.input != NULL) {
        read_ratings(&all, common.input);
    } else {
        generate_ratings(&all, common.seed);
    }
    count_pairs(&all);
    const uint64_t count = app_size_items(
        common.size, sizeof(record), common.input != NULL ? all.pairs_before[all.movies] : 100000,
        1, UINT64_C(1) << 40);
    uint32_t users;
    record *records = make_records(&all, count, common.seed, &users);
    if (table_kind != 0) {
        print_input(&all, count);
        const bool is_right = app_netflix_insert(records, count, &sepo, top, common.check);
        free_input(&all, records);
        return is_right ? 0 : 1;
    }
    check_pairs(records, count, users);

    app_state table;
    app_state_create(&table, how.variant, NULL, users * sizeof(sums), "sums of users");
    netflix task = {(sums *)table.data, (unsigned)how.blocks, (unsigned)how.threads};
    job.records = records;
    job.count = count;
    job.record_bytes = sizeof *records;
    job.launch = launch;
    job.on_host = on_host;
    job.object = &task;
    app_streaming_times times = {0};
    app_streaming_run(&job, how.variant, &times);
    sums *result = (sums *)app_state_copy(&table);
    print_input(&all, count);
    print_users(result, users, least, top);
    app_streaming_report(&job, how.variant, &times);
    uint64_t different = 0;
    if (common.check) {
        app_state serial;
        app_streaming_times ignored = {0};
        app_state_create(&serial, APP_STREAMING_SERIAL, NULL, users * sizeof(sums), "the check");
        task.users = (sums *)serial.data;
        app_streaming_run(&job, APP_STREAMING_SERIAL, &ignored);
        for (uint32_t u = 0; u < users; u++) {
            different += memcmp(&result[u], &task.users[u], sizeof *result) != 0;
        }
        printf("check      sums of %s users against a serial computation: %s, %s differ\n",
               app_count(users), different == 0 ? "equal" : "DIFFERENT", app_count(different));
        app_state_free(&serial);
    }
    app_state_free(&table);
    free(result);
    free_input(&all, records);
    return different == 0 ? 0 : 1;
}
