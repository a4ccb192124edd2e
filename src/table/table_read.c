/* SPDX-License-Identifier: Apache-2.0 */
/* The finished table in host memory, or in a file that is mapped, where each link is checked. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "table/table_state.h"
#include "warpage/table_rows.h"

/* NULL: the file is damaged. */
static const wp_table_entry *entry_at(const wp_table *table, uint64_t place) {
    const bool is_multivalued = table->view.organisation == WP_TABLE_MULTIVALUED;
    const uint64_t least = sizeof(wp_table_entry) + (is_multivalued ? 8 : 0);
    const char *memory = wpi_table_follow(table, place, least);
    const wp_table_entry *entry = (const wp_table_entry *)(const void *)memory;
    if (table->map == NULL || entry == NULL) return entry;
    const uint64_t bytes = wp_table_entry_bytes(&table->view, entry->key_bytes, entry->value_bytes);
    return wpi_table_follow(table, place, bytes) != NULL ? entry : NULL;
}

static const wp_table_value *value_at(const wp_table *table, uint64_t place) {
    const char *memory = wpi_table_follow(table, place, sizeof(wp_table_value));
    const wp_table_value *value = (const wp_table_value *)(const void *)memory;
    if (table->map == NULL || value == NULL) return value;
    const uint64_t bytes = sizeof *value + wp_table_align(value->value_bytes);
    return wpi_table_follow(table, place, bytes) != NULL ? value : NULL;
}

/* Chains of a damaged file may lead round in a circle: more steps than there are entries, or pairs.
 */
static bool is_circle(const wp_table *table, uint64_t steps, uint64_t most) {
    if (table->map == NULL || steps <= most) return false;
    wpi_table_note_damage(table, (uint64_t)(table->segments[0].memory - table->map->memory));
    return true;
}

static void set_key(const wp_table *table, const wp_table_entry *entry, wp_table_pair *out) {
    out->key = wp_table_entry_key(&table->view, entry);
    out->key_bytes = entry->key_bytes;
}

/* The next pair of the cursor's entry; false: there is no further one. */
static bool next_of_entry(const wp_table *table, wp_table_cursor *cursor, wp_table_pair *out) {
    const wp_table_entry *entry = entry_at(table, cursor->entry);
    if (entry == NULL || is_circle(table, cursor->pairs, table->pair_count)) return false;
    if (table->view.organisation != WP_TABLE_MULTIVALUED) {
        if (cursor->value != 0) return false;
        cursor->value = 1;
        cursor->pairs++;
        set_key(table, entry, out);
        out->value = entry + 1;
        out->value_bytes = entry->value_bytes;
        return true;
    }
    const wp_table_value *before = cursor->value == 0 ? NULL : value_at(table, cursor->value);
    if (cursor->value != 0 && before == NULL) return false;
    const uint64_t place =
        before == NULL ? *(const uint64_t *)(const void *)(entry + 1) : before->next;
    const wp_table_value *value = place == 0 ? NULL : value_at(table, place);
    if (value == NULL) return false;
    cursor->value = place;
    cursor->pairs++;
    set_key(table, entry, out);
    out->value = value + 1;
    out->value_bytes = value->value_bytes;
    return true;
}

/* A cursor is for the table as it was when the cursor was first used. */
static bool is_readable(const wp_table *table, wp_table_cursor *cursor) {
    if (cursor->run == 0) cursor->run = table->runs + 1;
    if (table->map != NULL && table->map->is_damaged) return false;
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
    if (table->map != NULL && table->map->is_damaged)
        return WP_FAIL(err, PARSE, "%s: damaged: a chain leads out of the table at offset %" PRIu64,
                       table->map->path, table->map->damage_offset);
    if (!table->is_spilling) return WP_STATUS_OK;
    wp_table_control control;
    WP_TRY(wpi_table_fetch(table, &control, table->view.control, sizeof control, err));
    if (control.fault != WP_TABLE_FAULT_ABSENT) return WP_STATUS_OK;
    WP_TRY(wp_queue_fill(table->queue, &table->view.control->fault, 0, 4, 1, err));
    return WP_FAIL(err, INVALID,
                   "table: wp_table_find in a kernel needs a part of the table that is in a "
                   "file; use wp_table_search and wp_table_seek_next");
}

/* cursor->bucket is the number of the current one + 1. */
bool wp_table_next(const wp_table *table, wp_table_cursor *cursor, wp_table_pair *out) {
    if (!is_readable(table, cursor)) return false;
    for (uint64_t steps = 0;;) {
        if (cursor->entry != 0) {
            if (next_of_entry(table, cursor, out)) return true;
            const wp_table_entry *entry = entry_at(table, cursor->entry);
            if (entry == NULL || is_circle(table, steps++, table->key_count)) return false;
            cursor->entry = entry->next;
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
        const wp_table_entry *entry = entry_at(table, cursor->entry);
        place = entry == NULL ? 0 : entry->next;
    } else if (cursor->bucket == 0) {
        cursor->bucket = 1;
        place = wp_table_bucket_place(table->buckets[hash & table->view.bucket_mask]);
    } else {
        return false;
    }
    uint64_t steps = 0;
    for (const wp_table_entry *entry; place != 0; place = entry->next) {
        entry = entry_at(table, place);
        if (entry == NULL || is_circle(table, steps++, table->key_count)) break;
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

/* Pairs from `cursor` on, `count` of them. */
static wp_status take(const wp_table *table, wp_table_cursor *cursor, uint64_t count,
                      uint64_t keys_bytes, uint64_t values_bytes, wp_table_rows *out,
                      wp_error *err) {
    wp_table_pair pair;
    *out = (wp_table_rows){.count = count};
    out->key_offsets = wpi_calloc(count + 1, sizeof *out->key_offsets);
    out->value_offsets = wpi_calloc(count + 1, sizeof *out->value_offsets);
    out->keys = wpi_malloc(keys_bytes + 1);
    out->values = wpi_malloc(values_bytes + 1);
    if (out->key_offsets == NULL || out->value_offsets == NULL || out->keys == NULL ||
        out->values == NULL) {
        wp_table_rows_deinit(out);
        return WP_FAIL(err, NOMEM,
                       "table: no host memory for %" PRIu64 " bytes of keys and %" PRIu64
                       " of values",
                       keys_bytes, values_bytes);
    }
    for (uint64_t i = 0; i < count && wp_table_next(table, cursor, &pair); i++) {
        memcpy(out->keys + out->key_offsets[i], pair.key, pair.key_bytes);
        memcpy(out->values + out->value_offsets[i], pair.value, pair.value_bytes);
        out->key_offsets[i + 1] = out->key_offsets[i] + pair.key_bytes;
        out->value_offsets[i + 1] = out->value_offsets[i] + pair.value_bytes;
    }
    const wp_status status = wp_table_check(table, cursor, err);
    if (status != WP_STATUS_OK) wp_table_rows_deinit(out);
    return status;
}

wp_status wp_table_retrieve(const wp_table *table, wp_table_rows *out, wp_error *err) {
    wp_table_cursor cursor = {0};
    wp_table_pair pair;
    uint64_t keys_bytes = 0, values_bytes = 0;
    *out = (wp_table_rows){0};
    while (wp_table_next(table, &cursor, &pair)) {
        keys_bytes += pair.key_bytes;
        values_bytes += pair.value_bytes;
    }
    WP_TRY(wp_table_check(table, &cursor, err));
    cursor = (wp_table_cursor){0};
    return take(table, &cursor, wp_table_pair_count(table), keys_bytes, values_bytes, out, err);
}

wp_status wp_table_take_rows(const wp_table *table, wp_table_cursor *cursor, uint64_t bytes_max,
                             wp_table_rows *out, wp_error *err) {
    wp_table_cursor ahead = *cursor;
    wp_table_pair pair;
    uint64_t count = 0, keys_bytes = 0, values_bytes = 0;
    *out = (wp_table_rows){0};
    while ((count == 0 || keys_bytes + values_bytes < bytes_max) &&
           wp_table_next(table, &ahead, &pair)) {
        if (count != 0 && keys_bytes + values_bytes + pair.key_bytes + pair.value_bytes > bytes_max)
            break;
        keys_bytes += pair.key_bytes;
        values_bytes += pair.value_bytes;
        count++;
    }
    WP_TRY(wp_table_check(table, &ahead, err));
    return take(table, cursor, count, keys_bytes, values_bytes, out, err);
}

void wp_table_rows_deinit(wp_table_rows *rows) {
    wpi_free(rows->key_offsets);
    wpi_free(rows->value_offsets);
    wpi_free(rows->keys);
    wpi_free(rows->values);
    *rows = (wp_table_rows){0};
}
