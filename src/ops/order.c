/* SPDX-License-Identifier: Apache-2.0 */
/* Radix sort of row numbers, from the last key's lowest byte to the first key's highest; bytes that
 * are the same in all rows cost a pass over the words only. */
#include "ops/order.h"

#include <string.h>

#include "base/alloc.h"
#include "ops/shape.h"

typedef struct sorting {
    uint64_t count;
    uint64_t *words; /* of the key at hand, by row */
    uint64_t *order, *next;
} sorting;

static void take_words(sorting *s, const wpi_group_column *column) {
    const wp_type type = column->column.type;
    for (uint64_t row = 0; row < s->count; row++) {
        const uint64_t word = wpi_value_word(type, column->values, row);
        s->words[row] =
            wpi_type_is_float(type) ? wpi_ordered_float(word) : wpi_ordered_integer(type, word);
    }
}

/* Stable, by a byte of each row's: those of words, or whether it is NULL. */
static void sort_by(sorting *s, const uint8_t *bytes, size_t stride) {
    uint64_t starts[256] = {0};
    for (uint64_t row = 0; row < s->count; row++)
        starts[bytes[row * stride]]++;
    if (starts[bytes[0]] == s->count) return;
    for (uint64_t i = 0, sum = 0; i < 256; i++) {
        const uint64_t here = starts[i];
        starts[i] = sum;
        sum += here;
    }
    for (uint64_t i = 0; i < s->count; i++)
        s->next[starts[bytes[s->order[i] * stride]]++] = s->order[i];
    uint64_t *swap = s->order;
    s->order = s->next;
    s->next = swap;
}

static void sort_by_key(sorting *s, const wpi_group_column *column) {
    const uint32_t bytes = wp_type_bytes(column->column.type);
    take_words(s, column);
    for (uint32_t byte = 0; byte < 8; byte++)
        if (byte < bytes || byte == 7 || wpi_type_is_float(column->column.type))
            sort_by(s, (const uint8_t *)s->words + byte, sizeof *s->words);
}

static void gather(const sorting *s, wpi_group_column *column, void *values, uint8_t *valid) {
    const uint32_t bytes = wp_type_bytes(column->column.type);
    for (uint64_t i = 0; i < s->count; i++) {
        memcpy((char *)values + i * bytes, (char *)column->values + s->order[i] * bytes, bytes);
        valid[i] = column->valid[s->order[i]];
    }
    wp_free(column->values);
    wp_free(column->valid);
    column->values = values;
    column->column.values = values;
    column->valid = valid;
}

/* 1 - valid: NULL comes last. */
static void sort_nulls_last(sorting *s, const wpi_group_column *column) {
    uint8_t *is_null = (uint8_t *)s->words;
    for (uint64_t row = 0; row < s->count; row++)
        is_null[row] = column->valid[row] == 0;
    sort_by(s, is_null, 1);
}

wp_status wpi_order_columns(wpi_group_column *columns, uint32_t key_count, uint32_t column_count,
                            uint64_t count, wp_error *err) {
    wp_status status = WP_STATUS_OK;
    if (count == 0) return WP_STATUS_OK;
    sorting s = {.count = count,
                 .words = wp_malloc(count * sizeof *s.words),
                 .order = wp_malloc(count * sizeof *s.order),
                 .next = wp_malloc(count * sizeof *s.next)};
    if (s.words == NULL || s.order == NULL || s.next == NULL)
        WP_TRY_GOTO(WP_FAIL(err, NOMEM, "the order of %llu groups", (unsigned long long)count),
                    done);
    for (uint64_t i = 0; i < count; i++)
        s.order[i] = i;
    for (uint32_t key = key_count; key > 0; key--) {
        sort_by_key(&s, &columns[key - 1]);
        sort_nulls_last(&s, &columns[key - 1]);
    }
    for (uint32_t i = 0; i < column_count; i++) {
        const size_t bytes = wp_type_bytes(columns[i].column.type);
        void *values = wp_malloc(count * bytes + 8);
        uint8_t *valid = wp_malloc(count + 8);
        if (values == NULL || valid == NULL) {
            wp_free(values);
            wp_free(valid);
            WP_TRY_GOTO(WP_FAIL(err, NOMEM, "a column of %llu groups", (unsigned long long)count),
                        done);
        }
        gather(&s, &columns[i], values, valid);
    }
done:
    wp_free(s.words);
    wp_free(s.order);
    wp_free(s.next);
    return status;
}
