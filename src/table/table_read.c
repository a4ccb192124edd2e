/* SPDX-License-Identifier: Apache-2.0 */
/* The finished table in host memory. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "table/table_state.h"

static const wp_table_entry *entry_at(const wp_table *table, uint64_t place) {
    return (const wp_table_entry *)(const void *)wpi_table_host(table, place);
}

static void set_key(const wp_table *table, const wp_table_entry *entry, wp_table_pair *out) {
    out->key = wp_table_entry_key(&table->view, entry);
    out->key_bytes = entry->key_bytes;
}

/* The next pair of the cursor's entry; false: there is no further one. */
static bool next_of_entry(const wp_table *table, wp_table_cursor *cursor, wp_table_pair *out) {
    const wp_table_entry *entry = entry_at(table, cursor->entry);
    if (table->view.organisation != WP_TABLE_MULTIVALUED) {
        if (cursor->value != 0) return false;
        cursor->value = 1;
        set_key(table, entry, out);
        out->value = entry + 1;
        out->value_bytes = entry->value_bytes;
        return true;
    }
    const wp_table_value *before =
        cursor->value == 0
            ? NULL
            : (const wp_table_value *)(const void *)wpi_table_host(table, cursor->value);
    const uint64_t place =
        before == NULL ? *(const uint64_t *)(const void *)(entry + 1) : before->next;
    if (place == 0) return false;
    const wp_table_value *value =
        (const wp_table_value *)(const void *)wpi_table_host(table, place);
    cursor->value = place;
    set_key(table, entry, out);
    out->value = value + 1;
    out->value_bytes = value->value_bytes;
    return true;
}

/* A cursor is for the table as it was when the cursor was first used. */
static bool is_readable(const wp_table *table, wp_table_cursor *cursor) {
    if (cursor->run == 0) cursor->run = table->runs + 1;
    return !table->is_failed && table->segment_count != 0 && cursor->run == table->runs + 1;
}

wp_status wp_table_check(const wp_table *table, const wp_table_cursor *cursor, wp_error *err) {
    if (table->is_failed)
        return WP_FAIL(err, INVALID,
                       "table: it cannot be read during a run, or after one that failed");
    if (cursor->run != 0 && cursor->run != table->runs + 1)
        return WP_FAIL(err, INVALID,
                       "table: it was added to after this search or iteration began; begin again, "
                       "with a cursor of zeros");
    return WP_STATUS_OK;
}

/* cursor->bucket is the number of the current one + 1. */
bool wp_table_next(const wp_table *table, wp_table_cursor *cursor, wp_table_pair *out) {
    if (!is_readable(table, cursor)) return false;
    for (;;) {
        if (cursor->entry != 0) {
            if (next_of_entry(table, cursor, out)) return true;
            cursor->entry = entry_at(table, cursor->entry)->next;
            cursor->value = 0;
        } else {
            if (cursor->bucket > table->view.bucket_mask) return false;
            cursor->entry = wp_table_bucket_place(table->buckets[cursor->bucket++]);
        }
    }
}

bool wp_table_find_next(const wp_table *table, const void *key, uint64_t key_bytes,
                        wp_table_cursor *cursor, wp_table_pair *out) {
    if (!is_readable(table, cursor) || key_bytes > UINT32_MAX) return false;
    const uint64_t hash = wp_table_hash(key, key_bytes);
    uint64_t place;
    if (cursor->entry != 0) {
        if (next_of_entry(table, cursor, out)) return true;
        place = entry_at(table, cursor->entry)->next;
    } else if (cursor->bucket == 0) {
        cursor->bucket = 1;
        place = wp_table_bucket_place(table->buckets[hash & table->view.bucket_mask]);
    } else {
        return false;
    }
    for (; place != 0; place = entry_at(table, place)->next) {
        const wp_table_entry *entry = entry_at(table, place);
        if (!wp_table_has_key(&table->view, entry, (uint32_t)(hash >> 32), key,
                              (uint32_t)key_bytes))
            continue;
        cursor->entry = place;
        cursor->value = 0;
        if (next_of_entry(table, cursor, out)) return true;
    }
    cursor->entry = 0;
    return false;
}

/* ---- counts ---------------------------------------------------------------------------------- */

void wpi_table_count(wp_table *table) {
    const bool was_failed = table->is_failed;
    wp_table_cursor cursor = {0};
    wp_table_pair pair;
    uint64_t entry = 0;
    table->pair_count = 0;
    table->key_count = 0;
    table->is_failed = false;
    while (wp_table_next(table, &cursor, &pair)) {
        table->pair_count++;
        table->key_count += cursor.entry != entry;
        entry = cursor.entry;
    }
    table->is_failed = was_failed;
}

uint64_t wp_table_pair_count(const wp_table *table) {
    return table->is_failed ? 0 : table->pair_count;
}

uint64_t wp_table_key_count(const wp_table *table) {
    return table->is_failed ? 0 : table->key_count;
}

/* ---- all pairs ------------------------------------------------------------------------------- */

wp_status wp_table_retrieve(const wp_table *table, wp_table_rows *out, wp_error *err) {
    wp_table_cursor cursor = {0};
    wp_table_pair pair;
    uint64_t keys_bytes = 0, values_bytes = 0;
    *out = (wp_table_rows){.count = wp_table_pair_count(table)};
    while (wp_table_next(table, &cursor, &pair)) {
        keys_bytes += pair.key_bytes;
        values_bytes += pair.value_bytes;
    }
    out->key_offsets = wp_calloc(out->count + 1, sizeof *out->key_offsets);
    out->value_offsets = wp_calloc(out->count + 1, sizeof *out->value_offsets);
    out->keys = wp_malloc(keys_bytes + 1);
    out->values = wp_malloc(values_bytes + 1);
    if (out->key_offsets == NULL || out->value_offsets == NULL || out->keys == NULL ||
        out->values == NULL) {
        wp_table_rows_deinit(out);
        return WP_FAIL(err, NOMEM,
                       "table: no host memory for %" PRIu64 " bytes of keys and %" PRIu64
                       " of values",
                       keys_bytes, values_bytes);
    }
    cursor = (wp_table_cursor){0};
    for (uint64_t i = 0; wp_table_next(table, &cursor, &pair); i++) {
        memcpy(out->keys + out->key_offsets[i], pair.key, pair.key_bytes);
        memcpy(out->values + out->value_offsets[i], pair.value, pair.value_bytes);
        out->key_offsets[i + 1] = out->key_offsets[i] + pair.key_bytes;
        out->value_offsets[i + 1] = out->value_offsets[i] + pair.value_bytes;
    }
    return WP_STATUS_OK;
}

void wp_table_rows_deinit(wp_table_rows *rows) {
    wp_free(rows->key_offsets);
    wp_free(rows->value_offsets);
    wp_free(rows->keys);
    wp_free(rows->values);
    *rows = (wp_table_rows){0};
}
