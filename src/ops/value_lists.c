/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Quantiles by selection, and numbers of distinct values:
 *
 *     chunks ─► segments: (group's number, value's word) of each row ─► values, group after group
 * ─► selection
 *
 * Threads share the rows of a chunk, then the rows of all segments, then the groups. The words'
 * unsigned order is the order of the values.
 */
#include "warpage/distributions.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "ops/codes.h"
#include "ops/groupby_cpu/cpu_threads.h"
#include "ops/keys.h"

#define MORSEL_ROWS 16384u
#define NO_GROUP UINT32_MAX /* of a row whose value is NULL */
#define NULL_KEY 0u         /* the number of a group whose key has no word; others are from 1 */

/* A thread's numbers of the last keys, by their words: most rows need no look-up. */
#define CACHE_BITS 12u
#define CACHE_FACTOR UINT64_C(0x9e3779b97f4a7c15)

typedef struct cached {
    uint64_t word;
    uint32_t number; /* 0: none */
} cached;

typedef struct segment {
    struct segment *next;
    uint64_t row_count;
    uint64_t *words;
    uint32_t *numbers;
} segment;

struct wp_lists {
    wpi_shape shape;
    wpi_keys *keys;
    wpi_codes *codes;
    uint32_t thread_count, number_count;
    segment *segments;
    uint64_t *words;  /* of all rows, group after group; NULL before the first quantile */
    uint64_t *starts; /* [number_count + 1] */
};

/* ---- open and close ---- */

static void free_segment(segment *s) {
    if (s == NULL) return;
    wpi_free(s->words);
    wpi_free(s->numbers);
    wpi_free(s);
}

static void free_segments(wp_lists *lists) {
    while (lists->segments != NULL) {
        segment *next = lists->segments->next;
        free_segment(lists->segments);
        lists->segments = next;
    }
}

wp_status wp_lists_open(const wp_groupby_spec *spec, wp_lists **out, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    *out = NULL;
    if (spec->value_count != 1)
        return WP_FAIL(err, INVALID, "lists are of one column, not %u", spec->value_count);
    wp_lists *lists = wpi_calloc(1, sizeof *lists);
    if (lists == NULL) return WP_FAIL(err, NOMEM, "lists of values");
    const uint64_t threads = spec->options.thread_count, online = wpi_cpu_thread_count();
    lists->thread_count = (uint32_t)(threads == 0                    ? online
                                     : threads < WPI_CPU_THREADS_MAX ? threads
                                                                     : WPI_CPU_THREADS_MAX);
    lists->number_count = NULL_KEY + 1;
    WP_TRY_GOTO(wpi_shape_init(&lists->shape, spec, err), done);
    WP_TRY_GOTO(wpi_keys_create(&lists->shape, &lists->keys, err), done);
    WP_TRY_GOTO(wpi_codes_create(&lists->codes, err), done);
    *out = lists;
    lists = NULL;
done:
    wp_lists_close(lists);
    return status;
}

void wp_lists_close(wp_lists *lists) {
    if (lists == NULL) return;
    free_segments(lists);
    wpi_codes_destroy(lists->codes);
    wpi_keys_destroy(lists->keys);
    wpi_shape_deinit(&lists->shape);
    wpi_free(lists->words);
    wpi_free(lists->starts);
    wpi_free(lists);
}

/* ---- rows ---- */

typedef struct add_step {
    wp_lists *lists;
    const wp_column *keys, *values;
    segment *to;
    uint32_t *numbers; /* the caller's */
    _Atomic uint64_t next;
    _Atomic uint32_t number_count;
    wp_status statuses[WPI_CPU_THREADS_MAX];
    wp_error errors[WPI_CPU_THREADS_MAX];
} add_step;

/* In ordered form. -0 is 0, and all NaN are one. */
static uint64_t word_of(wp_type type, const void *values, uint64_t row) {
    const uint64_t word = wpi_load_word(type, values, row);
    if (!wpi_type_is_float(type)) return wpi_ordered_integer(type, word);
    const double number = wpi_double_of(word);
    const uint64_t nan = UINT64_C(0x7ff8000000000000);
    return wpi_ordered_float(number != number ? nan : wpi_bits_of(number + 0.0));
}

/* Numbers of words, from 1. */
static wp_status number_words(wpi_codes *codes, cached *cache, const uint64_t *words,
                              uint32_t count, uint32_t *numbers, wp_error *err) {
    uint64_t missed[WPI_CODES_BATCH];
    uint32_t rows[WPI_CODES_BATCH], found[WPI_CODES_BATCH], missed_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        const cached *at = &cache[words[i] * CACHE_FACTOR >> (64 - CACHE_BITS)];
        numbers[i] = at->number;
        if (at->number != 0 && at->word == words[i]) continue;
        missed[missed_count] = words[i];
        rows[missed_count++] = i;
    }
    if (missed_count == 0) return WP_STATUS_OK;
    WP_TRY(wpi_codes_number(codes, missed, missed_count, found, err));
    for (uint32_t i = 0; i < missed_count; i++) {
        numbers[rows[i]] = found[i] + 1;
        cache[missed[i] * CACHE_FACTOR >> (64 - CACHE_BITS)] = (cached){missed[i], found[i] + 1};
    }
    return WP_STATUS_OK;
}

static wp_status add_batch(add_step *s, cached *cache, uint64_t first, uint32_t count,
                           uint32_t *number_max, wp_error *err) {
    uint64_t words[WPI_CODES_BATCH];
    uint8_t nulls[WPI_CODES_BATCH];
    uint32_t *numbers = s->numbers + first;
    WP_TRY(wpi_keys_pack(s->lists->keys, s->keys, first, count, words, nulls, err));
    WP_TRY(number_words(s->lists->codes, cache, words, count, numbers, err));
    for (uint32_t i = 0; i < count; i++) {
        if (nulls[i] != 0) numbers[i] = NULL_KEY;
        *number_max = numbers[i] > *number_max ? numbers[i] : *number_max;
        s->to->words[first + i] = word_of(s->values->type, s->values->values, first + i);
        s->to->numbers[first + i] = wpi_is_valid(s->values, first + i) ? numbers[i] : NO_GROUP;
    }
    return WP_STATUS_OK;
}

static wp_status add_morsels(add_step *s, cached *cache, uint32_t *number_max, wp_error *err) {
    for (;;) {
        const uint64_t first = atomic_fetch_add(&s->next, MORSEL_ROWS);
        if (first >= s->to->row_count) return WP_STATUS_OK;
        const uint64_t rest = s->to->row_count - first;
        const uint64_t end = first + (rest < MORSEL_ROWS ? rest : MORSEL_ROWS);
        for (uint64_t at = first; at < end; at += WPI_CODES_BATCH)
            WP_TRY(add_batch(s, cache, at,
                             (uint32_t)(end - at < WPI_CODES_BATCH ? end - at : WPI_CODES_BATCH),
                             number_max, err));
    }
}

static void add_rows(void *object, uint32_t thread) {
    add_step *s = object;
    uint32_t number_max = 0;
    cached *cache = wpi_calloc((size_t)1 << CACHE_BITS, sizeof *cache);
    s->statuses[thread] = cache != NULL ? add_morsels(s, cache, &number_max, &s->errors[thread])
                                        : WP_FAIL(&s->errors[thread], NOMEM, "lists of values");
    wpi_free(cache);
    uint32_t count = atomic_load(&s->number_count);
    while (count <= number_max &&
           !atomic_compare_exchange_weak(&s->number_count, &count, number_max + 1)) {
    }
}

static wp_status check_columns(const wp_lists *lists, const wp_column *keys,
                               const wp_column *values, wp_error *err) {
    if (lists->words != NULL)
        return WP_FAIL(err, INVALID, "quantiles of the lists have been taken already");
    for (uint32_t i = 0; i < lists->shape.key_count; i++)
        if (keys[i].type != lists->shape.keys[i].type ||
            (keys[i].valid != NULL && !lists->shape.keys[i].is_nullable))
            return WP_FAIL(err, INVALID, "key %u is not as specified", i);
    if (values->type != lists->shape.values[0])
        return WP_FAIL(err, INVALID, "the values have type %s, not %s as specified",
                       wp_type_name(values->type), wp_type_name(lists->shape.values[0]));
    return WP_STATUS_OK;
}

wp_status wp_lists_add(wp_lists *lists, const wp_column *keys, const wp_column *values,
                       uint64_t row_count, uint32_t *numbers, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    WP_TRY(check_columns(lists, keys, values, err));
    if (row_count == 0) return WP_STATUS_OK;
    add_step *s = wpi_calloc(1, sizeof *s);
    segment *to = wpi_calloc(1, sizeof *to);
    if (s == NULL || to == NULL) {
        status = WP_FAIL(err, NOMEM, "lists of values");
        goto done;
    }
    *to = (segment){NULL, row_count, wpi_malloc(row_count * sizeof *to->words),
                    wpi_malloc(row_count * sizeof *to->numbers)};
    if (to->words == NULL || to->numbers == NULL) {
        status = WP_FAIL(err, NOMEM, "lists of %llu values", (unsigned long long)row_count);
        goto done;
    }
    s->lists = lists, s->keys = keys, s->values = values, s->to = to, s->numbers = numbers;
    s->number_count = lists->number_count;
    const uint64_t morsels = (row_count - 1) / MORSEL_ROWS + 1;
    const uint32_t threads =
        morsels < lists->thread_count ? (uint32_t)morsels : lists->thread_count;
    wpi_cpu_parallel(threads, add_rows, s);
    for (uint32_t i = 0; i < threads && status == WP_STATUS_OK; i++) {
        status = s->statuses[i];
        if (status != WP_STATUS_OK && err != NULL) *err = s->errors[i];
    }
    if (status != WP_STATUS_OK) goto done;
    lists->number_count = s->number_count;
    to->next = lists->segments;
    lists->segments = to;
    to = NULL;
done:
    free_segment(to);
    wpi_free(s);
    return status;
}

/* ---- values, group after group ---- */

typedef struct gather_step {
    wp_lists *lists;
    uint64_t row_count;
    uint64_t *places; /* [thread][number]: how many values, then where the next one is */
} gather_step;

/* A thread's share of all rows: its part of each segment. */
static void share_of(const gather_step *s, const segment *from, uint32_t thread, uint64_t *first,
                     uint64_t *end) {
    const uint64_t step = from->row_count / s->lists->thread_count + 1;
    *first = thread * step < from->row_count ? thread * step : from->row_count;
    *end = *first + step < from->row_count ? *first + step : from->row_count;
}

static void count_rows(void *object, uint32_t thread) {
    const gather_step *s = object;
    uint64_t *counts = s->places + (size_t)thread * s->lists->number_count, first, end;
    for (const segment *from = s->lists->segments; from != NULL; from = from->next) {
        share_of(s, from, thread, &first, &end);
        for (uint64_t i = first; i < end; i++)
            if (from->numbers[i] != NO_GROUP) counts[from->numbers[i]]++;
    }
}

static void move_rows(void *object, uint32_t thread) {
    const gather_step *s = object;
    uint64_t *places = s->places + (size_t)thread * s->lists->number_count, first, end;
    for (const segment *from = s->lists->segments; from != NULL; from = from->next) {
        share_of(s, from, thread, &first, &end);
        for (uint64_t i = first; i < end; i++)
            if (from->numbers[i] != NO_GROUP)
                s->lists->words[places[from->numbers[i]]++] = from->words[i];
    }
}

static wp_status gather(wp_lists *lists, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    const uint32_t numbers = lists->number_count, threads = lists->thread_count;
    gather_step s = {lists, 0, wpi_calloc((size_t)threads * numbers, sizeof *s.places)};
    for (const segment *from = lists->segments; from != NULL; from = from->next)
        s.row_count += from->row_count;
    lists->starts = wpi_malloc(((size_t)numbers + 1) * sizeof *lists->starts);
    lists->words = wpi_malloc((s.row_count + 1) * sizeof *lists->words);
    if (s.places == NULL || lists->starts == NULL || lists->words == NULL) {
        status = WP_FAIL(err, NOMEM, "lists of %llu values", (unsigned long long)s.row_count);
        wpi_free(lists->words);
        wpi_free(lists->starts);
        lists->words = lists->starts = NULL;
        goto done;
    }
    wpi_cpu_parallel(threads, count_rows, &s);
    uint64_t at = 0;
    for (uint32_t number = 0; number < numbers; number++) {
        lists->starts[number] = at;
        for (uint32_t thread = 0; thread < threads; thread++) {
            uint64_t *place = &s.places[(size_t)thread * numbers + number];
            const uint64_t count = *place;
            *place = at;
            at += count;
        }
    }
    lists->starts[numbers] = at;
    wpi_cpu_parallel(threads, move_rows, &s);
    free_segments(lists);
done:
    wpi_free(s.places);
    return status;
}

/* ---- selection ---- */

static uint64_t middle_of(uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return c < low ? low : c > high ? high : c;
}

/* Moves words for which word < pivot (or <=) to the front; returns how many. Without branches. */
static uint64_t divide(uint64_t *words, uint64_t count, uint64_t pivot, bool or_equal) {
    uint64_t end = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t word = words[i];
        words[i] = words[end];
        words[end] = word;
        end += (word < pivot) | (or_equal & (word == pivot));
    }
    return end;
}

/* The word at `place` in order. What is behind it afterwards is no less. Pivots are from random
 * places, so no order of rows is slow. */
static uint64_t select_word(uint64_t *words, uint64_t count, uint64_t place) {
    uint64_t seed = UINT64_C(0x9e3779b97f4a7c15) ^ count;
    while (count > 1) {
        uint64_t at[3];
        for (uint32_t i = 0; i < 3; i++) {
            seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            at[i] = (seed >> 33) % count;
        }
        const uint64_t pivot = middle_of(words[at[0]], words[at[1]], words[at[2]]);
        const uint64_t less = divide(words, count, pivot, false);
        if (place < less) {
            count = less;
            continue;
        }
        const uint64_t equal = divide(words + less, count - less, pivot, true);
        if (place < less + equal) return pivot;
        words += less + equal;
        count -= less + equal;
        place -= less + equal;
    }
    return words[0];
}

static double number_of(wp_type type, uint64_t word) {
    if (wpi_type_is_float(type)) return wpi_double_of(wpi_unordered_float(word));
    const uint64_t number = wpi_unordered_integer(type, word);
    return wpi_type_is_signed(type) ? (double)(int64_t)number : (double)number;
}

/* As wp_runs_quantile adds. */
static double quantile_of(wp_type type, uint64_t *words, uint64_t count, double share) {
    const double position = (double)(count - 1) * share;
    const double below = floor(position), above = ceil(position);
    const double low = number_of(type, select_word(words, count, (uint64_t)below));
    if (below == above) return low;
    uint64_t next = UINT64_MAX;
    for (uint64_t i = (uint64_t)above; i < count; i++)
        next = words[i] < next ? words[i] : next;
    const double high = number_of(type, next);
    return low == high ? low : (above - position) * low + (position - below) * high;
}

/* ---- results, one for each group; threads take groups in turns ---- */

typedef struct result_step {
    const wp_lists *lists;
    const uint32_t *numbers;
    uint64_t count;
    double share, *out;
    uint8_t *valid;
    uint64_t *distinct;
    uint64_t slot_count; /* of a thread's set of words: a power of two, for the largest group */
    uint64_t *slots;     /* [thread][slot_count] */
    _Atomic uint64_t next;
} result_step;

/* The next group's words; false: there are no more. */
static bool next_group(result_step *s, uint64_t *index, uint64_t **words, uint64_t *count) {
    *index = atomic_fetch_add(&s->next, 1);
    if (*index >= s->count) return false;
    const uint64_t *starts = s->lists->starts + s->numbers[*index];
    *words = s->lists->words + starts[0];
    *count = starts[1] - starts[0];
    return true;
}

static void select_groups(void *object, uint32_t thread) {
    result_step *s = object;
    uint64_t index, *words, count;
    (void)thread;
    while (next_group(s, &index, &words, &count)) {
        s->valid[index] = count != 0;
        s->out[index] =
            count != 0 ? quantile_of(s->lists->shape.values[0], words, count, s->share) : 0;
    }
}

static uint64_t slots_for(uint64_t count) {
    uint64_t slots = 16;
    while (slots < 2 * count)
        slots *= 2;
    return slots;
}

/* 0 is an empty slot, and counted apart. */
static uint64_t distinct_of(const uint64_t *words, uint64_t count, uint64_t *slots) {
    const uint64_t mask = slots_for(count) - 1;
    uint64_t distinct = 0;
    bool has_zero = false;
    memset(slots, 0, (mask + 1) * sizeof *slots);
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t word = words[i];
        uint64_t at = (word ^ word >> 32) * CACHE_FACTOR;
        at = (at ^ at >> 32) & mask;
        has_zero |= word == 0;
        while (slots[at] != word && slots[at] != 0)
            at = (at + 1) & mask;
        distinct += slots[at] != word;
        slots[at] = word;
    }
    return distinct + has_zero;
}

static void count_groups(void *object, uint32_t thread) {
    result_step *s = object;
    uint64_t index, *words, count;
    while (next_group(s, &index, &words, &count))
        s->distinct[index] = distinct_of(words, count, s->slots + thread * s->slot_count);
}

static wp_status begin_results(wp_lists *lists, const uint32_t *numbers, uint64_t count,
                               wp_error *err) {
    if (lists->words == NULL) WP_TRY(gather(lists, err));
    for (uint64_t i = 0; i < count; i++)
        if (numbers[i] >= lists->number_count)
            return WP_FAIL(err, INVALID, "group %u is not one of the lists", numbers[i]);
    return WP_STATUS_OK;
}

static uint32_t threads_for(const wp_lists *lists, uint64_t count) {
    return count < lists->thread_count ? (uint32_t)count : lists->thread_count;
}

wp_status wp_lists_quantile(wp_lists *lists, const uint32_t *numbers, uint64_t count, double share,
                            double *out, uint8_t *valid, wp_error *err) {
    WP_TRY(begin_results(lists, numbers, count, err));
    result_step s = {lists, numbers, count, share, out, valid, NULL, 0, NULL, 0};
    wpi_cpu_parallel(threads_for(lists, count), select_groups, &s);
    return WP_STATUS_OK;
}

wp_status wp_lists_count_distinct(wp_lists *lists, const uint32_t *numbers, uint64_t count,
                                  uint64_t *out, wp_error *err) {
    WP_TRY(begin_results(lists, numbers, count, err));
    result_step s = {lists, numbers, count, 0, NULL, NULL, out, 0, NULL, 0};
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t slots = slots_for(lists->starts[numbers[i] + 1] - lists->starts[numbers[i]]);
        s.slot_count = slots > s.slot_count ? slots : s.slot_count;
    }
    const uint32_t threads = threads_for(lists, count);
    s.slots = wpi_malloc((threads * s.slot_count + 1) * sizeof *s.slots);
    if (s.slots == NULL) return WP_FAIL(err, NOMEM, "sets of values");
    wpi_cpu_parallel(threads, count_groups, &s);
    wpi_free(s.slots);
    return WP_STATUS_OK;
}
