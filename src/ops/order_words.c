/* SPDX-License-Identifier: Apache-2.0 */
/* A radix sort of words, each a group's keys above its row number:
 *
 *     first key │ … │ last key │ row        keys: distances from the least; NULL beyond the
 * greatest
 *
 * The row number moves along without being sorted, as a sort by digits is stable. Keys of integers
 * are read back from the sorted words, so only the other columns are gathered by rows. */
#include "ops/order_words.h"

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "ops/shape.h"

enum { BLOCK = 1024, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };

typedef struct field {
    uint64_t least, null; /* what is subtracted; what NULL has */
    uint32_t bits, shift;
} field;

typedef struct ordering {
    wpi_group_column *columns;
    field *fields; /* [key_count] */
    uint32_t key_count, key_bits, row_bits;
    uint64_t count;
    uint64_t *words, *next;
} ordering;

static uint32_t bits_of(uint64_t number) {
    return number == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(number);
}

static inline uint64_t ordered(wp_type type, uint64_t word) {
    return wpi_type_is_float(type) ? wpi_ordered_float(word) : wpi_ordered_integer(type, word);
}

/* Of rows [first, first + count) of a column, words in the order of values. */
static void take_block(const wpi_group_column *column, uint64_t first, uint32_t count,
                       uint64_t *out) {
    const void *values = column->values;
#define TAKE(type)                                                                                 \
    case type:                                                                                     \
        for (uint32_t i = 0; i < count; i++)                                                       \
            out[i] = ordered(type, wpi_load_word(type, values, first + i));                        \
        break
    switch (column->column.type) {
        TAKE(WP_TYPE_INT8);
        TAKE(WP_TYPE_INT16);
        TAKE(WP_TYPE_INT32);
        TAKE(WP_TYPE_INT64);
        TAKE(WP_TYPE_UINT8);
        TAKE(WP_TYPE_UINT16);
        TAKE(WP_TYPE_UINT32);
        TAKE(WP_TYPE_FLOAT32);
        TAKE(WP_TYPE_FLOAT64);
    default:
        for (uint32_t i = 0; i < count; i++)
            out[i] = wpi_load_word(WP_TYPE_UINT64, values, first + i);
    }
#undef TAKE
}

static uint32_t block_at(uint64_t first, uint64_t count) {
    return count - first < BLOCK ? (uint32_t)(count - first) : BLOCK;
}

/* False: a column's values are 2^64 apart. */
static bool init_field(field *f, const wpi_group_column *column, uint64_t count) {
    uint64_t low = UINT64_MAX, high = 0, words[BLOCK];
    for (uint64_t first = 0; first < count; first += BLOCK) {
        const uint32_t here = block_at(first, count);
        take_block(column, first, here, words);
        for (uint32_t i = 0; i < here; i++) {
            const bool is_valid = column->valid[first + i] != 0;
            low = is_valid && words[i] < low ? words[i] : low;
            high = is_valid && words[i] > high ? words[i] : high;
        }
    }
    *f = (field){0};
    if (low > high) return true; /* all are NULL */
    if (high - low == UINT64_MAX) return false;
    *f = (field){.least = low, .null = high - low + 1, .bits = bits_of(high - low + 1)};
    return true;
}

/* Whether all keys and rows fit a word. */
static bool init_fields(ordering *o) {
    o->row_bits = bits_of(o->count - 1);
    for (uint32_t key = 0; key < o->key_count; key++) {
        if (!init_field(&o->fields[key], &o->columns[key], o->count)) return false;
        o->key_bits += o->fields[key].bits;
        if (o->key_bits + o->row_bits > 64) return false;
    }
    uint32_t shift = o->row_bits;
    for (uint32_t key = o->key_count; key > 0; key--) {
        o->fields[key - 1].shift = shift;
        shift += o->fields[key - 1].bits;
    }
    return true;
}

static void pack(const ordering *o) {
    uint64_t words[BLOCK];
    for (uint64_t first = 0; first < o->count; first += BLOCK) {
        const uint32_t here = block_at(first, o->count);
        uint64_t *out = &o->words[first];
        for (uint32_t i = 0; i < here; i++)
            out[i] = first + i;
        for (uint32_t key = 0; key < o->key_count; key++) {
            const field *f = &o->fields[key];
            if (f->bits == 0) continue; /* its shift may be 64 */
            const uint8_t *valid = &o->columns[key].valid[first];
            take_block(&o->columns[key], first, here, words);
            for (uint32_t i = 0; i < here; i++)
                out[i] |= (valid[i] != 0 ? words[i] - f->least : f->null) << f->shift;
        }
    }
}

static void sort_by_digit(ordering *o, uint64_t *starts, uint32_t shift, uint64_t mask) {
    if (starts[o->words[0] >> shift & mask] == o->count) return; /* all have this digit */
    for (uint64_t digit = 0, sum = 0; digit <= mask; digit++) {
        const uint64_t here = starts[digit];
        starts[digit] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < o->count; i++)
        o->next[starts[o->words[i] >> shift & mask]++] = o->words[i];
    uint64_t *swap = o->words;
    o->words = o->next;
    o->next = swap;
}

static wp_status sort(ordering *o, wp_error *err) {
    const uint32_t passes = (o->key_bits + DIGIT_BITS - 1) / DIGIT_BITS;
    if (passes == 0) return WP_STATUS_OK;
    const uint32_t width = (o->key_bits + passes - 1) / passes; /* of a digit */
    const uint64_t mask = ((uint64_t)1 << width) - 1;
    uint64_t(*starts)[DIGITS] = wpi_calloc(passes, sizeof *starts);
    if (starts == NULL) return WP_FAIL(err, NOMEM, "a sort of groups");
    for (uint64_t i = 0; i < o->count; i++) {
        uint64_t rest = o->words[i] >> o->row_bits;
        for (uint32_t pass = 0; pass < passes; pass++, rest >>= width)
            starts[pass][rest & mask]++;
    }
    for (uint32_t pass = 0; pass < passes; pass++)
        sort_by_digit(o, starts[pass], o->row_bits + pass * width, mask);
    wpi_free(starts);
    return WP_STATUS_OK;
}

static inline void put(wp_type type, void *values, uint64_t row, uint64_t value) {
    switch (type) {
    case WP_TYPE_INT8:
    case WP_TYPE_UINT8: ((uint8_t *)values)[row] = (uint8_t)value; break;
    case WP_TYPE_INT16:
    case WP_TYPE_UINT16: ((uint16_t *)values)[row] = (uint16_t)value; break;
    case WP_TYPE_INT32:
    case WP_TYPE_UINT32: ((uint32_t *)values)[row] = (uint32_t)value; break;
    default: ((uint64_t *)values)[row] = value;
    }
}

/* A key's column of integers, from the sorted words. */
static void read_back(const ordering *o, uint32_t key) {
    const field f = o->fields[key];
    const wpi_group_column *column = &o->columns[key];
    const wp_type type = column->column.type;
    const uint64_t mask = ((uint64_t)1 << f.bits) - 1;
    for (uint64_t i = 0; i < o->count; i++) {
        const uint64_t here = o->words[i] >> f.shift & mask;
        const bool is_valid = here != f.null;
        column->valid[i] = is_valid;
        put(type, column->values, i, is_valid ? wpi_unordered_integer(type, here + f.least) : 0);
    }
}

static wp_status put_columns(ordering *o, uint32_t column_count, wp_error *err) {
    for (uint32_t key = 0; key < o->key_count; key++)
        if (!wpi_type_is_float(o->columns[key].column.type) && o->fields[key].bits != 0)
            read_back(o, key);
    const uint64_t rows = ((uint64_t)1 << o->row_bits) - 1;
    for (uint64_t i = 0; i < o->count; i++)
        o->words[i] &= rows;
    for (uint32_t i = 0; i < column_count; i++) {
        if (i < o->key_count &&
            (!wpi_type_is_float(o->columns[i].column.type) || o->fields[i].bits == 0))
            continue;
        WP_TRY(wpi_order_gather(&o->columns[i], o->count, o->words, 1, err));
    }
    return WP_STATUS_OK;
}

wp_status wpi_order_by_words(wpi_group_column *columns, uint32_t key_count, uint32_t column_count,
                             uint64_t count, bool *is_done, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    ordering o = {.columns = columns, .key_count = key_count, .count = count};
    *is_done = false;
    o.fields = wpi_calloc(key_count, sizeof *o.fields);
    if (o.fields == NULL) return WP_FAIL(err, NOMEM, "an order of groups");
    if (!init_fields(&o)) goto done;
    o.words = wpi_cpu_memory_alloc(count * sizeof *o.words);
    o.next = wpi_cpu_memory_alloc(count * sizeof *o.next);
    if (o.words == NULL || o.next == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "the order of %llu groups", (unsigned long long)count),
                    done);
    pack(&o);
    WP_TRY_GOTO(sort(&o, err), done);
    WP_TRY_GOTO(put_columns(&o, column_count, err), done);
    *is_done = true;
done:
    wpi_free(o.fields);
    wpi_free(o.words);
    wpi_free(o.next);
    return status;
}
