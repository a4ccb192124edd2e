/* SPDX-License-Identifier: Apache-2.0 */
/* Groups numbered as they come, their accumulators in a list: one thread. */
#include <string.h>

#include "base/alloc.h"
#include "ops/codes.h"
#include "ops/grouper.h"

#define BLOCK 1024u

typedef struct cpu_grouper {
    wpi_grouper base;
    const wpi_shape *shape;
    wpi_keys *keys;
    wpi_codes codes; /* of keys */
    uint32_t
        null_number; /* of the group whose key is NULL: its place in codes is taken by a word */
    bool has_null;
    uint32_t count, capacity;
    uint64_t *rows;
    uint64_t **words; /* [accumulator_count] */
} cpu_grouper;

static uint32_t words_of(const wpi_accumulator *accumulator) {
    return accumulator->how == WPI_ACCUMULATE_SUM_INTEGER ? 2 : 1;
}

static wp_status open_grouper(wp_device *device, const wpi_shape *shape, wpi_keys *keys,
                              const wp_ops_options *options, wpi_grouper **out, wp_error *err) {
    (void)device, (void)options;
    cpu_grouper *g = wp_calloc(1, sizeof *g);
    if (g == NULL) return WP_FAIL(err, NOMEM, "a group-by");
    g->base.ops = &wpi_grouper_cpu;
    g->shape = shape;
    g->keys = keys;
    g->words = wp_calloc(shape->accumulator_count + 1, sizeof *g->words);
    *out = &g->base;
    if (g->words != NULL) return WP_STATUS_OK;
    wp_free(g);
    *out = NULL;
    return WP_FAIL(err, NOMEM, "a group-by");
}

static bool grow(uint64_t **list, uint64_t old_words, uint64_t words, uint64_t fill) {
    uint64_t *grown = wp_realloc(*list, words * sizeof **list);
    if (grown == NULL) return false;
    for (uint64_t i = old_words; i < words; i++)
        grown[i] = fill;
    *list = grown;
    return true;
}

static wp_status make_room(cpu_grouper *g, wp_error *err) {
    const uint64_t capacity = g->capacity == 0 ? 1024 : 2 * (uint64_t)g->capacity;
    bool is_ok = grow(&g->rows, g->capacity, capacity, 0);
    for (uint32_t i = 0; i < g->shape->accumulator_count; i++) {
        const wpi_accumulator *accumulator = &g->shape->accumulators[i];
        const uint64_t words = words_of(accumulator);
        is_ok = is_ok && grow(&g->words[i], words * g->capacity, words * capacity,
                              accumulator->how == WPI_ACCUMULATE_MIN ? UINT64_MAX : 0);
    }
    if (!is_ok) return WP_FAIL(err, NOMEM, "%llu groups", (unsigned long long)capacity);
    g->capacity = (uint32_t)capacity;
    return WP_STATUS_OK;
}

static void add_float(uint64_t *word, uint64_t addend) {
    double a, b;
    memcpy(&a, word, sizeof a);
    memcpy(&b, &addend, sizeof b);
    a += b;
    memcpy(word, &a, sizeof a);
}

static void add_integer(uint64_t words[2], uint64_t addend, bool is_signed) {
    words[0] += addend;
    words[1] += (uint64_t)(words[0] < addend) - (uint64_t)(is_signed && addend >> 63 != 0);
}

static void accumulate(cpu_grouper *g, uint32_t number, const wp_column *values, uint64_t row) {
    for (uint32_t i = 0; i < g->shape->accumulator_count; i++) {
        const wpi_accumulator *accumulator = &g->shape->accumulators[i];
        const wp_column *column = &values[accumulator->value];
        if (!wpi_is_valid(column, row)) continue;
        const uint64_t word = wpi_value_word(column->type, column->values, row);
        const uint64_t ordered = wpi_type_is_float(column->type)
                                     ? wpi_ordered_float(word)
                                     : wpi_ordered_integer(column->type, word);
        uint64_t *kept = &g->words[i][(uint64_t)number * words_of(accumulator)];
        switch (accumulator->how) {
        case WPI_ACCUMULATE_COUNT: ++*kept; break;
        case WPI_ACCUMULATE_SUM_FLOAT: add_float(kept, word); break;
        case WPI_ACCUMULATE_SUM_INTEGER:
            add_integer(kept, word, wpi_type_is_signed(column->type));
            break;
        case WPI_ACCUMULATE_MIN: *kept = ordered < *kept ? ordered : *kept; break;
        default: *kept = ordered > *kept ? ordered : *kept; break;
        }
    }
}

/* The group of NULL gets a number as a word would that never comes: codes has none for it. */
static wp_status number_of(cpu_grouper *g, uint64_t word, bool is_null, uint32_t *out,
                           wp_error *err) {
    if (is_null) {
        if (!g->has_null) g->null_number = g->count++;
        g->has_null = true;
        *out = g->null_number;
    } else {
        WP_TRY(wpi_codes_number(&g->codes, word, out, err));
        if (g->has_null && *out >= g->null_number) ++*out;
        if (*out == g->count) g->count++;
    }
    return g->count > g->capacity ? make_room(g, err) : WP_STATUS_OK;
}

static wp_status add(wpi_grouper *grouper, const wp_column *keys, const wp_column *values,
                     uint64_t row_count, wp_error *err) {
    cpu_grouper *g = (cpu_grouper *)grouper;
    for (uint64_t first = 0; first < row_count; first += BLOCK) {
        uint64_t words[BLOCK];
        uint8_t nulls[BLOCK];
        const uint32_t count = (uint32_t)(row_count - first < BLOCK ? row_count - first : BLOCK);
        WP_TRY(wpi_keys_pack(g->keys, keys, first, count, words, nulls, err));
        for (uint32_t i = 0; i < count; i++) {
            uint32_t number = 0;
            WP_TRY(number_of(g, words[i], nulls[i] != 0, &number, err));
            g->rows[number]++;
            accumulate(g, number, values, first + i);
        }
    }
    return WP_STATUS_OK;
}

static wp_status count_groups(wpi_grouper *grouper, uint64_t *group_count, wp_error *err) {
    (void)err;
    *group_count = ((cpu_grouper *)grouper)->count;
    return WP_STATUS_OK;
}

static wp_status emit(wpi_grouper *grouper, wpi_group_sink sink, void *object, wp_error *err) {
    cpu_grouper *g = (cpu_grouper *)grouper;
    uint64_t *keys = wp_calloc(g->count + 1, sizeof *keys);
    if (keys == NULL) return WP_FAIL(err, NOMEM, "keys of %u groups", g->count);
    for (uint32_t i = 0; i < g->codes.count; i++)
        keys[i + (g->has_null && i >= g->null_number)] = g->codes.words[i];
    const wpi_group_batch batch = {.count = g->count,
                                   .keys = keys,
                                   .null_group = g->has_null ? g->null_number : g->count,
                                   .rows = g->rows,
                                   .words = (const uint64_t *const *)g->words};
    if (g->count != 0) sink(object, &batch);
    wp_free(keys);
    return WP_STATUS_OK;
}

static const char *explain(const wpi_grouper *grouper) {
    (void)grouper;
    return "the processor: one table\n";
}

static void close_grouper(wpi_grouper *grouper) {
    cpu_grouper *g = (cpu_grouper *)grouper;
    for (uint32_t i = 0; i < g->shape->accumulator_count; i++)
        wp_free(g->words[i]);
    wp_free(g->words);
    wp_free(g->rows);
    wpi_codes_deinit(&g->codes);
    wp_free(g);
}

const wpi_grouper_ops wpi_grouper_cpu = {.name = "cpu",
                                         .open = open_grouper,
                                         .add = add,
                                         .count = count_groups,
                                         .emit = emit,
                                         .explain = explain,
                                         .close = close_grouper};
