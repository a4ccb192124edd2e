/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort of row numbers. Where all keys and the row are a word of 64 bits together: see
 * order_words.c; else key by key, from the last one's lowest byte to the first one's highest. A
 * byte that is the same in all rows is skipped after counting. */
#include "ops/order.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/groupby_cpu/cpu_grouper_memory.h"
#include "ops/order_words.h"
#include "ops/shape.h"

/* The word is stored beside the row number, so that a pass reads sequentially. */
typedef struct item {
    uint64_t word; /* of the current key */
    uint64_t row;
} item;

typedef struct sorting {
    uint64_t count;
    item *items, *next;
} sorting;

static inline uint64_t ordered_word(const wpi_group_column *column, uint64_t row) {
    const wp_type type = column->column.type;
    const uint64_t word = wpi_value_word(type, column->values, row);
    return wpi_type_is_float(type) ? wpi_ordered_float(word) : wpi_ordered_integer(type, word);
}

static void take_words(sorting *s, const wpi_group_column *column) {
    for (uint64_t i = 0; i < s->count; i++)
        s->items[i].word = ordered_word(column, s->items[i].row);
}

/* Stable, by a byte of each word. */
static void sort_by_byte(sorting *s, uint32_t byte) {
    uint64_t starts[256] = {0};
    const uint32_t shift = 8 * byte;
    for (uint64_t i = 0; i < s->count; i++)
        starts[s->items[i].word >> shift & 255]++;
    if (starts[s->items[0].word >> shift & 255] == s->count) return;
    for (uint64_t i = 0, sum = 0; i < 256; i++) {
        const uint64_t here = starts[i];
        starts[i] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < s->count; i++)
        s->next[starts[s->items[i].word >> shift & 255]++] = s->items[i];
    item *swap = s->items;
    s->items = s->next;
    s->next = swap;
}

static void sort_by_key(sorting *s, const wpi_group_column *column) {
    const uint32_t bytes = wp_type_bytes(column->column.type);
    take_words(s, column);
    for (uint32_t byte = 0; byte < 8; byte++)
        if (byte < bytes || byte == 7 || wpi_type_is_float(column->column.type))
            sort_by_byte(s, byte);
}

/* Memory for a column in another order. */
static wp_status alloc_column(const wpi_group_column *column, uint64_t count, void **values,
                              uint8_t **valid, wp_error *err) {
    *values = wpi_cpu_memory_alloc(count * wp_type_bytes(column->column.type) + 8);
    *valid = wpi_cpu_memory_alloc(count + 8);
    if (*values != NULL && *valid != NULL) return WP_STATUS_OK;
    wpi_free(*values);
    wpi_free(*valid);
    return WP_FAIL(err, NOMEM, "a column of %llu groups", (unsigned long long)count);
}

static void replace(wpi_group_column *column, void *values, uint8_t *valid) {
    wpi_free(column->values);
    wpi_free(column->valid);
    column->values = values;
    column->column.values = values;
    column->valid = valid;
}

wp_status wpi_order_gather(wpi_group_column *column, uint64_t count, const uint64_t *rows,
                           uint32_t step, wp_error *err) {
    const uint32_t bytes = wp_type_bytes(column->column.type);
    const char *in = column->values;
    void *values = NULL;
    uint8_t *valid = NULL;
    WP_TRY(alloc_column(column, count, &values, &valid, err));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t row = rows[i * step];
        if (bytes == 8) /* of a known size */
            memcpy((char *)values + 8 * i, in + 8 * row, 8);
        else
            memcpy((char *)values + i * bytes, in + row * bytes, bytes);
        valid[i] = column->valid[row];
    }
    replace(column, values, valid);
    return WP_STATUS_OK;
}

wp_status wpi_order_place(wpi_group_column *columns, uint32_t column_count, uint64_t count,
                          const uint32_t *places, wp_error *err) {
    for (uint32_t column = 0; column < column_count; column++) {
        const uint32_t bytes = wp_type_bytes(columns[column].column.type);
        const char *in = columns[column].values;
        void *values = NULL;
        uint8_t *valid = NULL;
        WP_TRY(alloc_column(&columns[column], count, &values, &valid, err));
        for (uint64_t i = 0; i < count; i++) {
            if (bytes == 8) /* of a known size */
                memcpy((char *)values + (size_t)8 * places[i], in + 8 * i, 8);
            else
                memcpy((char *)values + (size_t)bytes * places[i], in + bytes * i, bytes);
            valid[places[i]] = columns[column].valid[i];
        }
        replace(&columns[column], values, valid);
    }
    return WP_STATUS_OK;
}

static void sort_nulls_last(sorting *s, const wpi_group_column *column) {
    for (uint64_t i = 0; i < s->count; i++)
        s->items[i].word = column->valid[s->items[i].row] == 0;
    sort_by_byte(s, 0);
}

/* The least word of a column, and in how many bits distances from it fit; NULL is beyond the
 * greatest. 65: more than there are. */
static uint32_t bits_of_words(const wpi_group_column *column, uint64_t count, uint64_t *least,
                              uint64_t *null) {
    uint64_t low = UINT64_MAX, high = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t word = ordered_word(column, i);
        if (!column->valid[i]) continue;
        low = word < low ? word : low;
        high = word > high ? word : high;
    }
    *least = low <= high ? low : 0;
    if (low <= high && high - low == UINT64_MAX) return 65;
    *null = low <= high ? high - low + 1 : 0;
    return *null == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(*null);
}

/* Words of all keys, for rows in order; their bits, or more than 64. */
static uint32_t take_packed(sorting *s, const wpi_group_column *columns, uint32_t key_count) {
    uint32_t bits = 0;
    for (uint64_t i = 0; i < s->count; i++)
        s->items[i].word = 0;
    for (uint32_t key = 0; key < key_count; key++) {
        uint64_t least = 0, null = 0;
        const uint32_t here = bits_of_words(&columns[key], s->count, &least, &null);
        bits += here;
        if (bits > 64) return bits;
        for (uint64_t i = 0; i < s->count; i++) {
            const uint64_t word =
                columns[key].valid[i] ? ordered_word(&columns[key], i) - least : null;
            s->items[i].word = (here < 64 ? s->items[i].word << here : 0) | word;
        }
    }
    return bits;
}

wp_status wpi_order_columns(wpi_group_column *columns, uint32_t key_count, uint32_t column_count,
                            uint64_t count, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    bool is_done = count == 0;
    if (!is_done)
        WP_TRY(wpi_order_by_words(columns, key_count, column_count, count, &is_done, err));
    if (is_done) return WP_STATUS_OK;
    sorting s = {.count = count,
                 .items = wpi_cpu_memory_alloc(count * sizeof *s.items),
                 .next = wpi_cpu_memory_alloc(count * sizeof *s.next)};
    if (s.items == NULL || s.next == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "the order of %llu groups", (unsigned long long)count),
                    done);
    for (uint64_t i = 0; i < count; i++)
        s.items[i].row = i;
    const uint32_t bits = take_packed(&s, columns, key_count);
    for (uint32_t byte = 0; bits <= 64 && byte < (bits + 7) / 8; byte++)
        sort_by_byte(&s, byte);
    for (uint32_t key = key_count; bits > 64 && key > 0; key--) {
        sort_by_key(&s, &columns[key - 1]);
        sort_nulls_last(&s, &columns[key - 1]);
    }
    for (uint32_t i = 0; i < column_count; i++)
        WP_TRY_GOTO(wpi_order_gather(&columns[i], count, &s.items[0].row,
                                     sizeof(item) / sizeof(uint64_t), err),
                    done);
done:
    wpi_free(s.items);
    wpi_free(s.next);
    return status;
}
