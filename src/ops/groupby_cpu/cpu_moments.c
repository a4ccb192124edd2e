/* SPDX-License-Identifier: Apache-2.0 */
/* A grouper for means and squares, which are not sums: mean and squares of a group change together
 * with each row (Welford 1962; with weights, West 1979), so a value far from zero costs no digits.
 *
 *     rows of a round ─► threads: key words ─► threads: each takes the rows whose hash is its own
 *
 * A thread's groups are its own, so there are no locks, and a group's rows are added in order: the
 * result does not depend on the number of threads. */
#include <string.h>

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "ops/groupby_cpu/cpu_threads.h"
#include "ops/grouper.h"
#include "ops/wide_sum.h"

#define ROUND (1u << 18) /* rows whose words are in memory */
#define BLOCK 512u       /* rows that are packed together */
#define BATCH 1024u      /* groups of a batch */
#define FIRST_SLOTS 256u
#define NO_GROUP UINT32_MAX

/* A group: rows | what each accumulator keeps, three words each. */
#define FIELD_WORDS 3u

typedef struct table {
    uint64_t slot_count; /* a power of two, at least twice the groups */
    uint32_t *slots;     /* 1 + the group; 0: free */
    uint32_t count, capacity;
    uint64_t *keys;   /* [capacity] */
    uint64_t *groups; /* [capacity][stride] */
    uint32_t null_group;
    wp_status status;
    wp_error error;
} table;

typedef struct moments_grouper {
    wpi_grouper base;
    const wpi_shape *shape;
    wpi_keys *keys;
    uint32_t thread_count, stride;
    table *tables;
    uint64_t *words; /* [ROUND] */
    uint8_t *nulls;
    bool is_broken;
    /* the round */
    const wp_column *key_columns, *values;
    uint64_t first;
    uint32_t row_count;
} moments_grouper;

/* ---- groups ---- */

static uint64_t *group_at(const moments_grouper *g, const table *t, uint32_t group) {
    return &t->groups[(uint64_t)group * g->stride];
}

static wp_status grow_groups(const moments_grouper *g, table *t) {
    const uint32_t capacity = t->capacity == 0 ? FIRST_SLOTS / 2 : 2 * t->capacity;
    uint64_t *keys = wpi_cpu_memory_alloc((size_t)capacity * sizeof *keys);
    uint64_t *groups = wpi_cpu_memory_alloc((size_t)capacity * g->stride * sizeof *groups);
    if (keys == NULL || groups == NULL || capacity > UINT32_MAX / 4) {
        wpi_free(keys);
        wpi_free(groups);
        return WP_FAIL(&t->error, NOMEM, "%u groups", capacity);
    }
    if (t->count != 0) {
        memcpy(keys, t->keys, t->count * sizeof *keys);
        memcpy(groups, t->groups, (size_t)t->count * g->stride * sizeof *groups);
    }
    wpi_free(t->keys);
    wpi_free(t->groups);
    t->keys = keys;
    t->groups = groups;
    t->capacity = capacity;
    return WP_STATUS_OK;
}

static wp_status grow_slots(table *t) {
    const uint64_t slot_count = t->slot_count == 0 ? FIRST_SLOTS : 2 * t->slot_count;
    uint32_t *slots = wpi_calloc(slot_count, sizeof *slots);
    if (slots == NULL) return WP_FAIL(&t->error, NOMEM, "%u groups", t->count);
    for (uint32_t group = 0; group < t->count; group++) {
        if (group == t->null_group) continue;
        uint64_t at = wpi_hash_word(t->keys[group]) & (slot_count - 1);
        while (slots[at] != 0)
            at = (at + 1) & (slot_count - 1);
        slots[at] = group + 1;
    }
    wpi_free(t->slots);
    t->slots = slots;
    t->slot_count = slot_count;
    return WP_STATUS_OK;
}

/* A new group; room for it is there. */
static uint32_t begin_group(const moments_grouper *g, table *t, uint64_t key) {
    uint64_t *group = group_at(g, t, t->count);
    memset(group, 0, g->stride * sizeof *group);
    for (uint32_t i = 0; i < g->shape->accumulator_count; i++)
        if (g->shape->accumulators[i].how == WPI_ACCUMULATE_MIN)
            group[1 + FIELD_WORDS * (size_t)i] = UINT64_MAX;
    t->keys[t->count] = key;
    return t->count++;
}

static uint32_t find_group(const moments_grouper *g, table *t, uint64_t key, uint64_t hash) {
    uint64_t at = hash & (t->slot_count - 1);
    for (; t->slots[at] != 0; at = (at + 1) & (t->slot_count - 1))
        if (t->keys[t->slots[at] - 1] == key) return t->slots[at] - 1;
    const uint32_t group = begin_group(g, t, key);
    t->slots[at] = group + 1;
    return group;
}

/* ---- values ---- */

static double number_of(wp_type type, uint64_t word) {
    if (wpi_type_is_float(type)) return wpi_double_of(word);
    return wpi_type_is_signed(type) ? (double)(int64_t)word : (double)word;
}

static void add_moment(uint64_t *field, double value, double weight) {
    const double count = wpi_double_of(field[2]) + weight;
    if (weight == 0) return;
    const double mean = wpi_double_of(field[0]), before = value - mean;
    const double next = mean + before * (weight / count);
    field[0] = wpi_bits_of(next);
    field[1] = wpi_bits_of(wpi_double_of(field[1]) + weight * before * (value - next));
    field[2] = wpi_bits_of(count);
}

static void add_integer(uint64_t *field, wp_type type, uint64_t word) {
    field[0] += word;
    field[1] +=
        (wpi_type_is_signed(type) ? (uint64_t)((int64_t)word >> 63) : 0) + (field[0] < word);
}

static void add_value(const moments_grouper *g, const wpi_accumulator *a, uint64_t *field,
                      uint64_t row) {
    const wp_column *column = &g->values[a->value];
    if (!wpi_is_valid(column, row)) return;
    const uint64_t word = wpi_value_word(a->type, column->values, row);
    const uint64_t ordered =
        wpi_type_is_float(a->type) ? wpi_ordered_float(word) : wpi_ordered_integer(a->type, word);
    switch (a->how) {
    case WPI_ACCUMULATE_COUNT: field[0]++; break;
    case WPI_ACCUMULATE_SUM_INTEGER: add_integer(field, a->type, word); break;
    case WPI_ACCUMULATE_SUM_FLOAT:
        field[0] = wpi_bits_of(wpi_double_of(field[0]) + wpi_double_of(word));
        break;
    case WPI_ACCUMULATE_MIN: field[0] = ordered < field[0] ? ordered : field[0]; break;
    case WPI_ACCUMULATE_MAX: field[0] = ordered > field[0] ? ordered : field[0]; break;
    default: {
        double weight = 1;
        if (a->weight != WP_ALL_ROWS) {
            const wp_column *weights = &g->values[a->weight];
            weight =
                wpi_is_valid(weights, row)
                    ? number_of(weights->type, wpi_value_word(weights->type, weights->values, row))
                    : 0;
        }
        add_moment(field, number_of(a->type, word), weight);
        break;
    }
    }
}

/* ---- rows ---- */

static void pack(void *object, uint32_t thread) {
    moments_grouper *g = object;
    table *t = &g->tables[thread];
    for (uint32_t at = thread * BLOCK; at < g->row_count && t->status == WP_STATUS_OK;
         at += g->thread_count * BLOCK) {
        const uint32_t count = g->row_count - at < BLOCK ? g->row_count - at : BLOCK;
        t->status = wpi_keys_pack(g->keys, g->key_columns, g->first + at, count, &g->words[at],
                                  &g->nulls[at], &t->error);
    }
}

static wp_status take_row(const moments_grouper *g, table *t, uint32_t row, uint64_t hash) {
    uint32_t group = t->null_group;
    if (t->count == t->capacity) WP_TRY(grow_groups(g, t));
    if (2 * ((uint64_t)t->count + 1) > t->slot_count) WP_TRY(grow_slots(t));
    if (g->nulls[row] == 0)
        group = find_group(g, t, g->words[row], hash);
    else if (group == NO_GROUP)
        group = t->null_group = begin_group(g, t, 0);
    uint64_t *words = group_at(g, t, group);
    words[0]++;
    for (uint32_t i = 0; i < g->shape->accumulator_count; i++)
        add_value(g, &g->shape->accumulators[i], &words[1 + FIELD_WORDS * (size_t)i],
                  g->first + row);
    return WP_STATUS_OK;
}

static void take(void *object, uint32_t thread) {
    moments_grouper *g = object;
    table *t = &g->tables[thread];
    for (uint32_t row = 0; row < g->row_count && t->status == WP_STATUS_OK; row++) {
        const uint64_t hash = wpi_hash_word(g->words[row]);
        if ((hash >> 32) * g->thread_count >> 32 == thread) t->status = take_row(g, t, row, hash);
    }
}

static wp_status failure_of(const moments_grouper *g, wp_error *err) {
    for (uint32_t i = 0; i < g->thread_count; i++)
        if (g->tables[i].status != WP_STATUS_OK) {
            *err = g->tables[i].error;
            return g->tables[i].status;
        }
    return WP_STATUS_OK;
}

static wp_status add(wpi_grouper *grouper, const wp_column *keys, const wp_column *values,
                     uint64_t row_count, wp_error *err) {
    moments_grouper *g = (moments_grouper *)grouper;
    if (g->is_broken)
        return WP_FAIL(err, INVALID, "the group-by has failed before and cannot be continued");
    g->is_broken = true; /* until this is done */
    g->key_columns = keys;
    g->values = values;
    for (g->first = 0; g->first < row_count; g->first += g->row_count) {
        const uint64_t left = row_count - g->first;
        g->row_count = left < ROUND ? (uint32_t)left : ROUND;
        memset(g->nulls, 0, g->row_count);
        wpi_cpu_parallel(g->thread_count, pack, g);
        WP_TRY(failure_of(g, err));
        wpi_cpu_parallel(g->thread_count, take, g);
        WP_TRY(failure_of(g, err));
    }
    g->is_broken = false;
    return WP_STATUS_OK;
}

/* ---- the end ---- */

static wp_status count_groups(wpi_grouper *grouper, uint64_t *group_count, wp_error *err) {
    const moments_grouper *g = (const moments_grouper *)grouper;
    *group_count = 0;
    if (g->is_broken) return WP_FAIL(err, INVALID, "the group-by has failed before");
    for (uint32_t i = 0; i < g->thread_count; i++)
        *group_count += g->tables[i].count;
    return WP_STATUS_OK;
}

typedef struct emitting {
    uint64_t rows[BATCH];
    const uint64_t *words[]; /* [accumulator_count], then their memory: [2 * BATCH] each */
} emitting;

static void fill(const moments_grouper *g, const table *t, uint32_t first, uint32_t count,
                 emitting *e) {
    const uint32_t fields = g->shape->accumulator_count;
    uint64_t *memory = (uint64_t *)(void *)&e->words[fields];
    for (uint32_t i = 0; i < count; i++)
        e->rows[i] = group_at(g, t, first + i)[0];
    for (uint32_t number = 0; number < fields; number++) {
        const wpi_accumulate how = g->shape->accumulators[number].how;
        const uint32_t width =
            how == WPI_ACCUMULATE_MOMENTS || how == WPI_ACCUMULATE_SUM_INTEGER ? 2 : 1;
        uint64_t *out = &memory[2 * (size_t)BATCH * number];
        e->words[number] = out;
        for (uint32_t i = 0; i < count; i++)
            memcpy(&out[(size_t)width * i],
                   &group_at(g, t, first + i)[1 + FIELD_WORDS * (size_t)number],
                   width * sizeof *out);
    }
}

static wp_status emit(wpi_grouper *grouper, wpi_group_sink sink, void *object, wp_error *err) {
    const moments_grouper *g = (const moments_grouper *)grouper;
    const size_t fields = g->shape->accumulator_count;
    emitting *e = wpi_malloc(sizeof *e + fields * (1 + 2 * (size_t)BATCH) * sizeof(uint64_t));
    if (e == NULL) return WP_FAIL(err, NOMEM, "a batch of groups");
    uint64_t before = 0;
    for (uint32_t i = 0; i < g->thread_count; i++) {
        const table *t = &g->tables[i];
        for (uint32_t first = 0; first < t->count; first += BATCH) {
            const uint32_t count = t->count - first < BATCH ? t->count - first : BATCH;
            const bool has_null = t->null_group >= first && t->null_group < first + count;
            fill(g, t, first, count, e);
            sink(object, &(wpi_group_batch){.first = before + first,
                                            .count = count,
                                            .keys = &t->keys[first],
                                            .null_group = has_null ? t->null_group - first : count,
                                            .rows = e->rows,
                                            .words = e->words});
        }
        before += t->count;
    }
    wpi_free(e);
    return WP_STATUS_OK;
}

static const char *explain(const wpi_grouper *grouper) {
    (void)grouper;
    return "means and squares, by the processor: each thread has the groups whose hashes are its "
           "own\n";
}

static void close_grouper(wpi_grouper *grouper) {
    moments_grouper *g = (moments_grouper *)grouper;
    for (uint32_t i = 0; g->tables != NULL && i < g->thread_count; i++) {
        wpi_free(g->tables[i].slots);
        wpi_free(g->tables[i].keys);
        wpi_free(g->tables[i].groups);
    }
    wpi_free(g->tables);
    wpi_free(g->words);
    wpi_free(g->nulls);
    wpi_free(g);
}

static wp_status open_grouper(wp_device *device, const wpi_shape *shape, wpi_keys *keys,
                              const wp_ops_options *options, wpi_grouper **out, wp_error *err) {
    (void)device;
    *out = NULL;
    moments_grouper *g = wpi_calloc(1, sizeof *g);
    if (g == NULL) return WP_FAIL(err, NOMEM, "a group-by");
    g->base.ops = &wpi_grouper_moments;
    g->shape = shape;
    g->keys = keys;
    g->stride = 1 + FIELD_WORDS * shape->accumulator_count;
    g->thread_count = wpi_cpu_thread_count();
    if (options->thread_count != 0 && options->thread_count < WPI_CPU_THREADS_MAX)
        g->thread_count = (uint32_t)options->thread_count;
    g->tables = wpi_calloc(g->thread_count, sizeof *g->tables);
    g->words = wpi_malloc(ROUND * sizeof *g->words);
    g->nulls = wpi_malloc(ROUND);
    if (g->tables == NULL || g->words == NULL || g->nulls == NULL) {
        close_grouper(&g->base);
        return WP_FAIL(err, NOMEM, "a group-by");
    }
    for (uint32_t i = 0; i < g->thread_count; i++)
        g->tables[i].null_group = NO_GROUP;
    *out = &g->base;
    return WP_STATUS_OK;
}

const wpi_grouper_ops wpi_grouper_moments = {.name = "moments",
                                             .open = open_grouper,
                                             .add = add,
                                             .count = count_groups,
                                             .emit = emit,
                                             .explain = explain,
                                             .close = close_grouper};
